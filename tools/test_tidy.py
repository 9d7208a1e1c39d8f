#!/usr/bin/env python3
# Tests of what clang-tidy is given to read: commands without what GCC precompiled.
# SPDX-License-Identifier: Apache-2.0
import json
import tempfile
import unittest
from pathlib import Path

import tidy


class ReadsHeadersFromTheirText(unittest.TestCase):
    def test_precompiled_headers_are_left_out_and_nothing_else(self):
        plain = 'c++ -O3 -I/a -std=c++20 -o a.o -c a.cpp'
        with_header = plain.replace(' -o', ' -Winvalid-pch -include /b/CMakeFiles/rung_base.dir/cmake_pch.hxx -o')
        entries = [{'file': 'a.cpp', 'directory': '/b', 'command': command} for command in (plain, with_header)]
        with tempfile.TemporaryDirectory() as folder:
            got = tidy.without_precompiled(entries, Path(folder) / 'tidy')
            written = json.loads((Path(folder) / 'tidy' / 'compile_commands.json').read_text())
        self.assertEqual([entry['command'] for entry in got], [plain, plain])
        self.assertEqual(written, got)


if __name__ == '__main__':
    unittest.main()
