#!/usr/bin/env python3
# Tests of what writes the reference pages: it finds every declaration with its comment, and says what is missing.
# SPDX-License-Identifier: Apache-2.0
import tempfile
import unittest
from pathlib import Path

import api_reference
import declared_names
import header_reader
import reference_page
from reference_page import Entry, Section

TOP = '// What a test has.\n// SPDX-License-Identifier: Apache-2.0\n//\n// More of it.\n#pragma once\n'


def groups_of(text):
    return header_reader.read_header(TOP + text).groups


def only(text):
    """The one declaration of a header."""
    (group,) = groups_of(text)
    (declaration,) = group.declarations
    return declaration


class ReadsHeaders(unittest.TestCase):
    def test_the_comment_at_the_top_is_about_the_header(self):
        self.assertEqual(header_reader.read_header(TOP).about, 'What a test has.\n\nMore of it.')

    def test_a_comment_is_of_the_run_of_declarations_after_it(self):
        groups = groups_of('// Of both,\n// a and b.\nvoid a(void);\nvoid b(void);\n// Of c.\nvoid c(void);\n\n'
                           'void d(void);\n')
        self.assertEqual([(g.comment, [d.names[0] for d in g.declarations]) for g in groups],
                         [('Of both, a and b.', ['a', 'b']), ('Of c.', ['c']), ('', ['d'])])

    def test_a_comment_before_an_empty_line_is_of_no_declaration(self):
        self.assertEqual(groups_of('// Alone.\n\nvoid a(void);\n')[0].comment, '')

    def test_a_line_of_dashes_begins_a_section(self):
        groups = groups_of('void a(void);\n\n// ---- errors ----\n\nvoid b(void);\n')
        self.assertEqual([g.section for g in groups], ['', 'errors'])

    def test_kinds_and_names(self):
        for text, kind, names in [('#define RUNG_INIT \\\n  { 0 }', 'macro', ['RUNG_INIT']),
                                  ('typedef enum rung_a {\n  RUNG_B = 0,\n} rung_a;', 'type', ['rung_a']),
                                  ('typedef struct rung_a rung_a;', 'type', ['rung_a']),
                                  ('RUNG_API rung_b* rung_a(int b,\n         int c);', 'function', ['rung_a']),
                                  ('inline constexpr int kA[] = {\n    1,\n};', 'variable', ['kA']),
                                  ('using A = std::function<bool(int b)>;', 'alias', ['A']),
                                  ('template <class T>\nconcept A = requires {\n  b<T>();\n};', 'alias', ['A']),
                                  ('template <class T>\nconstexpr A b() = delete;  // none', 'function', ['b'])]:
            found = only(text + '\n')
            self.assertEqual((found.kind, found.names), (kind, names), text)

    def test_what_is_not_the_interface_is_left_out(self):
        text = ('#include <a>\nclass A;\nnamespace detail {\nvoid a();\nstruct B {\n  int c;\n};\n}\n'
                'template <>\nint b<float>() {\n  return 1;\n}\ninline int A::c() {\n  return 1;\n}\n')
        self.assertEqual(groups_of(text), [])

    def test_a_class_shows_its_public_part_without_bodies(self):
        found = only('class A : B {\n public:\n  // Makes.\n  explicit A(int c) : c_(c), d_{1} {}\n\n'
                     '  bool e() const { return c_; }\n  operator bool() const {\n    return f();\n  }\n\n private:\n'
                     '  int f();\n  int c_, d_ = 0;\n};\n')
        self.assertEqual(found.code, 'class A : B {\n public:\n  // Makes.\n  explicit A(int c);\n\n'
                                     '  bool e() const;\n  operator bool() const;\n};')
        self.assertEqual([d.names for g in found.members for d in g.declarations], [['A'], ['e'], ['operator bool']])

    def test_a_struct_of_fields_stands_as_it_is(self):
        text = ('struct A {\n  std::string name, reason;  // why\n  std::map<int, int> b;\n'
                '  bool (*c)(void* d, int e);\n};')
        found = only(text + '\n')
        self.assertEqual(found.code, text)
        self.assertEqual([d.names for g in found.members for d in g.declarations], [['name', 'reason'], ['b'], ['c']])


