#!/usr/bin/env python3
# Tests of the script that interrupts climbs, with stand-ins for the tool.
# SPDX-License-Identifier: Apache-2.0
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import interrupt_climbs

# Climbs until it is signalled, and then does as it is told; arguments: climb MODEL --budget TIME --out FOLDER.
STAND_IN = '''#!/bin/sh
out=$6 cache=$RUNG_CACHE_DIR
end() {{
  trap - INT TERM
  echo 'rung: error: interrupted' >&2
  {deed}
  kill -$1 $$
}}
trap 'end INT' INT
trap 'end TERM' TERM
echo 'rung: reference' >&2
while :; do sleep 0.02; done
'''


def climbs(deed, *options):
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / 'tool'
        tool.write_text(STAND_IN.format(deed=deed))
        tool.chmod(0o755)
        done = subprocess.run([sys.executable, interrupt_climbs.__file__, '--tool', tool, '--climbs', '2',
                               '--patience', '0.5', *options], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class InterruptClimbs(unittest.TestCase):
    def expect(self, deed, complaint):
        status, out = climbs(deed, '--span', '0.4')
        self.assertEqual(status, 1, out)
        self.assertIn(complaint, out)

    def test_says_when_all_ended_as_they_should(self):
        status, out = climbs(':', '--span', '0.4')
        self.assertEqual(status, 0, out)
        self.assertIn('2 interrupted; 0 not as they should', out)

    def test_finds_part_of_a_result(self):
        self.expect('mkdir $out; echo >$out/plan.rung', 'it left out/plan.rung')

    def test_finds_files_beside_the_database(self):
        self.expect('mkdir $cache; echo >$cache/tuning.json.tmp.7', 'it left cache/tuning.json.tmp.7')

    def test_finds_a_damaged_database(self):
        self.expect('mkdir $cache; echo { >$cache/tuning.json', 'it left a damaged tuning.json')

    def test_finds_files_in_the_working_folder(self):
        self.expect('echo >core', 'it left cwd/core')

    def test_finds_a_crash(self):
        self.expect('kill -SEGV $$', f'it ended with -{signal.SIGSEGV.value}')

    def test_finds_one_that_does_not_end(self):
        self.expect('while :; do sleep 1; done', 'it hung')

    def test_finds_a_process_that_stays(self):
        self.expect('sleep 5 &', 'it left a process')

    def test_finds_a_second_error_line_and_another_reason(self):
        self.expect("echo 'rung: error: out of luck' >&2", '2 error lines')
        case = interrupt_climbs.Case(1, signal.SIGINT, False, False)
        ended = interrupt_climbs.Ended(-2, 'rung: reference\nrung: error: out of luck\n', 0, [])
        self.assertEqual(interrupt_climbs.complaints(case, ended), ['it says: rung: error: out of luck'])

    def test_wants_the_line_that_says_why(self):
        case = interrupt_climbs.Case(1, signal.SIGINT, False, False)
        ended = interrupt_climbs.Ended(-2, 'rung: reference\n', 0, [])
        self.assertEqual(interrupt_climbs.complaints(case, ended), ['0 error lines'])
        self.assertEqual(interrupt_climbs.complaints(case, interrupt_climbs.Ended(-2, '', 0, [])), [])  # not begun

    def test_signals_at_every_step_and_in_every_way(self):
        cases = interrupt_climbs.cases_of(24, 0.03)
        self.assertEqual({round(case.delay, 3) for case in cases}, {0.01, 0.02, 0.03})
        self.assertEqual(len({(case.signal, case.twice, case.group) for case in cases}), 8)
        few = interrupt_climbs.cases_of(4, 0.4)
        self.assertEqual([round(case.delay, 2) for case in few], [0.01, 0.11, 0.21, 0.31])


if __name__ == '__main__':
    unittest.main()
