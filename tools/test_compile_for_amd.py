#!/usr/bin/env python3
# Tests of the check that kernels compile for AMD: what it takes for an entry, and that one without code is a failure.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import compile_for_amd

ATTRIBUTES = '__attribute__((amdgpu_flat_work_group_size(1, (f(256)))))'
# Stands for a compiler: the entries of what it is given, and an object that no linker made.
STAND_IN = '''#!/bin/sh
for last; do :; done
while [ "$1" != -o ]; do case $1 in -E) only=1 ;; esac; shift; done
if [ "$only" ]; then cat "$last" >"$2"; else echo 'no object' >"$2"; fi
'''


def run(*arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), mock.patch.object(sys, 'argv', ['compile_for_amd.py', *arguments]):
        return compile_for_amd.main(), out.getvalue()


class FindsEntries(unittest.TestCase):
    def test_with_bounds_and_without(self):
        text = (f'extern "C" __attribute__((global)) void {ATTRIBUTES} one(const A a) {{ f(a); }}\n'
                'extern "C" __attribute__((global)) void two(A a) {}\n__attribute__((device)) void three() {}\n')
        self.assertEqual(compile_for_amd.entries(text), {'one', 'two'})

    def test_what_is_no_object_has_no_functions(self):
        self.assertEqual(compile_for_amd.functions_with_code(b'LLVM bundle'), set())

    def test_objects_name_the_functions_that_they_have(self):
        table = b'\0f\0g\0d\0'
        symbols = b''.join(struct.pack('<IBBHQQ', *symbol) for symbol in (
            (1, 0x12, 0, 1, 0, 8), (3, 0x12, 0, 0, 0, 8), (5, 0x11, 0, 1, 0, 8)))  # code, undefined, data
        strings_at, sections_at = 64 + len(symbols), 64 + len(symbols) + len(table)
        sections = struct.pack('<IIQQQQIIQQ', 0, 2, 0, 0, 64, len(symbols), 1, 0, 8, 24)
        sections += struct.pack('<IIQQQQIIQQ', 0, 3, 0, 0, strings_at, len(table), 0, 0, 1, 0)
        header = b'\x7fELF\x02\x01'.ljust(40, b'\0') + struct.pack('<Q', sections_at)
        header = header.ljust(60, b'\0') + struct.pack('<HH', 2, 0)
        self.assertEqual(compile_for_amd.functions_with_code(header + symbols + table + sections), {'f'})


class Says(unittest.TestCase):
    def test_which_compiler_it_lacks(self):
        code, output = run('--compiler', 'clang++-of-nobody')
        self.assertEqual((code, output), (compile_for_amd.SKIPPED, 'skipped: clang++-of-nobody is not installed\n'))

    def test_which_entry_has_no_code(self):
        with tempfile.TemporaryDirectory() as folder:
            kernels = Path(folder) / 'src' / 'kernels' / 'gpu' / 'norm'
            kernels.mkdir(parents=True)
            (kernels / 'a.cu').write_text(f'extern "C" __attribute__((global)) void {ATTRIBUTES} turn(A a) {{}}\n')
            (kernels / 'b_sm90.cu').write_text('asm("")\n')
            compiler = Path(folder) / 'compiler'
            compiler.write_text(STAND_IN)
            compiler.chmod(0o755)
            code, output = run(folder, '--compiler', str(compiler))
        self.assertEqual(code, 1)
        self.assertEqual(output, 'kernels/gpu/norm/a.cu: no code for turn\n0 passed, 1 failed (compiler, gfx942)\n')


if __name__ == '__main__':
    unittest.main()
