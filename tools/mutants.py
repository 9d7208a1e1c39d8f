#!/usr/bin/env python3
# Puts known mistakes into a scratch copy of the sources, one at a time, and sees that the named test notices each.
# SPDX-License-Identifier: Apache-2.0
#
# A mutant is tests/mutants/NAME.patch: a sentence that says what the mistake does, a line "Test: PROGRAM FILTER" (the
# filter as --gtest_filter takes it), then a unified diff. The test must pass without the patch and fail with it. Exit
# status 0: every mutant was killed; 1 otherwise, a patch that no longer applies or compiles included, and one whose
# test does not pass or run here without it. Several mutants are tried at a time, each in a copy of its own, in which
# every source is compiled alone and little optimised: a mutant is one source's compilation, a link and a test.
import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATCHES = Path('tests/mutants')
BUILD = Path('build/ci')
QUICK = ['-DRUNG_UNITY=OFF', '-DRUNG_BENCH=OFF', '-DRUNG_PYTHON=OFF', '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG']
TEST_SECONDS = 120  # what has not ended by then hangs
HEADER = re.compile(r'\A(?P<what>\S.*?)\nTest: (?P<program>rung_\w+_tests) (?P<filter>\S+)\n--- a/', re.S)
RAN = re.compile(r'^\[==========\] (\d+) tests? from .* ran', re.M)


class Broken(Exception):
    """Something that keeps a mutant from being judged: no verdict on the tests."""


@dataclass(frozen=True)
class Mutant:
    name: str
    what: str
    program: str
    filter: str
    path: Path


def read_mutant(path):
    match = HEADER.match(path.read_text())
    if not match:
        raise Broken(f'{path}: wanted a sentence, a line "Test: rung_FOLDER_tests FILTER", a diff from "--- a/" on')
    return Mutant(path.stem, ' '.join(match['what'].split()), match['program'], match['filter'], path.resolve())


def read_mutants(folder, names):
    paths = {path.stem: path for path in sorted(folder.glob('*.patch'))}
    if not paths:
        raise Broken(f'there are none in {PATCHES}')
    if unknown := set(names) - set(paths):
        raise Broken(f'there is no mutant {", ".join(sorted(unknown))} in {PATCHES}')
    return [read_mutant(paths[name]) for name in names or paths]


