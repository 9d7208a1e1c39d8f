#!/usr/bin/env python3
# Tests of the style checker: each rule has a text that breaks it and a twin that keeps it.
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_style
from cpp_functions import functions

TOP = ['// Reads one thing.', '// ' + check_style.LICENCE]
CPP_FILE = Path('src/ir/graph.cpp')


def findings(rule, lines, path=CPP_FILE):
    return list(rule(path, lines))


def named(text):
    return [(f.name, f.lines, f.parameters) for f in functions(text)]


class FindsFunctions(unittest.TestCase):
    def test_counts_lines_from_signature_to_brace(self):
        self.assertEqual(named('int f(int a,\n      int b) {\n  return a;\n}\n'), [('f', 4, 2)])

    def test_sees_methods_in_classes_and_namespaces(self):
        text = 'namespace a {\nclass B : public C {\n public:\n  int x() const { return 1; }\n  int y_{3};\n};\n}\n'
        self.assertEqual(named(text), [('x', 1, 0)])

    def test_counts_a_function_once_with_its_control_flow_and_lambdas(self):
        text = 'void f() {\n  if (a) {\n    g([](int b, int c) { return b; });\n  }\n}\nvoid h() {}\n'
        self.assertEqual(named(text), [('f', 5, 0), ('h', 1, 0)])

    def test_ignores_braces_in_comments_and_strings(self):
        text = ('void f() {\n  // {\n  g("{", \'{\', R"x({ " )x");\n  /* { */\n  int million = 1\'000\'000;\n}\n'
                'void h() {}\n')
        self.assertEqual(named(text), [('f', 6, 0), ('h', 1, 0)])

    def test_ignores_commas_in_templates_and_defaults(self):
        text = 'std::map<int, int> f(std::map<int, int> a = {1, 2}, int b = g(1, 2)) {}'
        self.assertEqual(named(text), [('f', 1, 2)])

    def test_reads_constructors_with_initialisers(self):
        self.assertEqual(named('Foo::Foo(int a, int b) : a_{a}, b_(b), c_{1} {\n}\nvoid g() {}\n'),
                         [('Foo::Foo', 2, 2), ('g', 1, 0)])

    def test_reads_operators_and_trailing_return_types(self):
        self.assertEqual(named('bool operator()(int a, int b) const {}\nauto f(int a) -> std::vector<int> {}\n'),
                         [('operator_', 1, 2), ('f', 1, 1)])

    def test_the_bounds_of_a_kernel_are_not_its_name(self):
        self.assertEqual(named('__global__ void __launch_bounds__(256) turn(int a, int b) {\n}\n'), [('turn', 2, 2)])
        self.assertEqual(named('RUNG_KERNEL(256) turn(int a) {\n}\n'), [('turn', 2, 1)])

    def test_tables_and_types_are_no_functions(self):
        text = ('constexpr Row kRows[] = {\n  {"a", f(1)},\n};\n'
                'enum class E { a, b };\nconst T t{f(1)};\nstruct alignas(64) S {};\nalignas(64) int x{0};')
        self.assertEqual(named(text), [])


class KeepsOneWayToWriteJson(unittest.TestCase):
    def test_only_base_json_calls_the_library(self):
        self.assertEqual(len(findings(check_style.check_json, ['json.dump();'], Path('src/cli/run.cpp'))), 1)
        for path in ('src/base/json.cpp', 'tests/base/json_test.cpp'):
            self.assertEqual(findings(check_style.check_json, ['json.dump();'], Path(path)), [])
        self.assertEqual(findings(check_style.check_json, ['dump_json(json);'], Path('src/cli/run.cpp')), [])


class KeepsOneWayToParseDevices(unittest.TestCase):
    def test_a_word_for_a_device_becomes_one_with_its_options(self):
        parse = ['RUNG_TRY(word, parse_device(text));']
        self.assertEqual(len(findings(check_style.check_device_words, parse, Path('src/tasks/bench.cpp'))), 1)
        for path in ('src/open/options.cpp', 'src/kernels/device_word.cpp', 'tests/open/a_test.cpp'):
            self.assertEqual(findings(check_style.check_device_words, parse, Path(path)), [])


