#!/usr/bin/env python3
# Writes the reference page of the Python package from its docstrings; --check says where the page differs from them.
# SPDX-License-Identifier: Apache-2.0
#
# Wants the package `rung` to be importable. What is public and has no docstring is an error.
import argparse
import difflib
import inspect
import re
import sys
import typing
from pathlib import Path

import rung
from reference_page import WIDTH, Entry, Section, write_page

PAGE = Path(__file__).resolve().parent.parent / 'docs/reference_python.md'
SECTIONS = {
    'Models': ['load', 'join', 'build', 'Model', 'Session', 'Port', 'Encoded'],
    'Texts by decoder language models': ['load_language_model', 'LanguageModel', 'TextSession', 'Generation', 'Piece',
                                         'Generated', 'DecodeTimes', 'Segment', 'ActionTokenizer'],
    'Modules of PyTorch': ['optimize', 'backend'],
    'Sentence embeddings': ['sentence_encoder', 'SentenceEncoder'],
    'Climbs': ['climb', 'Climb', 'Receipt', 'Speedup'],
    'What the command line also does': ['verify', 'Verification', 'ComparedOutput', 'Tolerance', 'PrecisionCost',
                                        'bench', 'profile', 'explain', 'compare'],
    'Errors': ['Error', 'UsageError', 'FileError', 'DeviceError', 'OutOfMemoryError', 'MismatchError',
               'UnsupportedError', 'ClimbInterrupted', 'TruncationWarning'],
}


def text_of(value, name):
    text = inspect.getdoc(value)
    if not text:
        raise SystemExit(f'{name} has no docstring')
    if hasattr(value, '__nb_signature__'):  # the extension puts the signature before the text
        return text.partition('\n\n')[2] or text
    return re.sub(r'\n(?=[a-z_]+(?:, [a-z_]+)*: )', r'\n\n', text)  # each argument is a paragraph


def signature(value, name):
    """As it is called. An extension's functions tell theirs by themselves."""
    told = getattr(value, '__nb_signature__', None)
    if told:
        return folded(told[0][0])
    return folded(f'def {name}' + re.sub(r"(: |-> )'([^']*)'", r'\1\2', str(inspect.signature(value))))


def folded(code):
    """A parameter in each line, where one line is too long."""
    if len(code) <= WIDTH:
        return code
    head, rest = code.split('(', 1)
    inside, tail = rest.rsplit(')', 1)
    parameters = re.split(r', (?=[*\w]+(?::|$)|\*, )', inside)
    return head + '(\n    ' + ',\n    '.join(parameters) + '\n)' + tail


def members(kind):
    """The public ones, calls among them, by name and value."""
    found = [('__call__', kind.__call__)] if '__call__' in vars(kind) else []
    return found + [(name, value) for name, value in vars(kind).items() if is_public(name, value)]


def is_public(name, value):
    return not name.startswith('_') and (callable(value) or inspect.isdatadescriptor(value) or hasattr(value, 'func'))


def member_entry(kind, name, value):
    shown = f'{kind.__name__}.{name}'
    getter = getattr(value, 'fget', None) or getattr(value, 'func', None)
    if getter is None and not callable(value):  # a tuple's field: the class's docstring has it
        return None
    code = signature(value, name) if getter is None else '@property\n' + signature(getter, name)
    return Entry([shown], text_of(value, shown), code, 'python')


def typed_dict_code(kind):
    """Its keys with their types; those that may be missing say so."""
    lines = [f'class {kind.__name__}(TypedDict):']
    for name, told in sorted(kind.__annotations__.items(), key=lambda item: item[0] in kind.__optional_keys__):
        lines.append(f'    {name}: ' + (f'NotRequired[{told.__forward_arg__}]' if name in kind.__optional_keys__
                                        else told.__forward_arg__))
    return '\n'.join(lines)


def class_code(kind):
    if typing.is_typeddict(kind):
        return typed_dict_code(kind)
    bases = [base.__name__ for base in kind.__bases__ if base is not object]
    code = f'class {kind.__name__}' + (f'({", ".join(bases)})' if bases else '')
    fields = getattr(kind, '__dataclass_fields__', None) or getattr(kind, '_fields', ())
    types = kind.__annotations__ if fields else {}
    return '\n'.join([code + (':' if fields else '')] + [f'    {name}: {types[name]}' for name in fields])


def entries_of(name):
    value = getattr(rung, name)
    if not inspect.isclass(value):
        return [Entry([name], text_of(value, name), signature(value, name), 'python')]
    own = Entry([name], text_of(value, name), class_code(value), 'python')
    if hasattr(value, '_fields') or issubclass(value, Exception):
        return [own]
    return [own, *filter(None, (member_entry(value, *member) for member in members(value)))]


def page():
    listed = sorted(name for names in SECTIONS.values() for name in names)
    public = sorted(set(rung.__all__) - {'__version__'})
    if listed != public:
        raise SystemExit(f'SECTIONS has {listed}, rung.__all__ {public}')
    sections = [Section(title, [entry for name in names for entry in entries_of(name)])
                for title, names in SECTIONS.items()]
    about = 'Written by `tools/python_reference.py` from the docstrings of the package `rung`.'
    return write_page('Reference of the Python package', about, sections)


def main():
    parser = argparse.ArgumentParser(description='Writes docs/reference_python.md.')
    parser.add_argument('--check', action='store_true', help='say where it differs, and write nothing')
    wanted = page()
    if not parser.parse_args().check:
        PAGE.write_text(wanted, encoding='utf-8')
        return 0
    got = PAGE.read_text(encoding='utf-8') if PAGE.exists() else ''
    sys.stdout.writelines(line + '\n' for line in difflib.unified_diff(got.split('\n'), wanted.split('\n'), 'the page',
                                                                        'the docstrings', lineterm='', n=1))
    return int(got != wanted)


if __name__ == '__main__':
    sys.exit(main())
