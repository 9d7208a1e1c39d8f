#!/usr/bin/env python3
# Finds which environment variables components read, by version, and writes the tables in src/doctor/knobs/read/.
# SPDX-License-Identifier: Apache-2.0
#
# tools/read_variables.json lists the inputs: for each component its versions, from the oldest to the newest, where
# their sources come from, and which files of them are looked at. DIRECTORY holds them: COMPONENT/VERSION/ with the
# unpacked package, or a git repository COMPONENT/ in which a version is a tag. Names alone are taken.
#
#     python3 tools/read_variables.py DIRECTORY
import argparse
import functools
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INPUTS = ROOT / 'tools/read_variables.json'
KNOBS = ROOT / 'src/doctor/knobs'
WIDTH = 120

NAME = r'([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])'
# How a language reads a variable, by what stands around its name; writing one (environ[...] = x, setenv) is no reading.
PATTERNS = {
    'python': [
        r'(?:environ\.get|environ\.pop|getenv|\w*env\w*\.get|\.is_set)\(\s*["\']' + NAME + r'["\']',
        r'environ\[\s*["\']' + NAME + r'["\']\s*\](?!\s*=[^=])',
        r'\w*(?:env|lazy_)\w*\(\s*["\']' + NAME + r'["\']',  # get_bool_env_var("X"), env_int("X")
        r'_GatedBool\(\s*["\']' + NAME + r'["\']',
        r'env_name_(?:force|default)\s*=\s*["\']' + NAME + r'["\']',
        r'["\']' + NAME + r'["\']\s+(?:not\s+)?in\s+(?:os\.)?environ',
        r'^\s*["\']' + NAME + r'["\']\s*:\s*(?:\(?\s*lambda|env_|use_|get_|maybe_|disable_|partial)',
        r'^\s+' + NAME + r'(?:\s*:[^=\n]+)?\s*=\s*Env[A-Z]\w*\(',  # a class of descriptors
        r'=\s*env_\w+\(\s*["\']' + NAME + r'["\']',
    ],
    'c': [
        r'(?:getenv|[gG]et_?[eE]nv\w*|check_env|GetEnvVar|get_env\w*)\s*\(\s*"' + NAME + r'"',
        r'MIOPEN_DECLARE_ENV_VAR\w*\(\s*' + NAME,
        r'^\s*(?:release|debug|release_on_stg)\(\s*\w+,\s*' + NAME,
        r'(?:vector<std::string>|getCvar\w+)\s*[^;]*?\{\s*"' + NAME + r'"',
        r'NCCL_PARAM\(\s*\w+,[^,"]+,\s*' + NAME + r'\s*,',
    ],
}
BEFORE, AFTER = 100, 40  # characters around a name in which it is said that it is read
# A name of which only the end is said, and what comes before it.
SUFFIXES = [(r'\bNCCL_PARAM\(\s*\w+,\s*"([A-Z0-9_]+)"', 'NCCL_'),
            (r'\bRCCL_PARAM\w*\(\s*\w+,\s*"([A-Z0-9_]+)"', 'RCCL_')]


def names_in(text, language):
    """The names of the stacks' variables that a source reads, told from the text around each place of such a name."""
    found = set()
    for place in re.finditer(r'\b(?:' + '|'.join(prefixes()) + r')[A-Z0-9_]*[A-Z0-9]\b', text):
        line = text.rfind('\n', 0, max(0, place.start() - BEFORE)) + 1
        window = text[line:place.end() + AFTER]
        if any(place.group() in re.findall(pattern, window, re.MULTILINE) for pattern in PATTERNS[language]):
            found.add(place.group())
    if language == 'c':
        for pattern, prefix in SUFFIXES:
            found.update(prefix + end for end in re.findall(pattern, text))
    return found


def language_of(path):
    return 'python' if path.endswith('.py') else 'c'


