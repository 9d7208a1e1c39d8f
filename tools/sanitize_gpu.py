#!/usr/bin/env python3
# Runs the GPU tests under NVIDIA's compute-sanitizer, in parts side by side, and says what each tool found.
# SPDX-License-Identifier: Apache-2.0
#
# On a machine with a GPU, after ./dev build: tools/sanitize_gpu.py --tools racecheck --filter '*linear*' --seconds 600
# A run counts as clean only if tests ran in it, none failed, and the tool's last word is that it found nothing. Exit
# status 0: all clean; 1 otherwise, what was still running when the time was over included.
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TOOLS = ['memcheck', 'racecheck', 'initcheck', 'synccheck']
PROGRAMS = ['rung_conformance_tests', 'rung_models_tests']
SPLIT = 'AgreesWithTheReference'  # tests that RUNG_TEST_PART takes apart
REPLAYS = '10'  # of plans that must give the same bits every time, instead of 1,000
NOT_FINISHED = 'not finished'
NOTHING_FOUND = re.compile(r'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards')


@dataclass(frozen=True)
class Job:
    tool: str
    program: Path
    test: str
    part: str  # '' or such as 2/8

    def __str__(self):
        return ' '.join(filter(None, [self.tool, self.test, self.part]))


def tests_of(listing):
    """Full names, from what --gtest_list_tests prints."""
    suite, names = '', []
    for line in listing.splitlines():
        word = line.split('#')[0].rstrip()
        if word.startswith('  '):
            names.append(suite + word.strip())
        elif word.endswith('.'):
            suite = word
    return names


def jobs_of(program, tests, tools, parts):
    def shares(test):
        return [f'{i}/{parts}' for i in range(1, parts + 1)] if SPLIT in test and parts > 1 else ['']
    return [Job(tool, program, test, part) for tool in tools for test in tests for part in shares(test)]


def verdict(status, output):
    """What a run that has ended says: 'clean', 'skipped' or 'reported'."""
    if status != 0 or not NOTHING_FOUND.search(output):
        return 'reported'
    return 'clean' if re.search(r'\[  PASSED  \] [1-9]', output) and '[  SKIPPED ]' not in output else 'skipped'


def log_of(job, logs):
    return logs / (re.sub(r'\W+', '_', f'{job.program.name} {job}') + '.log')


def last_line(log):
    return (log.read_text(errors='replace').splitlines() or ['nothing'])[-1]


def run(job, sanitizer, deadline, logs):
    left = deadline - time.monotonic()
    if left <= 0:
        return 'not begun'
    environment = {'RUNG_TEST_REPLAYS': REPLAYS, **os.environ, **({'RUNG_TEST_PART': job.part} if job.part else {})}
    command = [sanitizer, '--tool', job.tool, '--print-limit', '5', str(job.program), f'--gtest_filter={job.test}']
    log = log_of(job, logs)
    with log.open('w') as out:
        child = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        status = child.wait(timeout=left)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the test program, too, which would keep the GPU busy
        child.wait()
        return NOT_FINISHED
    return verdict(status, log.read_text(errors='replace'))


def parse():
    parser = argparse.ArgumentParser(description='GPU tests under compute-sanitizer.')
    parser.add_argument('--build', type=Path, default=Path('build'), help='with tests/ in it')
    parser.add_argument('--tools', nargs='+', default=TOOLS, choices=TOOLS)
    parser.add_argument('--filter', default='*Gpu*', help='of tests, as --gtest_filter takes it')
    parser.add_argument('--parts', type=int, default=6, help='of a kernel row\'s problems')
    parser.add_argument('--jobs', type=int, default=10, help='side by side')
    parser.add_argument('--seconds', type=float, default=1800, help='for everything')
    parser.add_argument('--logs', type=Path, default=Path('build/sanitizer'))
    parser.add_argument('--sanitizer', default='compute-sanitizer', help='the program')
    return parser.parse_args()


def all_jobs(arguments):
    if not shutil.which(arguments.sanitizer):
        sys.exit(f"sanitize_gpu: there is no program '{arguments.sanitizer}'; it comes with the CUDA toolkit")
    jobs = []
    for name in PROGRAMS:
        program = arguments.build / 'tests' / name
        if not program.is_file():
            sys.exit(f"sanitize_gpu: there is no '{program}': build first, or say where with --build")
        listed = subprocess.run([program, '--gtest_list_tests', f'--gtest_filter={arguments.filter}'],
                                capture_output=True, text=True, check=True).stdout
        tests = [test for test in tests_of(listed) if 'Gpu' in test]
        jobs += jobs_of(program.resolve(), tests, arguments.tools, arguments.parts)
    return jobs


def main():
    arguments = parse()
    arguments.logs.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + arguments.seconds
    counts = {tool: collections.Counter() for tool in arguments.tools}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {pool.submit(run, job, arguments.sanitizer, deadline, arguments.logs): job
                   for job in all_jobs(arguments)}
        for done in concurrent.futures.as_completed(running):
            job, found = running[done], done.result()
            counts[job.tool][found] += 1
            if found not in ('clean', 'skipped'):
                where = f', at: {last_line(log_of(job, arguments.logs))}' if found == NOT_FINISHED else ''
                print(f'{found}: {job}{where}', flush=True)
    for tool, count in counts.items():
        print(f'{tool}: ' + (', '.join(f'{n} {what}' for what, n in sorted(count.items())) or 'no tests'))
    good = all(count['clean'] and not set(count) - {'clean', 'skipped'} for count in counts.values())
    print('all clean' if good else f'not all clean; the logs: {arguments.logs}')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