class KeepsSizes(unittest.TestCase):
    def test_a_file_stops_at_500_lines(self):
        self.assertEqual(findings(check_style.check_size, ['x'] * 500), [])
        self.assertEqual(len(findings(check_style.check_size, ['x'] * 501)), 1)

    def test_a_table_that_a_tool_writes_is_as_long_as_what_it_lists(self):
        self.assertEqual(findings(check_style.check_size, ['// Names. Made by tools/names.py.'] + ['x'] * 501), [])

    def test_a_function_stops_at_60_lines(self):
        def function_of(lines):
            return ['void f() {'] + ['  g();'] * (lines - 2) + ['}']
        self.assertEqual(findings(check_style.check_functions, function_of(60)), [])
        self.assertEqual(findings(check_style.check_functions, function_of(61)),
                         [(1, 'f has 61 lines; a function stops at 60')])

    def test_five_parameters_are_enough(self):
        five = ['void f(int a, int b, int c, int d, int e) {}']
        six = ['void f(int a, int b, int c, int d, int e, int g) {}']
        self.assertEqual(findings(check_style.check_functions, five), [])
        self.assertEqual(len(findings(check_style.check_functions, six)), 1)

    def test_python_and_shell_functions_count_too(self):
        python = ['def f(a, b, c, d, e, g):'] + ['    a()'] * 60
        self.assertEqual(len(findings(check_style.check_functions, python, Path('tools/x.py'))), 2)
        named = ['def f(a, b, c, d, e, *, g, h):', '    a()']
        self.assertEqual(findings(check_style.check_functions, named, Path('tools/x.py')), [])
        shell = ['f() {'] + ['  g'] * 60 + ['}']
        self.assertEqual(len(findings(check_style.check_functions, shell, Path('tools/x.sh'))), 1)
        self.assertEqual(findings(check_style.check_functions, ['f() { g; }'] + ['g'] * 70, Path('tools/x.sh')), [])


class KeepsDeviceCode(unittest.TestCase):
    def test_what_clang_format_does_not_write_has_short_lines(self):
        for name in ('a.cu', 'a.cuh', 'a.inc', 'a.cpp.in', 'a.py'):
            path = Path('src/kernels/gpu') / name
            self.assertEqual(len(findings(check_style.check_size, ['x' * 121], path)), 1, name)
        self.assertEqual(findings(check_style.check_size, ['x' * 121], CPP_FILE), [])

    def test_headers_of_device_code_keep_all_rules(self):
        path = Path('src/kernels/gpu/a.cuh')
        lines = ['#include "plan/plan.hpp"', 'void f(int a, int b, int c, int d, int e, int g) {}', '// an' + 'ew']
        rules = [text.split(';')[0] for _, _, text in check_style.check_file(path, lines)]
        self.assertEqual(len(rules), 5, rules)
        self.assertEqual(check_style.check_file(path, TOP), [])


class KeepsKernelsPortable(unittest.TestCase):
    ONE_VENDORS = ['x = __shfl_sync(~0u, x, 0);', 'asm volatile("bar;");', '__nanosleep(5);', 'y = __ldg(p);',
                   '#include <cuda_fp16.h>', '#if __CUDA_ARCH__ >= 900', 'int a = threadIdx.x % 32;',
                   'int w = threadIdx.x / 32;', 'int l = x & 31;', 'f<sm_90>();', 'kThreads = kWarps * 32;',
                   'extern "C" __global__ void f() {}', 'y = __expf(x);']
    ANY_VENDORS = ['x = shuffle(x, 0);  // not __shfl', 'extern __shared__ __align__(16) float memory[];',
                   'RUNG_KERNEL(256) f(const __grid_constant__ A a) {}', 'multiply_chunk<32>(sums, chunk);',
                   'int a = lane() % 16;', '#include "kernels/gpu/portable.cuh"', '#define RUNG_TILE(x) x']

    def test_what_one_vendor_has_is_named_in_a_kernel(self):
        for line in self.ONE_VENDORS:
            self.assertEqual(len(findings(check_style.check_device_code, [line], Path('src/kernels/gpu/norm/a.cu'))), 1,
                             line)
        for line in self.ANY_VENDORS:
            self.assertEqual(findings(check_style.check_device_code, [line], Path('src/kernels/gpu/norm/a.cuh')), [])

    def test_vendors_files_and_those_of_one_architecture_may_have_it(self):
        for path in ('vendor/nvidia.cuh', 'sm90/async.cuh', 'linear/linear_wide_sm90.cu', 'linear/block_sm90.cuh',
                     'norm/norm.cpp'):
            self.assertEqual(findings(check_style.check_device_code, self.ONE_VENDORS, Path('src/kernels/gpu') / path),
                             [], path)