def checked(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Broken(f'{" ".join(map(str, command))}: ' + (done.stdout + done.stderr).strip()[-2000:])
    return done.stdout


class Scratch:
    """A copy of the sources with a build of its own; what is built stays for the next time."""

    def __init__(self, root, folder, jobs):
        self.root, self.folder, self.jobs = root, folder, jobs
        folder.mkdir(parents=True, exist_ok=True)

    def sync(self):
        """Makes the copy's files those of the root; untouched files keep their times, so nothing is built again."""
        listed = checked(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=self.root).split('\0')
        wanted = {Path(name) for name in listed if name and (self.root / name).is_file()}
        for old in self.files() - wanted:
            (self.folder / old).unlink()
        for name in sorted(wanted):
            source, copy, content = self.root / name, self.folder / name, self.content_of(name)
            if copy.is_file() and copy.read_bytes() == content:
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            shutil.copymode(source, copy)

    def content_of(self, name):
        return (self.root / name).read_bytes()

    def files(self):
        found = (path.relative_to(self.folder) for path in self.folder.rglob('*') if path.is_file())
        return {path for path in found if not path.parts[0].startswith('build')}

    def environment(self):
        # One compiler cache for all copies of the tree; git takes the copy for a plain folder, not a part of the clone.
        return {**os.environ, 'CCACHE_BASEDIR': str(self.folder), 'CCACHE_NOHASHDIR': '1',
                'GIT_CEILING_DIRECTORIES': str(self.folder.parent)}

    def configure(self):
        if not (self.folder / BUILD / 'build.ninja').is_file():
            checked(['cmake', '--preset', 'ci', *QUICK, '--log-level=WARNING'], cwd=self.folder,
                    env=self.environment())

    def build(self, programs, jobs=None):
        checked(['ninja', '-C', BUILD, f'-j{jobs or self.jobs}', *sorted(programs)], cwd=self.folder,
                env=self.environment())

    def patch(self, mutant, *options):
        checked(['git', 'apply', '-p1', *options, mutant.path], cwd=self.folder, env=self.environment())

    def run_test(self, mutant):
        """'passed', 'failed' or how it ended otherwise."""
        command = [self.folder / BUILD / 'tests' / mutant.program, f'--gtest_filter={mutant.filter}', '--gtest_brief=1']
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True,
                                  errors='replace', timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return f'did not end in {TEST_SECONDS} s'
        if done.returncode < 0 or done.returncode >= 128:
            return 'crashed'
        return verdict(done.returncode, done.stdout)


def verdict(status, output):
    ran = RAN.search(output)
    if not ran or ran[1] == '0':
        return 'ran no test'
    if '[  SKIPPED ]' in output:
        return 'was skipped'
    return 'failed' if status else 'passed'


def in_turns(copies, mutants, work):
    """work(copy, mutant) of each, as many at a time as there are copies; results in the order of the mutants."""
    idle = queue.SimpleQueue()
    for copy in copies:
        idle.put(copy)

    def take(mutant):
        copy = idle.get()
        try:
            return work(copy, mutant)
        finally:
            idle.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        return list(pool.map(take, mutants))


def is_sound(copy, mutant):
    """Whether its test passes on the sources as they are; one that does not is named."""
    found = copy.run_test(mutant)
    if found != 'passed':
        print(f'UNKNOWN   {mutant.name}: without the mistake, {mutant.program} {mutant.filter} {found}', flush=True)
    return found == 'passed'


def judge(scratch, mutant):
    """What the test says of the mistake; 'failed' and 'crashed' are what a mutant deserves."""
    scratch.patch(mutant)
    try:
        scratch.build({mutant.program})
        return scratch.run_test(mutant)
    finally:
        scratch.patch(mutant, '--reverse')


def is_killed(copy, mutant):
    """Whether its test noticed it; said in one print, as several are tried at a time."""
    began = time.monotonic()
    try:
        found = judge(copy, mutant)
    except Broken as broken:
        found = f'cannot be judged: {broken}'
    killed = found in ('failed', 'crashed')
    said = f'{"killed  " if killed else "SURVIVED"}  {mutant.name}  ({time.monotonic() - began:.0f} s)'
    if not killed:
        said += f'\n          {mutant.what}\n          {mutant.program} {mutant.filter} {found}'
    print(said, flush=True)
    return killed


def prepared(root, count, programs):
    """Copies with the programs built; a later copy takes what the first one compiled from the compiler cache."""
    cores = os.cpu_count() or 1
    copies = [Scratch(root, root / f'.cache/mutants/{i}', max(1, cores // count)) for i in range(count)]
    for copy in copies:
        copy.sync()
        copy.configure()
        copy.build(programs, cores)
    return copies


def try_all(copies, mutants):
    """How many were killed. Mutants of one program are tried one after another: what they share stays built."""
    ordered = sorted(mutants, key=lambda m: (m.program, m.name))
    sound = in_turns(copies, ordered, is_sound)
    return sum(in_turns(copies, [mutant for mutant, passed in zip(ordered, sound) if passed], is_killed))


def parse():
    parser = argparse.ArgumentParser(description='Known mistakes, and the tests that must notice them.')
    parser.add_argument('names', nargs='*', metavar='NAME', help='of mutants; default: all')
    parser.add_argument('--list', action='store_true', help='say what there is, and try nothing')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1, help='mutants at a time (one per core)')
    parser.add_argument('--root', type=Path, default=ROOT, help='of the sources')
    return parser.parse_args()


def main():
    arguments = parse()
    root = arguments.root.resolve()
    try:
        mutants = read_mutants(root / PATCHES, arguments.names)
        if arguments.list:
            for mutant in mutants:
                print(f'{mutant.name}: {mutant.what}')
            return 0
        copies = prepared(root, max(1, min(arguments.jobs, len(mutants))), {mutant.program for mutant in mutants})
        killed = try_all(copies, mutants)
    except Broken as broken:
        sys.exit(f'mutants: {broken}')
    print(f'{killed} of {len(mutants)} mutants killed')
    return 0 if killed == len(mutants) else 1


if __name__ == '__main__':
    sys.exit(main())
