#!/usr/bin/env python3
# Tests of amd_kernel_page.py on a build that is made up.
# SPDX-License-Identifier: Apache-2.0
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import amd_kernel_page as page


def kernel(name, **other):
    accesses = {'memory_in_loops': {'16': 3}, 'lds_in_loops': {width: 0 for width in page.WIDTHS} | {'16': 2, '4': 1}}
    return {'name': name, 'vgprs': 64, 'lds_bytes': 512, 'vgpr_spills': 0, 'scratch_bytes': 0, 'empty_branches': 0,
            'wide_share_in_loops': 1.0, 'accesses_by_bytes': accesses} | other


class MadeUpBuild:
    tests = None

    def __init__(self, *kernels):
        self.all = kernels

    def modules(self):
        return ['module']

    def targets(self, module):
        return page.COMPILED

    def kernels(self, module, target):
        return self.all

    def occupancy(self, module, target, name, added):
        limited = added > 1000
        return {'waves_per_simd': 2.5 if limited else 4, 'groups': 5, 'limit': 'LDS' if limited else 'vector registers'}


class KernelPage(unittest.TestCase):
    def make(self, *kernels, added=None, reasons=None):
        launches = added or {}
        with mock.patch.object(page, 'launches', lambda tests, target: launches.get(target, {})), \
                mock.patch.object(page, 'REASONS', reasons or {}):
            return page.make_page(MadeUpBuild(*kernels), 'clang 1')

    def test_a_row_has_what_is_read(self):
        text, wrong = self.make(kernel('k'), added={'gfx942': {'k': {0, 2048}}, 'gfx950': {'k': {0}}})
        self.assertEqual(wrong, [])
        self.assertIn('| k | 64 | 512-2560 / 512 | 4 VGPRs, 2.5 LDS / 4 VGPRs | 100 % | 2 of 16, 1 of 4 |', text)

    def test_what_does_not_fit_one_architecture_is_not_counted_there(self):
        text, _ = self.make(kernel('k'), added={'gfx950': {'k': {2048}}})
        self.assertIn('| k | 64 | - / 2560 | - / 2.5 LDS |', text)

    def test_only_what_no_one_executes_may_be_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            build = page.Build(Path(folder))
            build.objects.mkdir()
            self.assertEqual(build.targets('module'), ['gfx942', 'gfx950'])
            (build.objects / 'module.gfx90a.co').touch()
            self.assertEqual(build.targets('module'), ['gfx90a', 'gfx942', 'gfx950'])

    def test_types_share_a_row(self):
        text, _ = self.make(kernel('k_bf16_1'), kernel('k_f16_1'), kernel('other_bf16'), kernel('other_f16', vgprs=9))
        for row in ('| k_T_1 | 64 | ', '| other_T | 64 or 9 | 512 | '):
            self.assertIn(row, text)

    def test_spills_scratch_and_empty_branches_are_wrong(self):
        _, wrong = self.make(kernel('k', vgpr_spills=3), kernel('l', scratch_bytes=16), kernel('m', empty_branches=1))
        self.assertIn('m: empty_branches is 1 on gfx942, wanted 0', wrong)
        self.assertIn('k: vgpr_spills is 3 on gfx90a, wanted 0', wrong)
        self.assertIn('l: scratch_bytes is 16 on gfx950, wanted 0', wrong)

    def test_narrow_loads_need_a_reason_and_reasons_a_kernel(self):
        narrow = kernel('k_1', wide_share_in_loops=0.74)
        self.assertEqual(self.make(narrow)[1],
                         ['k_1: 74 % of the bytes of its loops are in 16-byte accesses, and no reason why'])
        text, wrong = self.make(narrow, reasons={'k_.*': 'So it is.'})
        self.assertEqual(wrong, [])
        self.assertIn('`module`: So it is.', text)
        self.assertEqual(self.make(kernel('k_1'), reasons={'k_.*': 'So it is.'})[1],
                         ['the reason of k_.* is needed by no kernel'])

    def check(self, folder, text):
        path = Path(folder) / 'page.md'
        path.write_text(text, encoding='utf-8')
        with mock.patch.object(page, 'make_page', lambda build, compiler: (f'({compiler}) new\n', [])), \
                mock.patch.object(page, 'output_of', lambda command: 'Debian clang version 22.1.8 (1)'), \
                mock.patch.object(page.Build, 'modules', lambda build: ['module']), \
                mock.patch.object(sys, 'argv', ['page', folder, '--page', str(path), '--check']):
            return page.main()

    def test_a_page_of_the_same_compiler_must_be_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.check(folder, '(clang 22.1.8) new\n'), 0)
            self.assertEqual(self.check(folder, '(clang 22.1.8) old\n'), 1)
            self.assertEqual(self.check(folder, '(clang 21.0.0) old\n'), 0)

    def test_without_code_objects_it_is_skipped(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sys, 'argv', ['page', folder]):
            self.assertEqual(page.main(), page.SKIPPED)


if __name__ == '__main__':
    unittest.main()
