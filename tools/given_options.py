#!/usr/bin/env python3
# Which options of the command line no test gives: an option that is wired wrongly and never given goes unnoticed.
# SPDX-License-Identifier: Apache-2.0
#
# usage: given_options.py RUNG [FOLDER...]
# Commands and their options are asked of the program (`rung COMMAND --help`). A test gives an option where one
# statement has both, each as a string or as a word of one; a function of the test that runs a command and has its name
# is the command, too. Exit status 1: it lists the options that no test in the folders gives (default: tests/ and
# python/tests/).
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = [ROOT / 'tests', ROOT / 'python' / 'tests']
EVERYWHERE = {'--help'}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'')


def printed(rung, *arguments):
    return subprocess.run([rung, *arguments, '--help'], check=True, capture_output=True, text=True).stdout


def commands_of(rung):
    """Command -> its options; a command of commands, as `tune lint`, is one of its own."""
    found, waiting = {}, [()]
    while waiting:
        command = waiting.pop()
        text = printed(rung, *command)
        waiting += [(*command, name) for name in subcommands(text)]
        if command:
            found[command[-1]] = set(re.findall(r'^\s+(?:-\w, ?)?(--[a-z0-9-]+)', text, re.M)) - EVERYWHERE
    return found


def subcommands(text):
    """The names under the headings of `--help` that list commands."""
    part = re.search(r'^(?:SUBCOMMANDS|Subcommands|commands):\n((?:.+\n?)+)', text, re.M | re.I)
    return re.findall(r'^  ([a-z][a-z-]*)\s', part[1], re.M) if part else []


def statements(source):
    return re.split(r';\s*\n|\n\s*\n', source)


def words_of(statement):
    return {word.split('=')[0] for one in STRING.findall(statement) for word in (one[0] or one[1]).split()}


def given_in_file(source, commands):
    wrappers = set(re.findall(r'\bRan (\w+)\(', source))
    for statement in statements(source):
        words = words_of(statement)
        called = wrappers & set(re.findall(r'(?<![.>])\b(\w+)\(', statement))
        for command in (words | called) & commands:
            yield from ((command, word) for word in words if word.startswith('--'))


def given_in(folders, commands):
    """The pairs of a command and an option that stand in one statement."""
    paths = [path for folder in folders for path in Path(folder).rglob('*') if path.suffix in ('.cpp', '.hpp', '.py')]
    return {pair for path in paths for pair in given_in_file(path.read_text(), commands)}


def main():
    rung, folders = sys.argv[1], sys.argv[2:] or FOLDERS
    commands = commands_of(rung)
    given = given_in(folders, commands.keys())
    missing = [(command, option) for command in sorted(commands) for option in sorted(commands[command])
               if (command, option) not in given]
    for command, option in missing:
        print(f'rung {command} {option}: no test gives it')
    count = sum(map(len, commands.values()))
    print(f'{count - len(missing)} of {count} options of {len(commands)} commands are given by tests')
    return bool(missing) or not commands


if __name__ == '__main__':
    sys.exit(main())