class KeepsOrder(unittest.TestCase):
    def test_includes_go_upward(self):
        lines = ['#include "base/status.hpp"', '#include "ir/op.hpp"']
        self.assertEqual(findings(check_style.check_includes, lines), [])

    def test_an_include_of_a_lower_folder_is_named(self):
        self.assertEqual(findings(check_style.check_includes, ['', '#include "plan/recipe.hpp"']),
                         [(2, 'ir includes plan, which stands below it')])

    def test_targets_and_the_map_have_the_order_of_folders(self):
        sources = {Path(f'src/{folder}/a.cpp'): [] for folder in ('cli', 'base', 'ir')}
        rows = ['rung_module(base LINK x)', 'rung_module(ir LINK rung_base)']
        page = ['| `base/` | a |', '| `ir/` | b |', '| `cli/` | c |']
        places = {Path('CMakeLists.txt'): rows, Path('HACKING.md'): page}
        self.assertEqual(list(check_style.check_rooms(sources | places)), [])
        self.assertEqual(len(list(check_style.check_rooms(sources | {Path('CMakeLists.txt'): rows[::-1]}))), 1)
        self.assertEqual(len(list(check_style.check_rooms(sources | {Path('HACKING.md'): ['| `ir/` | b |']}))), 1)

    def test_a_folder_outside_the_order_is_named(self):
        self.assertEqual(len(findings(check_style.check_includes, [''], Path('src/misc/x.cpp'))), 1)
        self.assertEqual(len(findings(check_style.check_includes, ['#include "misc/x.hpp"'])), 1)

    def test_rooms_of_a_folder_have_an_order_too(self):
        lines = ['#include "amdgpu/isa/isa.hpp"', '#include "amdgpu/run/wave.hpp"', '#include "base/json.hpp"']
        for room, expected in (('run', []), ('analysis', []),
                               ('code', [(2, 'amdgpu/code includes amdgpu/run, which stands below it')])):
            self.assertEqual(findings(check_style.check_inner_rooms, lines, Path(f'src/amdgpu/{room}/a.cpp')), expected)
        self.assertEqual(len(findings(check_style.check_inner_rooms, [], Path('src/amdgpu/a.cpp'))), 1)

    def test_a_unit_is_not_included_by_what_it_includes(self):
        files = {Path('src/amdgpu/run/wave.hpp'): ['#include "amdgpu/run/lanes.hpp"'],
                 Path('src/amdgpu/run/lanes.hpp'): [],
                 Path('src/amdgpu/run/group.hpp'): ['#include "amdgpu/run/wave.hpp"'],
                 Path('src/amdgpu/run/group.cpp'): ['#include "amdgpu/run/group.hpp"']}
        self.assertEqual(list(check_style.check_cycles(files)), [])
        files[Path('src/amdgpu/run/wave.cpp')] = ['#include "amdgpu/run/group.hpp"']
        (_, _, text), = check_style.check_cycles(files)
        for unit in ('wave', 'group'):
            self.assertIn(f'amdgpu/run/{unit} -> ', text)

    def test_conditions_have_a_budget(self):
        two = ['#if A', '#endif', '#ifdef B', '#endif']
        self.assertEqual(len(list(check_style.check_conditions({CPP_FILE: two}))), 2)
        self.assertEqual(list(check_style.check_conditions({CPP_FILE: two[:2]})), [])
        self.assertEqual(list(check_style.check_conditions({CPP_FILE: two + [''] * 2000})), [])

    def test_devices_and_kernels_may_have_conditions_and_public_headers_none(self):
        self.assertEqual(list(check_style.check_conditions({Path('src/kernels/a.cpp'): ['#if A'] * 9})), [])
        self.assertEqual(len(list(check_style.check_conditions({Path('include/rung/a.hpp'): ['#if A']}))), 1)

    def test_a_name_means_one_class(self):
        one, other = Path('src/ladder/refine.hpp'), Path('src/tune/trial.hpp')
        text = ['namespace rung {', 'class Trial {', '};', '}']
        again, elsewhere = ['namespace rung {', 'struct Trial : A {', '};'], ['namespace rung::cpu {'] + text[1:]
        self.assertEqual(list(check_style.check_class_names({one: text, other: again})),
                         [(other, 2, f'rung::Trial is another class in {one}')])
        self.assertEqual(list(check_style.check_class_names({one: text, other: elsewhere})), [])
        self.assertEqual(list(check_style.check_class_names({one: text, other.with_suffix('.cpp'): text})), [])


