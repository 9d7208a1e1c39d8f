#!/usr/bin/env python3
# Tests of tools/given_options.py: an option that no test gives is named, whichever way it came into the table.
# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import given_options

TABLE = '''constexpr auto kOptions = {
    {"runs", "", "N", "timed runs"},
    {"log", "RUNG_LOG", "LEVEL", "words"},
});
add(app, "log", options.log_level);
'''
BENCH = 'auto* command = add_command(app, "bench", "measure"); add(*command, "runs", runs);'
TUNE = 'auto* command = add_command(app, "tune", "tune"); add(*command, "runs", runs);'
TESTS = '''Ran run() { return tool.run({"--log", "3"}); }
TEST(Bench, Runs) { run({"bench", "--runs", "1"}); setenv("RUNG_LOG", "2", 1); }
TEST_P(Others, Run) { run({GetParam(), "--runs", "1"}); }
INSTANTIATE_TEST_SUITE_P(All, Others, testing::Values("tune"));
TEST(Tune, Runs) { run({"tune", "--log", "1"}); }
'''


class GivenOptions(unittest.TestCase):
    def missing(self, tests=TESTS, table=TABLE, **commands):
        with tempfile.TemporaryDirectory() as root:
            for folder in ('src/cli', 'tests/cli'):
                (Path(root) / folder).mkdir(parents=True)
            files = {'options': table, 'bench': BENCH, 'tune': TUNE, **commands}
            for name, text in files.items():
                (Path(root) / f'src/cli/{name}.cpp').write_text(text)
            (Path(root) / 'tests/cli/some_test.cpp').write_text(tests)
            return given_options.missing(Path(root))

    def test_all_that_are_given_leave_nothing_to_say(self):
        self.assertEqual(self.missing(), [])

    def test_an_option_of_a_command_is_wanted_with_that_command(self):
        self.assertEqual(self.missing(TESTS.replace('Values("tune")', 'Values("run")')), ['tune --runs'])

    def test_a_shared_option_is_wanted_once(self):
        self.assertEqual(self.missing(TESTS.replace('"--log"', '"-"')), ['any command --log'])

    def test_a_variable_is_wanted_by_name(self):
        self.assertEqual(self.missing(TESTS.replace('"RUNG_LOG"', '""')), ['RUNG_LOG'])

    def test_a_row_that_no_command_adds_is_named(self):
        self.assertEqual(self.missing(table=TABLE.replace('    {"log"', '    {"new", "", "X", "y"},\n    {"log"')),
                         ['--new is added to no command'])

    def test_a_value_with_an_equals_sign_counts(self):
        self.assertEqual(self.missing(TESTS.replace('"--runs", "1"', '"--runs=1"')), [])

    def test_sources_that_are_written_otherwise_are_no_success(self):
        with self.assertRaises(given_options.Unread):
            self.missing(table=TABLE.replace('{"runs"', '{"run"'))
        with self.assertRaises(given_options.Unread):
            self.missing(bench='add(*command, "runs", runs);')


if __name__ == '__main__':
    unittest.main()
