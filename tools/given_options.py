#!/usr/bin/env python3
# Says which options of the command line no test of the tool gives: what is wired and never tried may do anything.
# SPDX-License-Identifier: Apache-2.0
#
# Options are read from src/cli: the table, and what each command adds of it. A test gives an option of a command if its
# body, or a function of its file that it may call, has both words. Options of models belong to most commands and are
# asked for once. Exit status 0: every option is given, and every environment variable is set.
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r'\{"([\w-]+)",\s*"(\w*)",\s*"[^"]*",')
ADDED = re.compile(r'\badd\(\*?\w+, "([\w-]+)"')
COMMAND = re.compile(r'\badd_command\(\s*\*?\w+,\s*"([\w-]+)"')
TEST = re.compile(r'^TEST(?:_F|_P)?\(', re.M)
SHARED = 'options'  # the file of what most commands have


class Unread(Exception):
    """The sources are not as this script reads them: nothing is known of the tests."""


def table(source):
    """flag -> its environment variable, or ''."""
    begin = source.index('kOptions')
    return dict(ROW.findall(source[begin:source.index('\n});', begin)]))


def wanted(folder):
    """Pairs of a command and a flag; the command is '' where any will do."""
    pairs = set()
    for path in sorted(folder.glob('*.cpp')):
        source = path.read_text()
        flags = set(ADDED.findall(source))
        if path.stem == SHARED:
            pairs |= {('', flag) for flag in flags}
        elif flags:
            if not (command := COMMAND.search(source)):
                raise Unread(f'{path} adds options to no command')
            pairs |= {(command[1], flag) for flag in flags}
    return pairs


def bodies(source):
    """The tests of a file, each behind what stands before the first."""
    starts = [match.start() for match in TEST.finditer(source)]
    if not starts:
        return [source]
    tests = [source[begin:end] for begin, end in zip(starts, starts[1:] + [len(source)])]
    return [source[:starts[0]] + test + values_of(test, source) for test in tests]


def values_of(test, source):
    """What a parameterised test is run with."""
    suite = re.match(r'TEST_P\((\w+)', test)
    if not suite:
        return ''
    made = re.compile(rf'^INSTANTIATE_TEST_SUITE_P\(\s*\w+,\s*{suite[1]},.*?\);$', re.M | re.S)
    return ''.join(made.findall(source))


def is_given(command, flag, bodies_of_tests):
    option, word = re.compile(f'"--{flag}["=]'), f'"{command}"'
    return any(option.search(body) and (not command or word in body) for body in bodies_of_tests)


def missing(root):
    """Sentences, one for each option or variable that no test gives."""
    rows = table((root / 'src/cli/options.cpp').read_text())
    pairs = wanted(root / 'src/cli')
    if not rows or not pairs or {flag for _, flag in pairs} - set(rows):
        raise Unread('src/cli/options.cpp: its table is not that of the commands')
    tests = [body for path in sorted((root / 'tests/cli').glob('*.[ch]pp')) for body in bodies(path.read_text())]
    found = [f'{command or "any command"} --{flag}' for command, flag in sorted(pairs) if not is_given(command, flag, tests)]
    found += [f'--{flag} is added to no command' for flag in sorted(set(rows) - {flag for _, flag in pairs})]
    found += [name for name in sorted(filter(None, rows.values())) if not any(f'"{name}"' in body for body in tests)]
    return found


def main():
    parser = argparse.ArgumentParser(description='Options of the command line that no test in tests/cli gives.')
    parser.add_argument('--root', type=Path, default=ROOT, help='of the sources')
    try:
        found = missing(parser.parse_args().root)
    except (Unread, ValueError, OSError) as error:
        sys.exit(f'given_options: {error}')
    for each in found:
        print(f'no test in tests/cli gives {each}')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
