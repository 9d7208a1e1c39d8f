#!/usr/bin/env python3
# Shows that a tuning database filled on a busy machine does not slow the climbs that follow on a quiet one.
# SPDX-License-Identifier: Apache-2.0
#
# Four climbs of one model: quiet with a fresh database; beside a busy loop on every core into another one (the poison);
# quiet again with that one; and, as a control, quiet with a fresh database once more. Then the final plans run in
# alternating blocks, each a process of `rung bench`, in the order A B, B A, ...; a pair's ratio is that of its two
# medians. Printed are the median of the pairs' ratios and its 95 % interval by bootstrap. The control tells how far two
# climbs differ that have nothing to do with the database. Exit status 1: the plan of the poisoned database is slower
# than the limit allows. Nothing but Python's standard library is needed:
#
#   python3 bench/poisoned_database/compare.py --rung build/rung --model MODEL --threads 2 --budget 60s
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from busy_loops import busy_loops  # noqa: E402

RESAMPLES = 10000


def call(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{" ".join(map(str, words))}\nended with {done.returncode}: {done.stderr}')
    return done.stdout


class Bench:
    def __init__(self, arguments, work):
        self.arguments, self.work = arguments, work

    def climb(self, name, database, budget=None):
        """Prints the receipts; the plan lies in a folder of that name."""
        out = self.work / name
        text = call([self.arguments.rung, 'climb', self.arguments.model, '--json', '--out', out,
                     '--shape', f'input_ids=1,{self.arguments.tokens}', '--threads', self.arguments.threads,
                     '--dtype', 'f32', '--budget', budget or self.arguments.budget,
                     '--database', self.work / database])
        result = json.loads(text)
        print(f'climb {name}: {result["baseline_ms"]:.3f} -> {result["final_ms"]:.3f} ms, '
              f'tuning took {result["tuning_s"]:.1f} s')
        for rung in result['rungs']:
            kept = 'kept' if rung['accepted'] else '-'
            print(f'  {rung["name"]:<12} {kept:<5} {rung["ratio"]:.3f}  {rung["reason"]}')
        return out / 'plan.rung'

    def median_ms(self, plan):
        text = call([self.arguments.rung, 'bench', plan, '--runs', self.arguments.runs, '--json'])
        return json.loads(text)['median_ms']

    def ratios(self, plan, other):
        """Time of plan / time of other, pair by pair."""
        ratios = []
        for pair in range(self.arguments.pairs):
            order = (plan, other) if pair % 2 == 0 else (other, plan)
            times = {which: self.median_ms(which) for which in order}
            ratios.append(times[plan] / times[other])
        return ratios


def interval(values):
    """95 % interval of the median by bootstrap, the same for the same values."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)]


def tell_entries(path):
    """How sure a database says that it is."""
    entries = [entry for versions in json.loads(path.read_text())['devices'].values()
               for problems in versions.values() for entry in problems.values()]
    told = [entry['evidence'] for entry in entries if 'evidence' in entry]
    taken = statistics.median(evidence['disturbance'] for evidence in told) if told else float('nan')
    print(f'{path.name}: {len(entries)} entries, {len(told)} with evidence; others had {taken:.0%} of the processors '
          f'(median), {sum(entry.get("lost", False) for entry in entries)} lost on the model')


def parse():
    parser = argparse.ArgumentParser(description='A climb with a database from a busy machine against a fresh one.')
    parser.add_argument('--rung', default='build/rung', help='the program (default: %(default)s)')
    parser.add_argument('--model', required=True, help='folder of a BERT encoder, such as all-MiniLM-L6-v2')
    parser.add_argument('--threads', type=int, default=2, help='of the climbs and plans (default: %(default)s)')
    parser.add_argument('--tokens', type=int, default=128, help='(default: %(default)s)')
    parser.add_argument('--budget', default='60s', help='of each climb (default: %(default)s)')
    parser.add_argument('--loaded-budget', help='of the climb beside busy loops (default: the same)')
    parser.add_argument('--loops', type=int, default=os.cpu_count(),
                        help='busy loops (default: one per core, %(default)s)')
    parser.add_argument('--pairs', type=int, default=30, help='of blocks per comparison (default: %(default)s)')
    parser.add_argument('--runs', type=int, default=50, help='inferences in a block (default: %(default)s)')
    parser.add_argument('--limit', type=float, default=1.02, help='largest ratio that passes (default: %(default)s)')
    parser.add_argument('--work', help='folder for databases and plans (default: a temporary one)')
    return parser.parse_args()


def run(arguments, work):
    bench = Bench(arguments, work)
    fresh = bench.climb('fresh', 'fresh.json')
    with busy_loops(arguments.loops):
        bench.climb('loaded', 'poisoned.json', arguments.loaded_budget)
    if not (work / 'poisoned.json').exists():
        sys.exit('the climb beside the busy loops had no time to tune anything: give it a larger --loaded-budget')
    tell_entries(work / 'poisoned.json')
    shutil.copy(work / 'poisoned.json', work / 'after.json')
    after = bench.climb('after', 'after.json')
    tell_entries(work / 'after.json')
    control = bench.climb('control', 'control.json')
    results = {}
    for name, plan in (('after the poison', after), ('control', control)):
        ratios = bench.ratios(plan, fresh)
        low, high = interval(ratios)
        results[name] = statistics.median(ratios)
        print(f'{name} / fresh: {results[name]:.4f} (95 %: {low:.4f} to {high:.4f}, {len(ratios)} pairs)')
    return results['after the poison'] <= arguments.limit


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(arguments.work or temporary)
        work.mkdir(parents=True, exist_ok=True)
        if any(work.glob('*.json')):
            sys.exit(f"--work {work}: got a folder with databases in it, wanted one without: climbs start from none")
        sys.exit(0 if run(arguments, work) else 1)


if __name__ == '__main__':
    main()
