#!/usr/bin/env python3
# Tests of what runs the snippets of pages: a wrong one fails, and its line is named.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import run_snippets


def fenced(*blocks):
    """A page of (info string, text) blocks with a line of prose before each."""
    return '\n'.join(f'Prose.\n```{info}\n{text}\n```' for info, text in blocks) + '\n'


class SnippetTest(unittest.TestCase):
    library = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        command, frame = run_snippets.PROGRAMS['cpp']  # the whole of rung.hpp takes a second to compile
        light = mock.patch.dict(run_snippets.PROGRAMS, cpp=(command, frame.replace('rung/rung.hpp', 'rung/status.hpp')))
        light.start()
        self.addCleanup(light.stop)

    def run_page(self, *blocks, languages=()):
        path = self.folder / 'page.md'
        path.write_text(fenced(*blocks))
        self.page = run_snippets.Page(path, self.folder, self.library, languages)
        self.page.run()

    def failure(self, *blocks):
        with self.assertRaises(run_snippets.Failed) as caught:
            self.run_page(*blocks)
        return str(caught.exception).replace(f'{self.folder}/', '')


class ReadsBlocks(unittest.TestCase):
    def test_a_block_has_its_language_needs_and_place(self):
        found = run_snippets.blocks_of(fenced(('cpp gpu', 'a();\nb();'), ('', 'no language')))
        self.assertEqual([(b.language, b.needs, b.line, b.text) for b in found],
                         [('cpp', ['gpu'], 3, 'a();\nb();\n'), ('', [], 8, 'no language\n')])

    def test_a_block_without_an_end_is_an_error(self):
        with self.assertRaisesRegex(run_snippets.Failed, '^2: a block without an end'):
            run_snippets.blocks_of('Prose.\n```cpp\na();\n')

    def test_a_block_that_begins_with_a_files_name_is_that_file(self):
        names = ['// robot.cpp', '// embed.c: in C', '# CMakeLists.txt', '// opens robot.cpp', 'int x;  // a.cpp']
        self.assertEqual([run_snippets.Block('cpp', [], 1, name + '\n').file for name in names],
                         ['robot.cpp', 'embed.c', 'CMakeLists.txt', None, None])


class RunsCpp(SnippetTest):
    def test_blocks_share_one_function_and_text_is_what_the_one_before_prints(self):
        self.run_page(('cpp', '#include <vector>\nstd::vector<int> v{1, 2};'),
                      ('cpp', 'std::printf("%zu\\n", v.size());'), ('text', '2'))

    def test_other_output_than_the_pages_fails(self):
        self.assertRegex(self.failure(('cpp', 'std::printf("2\\n");'), ('text', '3')), r'^page.md:7: got\n2\nwanted\n3')

    def test_what_does_not_compile_fails_at_its_line(self):
        self.assertRegex(self.failure(('cpp', 'int x = 1;'), ('cpp', '\nint y = z;')),
                         r"^page.md:8: does not compile(.|\n)*z. was not declared")

    def test_an_include_that_is_not_there_fails_at_its_line(self):
        self.assertRegex(self.failure(('cpp', 'int x = 1;\n#include <not_there.hpp>')), '^page.md:4: does not compile')

    def test_a_block_that_returns_an_error_fails_at_its_place(self):
        self.assertRegex(self.failure(('cpp', 'int x = 1;'), ('cpp', 'if (x) return Status(Kind::file, "no plan");'),
                                      ('cpp', 'x = 2;')), r'^page.md:7: exit status 1\nno plan')

    def test_a_block_that_crashes_fails_at_its_place(self):
        self.assertRegex(self.failure(('cpp', 'int x = 1;'), ('cpp', '__builtin_trap();')), '^page.md:7: exit status -')

    def test_a_block_for_a_gpu_is_compiled_everywhere_and_run_where_there_is_one(self):
        block = ('cpp gpu', 'std::printf("on a GPU\\n");')
        with mock.patch.object(run_snippets, 'has_gpu', return_value=False):
            self.run_page(block, ('text', 'anything'))
            self.assertEqual([note.split(': ', 1)[1] for note in self.page.notes], ['compiled, not run: no gpu here'])
            self.assertIn('does not compile', self.failure(('cpp gpu', 'no_such_call();')))
        with mock.patch.object(run_snippets, 'has_gpu', return_value=True):
            self.run_page(block, ('text', 'on a GPU'))
            self.run_page(('cpp gpu', 'int x = 1;'), ('cpp gpu', 'x = 2;'), ('cpp', 'int x = 3;'))
            self.assertIn('got\non a GPU', self.failure(block, ('text', 'anything')))


