#!/usr/bin/env python3
# Writes the reference pages of the C and C++ interfaces from the headers; --check says where they differ.
# SPDX-License-Identifier: Apache-2.0
#
# --check also asks the compiler and the linker, so that nothing public is missing without a word: what clang finds in
# the headers, and which functions the shared library shows (--library). What has no comment, of its own or of its
# group, is an error in both cases.
import argparse
import difflib
import re
import sys
from pathlib import Path

import declared_names
from header_reader import read_header
from reference_page import Entry, Section, places_of, write_page

ROOT = Path(__file__).resolve().parent.parent
C_HEADERS = ['rung.h', 'language_model.h']  # the last one includes the others
CPP_HEADERS = ['status.hpp', 'tensor.hpp', 'model.hpp', 'language_model.hpp', 'climb.hpp', 'build.hpp',
               'tasks.hpp']  # in the order of use


def sections_of(header, language, title=''):
    """The sections that the header's `// ----` lines make; one of `title` without any."""
    sections = []
    for group in header.groups:
        name = group.section or title
        if not sections or sections[-1].title != name:
            sections.append(Section(name, []))
        names = list(dict.fromkeys(name for d in group.declarations for name in d.names))
        code = '\n'.join(re.sub(r'^RUNG_API ', '', d.code) for d in group.declarations)
        sections[-1].entries.append(Entry(names, group.comment, code, language))
    return sections


def read(include, name):
    return read_header((include / name).read_text(encoding='utf-8'))


def c_page(include):
    about = ('Written by `tools/api_reference.py` from `include/rung/rung.h` and `include/rung/language_model.h`.\n\n' +
             read(include, C_HEADERS[0]).about)
    return write_page('Reference of the C interface', about, c_sections(include))


def c_sections(include):
    return [section for name in C_HEADERS for section in sections_of(read(include, name), 'c', 'versions')]


def cpp_page(include):
    about = ('Written by `tools/api_reference.py` from `include/rung/*.hpp`. All names are in the namespace '
             '`rung::api`.\n\n' + read(include, 'rung.hpp').about)
    sections = []
    for name in CPP_HEADERS:
        sections += sections_of(read(include, name), 'cpp', f'rung/{name}')
    c_places = places_of(c_sections(include), 'reference_c.md')
    return write_page('Reference of the C++ interface', about, sections, c_places)


PAGES = {'reference_c.md': c_page, 'reference_cpp.md': cpp_page}


def without_comment(path):
    """A line for each public declaration that no comment describes."""
    def look(groups, owner=''):
        for group in groups:
            for d in group.declarations:
                said = group.comment or owner and re.search(r';\s*//', d.code)
                if not said and (d.kind == 'function' or not owner):
                    yield f'{path}:{d.line}: {owner}{", ".join(d.names)} has no comment, of its own or of its group'
                yield from look(d.members, d.names[0] + '::')
    return list(look(read_header(path.read_text(encoding='utf-8')).groups))


def names_of(path):
    """Every public name of a header, members as Class::member."""
    def look(groups, owner=''):
        for group in groups:
            for d in group.declarations:
                yield from (owner + name for name in d.names)
                yield from look(d.members, owner + d.names[0] + '::')
    return set(look(read_header(path.read_text(encoding='utf-8')).groups))


def missing(what, wanted, got):
    """Lines for what one of two sets of names has and the other lacks."""
    return ([f'{what}: the reference lacks {name}' for name in sorted(wanted - got)] +
            [f'{what}: the reference has {name}, which is not there' for name in sorted(got - wanted)])


def check_names(include, library):
    """What the compiler and the linker know against what was read here."""
    problems = []
    c = set().union(*(names_of(include / name) for name in C_HEADERS))
    macros = {name for name in c if name.isupper()}
    problems += missing('macros', declared_names.macros(include / C_HEADERS[-1]), macros)
    if library:
        functions = {d.names[0] for name in C_HEADERS for g in read(include, name).groups for d in g.declarations
                     if d.kind == 'function'}
        problems += missing(library.name, declared_names.exported(library), functions)
    if not declared_names.CLANG:
        print('api_reference: clang is not installed: the names that it finds are not compared', file=sys.stderr)
        return problems
    cpp = set().union(*(names_of(include / name) for name in CPP_HEADERS))
    problems += missing(C_HEADERS[-1], declared_names.c_names(include / C_HEADERS[-1]), c - macros)
    return problems + missing('rung.hpp', declared_names.cpp_names(include), cpp)


def check_pages(pages, docs):
    problems = []
    for name, text in pages.items():
        path = docs / name
        now = path.read_text(encoding='utf-8') if path.is_file() else ''
        if now != text:
            differences = list(difflib.unified_diff(now.splitlines(), text.splitlines(), lineterm='', n=0))[2:8]
            problems.append(f'{path}: not as the headers give it: python3 tools/api_reference.py\n  ' +
                            '\n  '.join(differences))
    return problems


def main():
    parser = argparse.ArgumentParser(description='Writes the reference pages of the C and C++ interfaces.')
    parser.add_argument('--check', action='store_true', help='write nothing; say what differs or is missing')
    parser.add_argument('--library', type=Path, help='the shared library, whose functions are compared')
    parser.add_argument('--include', type=Path, default=ROOT / 'include/rung')
    parser.add_argument('--docs', type=Path, default=ROOT / 'docs')
    arguments = parser.parse_args()
    headers = [arguments.include / name for name in C_HEADERS + CPP_HEADERS]
    problems = [line for header in headers for line in without_comment(header)]
    pages = {name: make(arguments.include) for name, make in PAGES.items()}
    if arguments.check:
        problems += check_pages(pages, arguments.docs) + check_names(arguments.include, arguments.library)
    else:
        for name, text in pages.items():
            (arguments.docs / name).write_text(text, encoding='utf-8')
    print('\n'.join(problems) if problems else f'api_reference: {len(pages)} pages')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
