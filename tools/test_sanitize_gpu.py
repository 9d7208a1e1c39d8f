#!/usr/bin/env python3
# Tests of the sanitizer runner, with stand-ins for the test programs and for compute-sanitizer.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import sanitize_gpu

LISTING = ('All/GpuKernelRow.\n  AgreesWithTheReference/{0}  # GetParam() = 0x1\n'
           'GpuKernelTable.\n  EveryProblemHasARow\n')
# Prints its test's list, or stands for compute-sanitizer, which says of each row what the row's name says.
STAND_IN = '''#!/bin/sh
say() {{ echo "========= RACECHECK SUMMARY: $1"; }}
case "$*" in
  *--gtest_list_tests*) printf '{listing}'; exit 0 ;;
  *racy*) echo '[  PASSED  ] 1 test.'; say '1 hazard displayed (1 error, 0 warnings)'; exit 0 ;;
  *wrong*) echo '[  FAILED  ] 1 test'; say '0 hazards displayed (0 errors, 0 warnings)'; exit 1 ;;
  *endless*) echo 'row tile=8 on a problem'; sleep 60 & echo $! >>"$0.children"; wait ;;
  *absent*) echo '[  SKIPPED ] 1 test'; echo '[  PASSED  ] 0 tests.' ;;
  *) echo '[  PASSED  ] 1 test.' ;;
esac
say '0 hazards displayed (0 errors, 0 warnings)'
'''


def sanitize(row, *options, sanitizer='sanitizer'):
    """Exit status, output, and the processes that the stand-ins began, for a suite of that row and one more test."""
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / 'tests'
        tests.mkdir()
        listing = LISTING.format(row).replace('\n', '\\n')
        for program in [tests / name for name in sanitize_gpu.PROGRAMS] + [Path(folder) / 'sanitizer']:
            program.write_text(STAND_IN.format(listing=listing))
            program.chmod(0o755)
        done = subprocess.run([sys.executable, sanitize_gpu.__file__, '--build', folder, '--sanitizer',
                               str(Path(folder) / sanitizer), '--logs', folder + '/logs', '--tools', 'racecheck',
                               '--parts', '2', *options], capture_output=True, text=True)
        children = Path(folder) / 'sanitizer.children'
        return done.returncode, done.stdout + done.stderr, children.read_text().split() if children.exists() else []


def runs(process):
    """Is it there, and no zombie that waits to be collected?"""
    try:
        return Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def ends(process):
    """Within seconds."""
    until = time.monotonic() + 5
    while runs(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not runs(process)


class SanitizeGpu(unittest.TestCase):
    def test_says_when_all_are_clean(self):
        status, out, _ = sanitize('calm')
        self.assertEqual((status, out), (0, 'racecheck: 6 clean\nall clean\n'))  # two programs, two parts and one more

    def test_reports_hazards_of_tests_that_pass(self):
        status, out, _ = sanitize('racy')
        self.assertEqual(status, 1)
        self.assertIn('reported: racecheck All/GpuKernelRow.AgreesWithTheReference/racy 2/2', out)

    def test_reports_tests_that_fail(self):
        self.assertEqual(sanitize('wrong')[0], 1)

    def test_does_not_call_a_skipped_test_clean(self):
        status, out, _ = sanitize('absent')
        self.assertEqual((status, out.splitlines()[0]), (0, 'racecheck: 2 clean, 4 skipped'))

    def test_names_and_ends_what_had_not_finished(self):
        status, out, children = sanitize('endless', '--seconds', '1')
        self.assertEqual(status, 1)
        name = 'racecheck All/GpuKernelRow.AgreesWithTheReference/endless 1/2'
        self.assertIn(f'not finished: {name}, at: row tile=8 on a problem\n', out)
        self.assertTrue(children)
        for process in children:
            self.assertTrue(ends(process), process)

    def test_says_what_it_lacks(self):
        status, out, _ = sanitize('calm', sanitizer='none')
        self.assertEqual(status, 1)
        self.assertIn('there is no program', out)

    def test_does_not_call_it_clean_where_no_test_ran(self):
        self.assertEqual(sanitize_gpu.verdict(0, '[  PASSED  ] 0 tests.\nERROR SUMMARY: 0 errors'), 'skipped')
        self.assertEqual(sanitize_gpu.verdict(0, '[  PASSED  ] 1 test.'), 'reported')


if __name__ == '__main__':
    unittest.main()
