#!/usr/bin/env python3
# What given_options.py takes for a test that gives an option.
# SPDX-License-Identifier: Apache-2.0
import unittest

from given_options import given_in_file, subcommands

COMMANDS = {'run', 'bench'}


class GivenOptions(unittest.TestCase):
    def given(self, source):
        return set(given_in_file(source, COMMANDS))

    def test_an_option_is_given_in_a_statement_with_its_command(self):
        self.assertEqual(self.given('tool.run({"bench", model, "--rate", "20"});'), {('bench', '--rate')})
        self.assertEqual(self.given("self.tool('run', '--dtype=bf16')"), {('run', '--dtype')})
        self.assertEqual(self.given('shell("rung bench M --rate 5");'), {('bench', '--rate')})

    def test_statements_apart_give_nothing(self):
        self.assertEqual(self.given('tool.run({"bench"});\ntool.go({"--rate"});\n'), set())
        self.assertEqual(self.given('// "bench" and\n\n// "--rate"'), set())

    def test_a_function_that_runs_a_command_is_the_command(self):
        wrapper = 'Ran bench(Words more) { return go(more); }\n\n'
        self.assertEqual(self.given(wrapper + 'bench({"--rate"});'), {('bench', '--rate')})
        self.assertEqual(self.given(wrapper + 'tool.bench({"--rate"});'), set())
        self.assertEqual(self.given('bench({"--rate"});'), set())

    def test_commands_are_those_under_their_heading(self):
        text = 'Options:\n  -h,--help   Print\n\nSubcommands:\n  run    run it\n  tune   tune it\n'
        self.assertEqual(subcommands(text), ['run', 'tune'])
        self.assertEqual(subcommands('Options:\n  --json\n'), [])


if __name__ == '__main__':
    unittest.main()