class WritesPages(unittest.TestCase):
    def test_names_in_a_text_are_code_and_lead_to_their_entries(self):
        sections = [Section('one', [Entry(['a', 'b'], 'See c_d(), e() and x_y, not `b` <itself>.', 'int a;', 'c'),
                                    Entry(['c_d'], '', 'int c_d();', 'c')])]
        page = reference_page.write_page('T', 'About c_d.', sections, {'e': 'other.md#e'})
        self.assertEqual(page, '# T\n\nAbout [`c_d`](#c_d).\n\n## one\n\n[`a`](#a-b), [`b`](#a-b), [`c_d`](#c_d)\n\n'
                               '### `a`, `b`\n\n'
                               'See [`c_d()`](#c_d), [`e()`](other.md#e) and `x_y`, not `b` \\<itself>.\n\n'
                               '```c\nint a;\n```\n\n### `c_d`\n\n```c\nint c_d();\n```\n')


class ChecksTheInterface(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.include = Path(folder.name) / 'rung'
        self.include.mkdir()

    def write(self, name, text):
        (self.include / name).write_text(TOP + text)
        return self.include / name

    def test_what_no_comment_describes_is_told(self):
        path = self.write('rung.h', '// Of a.\nvoid rung_a(void);\n\nvoid rung_b(void);\n')
        self.assertEqual(api_reference.without_comment(path),
                         [f'{path}:9: rung_b has no comment, of its own or of its group'])
        path = self.write('a.hpp', '// Of A.\nstruct A {\n  int b;\n\n  void c();\n};\n')
        self.assertEqual(api_reference.without_comment(path),
                         [f'{path}:10: A::c has no comment, of its own or of its group'])

    def test_a_page_that_differs_is_told(self):
        (self.include / 'a.md').write_text('one\n')
        self.assertEqual(api_reference.check_pages({'a.md': 'one\n'}, self.include), [])
        (problem,) = api_reference.check_pages({'a.md': 'two\n'}, self.include)
        self.assertIn('-one\n  +two', problem)
        self.assertEqual(len(api_reference.check_pages({'b.md': 'two\n'}, self.include)), 1)

    def test_names_of_two_sides_are_compared_both_ways(self):
        self.assertEqual(api_reference.missing('w', {'a', 'b'}, {'b', 'c'}),
                         ['w: the reference lacks a', 'w: the reference has c, which is not there'])

    @unittest.skipUnless(declared_names.CLANG, 'clang is not installed')
    def test_the_compiler_finds_the_same_names(self):
        self.write('rung.h', '#define RUNG_A 1\ntypedef struct rung_b {\n  int c;\n} rung_b;\n'
                             'void rung_d(rung_b* b);\n')
        self.write('rung.hpp', 'namespace rung::api {\nstruct A;\nstruct A {\n  int b, c;\n  void d() const;\n};\n'
                               'template <class T>\nclass F {\n public:\n  F();\n  operator bool();\n\n private:\n'
                               '  int g;\n};\nnamespace detail {\nint h;\n}\ninline void A::d() const {}\n'
                               'enum class K { l };\n'
                               'template <class T>\nT m();\n}  // namespace rung::api\n')
        c, cpp = self.include / 'rung.h', self.include / 'rung.hpp'
        macros = declared_names.macros(c)
        self.assertEqual(macros, {'RUNG_A'})
        self.assertEqual(declared_names.c_names(c) | macros, api_reference.names_of(c))
        wanted = {'A', 'A::b', 'A::c', 'A::d', 'F', 'F::F', 'F::operator bool', 'K', 'm'}
        self.assertEqual(declared_names.cpp_names(self.include), wanted)
        self.assertEqual(api_reference.names_of(cpp), wanted)


if __name__ == '__main__':
    unittest.main()
