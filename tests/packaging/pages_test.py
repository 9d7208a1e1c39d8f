#!/usr/bin/env python3
# What the first pages say is what the sources and the measurements have.
# SPDX-License-Identifier: Apache-2.0
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import run_snippets  # noqa: E402

FIRST_SCREEN = 40  # lines
PAGES = [ROOT / 'README.md', *(page for page in (ROOT / 'docs').glob('*.md') if not page.name.startswith('reference_'))]
# A name of a file that a command opens or makes; what stands for a reader's own is in capitals.
ENDINGS = 'json|gz|csv|npz|rung|html|md|txt|db|sqlite|proto|nsys-rep|py'
FILE = re.compile(rf'(?<![\w./~{{}}$*-])[\w./~-]*[a-z0-9]\.(?:{ENDINGS})\b')
MAKES = re.compile(r'(?:--(?:out|outputs|html|markdown|capture|trace|prefix)|-[od]|>) (\S+)|trace\("([\w./-]+)"\)')


def unknown_files(text):
    """(line, file) of what commands of a page open, and neither a clone has nor a line before has made."""
    made, found = {run_snippets.MODEL.name}, []
    for block in run_snippets.blocks_of(text):
        made |= {block.file} if block.file else set()
        for number, line in enumerate(block.text.split('\n'), block.line):
            made |= {name for pair in MAKES.findall(line) for name in pair if name}
            if re.match(r'(?:\S*/)?rung |python3? ', line) and block.language in ('', 'text', 'sh'):
                found += [(number, name) for name in FILE.findall(line.split(' #')[0])
                          if not (ROOT / name).exists() and not made & {name, *map(str, Path(name).parents)}]
    return found


def text_of(path):
    return (ROOT / path).read_text(encoding='utf-8')


class Commands(unittest.TestCase):
    def test_open_what_a_clone_has_or_the_page_made(self):
        self.assertEqual({page.name: found for page in PAGES if (found := unknown_files(page.read_text()))}, {})

    def test_a_file_from_nowhere_is_found_at_its_line(self):
        lines = 'rung advise README.md --html a.html', 'rung advise a.html b.html', 'rung bench made/plan.rung'
        page = '\n'.join(['Prose.', '```', *lines, '```', ''])
        self.assertEqual(unknown_files(page), [(4, 'b.html'), (5, 'made/plan.rung')])
        self.assertEqual(unknown_files(page.replace('--html a.html', '--html a.html --out made')), [(4, 'b.html')])
        page = '```text\nrocprof -o results.csv x\nrung advise results.csv  # c.csv\n```\n'
        self.assertEqual(unknown_files(page), [])


class Changes(unittest.TestCase):
    def test_the_newest_release_is_this_one(self):
        version = re.search(r'kRungVersion = "([0-9.]+)"', text_of('src/base/version.hpp'))[1]
        self.assertEqual(re.findall(r'^## ([0-9.]+)', text_of('CHANGELOG.md'), re.MULTILINE)[0], version)
        self.assertIn(f'rung is at {version}:', text_of('docs/compatibility.md'))


class Security(unittest.TestCase):
    def test_names_every_fuzzer_and_no_other(self):
        fuzzers = {path.stem for path in (ROOT / 'tests/fuzz').glob('*_fuzz.cpp')}
        self.assertEqual(set(re.findall(r'\b\w+_fuzz\b', text_of('SECURITY.md'))), fuzzers)


class Readme(unittest.TestCase):
    def screen(self):
        return '\n'.join(text_of('README.md').splitlines()[:FIRST_SCREEN])

    def test_the_first_screen_says_what_a_newcomer_asks(self):
        for what in ('For whom', 'Models', 'Gain', 'Runs on', 'Install', 'Time'):
            self.assertRegex(self.screen(), rf'(?m)^\| \*\*{what}\*\* \|')
        self.assertIn('pip install .', self.screen())

    def test_the_figures_of_the_first_screen_are_measured_ones(self):
        measured = text_of('docs/measurements.md') + text_of('docs/measurements_cpu.md')
        (gain,) = re.findall(r'\| \*\*Gain\*\* \| (.+) \|', self.screen())
        figures = re.findall(r'\d+\.\d+(?= ms| to|,| and)', gain)
        self.assertGreaterEqual(len(figures), 4)
        self.assertEqual([figure for figure in figures if not re.search(rf'(?<![\d.]){figure}(?!\d)', measured)], [])

    def test_models_are_those_that_have_an_importer(self):
        importers = re.findall(r'^    \{"(\w+)", is_', text_of('src/import/huggingface/architecture.hpp'), re.MULTILINE)
        (models,) = re.findall(r'\| \*\*Models\*\* \| (.+) \|', self.screen())
        for name in re.findall(r'`(\w+)`', models):
            self.assertIn(name, importers)


if __name__ == '__main__':
    unittest.main()
