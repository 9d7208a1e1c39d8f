#!/usr/bin/env python3
# rung advise on traces whose truth is known: figures as an accounting in Python has them, findings of the program.
# SPDX-License-Identifier: Apache-2.0
#
# told_traces_test.py RUNG
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import accounting
import told_case
import told_traces

TOOL = sys.argv.pop(1)
HOST_CAUSES = {'host-bound launch', 'synchronization', 'copy', 'allocation', 'compilation', 'graph launch',
               'input loading', "host's work"}
LATER_CAUSES = {'device', 'unknown'}
NEAR_MS = 2e-6      # two nanoseconds: each time is rounded to one
CASES = {case.name: case for case in told_traces.cases()}


def category(work):
    return told_case.CATEGORY[work['name']]


class Answers:
    """What the tool says of each trace, asked once."""

    def __init__(self, folder):
        self.of, self.codes = {}, {}
        for name, case in CASES.items():
            path = Path(folder) / f'{name}.json'
            path.write_text(json.dumps(case.trace.json()))
            done = subprocess.run([TOOL, 'advise', str(path), '--json'], capture_output=True, text=True)
            self.of[name], self.codes[name] = json.loads(done.stdout), done.returncode


class ToldTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.answers = Answers(folder)

    def each(self, check):
        for name, case in CASES.items():
            with self.subTest(name):
                check(case, self.answers.of[name])

    def near(self, got, wanted_us, what, count=1):
        self.assertAlmostEqual(got, wanted_us / 1e3, delta=NEAR_MS * (count + 1), msg=what)

    def expect_sums(self, figures, wanted):
        pieces = len(figures['gaps']) + wanted.kernels + wanted.steps
        self.near(figures['wall_ms'], wanted.wall_us, 'wall', wanted.steps)
        self.near(figures['busy_ms'], wanted.busy_us, 'busy', pieces)
        self.assertEqual(figures['kernels'], wanted.kernels)
        got = {c['name']: c['ms'] for c in figures['categories']}
        self.assertEqual(set(got), set(wanted.categories))
        for name, us in wanted.categories.items():
            self.near(got[name], us, name, pieces)
        late = sum(g['ms'] for g in figures['gaps'] if g['cause'] in HOST_CAUSES)
        later = sum(g['ms'] for g in figures['gaps'] if g['cause'] in LATER_CAUSES)
        lost = sum(g['ms'] for g in figures['gaps'] if g['cause'] == 'work not recorded')
        self.near(late + later + lost, wanted.late_us + wanted.launched_us, 'gaps', pieces)
        if lost == 0:
            self.near(late, wanted.late_us, 'gaps until the launch', pieces)
            self.near(later, wanted.launched_us, 'gaps after the launch', pieces)

    def test_figures_are_those_of_the_accounting(self):
        def check(case, got):
            wanted = accounting.account(case.trace.events, case.steps_by, case.hosts, category)
            self.assertEqual(got['steps'], wanted.steps)
            self.near(got['step_ms'], wanted.step_us, 'step')
            if wanted.step is not None:
                self.expect_sums(got, wanted)
                self.expect_sums(got['step'], wanted.step)
            self.assertEqual(got['left_out']['outside'], wanted.outside)
            self.near(got['left_out']['outside_ms'], wanted.outside_us, 'outside', wanted.outside)
            self.assertEqual([o['step'] for o in got['left_out']['outliers']], wanted.outliers)
            self.assertEqual(got['launches']['lost'], wanted.lost if wanted.step else got['launches']['lost'])
            self.assertEqual(got['launches']['all'], wanted.launches)
        self.each(check)

    def test_findings_are_those_of_the_program(self):
        def check(case, got):
            found = {f['id'] for f in got['findings']}
            self.assertEqual(case.found - found, set(), found)
            self.assertEqual(case.absent & found, set())
            self.assertEqual(case.notes - {n['id'] for n in got['notes']}, set(), got['notes'])
            for finding, words in case.evidence.items():
                evidence = [e['event'] for f in got['findings'] if f['id'] == finding for e in f['evidence']]
                self.assertTrue(any(words in event for event in evidence), evidence)
            if case.breaks is not None:
                self.assertEqual(sum(b['count'] for b in got['capture_breaks']), case.breaks, got['capture_breaks'])
        self.each(check)

    def test_bounds_are_no_less_than_gains_and_no_more_than_a_step(self):
        def check(case, got):
            for finding in got['findings']:
                self.assertLessEqual(finding['bound_ms'], got['step_ms'] + NEAR_MS, finding['title'])
            bounds = {f['id']: f['bound_ms'] for f in got['findings']}
            for finding, gain_ms in case.gains.items():
                self.assertGreaterEqual(bounds.get(finding, 0), gain_ms - 0.01, finding)
        self.each(check)

    def test_what_lacks_is_said_first_and_by_the_exit_code(self):
        def check(case, got):
            self.assertEqual(got['complete'], case.complete, got['notes'])
            self.assertEqual(self.answers.codes[case.name], 0 if case.complete else 1)
            grave = [n['grave'] for n in got['notes']]
            self.assertEqual(grave, sorted(grave, reverse=True))
        self.each(check)

    def test_the_rate_of_a_loop_is_no_matter(self):
        steps = {self.answers.of[name]['step_ms'] for name in CASES if name.startswith('rate_') and
                 not name.endswith('unnamed')}
        self.assertEqual(steps, {5.0})

    def test_other_streams_and_devices_have_the_same_sums(self):
        def check(case, got):
            if case.same_as is None:
                return
            other = self.answers.of[case.same_as]
            for field in ('step_ms', 'wall_ms', 'busy_ms', 'kernels', 'categories', 'by_kernel', 'gaps', 'step',
                          'left_out', 'launches'):
                self.assertEqual(got[field], other[field], field)
        self.each(check)

    def test_exchanged_devices_exchange_the_answers(self):
        def check(case, got):
            if not case.exchanged:
                return
            for field in ('findings', 'notes', 'capture_breaks', 'complete'):
                text = json.dumps(self.answers.of[case.same_as][field])
                other = json.loads(re.sub(r'(?<=device )\d', lambda n: case.exchanged[n.group()], text))
                for finding in [*got[field], *other] if field == 'findings' else []:
                    finding['evidence'].sort(key=lambda e: e['event'])
                self.assertEqual(got[field], other, field)
        self.each(check)


if __name__ == '__main__':
    unittest.main()
