#!/usr/bin/env python3
# Signals climbs of the tiny model, one every 10 ms of their course, and says which crashed, hung or left something.
# SPDX-License-Identifier: Apache-2.0
#
# After ./dev build: tools/interrupt_climbs.py --climbs 1000. The signals are SIGINT and SIGTERM, one or two, to the
# tool alone or to its process group as a terminal does. Exit status 0: every climb ended as it should.
import argparse
import collections
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

STEP = 0.01  # seconds between one climb's signal and the next one's
WHOLE_SET = {'plan.rung', 'recipe.json', 'report.html', 'report.json', 'report.md', 'trace.json'}
KEPT = ('tuning.json', 'peaks.json')  # of the cache folder
CACHE = {*KEPT, 'tuning.json.lock'}
ERROR = 'rung: error: '
BEGUN = 'rung: reference'  # the first line of a climb's progress: by then it catches signals

# A shell has what it starts in the background ignore Ctrl-C, and climbs would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Case:
    delay: float
    signal: signal.Signals
    twice: bool
    group: bool

    def __str__(self):
        return (f'{self.signal.name}{" twice" if self.twice else ""} to the '
                f'{"group" if self.group else "tool"} after {self.delay:.2f} s')


@dataclass
class Ended:
    status: int  # negative: by that signal
    errors: str
    seconds: float  # from the first signal on
    left: list  # names of files and processes that should not be there
    hung: bool = False


def cases_of(count, span):
    """Delays go through `span` again and again; each time the way of signalling is another."""
    steps = max(1, round(span / STEP))
    return [Case(STEP * (1 + n * steps // count if count < steps else 1 + n % steps),
                 signal.SIGTERM if n % 2 else signal.SIGINT, bool(n // 2 % 2), bool(n // 4 % 2)) for n in range(count)]


def names(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob('*')} if folder.exists() else set()


def is_json(path):
    try:
        return isinstance(json.loads(path.read_text()), dict)
    except ValueError:
        return False


def left_in(folder):
    """What no climb may leave: part of a set of results, files beside the database, a damaged one, files elsewhere."""
    out, cache = names(folder / 'out'), names(folder / 'cache')
    left = [f'out/{name}' for name in out] if out != WHOLE_SET else []
    left += [f'cache/{name}' for name in cache - CACHE] + [f'cwd/{name}' for name in names(folder / 'cwd')]
    kept = [folder / 'cache' / name for name in KEPT]
    return left + [f'a damaged {file.name}' for file in kept if file.exists() and not is_json(file)]


def is_empty_soon(group):
    """Workers die with the tool that started them; the system may take a moment."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def send(process, case):
    try:
        (os.killpg if case.group else os.kill)(process.pid, case.signal)
    except ProcessLookupError:  # it has ended already
        pass


def run(case, arguments):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'cwd').mkdir()
        command = [arguments.tool.resolve(), 'climb', arguments.model.resolve(), '--budget', arguments.budget, '--out',
                   folder / 'out']
        with (folder / 'errors').open('w') as errors:
            process = subprocess.Popen(command, cwd=folder / 'cwd', stdout=subprocess.DEVNULL, stderr=errors,
                                       env={**os.environ, 'RUNG_CACHE_DIR': str(folder / 'cache')},
                                       start_new_session=True)
        time.sleep(case.delay)
        begin = time.monotonic()
        send(process, case)
        if case.twice:
            time.sleep(STEP)
            send(process, case)
        hung = False
        try:
            process.wait(timeout=arguments.patience)
        except subprocess.TimeoutExpired:
            hung = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        ended = Ended(process.returncode, (folder / 'errors').read_text(errors='replace'), time.monotonic() - begin,
                      left_in(folder), hung)
        if not is_empty_soon(process.pid):
            ended.left.append('a process')
        return ended


def complaints(case, ended):
    """What is wrong with how a climb ended; nothing, as a rule."""
    found = ['it hung'] if ended.hung else []
    if ended.status not in (0, -case.signal):
        found.append(f'it ended with {ended.status}')
    lines = [line for line in ended.errors.splitlines() if line.startswith(ERROR)]
    expected = ended.status != 0 and BEGUN in ended.errors
    if len(lines) > 1 or (lines and ended.status == 0) or (expected and not lines and not case.twice):
        found.append(f'{len(lines)} error lines')
    if any('interrupted' not in line for line in lines):
        found.append(f'it says: {lines[0]}')
    return found + [f'it left {name}' for name in ended.left]


def parse():
    parser = argparse.ArgumentParser(description='Climbs that are interrupted.')
    parser.add_argument('--tool', type=Path, default=Path('build/rung'))
    parser.add_argument('--model', type=Path, default=Path(__file__).parent.parent / 'tests/data/bert_tiny')
    parser.add_argument('--climbs', type=int, default=1000)
    parser.add_argument('--budget', default='1s', help='of each climb')
    parser.add_argument('--span', type=float, default=3, help='seconds from the start within which signals come')
    parser.add_argument('--patience', type=float, default=30, help='seconds from a signal to the end')
    parser.add_argument('--jobs', type=int, default=2, help='side by side')
    return parser.parse_args()


def main():
    arguments = parse()
    if not arguments.tool.is_file():
        sys.exit(f"interrupt_climbs: there is no '{arguments.tool}': build first, or say where with --tool")
    counts, slowest, bad = collections.Counter(), 0.0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        cases = cases_of(arguments.climbs, arguments.span)
        for case, ended in zip(cases, pool.map(lambda case: run(case, arguments), cases)):
            found = complaints(case, ended)
            counts['finished' if ended.status == 0 else 'interrupted'] += 1
            slowest = max(slowest, ended.seconds if ended.status < 0 else 0)
            bad += bool(found)
            for complaint in found:
                print(f'{case}: {complaint}', flush=True)
    print(', '.join(f'{n} {what}' for what, n in sorted(counts.items())) + f'; {bad} not as they should; '
          f'the slowest took {slowest:.2f} s to end')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
