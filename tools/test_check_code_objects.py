#!/usr/bin/env python3
# Tests of the check of code objects: that it reads them, and names each fault of a kernel that is compiled with one.
# SPDX-License-Identifier: Apache-2.0
#
#   test_check_code_objects.py llvm-objdump-22 clang++-22 OPTIONS
#
# What is compiled here is skipped where one of both programs is not installed.
import contextlib
import io
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_code_objects as check
from code_object import CodeObject, Malformed, Packed

OBJDUMP, COMPILER = sys.argv[1] if len(sys.argv) > 1 else 'llvm-objdump-22', sys.argv[2:]
ATTRIBUTE = '__attribute__((amdgpu_flat_work_group_size(1, (f(256)))))'
GLOBAL = 'extern "C" __attribute__((global)) void '
SIDE = check.ROOT / 'src/kernels/gpu/vendor/amd.cuh'
TARGET = 'gfx942'
# Of a kernel that adds 1, which is as it should be: the body, which has `x`.
SOUND = 'x[threadIdx.x] += 1;'


def source(body, head='RUNG_KERNEL(64)', extra=''):
    return (f'#include "kernels/gpu/vendor/vendor.cuh"\n{extra}\n'
            f'namespace rung::gpu {{}}\n{head} probe(float* x, int n) {{ {body} }}\n')


def checked(text, change=lambda name: None):
    """The exit status and the words of a check of one module, compiled from `text`; `change` gets its path before."""
    with tempfile.TemporaryDirectory() as folder:
        sources, objects = Path(folder) / 'src', Path(folder) / 'gpu'
        (sources / 'kernels/gpu/vendor').mkdir(parents=True)
        objects.mkdir()
        shutil.copy(SIDE, sources / 'kernels/gpu/vendor')
        shutil.copy(SIDE.parent / 'vendor.cuh', sources / 'kernels/gpu/vendor')
        module, compiled = sources / 'kernels/gpu/module.cu', objects / f'module.{TARGET}.co'
        module.write_text(text, encoding='utf-8')
        command = [*COMPILER, f'--offload-arch={TARGET}', '-I', str(sources)]
        subprocess.run([*command, '-o', str(compiled), str(module)], check=True)
        change(module)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.object(sys, 'argv', [
                'check', str(objects), '--objdump', OBJDUMP, '--sources', str(sources), '--', *command]):
            return check.main(), out.getvalue()


class Reads(unittest.TestCase):
    def test_values_of_every_size(self):
        for data, value in ((b'\x05', 5), (b'\xff', -1), (b'\xcc\xc8', 200), (b'\xcd\x01\x00', 256),
                            (b'\xce\x00\x01\x00\x00', 65536), (b'\xa2hi', 'hi'), (b'\xd9\x02hi', 'hi'),
                            (b'\x92\xc2\xc3', [False, True]), (b'\x81\xa1a\xc0', {'a': None}),
                            (b'\xdc\x00\x01\x07', [7]), (b'\xde\x00\x01\xa1a\x07', {'a': 7})):
            self.assertEqual(Packed(data).value(), value)

    def test_damaged_metadata_are_said_to_be(self):
        with self.assertRaisesRegex(Malformed, 'end at byte 2, wanted 5 more'):
            Packed(b'\xa5h').value()
        with self.assertRaisesRegex(Malformed, 'kind 0xc1'):
            Packed(b'\xc1').value()

    def test_only_elf_files_with_metadata(self):
        header = bytearray(64)
        with self.assertRaisesRegex(Malformed, 'not a 64-bit'):
            CodeObject(bytes(header))
        header[:6] = b'\x7fELF\x02\x01'
        with self.assertRaisesRegex(Malformed, 'no metadata'):
            CodeObject(bytes(header))
        struct.pack_into('<Q', header, 40, 1 << 20)
        struct.pack_into('<H', header, 60, 9)
        with self.assertRaisesRegex(Malformed, 'damaged'):
            CodeObject(bytes(header))

    def test_bounds_of_entries(self):
        text = f'{GLOBAL}one(A a) {{}} {GLOBAL}{ATTRIBUTE}\n  two(B b) {{ }} void three();'
        self.assertEqual(check.bounds(text), {'one': None, 'two': '(f(256))'})

    def test_metadata(self):
        sound = {'.name': 'k', '.vgpr_spill_count': 0, '.private_segment_fixed_size': 0, '.wavefront_size': 64,
                 '.group_segment_fixed_size': 65536}
        self.assertEqual(list(check.wrong_metadata(sound, 'gfx942')), [])
        for key, value in (('.vgpr_spill_count', 2), ('.private_segment_fixed_size', 4), ('.wavefront_size', 32),
                           ('.group_segment_fixed_size', 65537), ('.uses_dynamic_stack', True)):
            self.assertEqual(len(list(check.wrong_metadata({**sound, key: value}, 'gfx942'))), 1, key)
        self.assertEqual(list(check.wrong_metadata({**sound, '.group_segment_fixed_size': 65537}, 'gfx950')), [])

    def test_instructions(self):
        listing = '0000000000001900 <k>:\n\tv_exp_f32_e32 v0, v1\n\ts_endpgm\n'
        self.assertEqual(list(check.wrong_instructions(listing, 'y = fast_exp2(x);')), [])
        self.assertRegex(next(check.wrong_instructions(listing, 'y = x;')), 'k: v_exp_f32_e32, .* no function')
        self.assertRegex(next(check.wrong_instructions(listing.replace('exp', 'sin'), '')), 'no reduction')


