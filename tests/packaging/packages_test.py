#!/usr/bin/env python3
# Each fact of a package stands in one place: the Dockerfiles, pip and ./dev take it from there.
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import package  # noqa: E402

DOCKERFILES = sorted((ROOT / 'packaging').glob('*.Dockerfile'))


def text_of(path):
    return (ROOT / path).read_text(encoding='utf-8')


def array_of(name):
    """The words of an array of tools/setup.sh, as bash has them."""
    script = f'source tools/setup.sh; printf "%s\\n" "${{{name}[@]}}"'
    return subprocess.run(['bash', '-c', script], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def tasks():
    """Those that ./dev runs."""
    return re.findall(r'^  ([a-z-]+)\)', text_of('dev').split('case $task in')[1], re.MULTILINE)


def ignored(page):
    return {line.removeprefix('**/').strip('/') for line in text_of(page).splitlines() if line and line[0] != '#'}


class Dockerfile:
    def __init__(self, text):
        lines = re.sub(r'\\\n', ' ', text).splitlines()
        self.instructions = [tuple(line.split(None, 1)) for line in lines if line and not line.startswith('#')]
        self.stages = [re.fullmatch(r'(\S+)(?: AS (\w+))?', what).groups() for what in self.all('FROM')]
        self.arguments = dict(what.split('=', 1) for what in self.all('ARG'))

    def all(self, word):
        return [what for name, what in self.instructions if name == word]

    def image(self, base):
        """The name of a base image, arguments by their defaults."""
        return re.sub(r'\$\{(\w+)\}', lambda match: self.arguments[match[1]], base)


class Dockerfiles(unittest.TestCase):
    def each(self):
        self.assertEqual([path.stem for path in DOCKERFILES], ['cpu', 'cuda'])
        for path in DOCKERFILES:
            with self.subTest(path.name):
                yield Dockerfile(path.read_text(encoding='utf-8'))

    def test_install_no_package_by_name_but_what_dev_made(self):
        for file in self.each():
            for command in file.all('RUN'):
                for names in re.findall(r'(?:apt-get|apt|pip\d?) install ([^&|;]+)', command):
                    packages = [word for word in names.split() if not word.startswith('-')]
                    self.assertEqual(packages, ['/tmp/rung/*.deb'])

    def test_run_tasks_that_dev_has(self):
        for file in self.each():
            found = [name for command in file.all('RUN') for name in re.findall(r'\./dev ([a-z-]+)', command)]
            self.assertEqual(found, ['deb'])
            self.assertIn('deb', tasks())

    def test_copy_from_stages_that_stand_above_and_from_where_dev_puts_the_package(self):
        for file in self.each():
            above = set()
            for name, what in file.instructions:
                if name == 'FROM':
                    above.add(what.split()[-1])
                elif name == 'COPY' and (match := re.match(r'--from=(\S+) (\S+) \S+$', what)):
                    self.assertIn(match[1], above)
                elif name == 'COPY':
                    self.assertEqual(what, '. .')
            place = re.search(r'cd (\S+) && cpack', text_of('dev'))[1]
            self.assertIn(f'--from=build /rung/{place}/*.deb /tmp/rung/', file.all('COPY'))

    def test_build_and_run_on_one_system(self):
        """The package depends on the libraries of the system that it was built on."""
        for file in self.each():
            built = [base for base, name in file.stages if name == 'build']
            self.assertEqual(built + built, built + [file.stages[-1][0]])
            self.assertEqual(file.image(built[0]), 'debian:12')

    def test_take_a_base_image_of_your_own(self):
        for file in self.each():
            for base, _ in file.stages:
                self.assertRegex(base, r'^\$\{\w+\}')
                self.assertNotIn('$', file.image(base))

    def test_cuda_comes_from_one_version_and_goes_where_dev_looks(self):
        file = Dockerfile(text_of('packaging/cuda.Dockerfile'))
        images = [file.image(base) for base, name in file.stages if name in ('toolkit', 'libraries')]
        self.assertEqual(len({re.sub('-(devel|runtime)-', '-', image) for image in images}), 1)
        self.assertEqual(re.findall('-(devel|runtime)-', ' '.join(images)), ['devel', 'runtime'])
        (place,) = [what.split()[-1] for what in file.all('COPY') if what.startswith('--from=toolkit')]
        self.assertIn(f'{place}/bin/nvcc', text_of('dev'))
        self.assertIn('./dev deb --gpu', file.all('RUN'))

    def test_see_the_files_of_a_clone_alone(self):
        self.assertEqual(ignored('.dockerignore'), ignored('.gitignore') | {'.git'})


class Packages(unittest.TestCase):
    def test_what_building_takes_is_part_of_what_testing_takes(self):
        self.assertLess(set(array_of('BUILD_PACKAGES')), set(array_of('PACKAGES')))

    def test_every_package_has_its_reason_on_the_page_of_dependencies(self):
        page = text_of('docs/dependencies.md')
        missing = [name for name in array_of('PACKAGES') + array_of('AMD_PACKAGES') if f'`{name}`' not in page]
        self.assertEqual(missing, [])

    def test_pip_builds_with_the_versions_that_are_tested(self):
        pinned = set(array_of('PYTHON_PACKAGES'))
        requires = tomllib.loads(text_of('pyproject.toml'))['build-system']['requires']
        self.assertLessEqual({name for name in requires if name.startswith(('scikit', 'nanobind'))}, pinned)

    def test_pip_builds_no_gpu_kernels_unless_asked(self):
        define = tomllib.loads(text_of('pyproject.toml'))['tool']['scikit-build']['cmake']['define']
        self.assertEqual(define['RUNG_GPU'], 'OFF')
        for page in 'README.md', 'docs/python.md':
            self.assertIn('-Ccmake.define.RUNG_GPU=ON', text_of(page), page)

    def test_the_package_of_debian_names_what_is_opened_at_run_time(self):
        self.assertIn('CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON', text_of('cmake/package.cmake'))
        self.assertIn('libopenblas0', re.search(r'PACKAGE_DEPENDS (.+)\)', text_of('cmake/package.cmake'))[1])


class PackageTool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def library(self, name, source, *flags):
        subprocess.run(['cc', '-shared', '-fPIC', '-xc', '-', '-xnone', f'-Wl,-soname,{name}', '-o', self.folder / name,
                        f'-L{self.folder}', *flags], check=True, text=True, input=source)

    def test_what_a_package_holds_itself_is_no_need(self):
        self.library('libinner.so', 'int inner(void) { return 1; }')
        source = 'int inner(void); double cos(double); double outer(double x) { return cos(x + inner()); }'
        self.library('libouter.so', source, '-linner', '-lm')
        libraries, versions = package.needs(self.folder)
        self.assertEqual([name for name in libraries if name.startswith('libinner')], [])
        self.assertIn('libm.so.6', libraries)
        self.assertIn('GLIBC', versions)
        self.assertIn('libm.so.6', package.what_it_needs(self.folder))

    def test_a_library_that_not_every_machine_has_is_named(self):
        self.library('libother.so', 'int other(void) { return 1; }')
        self.library('libouter.so', 'int other(void); int outer(void) { return other(); }', '-lother')
        (self.folder / 'libother.so').unlink()
        with self.assertRaisesRegex(package.Broken, '^the wheel lacks libother.so$'):
            package.what_it_needs(self.folder)

    def test_a_command_that_fails_is_told_with_what_it_said(self):
        with self.assertRaisesRegex(package.Broken, 'exit status 3\nno compiler'):
            package.run('sh', '-c', 'echo no compiler >&2; exit 3')


if __name__ == '__main__':
    unittest.main()
