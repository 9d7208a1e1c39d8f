#!/usr/bin/env python3
# Tests of the rules for what people read: pages, links, words.
# SPDX-License-Identifier: Apache-2.0
import unittest
from pathlib import Path

import prose


def words(lines, path='src/ir/graph.cpp'):
    return [text.split('"')[1] for _, text in prose.check_words(Path(path), lines)]


class KeepsPresentDayWords(unittest.TestCase):
    def test_a_word_out_of_use_is_named_with_one_to_write_instead(self):
        self.assertEqual(list(prose.check_words(Path('docs/a.md'), ['', 'Reckoned from memory.'])),
                         [(2, '"Reckoned": plain present-day English, such as: compute, count, estimate')])

    def test_comments_and_messages_are_read_and_code_is_not(self):
        self.assertEqual(words(['int sink = f();  // a sink', 'fail("mend it");', "x = 'anew'  # upon", 'mend(plan);']),
                         ['sink', 'mend', 'anew', 'upon'])

    def test_turns_of_phrase_count(self):
        lines = ['// bytes as they lie', '// no thread to be had', '// waits, for they come late', '// so many bytes']
        self.assertEqual(words(lines), ['as they lie', 'to be had', 'for they', 'so many'])
        self.assertEqual(words(['// so many that it ends, so few tiles that one waits']), [])

    def test_words_that_hold_such_a_word_are_fine(self):
        self.assertEqual(words(['// here, recommended, thereby, forbidden, bought, as they are, for them']), [])

    def test_what_moves_down_sinks(self):
        self.assertEqual(words(['// transposes sink'], 'src/passes/sink_transpose.cpp'), [])
        self.assertEqual(words(['// transposes mend'], 'src/passes/sink_transpose.cpp'), ['mend'])

    def test_of_a_mutant_only_its_sentence_is_read(self):
        patch = ['It is read anew.', 'Test: rung_a_tests B.Anew', '--- a/x.cpp', '+++ b/x.cpp', '-  // anew']
        self.assertEqual(words(patch, 'tests/mutants/a.patch'), ['anew'])


class KeepsPages(unittest.TestCase):
    def test_the_readme_is_short(self):
        self.assertEqual(list(prose.check_page(prose.README, ['x'] * prose.README_STOP)), [])
        self.assertEqual(len(list(prose.check_page(prose.README, ['x'] * (prose.README_STOP + 1)))), 1)

    def test_any_other_page_has_a_limit(self):
        page = Path('docs/a.md')
        self.assertEqual(list(prose.check_page(page, ['x'] * prose.PAGE_STOP)), [])
        self.assertEqual(len(list(prose.check_page(page, ['x'] * (prose.PAGE_STOP + 1)))), 1)
        self.assertEqual(list(prose.check_page(Path('a.cpp'), ['x'] * (prose.PAGE_STOP + 1))), [])

    def test_a_reference_is_as_long_as_its_interface(self):
        self.assertEqual(list(prose.check_page(Path('docs/reference_c.md'), ['x'] * (prose.PAGE_STOP + 1))), [])
        self.assertEqual(len(list(prose.check_page(Path('docs/reference_c.md'), ['x' * (prose.LINE_STOP + 1)]))), 1)

    def test_lines_outside_tables_and_pictures_have_a_limit(self):
        long = 'x' * (prose.LINE_STOP + 1)
        self.assertEqual([n for n, _ in prose.check_page(Path('a.md'), [long, '| ' + long, f'![{long}](a.svg)'])], [1])


class FollowsLinks(unittest.TestCase):
    def test_a_link_leads_to_a_file_or_folder_of_the_tree(self):
        files = {Path('docs/a.md'): ['[b](b.md), [c](../src/c.cpp), [d](../src), [e](https://a.org), [f](b.md#x)'],
                 Path('docs/b.md'): ['[gone](../docs/gone.md)'], Path('src/c.cpp'): []}
        self.assertEqual(list(prose.check_links(files)), [(Path('docs/b.md'), 1, '../docs/gone.md is not here')])

    def test_the_readme_leads_to_every_page(self):
        files = {prose.README: ['[a](docs/a.md)'], Path('docs/a.md'): [], Path('docs/b.md'): [], Path('docs/c.svg'): []}
        self.assertEqual(list(prose.check_links(files)), [(prose.README, 1, 'does not link to docs/b.md')])


if __name__ == '__main__':
    unittest.main()