def is_input(path, component):
    """A source of the component that no one but its developers runs is left out."""
    if not path.endswith(('.py', '.c', '.cc', '.cpp', '.cu', '.cuh', '.h', '.hpp', '.inc')):
        return False
    if re.search(r'(^|/)(tests?|testing|benchmarks?|examples?|op_tests|docs|third_?party|3rdparty)/', path):
        return False
    return any(path.startswith(start) for start in component['files'])


def git(repository, *arguments):
    return subprocess.run(['git', '-C', str(repository), *arguments], check=False, capture_output=True).stdout


def texts_of_tag(repository, tag, component):
    names = '|'.join([*prefixes(), '[NR]CCL_PARAM'])
    found = git(repository, 'grep', '-lE', names, tag, '--', *component['files']).decode().split('\n')
    paths = [p for p in (line.removeprefix(f'{tag}:') for line in found) if is_input(p, component)]
    if not paths:
        sys.exit(f'{repository}: got no file of {component["files"]} in {tag}')
    for path in paths:
        yield path, git(repository, 'show', f'{tag}:{path}').decode(errors='replace')


def texts_of_folder(folder, component):
    paths = [p for p in folder.rglob('*') if p.is_file() and is_input(str(p.relative_to(folder)), component)]
    if not paths:
        sys.exit(f'{folder}: got no file of {component["files"]}')
    for path in paths:
        text = path.read_text(errors='replace')
        if any(prefix in text for prefix in prefixes()):
            yield str(path), text


def read_by(component, version, directory):
    """The names of the stacks' variables that one version reads."""
    place = directory / component['name']
    tag = version.get('tag')
    texts = texts_of_tag(place, tag, component) if tag else texts_of_folder(place / version['version'], component)
    found = set()
    for path, text in texts:
        found |= names_in(text, language_of(path))
    return found


@functools.cache
def prefixes():
    return re.findall(r'"([A-Z0-9_]+)"', (KNOBS / 'prefixes.inc').read_text())


def spans(versions):
    """{(since, until): [names]} of [(version, names)], the oldest first. '' is the oldest known, or the newest."""
    by_span = {}
    for name in sorted(set().union(*(names for _, names in versions))):
        places = [i for i, (_, names) in enumerate(versions) if name in names]
        since = versions[places[0]][0] if places[0] > 0 else ''
        until = versions[places[-1]][0] if places[-1] < len(versions) - 1 else ''
        by_span.setdefault((since, until), []).append(name)
    return by_span


def packed(names, indent):
    """Names with '|' between them, as string literals that fit a line."""
    lines, line = [], ''
    for i, name in enumerate(names):
        piece = name + ('|' if i + 1 < len(names) else '')
        if line and len(indent) + len(line) + len(piece) + 3 > WIDTH:
            lines.append(line)
            line = ''
        line += piece
    return '\n'.join(f'{indent}"{line}"' for line in [*lines, line])


def table_of(component, versions):
    names = [version for version, _ in versions]
    out = [f'// Variables that {component["title"]} reads, by version. '
           f'Made by tools/read_variables.py of {names[0]} to {names[-1]}.',
           '// SPDX-License-Identifier: Apache-2.0']
    for (since, until), read in sorted(spans(versions).items()):
        out.append(f'RUNG_READ("{component["title"]}", "{since}", "{until}",')
        out.append(packed(read, ' ' * 10) + ')')
    return '\n'.join(out) + '\n'


def main():
    parser = argparse.ArgumentParser(description='Writes the tables in src/doctor/knobs/read/.')
    parser.add_argument('directory', type=Path)
    parser.add_argument('--only', help='one component')
    arguments = parser.parse_args()
    (KNOBS / 'read').mkdir(exist_ok=True)
    for component in json.loads(INPUTS.read_text())['components']:
        if arguments.only not in (None, component['name']):
            continue
        versions = [(v['version'], read_by(component, v, arguments.directory)) for v in component['versions']]
        (KNOBS / 'read' / f'{component["name"]}.inc').write_text(table_of(component, versions))
        print(f'{component["title"]}: {len(set().union(*(n for _, n in versions)))} names of {len(versions)} versions')


if __name__ == '__main__':
    main()
