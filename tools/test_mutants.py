#!/usr/bin/env python3
# Tests of the mutant runner on a project of one shell script, with stand-ins for cmake and ninja.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import mutants

# Stands for a test program: fails when the sum is wrong, crashes when there is none.
PROGRAM = '''#!/bin/sh
sum=$((2 + 2))
case "$*" in
  *Sum.IsRight*) tests=1 ;;
  *) tests=0 ;;
esac
echo "[==========] $tests tests from 1 test suite ran."
[ -n "$sum" ] || kill -SEGV $$
[ $tests = 0 ] || [ "$sum" = 4 ] || exit 1
'''
# "Builds" the program by checking and copying it.
NINJA = '''#!/bin/sh
sh -n src/program.sh && mkdir -p build/ci/tests && cp src/program.sh build/ci/tests/rung_sum_tests &&
  chmod +x build/ci/tests/rung_sum_tests
'''
DIFF = '''--- a/src/program.sh
+++ b/src/program.sh
@@ -1,3 +1,3 @@
 #!/bin/sh
-{}
+{}
 case "$*" in
'''


def patch(line, test='Sum.IsRight', old='sum=$((2 + 2))'):
    return f'A wrong sum.\nTest: rung_sum_tests {test}\n' + DIFF.format(old, line)


class Project:
    """A clone with its stand-ins; `try_out` runs the runner over it."""

    def __init__(self, folder, patches):
        self.root = Path(folder) / 'clone'
        self.tools = Path(folder) / 'bin'
        for path, text in [('src/program.sh', PROGRAM), ('.gitignore', '/.cache/\n')]:
            self.write(path, text)
        for name, text in patches.items():
            self.write(f'tests/mutants/{name}.patch', text)
        self.tools.mkdir()
        for name, text in [('cmake', '#!/bin/sh\n'), ('ninja', NINJA)]:
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        subprocess.run(['git', 'init', '-q', self.root], check=True)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def try_out(self, *options):
        environment = {**os.environ, 'PATH': f'{self.tools}:{os.environ["PATH"]}'}
        done = subprocess.run([sys.executable, mutants.__file__, '--root', self.root, *options], env=environment,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def try_out(patches, *options):
    with tempfile.TemporaryDirectory() as folder:
        return Project(folder, patches).try_out(*options)


class Mutants(unittest.TestCase):
    def test_tells_the_killed_from_the_survivors(self):
        status, out = try_out({'sum_five': patch('sum=5'), 'sum_same': patch('sum=4'), 'sum_none': patch('sum=')})
        self.assertEqual(status, 1)
        self.assertRegex(out, r'killed +sum_five')
        self.assertRegex(out, r'killed +sum_none')
        self.assertRegex(out, r'SURVIVED +sum_same.*\n +A wrong sum\.\n +rung_sum_tests Sum\.IsRight passed')
        self.assertIn('2 of 3 mutants killed', out)

    def test_tries_only_those_named(self):
        status, out = try_out({'sum_five': patch('sum=5'), 'sum_same': patch('sum=4')}, 'sum_five')
        self.assertEqual((status, out.splitlines()[-1]), (0, '1 of 1 mutants killed'))

    def test_refuses_names_that_do_not_exist(self):
        status, out = try_out({'sum_five': patch('sum=5')}, 'sum_six')
        self.assertEqual(status, 1)
        self.assertIn('there is no mutant sum_six', out)

    def test_counts_a_patch_that_no_longer_applies_as_an_error(self):
        status, out = try_out({'sum_old': patch('sum=5', old='sum=$((1 + 3))')})
        self.assertEqual(status, 1)
        self.assertIn('cannot be judged', out)

    def test_counts_a_patch_that_does_not_compile_as_an_error(self):
        status, out = try_out({'sum_broken': patch('sum=$((')})
        self.assertEqual(status, 1)
        self.assertIn('cannot be judged', out)

    def test_wants_a_test_that_runs_and_passes_without_the_mistake_and_judges_the_others(self):
        status, out = try_out({'sum_five': patch('sum=5', test='Sum.IsGone'), 'sum_six': patch('sum=6')})
        self.assertEqual(status, 1)
        self.assertIn('UNKNOWN   sum_five: without the mistake, rung_sum_tests Sum.IsGone ran no test', out)
        self.assertRegex(out, r'killed +sum_six')
        self.assertIn('1 of 2 mutants killed', out)

    def test_refuses_a_patch_without_its_test(self):
        status, out = try_out({'sum_five': 'A wrong sum.\n' + DIFF.format('sum=$((2 + 2))', 'sum=5')})
        self.assertEqual(status, 1)
        self.assertIn('sum_five.patch: wanted a sentence', out)

    def test_follows_the_sources_and_leaves_them_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            project = Project(folder, {'sum_five': patch('sum=5')})
            self.assertEqual(project.try_out()[0], 0)
            self.assertEqual((project.root / 'src/program.sh').read_text(), PROGRAM)
            project.write('src/program.sh', PROGRAM.replace('|| exit 1', '|| true'))  # a test that checks nothing
            self.assertEqual(project.try_out()[0], 1)

    def test_does_not_take_a_skipped_test_for_a_verdict(self):
        ran = '[==========] 1 test from 1 test suite ran.\n'
        self.assertEqual(mutants.verdict(0, ran + '[  SKIPPED ] 1 test.'), 'was skipped')
        self.assertEqual(mutants.verdict(1, ran), 'failed')


if __name__ == '__main__':
    unittest.main()
