#!/usr/bin/env python3
# Switches off one refusal of a kernel row at a time, and sees that the conformance suite notices each that is gone.
# SPDX-License-Identifier: Apache-2.0
#
# A refusal is a call of reject() under src/kernels. In a scratch copy of the sources every one gets a number and a
# switch (RUNG_REFUSAL_OFF=12), and the copy is built once. Then the tests run once with nothing switched off, and say
# which refusals they meet; each of these is switched off for the tests that do. Exit status 0: all were noticed, or
# stand in tests/conformance/equivalent_refusals.txt with the reason why nothing can notice them.
import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from mutants import BUILD, Broken, Scratch, checked

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path('src/kernels')
EQUIVALENT = Path('tests/conformance/equivalent_refusals.txt')
PROGRAMS = {'rung_conformance_tests': 'All/DerivedRow.*:All/EmulatedDerivedRow.*:All/KernelRow.*:RowLimits.*',
            'rung_kernels_tests': '*'}
SECONDS = 900  # what has not ended by then hangs
SWITCH = '''// Made by tools/refusals.py: is this refusal switched off? Says when a test meets one.
#pragma once
#include <cstdio>
#include <cstdlib>
inline bool refusal_is_off(int number) {
  static const char* off = std::getenv("RUNG_REFUSAL_OFF");
  static const bool told = std::getenv("RUNG_REFUSALS_TOLD") != nullptr;
  if (told) std::printf("\\n@refusal %d\\n", number);
  return off && std::atoi(off) == number;
}
'''


@dataclass
class Refusal:
    number: int
    path: str
    line: int
    text: str  # of the line, without what changes when code moves
    tests: dict = field(default_factory=dict)  # the program's name -> names of tests that meet it

    @property
    def name(self):
        return f'{Path(self.path).relative_to(SOURCES)}: {self.text}'


def end_of_call(source, opening):
    """Just past the parenthesis that closes the one at `opening`."""
    depth, at, quoted = 0, opening, False
    while True:
        char = source[at]
        if quoted:
            at += char == '\\'
            quoted = char != '"'
        elif char == '"':
            quoted = True
        else:
            depth += (char == '(') - (char == ')')
        at += 1
        if depth == 0 and not quoted:
            return at


def is_conditional(before):
    """Whether a statement that ends `before` is the body of an if."""
    return before.rstrip().endswith(')')


def switched(source, path, first):
    """The source with switches, and its refusals, numbered from `first` on."""
    found, result, rest = [], [], 0
    for call in re.finditer(r'\breject\(', source):
        before = source[:call.start()]
        if before.rsplit('\n', 1)[-1].lstrip().startswith('//') or re.search(r'\bVerdict $', before):
            continue
        number = first + len(found)
        end = end_of_call(source, call.end() - 1)
        found.append(Refusal(number, path, before.count('\n') + 1, ' '.join(source[call.start():end].split())))
        returned = re.search(r'\breturn $', before)
        if returned and is_conditional(before[:returned.start()]):
            result += [source[rest:returned.start()], f'while (!refusal_is_off({number})) ',
                       source[returned.start():end]]
        else:
            result += [source[rest:call.start()], f'(refusal_is_off({number}) ? accept() : ',
                       source[call.start():end], ')']
        rest = end
    return ''.join(result) + source[rest:], found


class SwitchedScratch(Scratch):
    """A copy whose refusals have switches."""

    def __init__(self, root, folder):
        super().__init__(root, folder)
        self.refusals = []
        self.switch = folder / 'build/refusal_switch.hpp'  # where sync() leaves it alone

    def sync(self):
        self.refusals = []
        self.switch.parent.mkdir(parents=True, exist_ok=True)
        if not self.switch.is_file() or self.switch.read_text() != SWITCH:
            self.switch.write_text(SWITCH)
        super().sync()

    def configure(self):
        # Rows of NVIDIA's are asked here and run nowhere: their device code need not be compiled.
        if not (self.folder / BUILD / 'build.ninja').is_file():
            checked(['cmake', '--preset', 'ci', '-DRUNG_BENCH=OFF', '-DRUNG_NVCC=', '--log-level=WARNING'],
                    cwd=self.folder, env=self.environment())

    def content_of(self, name):
        content = super().content_of(name)
        if not name.is_relative_to(SOURCES) or name.suffix not in ('.cpp', '.hpp'):
            return content
        text, found = switched(content.decode(), str(name), len(self.refusals))
        self.refusals += found
        include = f'#include "{self.switch}"\n#include'
        return (re.sub(r'^#include', include, text, count=1, flags=re.M) if found else text).encode()