class RunsOtherLanguages(SnippetTest):
    def test_c(self):
        self.library = self.folder / 'librung.so'
        subprocess.run(['cc', '-shared', '-fPIC', '-xc', '-', '-o', self.library], check=True, text=True,
                       input='const char* rung_error(void) { return "no such plan"; }')
        self.run_page(('c', 'int x = 1;'), ('c', 'printf("%d\\n", x + 1);'), ('text', '2'))
        self.assertRegex(self.failure(('c', 'return RUNG_FILE;')), '^page.md:3: exit status 1\nno such plan')
        self.assertRegex(self.failure(('c', 'int x = 1;\nreturn RUNG_FILE + x * y;')), '^page.md:4: does not compile')

    def test_python(self):
        self.run_page(('python', 'x = 1'), ('python', 'print(x + 1)'), ('text', '2'))
        self.assertRegex(self.failure(('python', 'x = 1'), ('python', '\nprint(y)')),
                         r'^page.md:7: exit status 1(.|\n)*page.md", line 8(.|\n)*NameError')

    def test_files_and_shell(self):
        self.run_page(('cmake', '# CMakeLists.txt\nproject(robot)'), ('sh', 'grep project CMakeLists.txt; echo $HOME'),
                      ('text', f'project(robot)\n{self.folder}'))
        self.assertRegex(self.failure(('sh', 'false\necho on')), '^page.md:3: exit status 1')

    def test_a_program_that_is_not_here_is_a_note(self):
        self.run_page(('sh no_such_program', 'no_such_program'))
        self.assertEqual(len(self.page.notes), 1)

    def test_blocks_of_some_languages_alone(self):
        self.run_page(('sh', 'false'), ('python', 'print(1)'), ('text', '1'), languages=['python'])
        self.assertEqual([b.language for b in self.page.blocks], ['python'])

    def test_a_text_belongs_to_the_block_before_it_on_the_page(self):
        page = ('sh', 'echo 1'), ('python', 'print(2)'), ('text', '2')
        self.run_page(*page, languages=['sh'])
        self.run_page(*page)
        self.assertIn('got\n2\nwanted\n1', self.failure(*page[:2], ('text', '1')))
        self.assertIn('got\n1\nwanted\n2', self.failure(page[0], page[2], page[1]))

    def test_what_nothing_runs_is_an_error(self):
        self.assertRegex(self.failure(('rust', 'fn main() {}')), "^page.md:3: nothing runs 'rust'")


class GivesWhatAReaderHas(SnippetTest):
    def setUp(self):
        super().setUp()
        tool = self.folder / 'elsewhere/rung'
        tool.parent.mkdir()
        tool.write_text('#!/bin/sh\necho climbs for $RUNG_BUDGET\n')
        tool.chmod(0o755)
        run_snippets.furnish(self.folder, tool)

    def test_a_clone_its_model_and_the_command(self):
        self.run_page(('sh', 'rung climb; build/rung; ls tests/data/bert_tiny/config.json'),
                      ('text', f'climbs for {run_snippets.SHORT}\n' * 2 + 'tests/data/bert_tiny/config.json'))
        self.assertEqual((self.folder / run_snippets.MODEL).resolve(), run_snippets.model_folder().resolve())

    def test_nothing_that_no_block_made(self):
        for name in ('encoder', 'encoder.rung', 'policy.rung', 'plan.rung'):
            self.assertRegex(self.failure(('sh', f'cat {name}')), 'No such file')


if __name__ == '__main__':
    unittest.main()
