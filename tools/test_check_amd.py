#!/usr/bin/env python3
# Tests of ./dev check-amd: a step that fails does not keep the next from running, and the file says all of it.
# SPDX-License-Identifier: Apache-2.0
#
# test_check_amd.py [BUILD LIBRARIES]: also runs it on the build in that folder, with the runtime of AMD's in another.
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import check_amd

# Stands for rung: knows what it was called with, and fails where it is told to.
STAND_IN = '''#!/bin/sh
case "$*" in
  *pi0_tiny_masked*) kill -ABRT $$ ;;
  *pi0_tiny*) echo 'rung: error: it is too hot' >&2; exit 1 ;;
  *bench*) echo '{"median_ms":1.5}' ;;
  *) echo "{\\"device\\":\\"hip Stand-in\\"}" ;;
esac
'''
SKIPPING = '''#!/bin/sh
echo '[  SKIPPED ] 1 test'; echo '[  PASSED  ] 0 tests.'
'''
ours, libraries = (sys.argv[1:3] + ['', ''])[:2]


def check(build, *options, environment=None):
    """Exit status, what it printed, its summary, and the names in its file."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / 'sent.tar.gz'
        done = subprocess.run([sys.executable, check_amd.__file__, '--build', str(build), '--out', str(out), *options],
                              capture_output=True, text=True, check=False, env=environment)
        if not out.exists():
            return done.returncode, done.stdout + done.stderr, None, []
        with tarfile.open(out) as archive:
            summary = json.load(archive.extractfile('check-amd/summary.json'))
            return done.returncode, done.stdout, summary, archive.getnames()


class CheckAmd(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.build = Path(self.folder.name)
        (self.build / 'tests').mkdir()
        for path, text in [(self.build / 'rung', STAND_IN), (self.build / 'tests/rung_conformance_tests', SKIPPING)]:
            path.write_text(text)
            path.chmod(0o755)

    def test_goes_on_after_a_step_that_fails(self):
        status, printed, summary, names = check(self.build, '--steps', 'device,pi0_tiny,pi0_tiny_masked,bert_tiny')
        self.assertEqual(status, 1)
        steps = {step['step']: step for step in summary['steps']}
        self.assertEqual(list(steps), ['device', 'bert_tiny', 'pi0_tiny', 'pi0_tiny_masked'])
        self.assertTrue(steps['device']['passed'] and steps['bert_tiny']['passed'])
        self.assertEqual(steps['device']['results'], [{'median_ms': 1.5}])
        self.assertEqual(steps['pi0_tiny']['failure'], 'exit code 1')
        self.assertEqual(steps['pi0_tiny_masked']['failure'], 'ended by signal 6')
        self.assertIn('2 of 4 steps passed; failed: pi0_tiny, pi0_tiny_masked', printed)
        self.assertIn('check-amd/pi0_tiny.log', names)

    def test_takes_no_skip_and_no_missing_program_for_a_pass(self):
        status, _, summary, _ = check(self.build, '--steps', 'conformance,headers')
        self.assertEqual(status, 1)
        self.assertEqual([step['failure'][:11] for step in summary['steps']], ['not started', 'skipped'])

    def test_knows_its_steps(self):
        status, printed, summary, _ = check(self.build, '--steps', 'device,everything')
        self.assertEqual((status != 0, summary), (True, None))
        self.assertIn('there is no step everything; the steps are device, headers,', printed)

    @unittest.skipUnless(ours, 'no build was named')
    def test_passes_where_the_emulator_plays_the_device(self):
        status, printed, summary, _ = check(ours, '--steps', 'device,conformance,bert_tiny', '--rows',
                                            '*GpuKernelRow*/softmax_gpu',
                                            environment=os.environ | {'LD_LIBRARY_PATH': libraries,
                                                                       'RUNG_TEST_PART': '1/16'})
        self.assertEqual(status, 0, printed)
        self.assertIn('hip Emulated Instinct gfx942', json.dumps(summary['steps'][0]['results']))
        self.assertIn('"platform"', json.dumps(summary['facts']))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