class Suite:
    """The scratch copy's test programs."""

    def __init__(self, scratch):
        self.scratch = scratch

    def run(self, program, filters, **variables):
        command = [self.scratch.folder / BUILD / 'tests' / program, f'--gtest_filter={filters}', '--gtest_fail_fast']
        environment = {**self.scratch.environment(), **variables}
        done = subprocess.run(command, cwd=self.scratch.folder, env=environment, capture_output=True, text=True,
                              errors='replace', timeout=SECONDS)
        return done.returncode, done.stdout

    def see(self, refusals):
        """Which tests meet which refusal."""
        for program, filters in PROGRAMS.items():
            status, output = self.run(program, filters, RUNG_REFUSALS_TOLD='1')
            if status != 0:
                raise Broken(f'{program} fails with nothing switched off:\n{output[-2000:]}')
            test = ''
            for line in output.splitlines():
                if line.startswith('[ RUN      ]'):
                    test = line.split()[-1]
                elif line.startswith('@refusal ') and test:
                    refusals[int(line.split()[1])].tests.setdefault(program, {})[test] = True

    def notices(self, refusal):
        for program, tests in refusal.tests.items():
            try:
                status, _ = self.run(program, ':'.join(tests), RUNG_REFUSAL_OFF=str(refusal.number))
            except subprocess.TimeoutExpired:
                return True
            if status != 0:
                return True
        return False


def read_equivalent(path):
    """The refusals whose absence nothing can notice, each with its reason: "FILE: reject(...) -- REASON"."""
    known = {}
    for line in path.read_text().splitlines() if path.is_file() else []:
        if line and not line.startswith('#'):
            name, _, reason = line.partition(' -- ')
            if not reason:
                raise Broken(f'{path}: no reason in "{line}"')
            known[name] = reason
    return known


def judge(suite, refusals, known):
    """How many are neither noticed nor known to be equivalent."""
    unnoticed = 0
    for refusal in refusals:
        began = time.monotonic()
        if not refusal.tests:
            word = 'not met here'
        elif suite.notices(refusal):
            word = 'noticed'
        else:
            word = 'equivalent' if refusal.name in known else 'UNNOTICED'
        if word == 'noticed' and refusal.name in known:
            word = 'NOTICED, and listed as equivalent'
        unnoticed += word.isupper() or word.startswith('NOTICED')
        spent = time.monotonic() - began
        print(f'{word:12}  {refusal.path}:{refusal.line}  {refusal.text}  ({spent:.0f} s)', flush=True)
    return unnoticed


def parse():
    parser = argparse.ArgumentParser(
        description='Refusals of kernel rows, and whether a test notices one that is gone.')
    parser.add_argument('parts', nargs='*', metavar='PART',
                        help='of the paths of sources, such as cpu/norm; default: all')
    parser.add_argument('--list', action='store_true', help='say what there is, and try nothing')
    parser.add_argument('--root', type=Path, default=ROOT, help='of the sources')
    return parser.parse_args()


def main():
    arguments = parse()
    root = arguments.root.resolve()
    try:
        known = read_equivalent(root / EQUIVALENT)
        scratch = SwitchedScratch(root, root / '.cache/refusals')
        scratch.sync()
        refusals = scratch.refusals
        parts = arguments.parts or ['']
        wanted = [each for each in refusals if any(part in each.path for part in parts)]
        if arguments.list:
            for refusal in wanted:
                print(f'{refusal.path}:{refusal.line}  {refusal.text}')
            return 0
        if unknown := set(known) - {refusal.name for refusal in refusals}:
            raise Broken(f'{EQUIVALENT} names refusals that are not there: {", ".join(sorted(unknown))}')
        scratch.configure()
        scratch.build(PROGRAMS)
        suite = Suite(scratch)
        suite.see(refusals)
        unnoticed = judge(suite, wanted, known)
    except Broken as broken:
        sys.exit(f'refusals: {broken}')
    print(f'{unnoticed} of {len(wanted)} refusals can go and no test says so')
    return 1 if unnoticed else 0


if __name__ == '__main__':
    sys.exit(main())
