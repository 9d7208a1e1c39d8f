#!/usr/bin/env python3
# Tests of tools/sources_page.py: each way in which the page can be wrong is noticed.
# SPDX-License-Identifier: Apache-2.0
import unittest
from pathlib import Path

import sources_page

LINES = [('1', 'capture a graph'), ('2', 'a | b'), ('L1', 'two figures')]
PAGE = '''| line | what it says | what covers it |
| --- | --- | --- |
| 1 | capture a graph | rung `capture`, finding `launch_bound` |
| 2 | a \\| b | `rung climb`, [cpp.md](cpp.md), knob `HSA_X` |

| line | what it says | what covers it |
| --- | --- | --- |
| L1 | two figures | not covered: nobody needs it; test `Suite.Name`, setting `--flag` |
'''


class Everything(sources_page.Names):
    def __init__(self):
        self.docs = Path(__file__).resolve().parent.parent / 'docs'
        self.known = {'command': {'climb'}, 'finding': {'launch_bound'}, 'rung': {'capture'}, 'knob': {'HSA_X'},
                      'setting': {'--flag'}, 'test': {'Suite.Name'}}


class SourcesPage(unittest.TestCase):
    def wrong(self, page=PAGE, lines=tuple(LINES)):
        return list(sources_page.wrong_with(page, list(lines), Everything()))

    def test_a_whole_page_is_right(self):
        self.assertEqual(self.wrong(), [])

    def test_a_line_that_is_missing_is_noticed(self):
        self.assertIn("wanted ('L1', 'two figures')", self.wrong(PAGE.replace('| L1 |', '| L2 |'))[0])
        self.assertIn("wanted ('3', 'more')", self.wrong(lines=[*LINES, ('3', 'more')])[0])
        self.assertIn("wanted the end", self.wrong(lines=LINES[:2])[0])

    def test_other_words_are_noticed(self):
        other = self.wrong(PAGE.replace('capture a graph', 'capture no graph'))
        self.assertIn("got ('1', 'capture no graph')", other[0])

    def test_names_that_do_not_exist_are_noticed(self):
        for old, new, what in (('`capture`', '`captures`', 'rung captures'),
                               ('`launch_bound`', '`late`', 'finding late'),
                               ('rung climb', 'rung claim', 'command claim'), ('(cpp.md)', '(cxx.md)', 'page cxx.md'),
                               ('`HSA_X`', '`HSA_Y`', 'knob HSA_Y'), ('`--flag`', '`--flags`', 'setting --flags'),
                               ('`Suite.Name`', '`Suite.Names`', 'test Suite.Names')):
            self.assertEqual([f'there is no {what}'], [w.split(': ')[1] for w in self.wrong(PAGE.replace(old, new))])

    def test_a_line_that_nothing_covers_says_why(self):
        bare = PAGE.replace('rung `capture`, finding `launch_bound`', 'see elsewhere')
        self.assertEqual(self.wrong(bare), ['line 1: says neither what covers it nor why nothing does'])
        self.assertEqual(self.wrong(bare.replace('see elsewhere', 'not covered: out of reach')), [])

    def test_names_are_read_from_the_sources(self):
        known = sources_page.Names(Path(__file__).resolve().parent.parent).known
        for kind, name in (('command', 'doctor'), ('command', 'env'), ('rung', 'capture'), ('knob', 'HSA_XNACK'),
                           ('setting', 'NCCL_MIN_NCHANNELS'), ('setting', '--kv-cache-dtype'),
                           ('test', 'Occupancy.AccumulationRegistersCount')):
            self.assertIn(name, known[kind])
        self.assertNotIn('bf16', known['rung'])


if __name__ == '__main__':
    unittest.main()
