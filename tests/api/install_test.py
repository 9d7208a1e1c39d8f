#!/usr/bin/env python3
# What `cmake --install` ships serves programs in C++ and in C that know nothing else of this project.
# SPDX-License-Identifier: Apache-2.0
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / 'tests/data'
BUILD = Path(sys.argv.pop())
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Werror']
STANDARD_C = {'stdbool.h', 'stddef.h', 'stdint.h'}
PROJECT = '''
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(rung 0.1 REQUIRED)
foreach(name embed_sentences control_loop)
  add_executable(${name} %s/${name}.cpp)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE rung::rung)
endforeach()
'''


def run(*command, **options):
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    return ran.returncode, ran.stdout + ran.stderr


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.prefix = cls.folder / 'prefix'
        code, output = run('cmake', '--install', BUILD, '--prefix', cls.prefix)
        assert code == 0, output
        cls.make_plans(cls.prefix / 'bin/rung')

    @classmethod
    def make_plans(cls, tool):
        encoder = shutil.copytree(DATA / 'bert_tiny', cls.folder / 'encoder')
        words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', '.', 'a', 'sentence']
        (encoder / 'vocab.txt').write_text('\n'.join(words) + '\n', encoding='utf-8')
        for model, name, *shape in (encoder, 'encoder', '--shape', 'input_ids=1,9'), (DATA / 'pi0_tiny', 'policy'):
            code, output = run(tool, 'build', model, *shape, '--threads', '1', '--out', cls.folder / f'{name}.rung')
            assert code == 0, output

    def succeeds(self, *command, **options):
        code, output = run(*command, **options)
        self.assertEqual(code, 0, f'{" ".join(map(str, command))}\n{output}')
        return output

    def files(self, pattern):
        return sorted(str(path.relative_to(self.prefix)) for path in self.prefix.glob(pattern))

    def test_ships_the_headers_the_library_and_both_packages(self):
        headers = sorted(f'include/rung/{path.name}' for path in (ROOT / 'include/rung').iterdir())
        self.assertEqual(self.files('include/**/*.*'), headers)
        for pattern in 'bin/rung', '**/librung.so', '**/cmake/rung/rungConfig.cmake', '**/pkgconfig/rung.pc':
            self.assertEqual(len(self.files(pattern)), 1, pattern)

    def test_headers_want_the_standard_libraries_alone(self):
        for name in self.files('include/rung/*'):
            for included in re.findall(r'#\s*include\s*[<"]([^>"]+)', (self.prefix / name).read_text()):
                known = included.startswith('rung/') or included in STANDARD_C or re.fullmatch(r'[a-z_]+', included)
                self.assertTrue(known, f'{name} includes {included}')

    def test_headers_compile_alone_and_by_both_compilers(self):
        def job(compiler, language, standard, name):
            return (compiler, *WARNINGS, '-fsyntax-only', '-x', language, f'-std={standard}',
                    '-I', self.prefix / 'include', '-include', f'rung/{name}', os.devnull)
        names = [path.name for path in (self.prefix / 'include/rung').iterdir()]
        jobs = [job('g++', 'c++', 'c++20', name) for name in names]
        jobs += [job('clang++-14', 'c++', 'c++20', name) for name in ('rung.h', 'rung.hpp')]
        jobs += [job(cc, 'c', standard, 'rung.h') for cc in ('gcc', 'clang-14') for standard in ('c99', 'c11')]
        jobs = [job for job in jobs if shutil.which(job[0])]
        with ThreadPoolExecutor(2) as pool:
            for job, (code, output) in zip(jobs, pool.map(lambda job: run(*job), jobs)):
                self.assertEqual((code, output), (0, ''), ' '.join(map(str, job)))

    def test_a_program_in_cpp_finds_it_by_cmake(self):
        source = self.folder / 'consumer'
        source.mkdir()
        (source / 'CMakeLists.txt').write_text(PROJECT % (ROOT / 'examples'))
        self.succeeds('cmake', '-G', 'Ninja', '-S', source, '-B', source / 'out', f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.succeeds('cmake', '--build', source / 'out')
        printed = self.succeeds(source / 'out/embed_sentences', 'encoder.rung', 'a', 'sentence', cwd=self.folder)
        self.assertEqual(re.findall(r'[\d.]+', printed)[::3], ['1.0000', '1.0000'])
        printed = self.succeeds(source / 'out/control_loop', 'policy.rung', '0', '3', cwd=self.folder)
        self.assertIn('replay alone', printed)

    @unittest.skipUnless(shutil.which('pkg-config'), 'pkg-config is not installed')
    def test_a_program_in_c_finds_it_by_pkg_config(self):
        (package,) = self.prefix.glob('**/pkgconfig')
        environment = os.environ | {'PKG_CONFIG_PATH': str(package)}
        flags = self.succeeds('pkg-config', '--cflags', '--libs', 'rung', env=environment).split()
        program = self.folder / 'embed_sentence'
        self.succeeds('cc', '-std=c99', *WARNINGS, ROOT / 'examples/embed_sentence.c', *flags,
                      f'-Wl,-rpath,{package.parent}', '-o', program)
        self.assertEqual(len(self.succeeds(program, 'encoder.rung', 'a sentence', cwd=self.folder).split()), 4)
        code, output = run(program, '/nowhere', 'a', cwd=self.folder)
        self.assertEqual((code, output.count('\n')), (1, 1))
        self.assertIn('/nowhere', output)


if __name__ == '__main__':
    unittest.main()