@unittest.skipUnless(COMPILER and shutil.which(COMPILER[0]) and shutil.which(OBJDUMP),
                     'no compiler or disassembler of code objects is installed')
class Finds(unittest.TestCase):
    def expect(self, text, words, change=lambda name: None):
        status, output = checked(text, change)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, words)

    def test_nothing_wrong_with_a_sound_kernel(self):
        status, output = checked(source(SOUND))
        self.assertEqual(status, 0, output)
        self.assertIn('1 passed, 0 failed (gfx942)', output)

    def test_a_bound_that_the_compiler_does_not_take(self):
        self.expect(source(SOUND), r'max_flat_workgroup_size is 64, wanted .*\(128\)',
                    lambda module: module.write_text(source(SOUND, 'RUNG_KERNEL(128)'), encoding='utf-8'))

    def test_a_bound_spelt_so_that_it_is_ignored(self):
        head = ('#undef RUNG_BOUND\n#define RUNG_BOUND(...) __attribute__((launch_bounds(__VA_ARGS__)))\n'
                'RUNG_KERNEL(64)')
        self.expect(source(SOUND, head), r'max_flat_workgroup_size is 1024, wanted 64')

    def test_kernels_of_another_source(self):
        self.expect(source(SOUND), r"it has \['probe'\].*wanted \['other'\]", lambda module: module.write_text(
            source(SOUND).replace('probe', 'other'), encoding='utf-8'))

    def test_scratch(self):
        self.expect(source('float a[64]; for (int i = 0; i < 64; ++i) a[i] = x[i * n]; x[0] = a[n & 63] + a[n & 31];',
                           extra='#pragma clang diagnostic ignored "-Weverything"'),
                    r'private_segment_fixed_size is \d+, wanted 0|flat_')

    def test_a_call(self):
        extra = '__device__ __attribute__((noinline)) float twice(float v) { return v * v + logf(v); }'
        self.expect(source('x[0] = twice(x[1]);', extra=extra), 's_swappc_b64: a call')

    def test_the_sine_of_the_hardware(self):
        self.expect(source('x[0] = __builtin_sinf(x[0]);'), 'v_sin_f32_e32: no reduction of the argument')

    def test_an_exponential_that_nobody_asks_for(self):
        self.expect(source('x[0] = __builtin_amdgcn_exp2f(x[0]);'), 'v_exp_f32_e32, and the source asks')

    def test_an_address_of_any_memory(self):
        self.expect(source('*reinterpret_cast<float*>(static_cast<uint64_t>(n)) = 1;'), 'flat_store_dword')


class Skips(unittest.TestCase):
    def test_without_objects(self):
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), mock.patch.object(
                sys, 'argv', ['check', folder, '--', 'clang++-22']):
            self.assertEqual(check.main(), check.SKIPPED)
        self.assertTrue(re.match(r'skipped: no code objects', out.getvalue()))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