class KeepsFirstLines(unittest.TestCase):
    def test_a_sentence_and_the_licence(self):
        self.assertEqual(findings(check_style.check_first_lines, TOP + ['#pragma once']), [])

    def test_the_sentence_may_take_two_lines(self):
        self.assertEqual(findings(check_style.check_first_lines, [TOP[0], '// More of it.', TOP[1]]), [])

    def test_each_is_missed(self):
        self.assertEqual(len(findings(check_style.check_first_lines, ['#pragma once'])), 2)
        self.assertEqual(len(findings(check_style.check_first_lines, TOP[1:])), 1)
        self.assertEqual(len(findings(check_style.check_first_lines, TOP[:1])), 1)

    def test_scripts_may_start_with_their_interpreter(self):
        lines = ['#!/bin/sh', '# What it does.', '# ' + check_style.LICENCE]
        self.assertEqual(findings(check_style.check_first_lines, lines, Path('tools/x.sh')), [])


class ChecksComments(unittest.TestCase):
    def test_a_comment_has_a_subject(self):
        check = check_style.check_comments
        for begin in ('What', 'Of'):
            self.assertEqual(len(findings(check, ['', f'  // {begin} it takes.'], Path('src/ir/a.cpp'))), 1)
            self.assertEqual(findings(check, ['', f'// {begin} it takes.'], Path('tests/ir/a.cpp')), [])
        for comment in (['// The planner knows', '// What it takes.'], ['// Often enough.'], ['f();  // Of two.']):
            self.assertEqual(findings(check, comment, Path('src/ir/a.cpp')), [])


class ChecksTestNames(unittest.TestCase):
    def test_a_name_has_eight_words_at_most(self):
        check, long = check_style.check_test_names, 'HasNineWordsWhichIsOneMoreThanAllowed'
        for macro in ('TEST', 'TEST_F', 'TEST_P', 'TYPED_TEST'):
            for name in (long, f'DISABLED_{long}', f'\n     {long}'):
                lines = ['', *f'{macro}(Suite, {name}) {{'.split('\n')]
                self.assertEqual([number for number, _ in findings(check, lines, Path('tests/ir/a_test.cpp'))], [2])
            for name in ('HasEightWordsWhichIsTheMostAllowed', 'DISABLED_HasEightWordsWhichIsTheMostAllowed'):
                self.assertEqual(findings(check, [f'{macro}(Suite, {name}) {{'], Path('tests/ir/a_test.cpp')), [])
        self.assertEqual(findings(check, [f'TEST(Suite, {long}) {{'], Path('src/ir/a.cpp')), [])


class ChecksTrees(unittest.TestCase):
    def test_unfinished_work_is_named(self):
        self.assertEqual(len(findings(check_style.check_unfinished, ['', '// ' + 'TO' + 'DO: later'])), 1)
        self.assertEqual(findings(check_style.check_unfinished, ['todo_list(); // METHOD']), [])

    def test_a_tree_passes_or_fails_by_its_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['git', 'init', '-q', folder], check=True)
            source = Path(folder) / 'src' / 'ir'
            source.mkdir(parents=True)
            (Path(folder) / '.clang-format').write_text('BasedOnStyle: Google\nColumnLimit: 120\n')
            (source / 'a.cpp').write_text('\n'.join(TOP + ['int f() { return 1; }', '']))
            self.assertEqual(run_checker(folder)[0], 0)
            (source / 'a.cpp').write_text('\n'.join(TOP + ['int  f() { return 1; }', '']))
            code, output = run_checker(folder)
            self.assertEqual(code, 1)
            self.assertIn('src/ir/a.cpp:3: 1 lines not as clang-format writes them', output)


def run_checker(folder):
    script = Path(__file__).resolve().parent / 'check_style.py'
    run = subprocess.run([sys.executable, str(script), folder], capture_output=True, text=True)
    return run.returncode, run.stdout


if __name__ == '__main__':
    unittest.main()
