#!/usr/bin/env python3
# Is a climbed plan ever slower than opening the model without a climb? Climbs, then runs both plans in turns.
# SPDX-License-Identifier: Apache-2.0
"""python3 bench/cpu/climb_never_loses.py --rung build/rung --model DIRECTORY [--busy 2] [--device cuda]

For each length, dtype and budget: climbs with an empty tuning database, then times the climbed plan and
`rung bench MODEL` in blocks, in alternating order. Prints a line for each with the ratio of their times (above 1: the
climbed plan is faster), and at the end how many were not slower by more than the limit. With --busy N that many
processes use a processor each meanwhile.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from busy_loops import busy_loops  # noqa: E402


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rung', default='build/rung')
    parser.add_argument('--model', required=True)
    parser.add_argument('--lengths', type=int, nargs='*', default=[16, 128, 256], help='none: the shapes of the model')
    parser.add_argument('--dtypes', nargs='+', default=['f32', 'bf16'], help='or "as-stored"')
    parser.add_argument('--budgets', type=int, nargs='+', default=[3, 10, 40], help='seconds')
    parser.add_argument('--busy', type=int, default=0)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--random-weights', type=int)
    parser.add_argument('--blocks', type=int, default=8, help='of each plan')
    parser.add_argument('--seconds', type=float, default=0.5, help='of a block')
    parser.add_argument('--limit', type=float, default=0.03)
    return parser.parse_args()


def call(*command: str) -> dict:
    done = subprocess.run([*command, '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def block(options: argparse.Namespace, what: list[str], runs: int) -> float:
    return call(options.rung, 'bench', *what, '--runs', str(runs))['median_ms']


def in_turns(options: argparse.Namespace, climbed: list[str], opened: list[str]) -> tuple[float, float, float]:
    """Medians of the climbed plan and of the one without a climb in ms, and the latter's over the former's by pairs."""
    ours, theirs = [], []
    runs = math.ceil(1e3 * options.seconds / block(options, opened, runs=5))
    for turn in range(options.blocks):
        order = [(ours, climbed), (theirs, opened)]
        for times, plan in order if turn % 2 == 0 else reversed(order):
            times.append(block(options, plan, runs))
    ratio = math.exp(statistics.median(math.log(b / a) for a, b in zip(ours, theirs)))
    return statistics.median(ours), statistics.median(theirs), ratio


def compared(options: argparse.Namespace, length: int | None, dtype: str, budget: int) -> float:
    model = [options.model, '--device', options.device]
    if dtype != 'as-stored':
        model += ['--dtype', dtype]
    if length is not None:
        model += ['--shape', f'input_ids=1,{length}']
    if options.random_weights is not None:
        model += ['--random-weights', str(options.random_weights)]
    with tempfile.TemporaryDirectory() as folder:
        said = call(options.rung, 'climb', *model, '--budget', f'{budget}s', '--out', f'{folder}/climb', '--database',
                    f'{folder}/tuning.json')
        plan = [f'{folder}/climb/plan.rung', '--device', options.device]
        ours, theirs, ratio = in_turns(options, plan, model)
    verdict = 'ok' if ratio >= 1 - options.limit else 'SLOWER'
    print(f'{length or "-":>5} {dtype:>5} {budget:>4} s: climbed {ours:8.3f} ms, no climb {theirs:8.3f} ms, ratio '
          f'{ratio:.3f} {verdict}; took {said["total_s"]:.1f} s; {said["headlines"][1]}', flush=True)
    return ratio


def main() -> int:
    options = parsed()
    with busy_loops(options.busy):
        ratios = [compared(options, length, dtype, budget) for length in options.lengths or [None]
                  for dtype in options.dtypes for budget in options.budgets]
    good = sum(ratio >= 1 - options.limit for ratio in ratios)
    print(f'{good} of {len(ratios)} climbs are not slower than no climb by more than {options.limit:.0%}')
    return 0 if good == len(ratios) else 1


if __name__ == '__main__':
    sys.exit(main())
