#!/usr/bin/env python3
# Checks docs/sources.md: every line of the guides is there once, in order and in its words, and each name in its last
# column exists: commands, findings, rungs, knobs, settings, tests, pages.
# SPDX-License-Identifier: Apache-2.0
#
# sources_page.py [ROOT]
import re
import sys
from pathlib import Path

ROW = re.compile(r'^\| (\S+) \| (.*) \| (.*) \|$')
NAMED = re.compile(r'\b(finding|rung|knob|setting|test) `([^`]+)`')
COMMAND = re.compile(r'`rung ([a-z-]+)')
LINK = re.compile(r'\]\(([^)#]+)\)')
NOT_COVERED = re.compile(r'not covered: \S')


def text_of(paths):
    return '\n'.join(path.read_text() for path in paths)


class Names:
    """What may be named, read from where it stands."""

    def __init__(self, root):
        self.docs = root / 'docs'
        knobs, settings = root / 'src/doctor/knobs', root / 'src/doctor/settings'
        findings = (root / 'src/trace/findings/findings.inc').read_text()
        commands = text_of((root / 'src/cli').glob('*.cpp'))
        self.known = {
            'command': set(re.findall(r'add_command\((?:app|\*\w+), "([a-z-]+)"', commands)),
            'finding': set(re.findall(r'^RUNG_FINDING\((\w+),', findings, re.M)),
            'rung': set(re.findall(r'\.name = "(\w+)"', (root / 'src/ladder/rungs.cpp').read_text())),
            'knob': set(re.findall(r'^RUNG_KNOB\(\w+, (\w+),', text_of(knobs.glob('*.inc')), re.M)),
            'setting': self.settings(text_of(settings.glob('*.inc'))),
            'test': set(self.tests(text_of((root / 'tests').rglob('*.cpp')))),
        }

    @staticmethod
    def settings(text):
        variables = re.findall(r'RUNG_VARIABLE\(\s*\w+, \w+, \w+, (\w+),', text)
        return set(variables) | set(re.findall(r'RUNG_SETTING\(\s*\w+, \w+, \w+, \w+, "([^"]+)",', text))

    @staticmethod
    def tests(text):
        for suite, name in re.findall(r'^TEST(?:_F|_P)?\((\w+), (\w+)\)', text, re.M):
            yield f'{suite}.{name}'

    def wrong_in(self, cell):
        for kind, name in NAMED.findall(cell):
            if name not in self.known[kind]:
                yield f'there is no {kind} {name}'
        for name in COMMAND.findall(cell):
            if name not in self.known['command']:
                yield f'there is no command {name}'
        for page in LINK.findall(cell):
            if not (self.docs / page).is_file():
                yield f'there is no page {page}'
        if not (NAMED.search(cell) or COMMAND.search(cell) or LINK.search(cell) or NOT_COVERED.search(cell)):
            yield 'says neither what covers it nor why nothing does'


def rows_of(page):
    """(line, what it says, what covers it) of each row."""
    rows = (ROW.match(line) for line in page.splitlines())
    return [row.groups() for row in rows if row and row[1] not in ('line', '---')]


def lines_of(text):
    return [tuple(line.split('\t')) for line in text.splitlines()]


def wrong_with(page, lines, names):
    rows = rows_of(page)
    said = [(number, what.replace('\\|', '|')) for number, what, _ in rows]
    if said != lines:
        at = next((i for i, pair in enumerate(zip(said, lines)) if pair[0] != pair[1]), min(len(said), len(lines)))
        got, wanted = (table[at] if at < len(table) else 'the end' for table in (said, lines))
        yield f'row {at + 1}: got {got}, wanted {wanted}'
    for number, _, cell in rows:
        for wrong in names.wrong_in(cell):
            yield f'line {number}: {wrong}'


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    lines = lines_of((root / 'tests/data/guides/lines.tsv').read_text())
    wrong = list(wrong_with((root / 'docs/sources.md').read_text(), lines, Names(root)))
    if wrong:
        sys.exit('\n'.join(f'docs/sources.md: {one}' for one in wrong))
    print(f'docs/sources.md: {len(lines)} lines')


if __name__ == '__main__':
    main()
