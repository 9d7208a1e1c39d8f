#!/usr/bin/env python3
# Runs clang-tidy over the sources whose text, headers or flags changed since they last passed it.
# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = 'clang-tidy-14'
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@lru_cache(None)
def included(path):
    """The project's own files that this one includes, directly."""
    places = (path.parent, ROOT / 'src', ROOT / 'include', ROOT / 'tests')
    names = INCLUDE.findall(path.read_text(encoding='utf-8'))
    found = (next((p / name for p in places if (p / name).is_file()), None) for name in names)
    return [p.resolve() for p in found if p]


def closure(path):
    seen, waiting = {path}, [path]
    while waiting:
        for other in included(waiting.pop()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return sorted(seen)


def key_of(entry, rules):
    """Names a check by all that its result depends on; the same key in another clone means the same result."""
    digest = hashlib.sha256(rules)
    digest.update(entry['command'].replace(entry['directory'], '').replace(str(ROOT), '').encode())
    for path in closure(Path(entry['file'])):
        digest.update(str(path.relative_to(ROOT)).encode() + b'\0' + path.read_bytes())
    return digest.hexdigest()


def most_recent_first(entries):
    """Sources that the latest commits touched come first, in case the time does not suffice for all."""
    log = subprocess.run(['git', 'log', '--name-only', '--format=', '-200', '--', 'src'], cwd=ROOT, text=True,
                         capture_output=True).stdout.split('\n')
    rank = {name: i for i, name in reversed(list(enumerate(log)))}
    return sorted(entries, key=lambda e: rank.get(str(Path(e['file']).relative_to(ROOT)), -1))


def without_precompiled(entries, folder):
    """Entries that compile every header from its text: clang cannot read what GCC precompiled, and a source that lacks
    an include is found. They are written to `folder`, for the tool."""
    entries = [{**e, 'command': re.sub(r' -Winvalid-pch -include \S+', '', e['command'])} for e in entries]
    folder.mkdir(exist_ok=True)
    (folder / 'compile_commands.json').write_text(json.dumps(entries))
    return entries


def run_tool(build, file):
    command = [TOOL, '--quiet', '-p', str(build), file]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout if run.returncode else ''


class Checker:
    def __init__(self, build, cache, budget):
        self.build, self.cache = build, cache
        self.deadline = time.monotonic() + budget if budget else float('inf')
        self.failed, self.skipped, self.checked = 0, 0, 0

    def check(self, entry, key):
        if time.monotonic() > self.deadline:
            self.skipped += 1
            return
        code, output = run_tool(self.build, entry['file'])
        self.checked += 1
        if code == 0:
            (self.cache / key).touch()
            return
        self.failed += 1
        print(output.replace(str(ROOT) + '/', '').strip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description='Runs clang-tidy over src/; a file that passed is not checked again.')
    parser.add_argument('build', type=Path, help='a folder with compile_commands.json')
    parser.add_argument('--budget', type=float, default=0, help='start no file after this many seconds; 0: no end')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    cache = Path(os.environ.get('XDG_CACHE_HOME', Path.home() / '.cache')) / 'rung' / 'tidy'
    cache.mkdir(parents=True, exist_ok=True)

    rules = (ROOT / '.clang-tidy').read_bytes() + subprocess.check_output([TOOL, '--version'])
    folder = arguments.build / 'tidy'
    entries = without_precompiled(json.loads((arguments.build / 'compile_commands.json').read_text()), folder)
    own = [e for e in entries if Path(e['file']).is_relative_to(ROOT / 'src')]
    todo = [(e, k) for e in most_recent_first(own) if not (cache / (k := key_of(e, rules))).exists()]
    start, checker = time.monotonic(), Checker(folder, cache, arguments.budget)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda t: checker.check(*t), todo))
    print(f'clang-tidy: {checker.checked} files checked in {time.monotonic() - start:.0f} s, {checker.failed} with '
          f'findings; {len(own) - len(todo)} unchanged since they passed'
          + (f'; {checker.skipped} NOT checked: the time was up' if checker.skipped else ''))
    return 1 if checker.failed else 0


if __name__ == '__main__':
    sys.exit(main())
