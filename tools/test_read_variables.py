#!/usr/bin/env python3
# Tests of the reader of variables on small sources in three versions: who reads what, since when and until when.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import read_variables

PYTHON = {
    '0.1': 'import os\nA = os.environ.get("VLLM_ALWAYS", "0")\nB = os.getenv("VLLM_OLD")\n',
    '0.2': 'import os\nA = os.environ["VLLM_ALWAYS"]\nC = os.environ.get(\n    "VLLM_MIDDLE")\n',
    '0.3': 'import os\nA = os.environ.get("VLLM_ALWAYS")\nD = envs.is_set("VLLM_NEW")\n'
           'os.environ["VLLM_WRITTEN"] = "1"\nNAME = "VLLM_ONLY_NAMED"\nE = os.getenv("OTHER_STACK")\n',
}
C_SOURCE = '''
const char* a = getenv("HIP_LAUNCH_BLOCKING");
setenv("HIP_WRITTEN", "1", 1);
NCCL_PARAM(BuffSize, "BUFFSIZE", -2);
release(uint, GPU_MAX_HW_QUEUES, 4, "queues")
// HIP_COMMENT is no reading
'''


def component(name, versions, files, **more):
    return {'name': name, 'title': name.title(), 'files': files, 'from': 'here', 'versions': versions, **more}


class NamesOfSources(unittest.TestCase):
    def test_readings_of_python(self):
        self.assertEqual(read_variables.names_in(PYTHON['0.3'], 'python'), {'VLLM_ALWAYS', 'VLLM_NEW'})
        self.assertEqual(read_variables.names_in(PYTHON['0.2'], 'python'), {'VLLM_ALWAYS', 'VLLM_MIDDLE'})

    def test_readings_of_c(self):
        self.assertEqual(read_variables.names_in(C_SOURCE, 'c'),
                         {'HIP_LAUNCH_BLOCKING', 'NCCL_BUFFSIZE', 'GPU_MAX_HW_QUEUES'})

    def test_what_its_developers_run_is_no_input(self):
        python = component('x', [], ['x/'])
        self.assertTrue(read_variables.is_input('x/a.py', python))
        for path in ('x/tests/a.py', 'x/third_party/a.py', 'y/a.py', 'x/a.md', 'x/benchmarks/a.py'):
            self.assertFalse(read_variables.is_input(path, python), path)


class Spans(unittest.TestCase):
    def test_since_and_until(self):
        versions = [('1', {'ALL', 'OLD', 'GAP'}), ('2', {'ALL', 'MIDDLE'}), ('3', {'ALL', 'NEW', 'GAP'})]
        self.assertEqual(read_variables.spans(versions),
                         {('', ''): ['ALL', 'GAP'], ('', '1'): ['OLD'], ('2', '2'): ['MIDDLE'], ('3', ''): ['NEW']})


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.knobs = Path(self.folder.name) / 'knobs'
        self.sources = Path(self.folder.name) / 'sources'
        self.knobs.mkdir()
        (self.knobs / 'prefixes.inc').write_text('"VLLM_", "HIP_", "NCCL_", "GPU_"\n')
        for version, text in PYTHON.items():
            place = self.sources / 'pack' / version / 'pack'
            place.mkdir(parents=True)
            (place / 'envs.py').write_text(text)

    def run_tool(self, components):
        inputs = Path(self.folder.name) / 'inputs.json'
        inputs.write_text(json.dumps({'components': components}))
        read_variables.prefixes.cache_clear()
        self.addCleanup(read_variables.prefixes.cache_clear)
        with mock.patch.multiple(read_variables, INPUTS=inputs, KNOBS=self.knobs), \
                mock.patch.object(sys, 'argv', ['read_variables.py', str(self.sources)]), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            read_variables.main()
        return said.getvalue()

    def table(self, name):
        return (self.knobs / 'read' / f'{name}.inc').read_text()

    def test_packages(self):
        said = self.run_tool([component('pack', [{'version': v} for v in PYTHON], ['pack/'])])
        self.assertEqual(said, 'Pack: 4 names of 3 versions\n')
        self.assertEqual(self.table('pack'), '''\
// Variables that Pack reads, by version. Made by tools/read_variables.py of 0.1 to 0.3.
// SPDX-License-Identifier: Apache-2.0
RUNG_READ("Pack", "", "",
          "VLLM_ALWAYS")
RUNG_READ("Pack", "", "0.1",
          "VLLM_OLD")
RUNG_READ("Pack", "0.2", "0.2",
          "VLLM_MIDDLE")
RUNG_READ("Pack", "0.3", "",
          "VLLM_NEW")
''')

    def test_the_same_sources_give_the_same_bytes(self):
        pack = component('pack', [{'version': v} for v in PYTHON], ['pack/'])
        self.run_tool([pack])
        first = self.table('pack')
        for version in PYTHON:    # files in another order
            (self.sources / 'pack' / version / 'pack' / 'a.py').write_text('X = os.getenv("VLLM_ALWAYS")\n')
        self.run_tool([pack])
        self.assertEqual(self.table('pack'), first)

    def test_tags_of_a_repository(self):
        repository = self.sources / 'hip'
        repository.mkdir()

        def git(*arguments):
            subprocess.run(['git', '-C', str(repository), '-c', 'user.name=n', '-c', 'user.email=e', *arguments],
                           check=True, capture_output=True)
        git('init', '-q')
        for tag, text in (('v1', 'getenv("HIP_OLD");\n'), ('v2', C_SOURCE)):
            (repository / 'flags.cpp').write_text(text)
            git('add', '.')
            git('commit', '-qm', tag)
            git('tag', tag)
        versions = [{'version': '1.0', 'tag': 'v1'}, {'version': '2.0', 'tag': 'v2'}]
        self.run_tool([component('hip', versions, ['flags.cpp'])])
        self.assertIn('RUNG_READ("Hip", "", "1.0",\n          "HIP_OLD")', self.table('hip'))
        self.assertIn('RUNG_READ("Hip", "2.0", "",\n          "GPU_MAX_HW_QUEUES|HIP_LAUNCH_BLOCKING|NCCL_BUFFSIZE")',
                      self.table('hip'))

    def test_a_version_without_sources_is_an_error(self):
        with self.assertRaises(SystemExit) as ended:
            self.run_tool([component('pack', [{'version': '0.1'}], ['elsewhere/'])])
        self.assertIn("got no file of ['elsewhere/']", str(ended.exception))

    def test_long_tables_keep_within_the_line(self):
        names = [f'VLLM_NAME_NUMBER_{i}' for i in range(40)]
        lines = read_variables.packed(names, ' ' * 10).split('\n')
        self.assertTrue(all(len(line) <= read_variables.WIDTH for line in lines))
        self.assertEqual(''.join(line.strip().strip('"') for line in lines).split('|'), names)


if __name__ == '__main__':
    unittest.main()
