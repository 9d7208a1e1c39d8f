#!/usr/bin/env python3
# Measures two builds of rung on one BERT encoder, in alternating blocks: did a change make anything slower?
# SPDX-License-Identifier: Apache-2.0
#
#   python3 bench/cpu/builds.py BEFORE AFTER --model MODEL
#
# Each build climbs once for each setting, with a tuning database of its own. Where memory lies differs from process to
# process, so several pairs of processes run each plan; a ratio is formed within a pair of blocks.
import argparse
import itertools
import random
import statistics
import tempfile
from pathlib import Path

from compare import Setting
from rung_plan import Rung

SAMPLES = 1000  # of the ratios, for the interval


def ratios_of(builds, setting, arguments, log):
    """One row per pair of processes: (ms before, ms after) of each pair of blocks."""
    rows = []
    for _ in range(arguments.pairs):
        contestants = [build.enter(setting, log) for build in builds]
        if reason := next((c.reason for c in contestants if c.reason), None):
            raise SystemExit(f'{setting.key}: {reason}')
        row = []
        for index in range(arguments.blocks):
            turn = contestants if index % 2 == 0 else contestants[::-1]
            median = {c: c.ask(f'go {arguments.block_ms}')['median_ms'] for c in turn}
            row.append(tuple(median[c] for c in contestants))
        for contestant in contestants:
            contestant.close()
        rows.append(row)
    return rows


def line_of(setting, rows):
    blocks = list(itertools.chain(*rows))
    ratios = [after / before for before, after in blocks]
    sampled = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(SAMPLES))
    low, high = sampled[SAMPLES // 40], sampled[-SAMPLES // 40]
    before, after = (statistics.median(column) for column in zip(*blocks))
    pairs = ' '.join(f'{statistics.median(a / b for b, a in row):.3f}' for row in rows)
    return (f'{setting.dtype} {setting.tokens} tokens x {setting.threads}: {before:.3f} -> {after:.3f} ms, '
            f'{statistics.median(ratios):.4f} [{low:.3f}, {high:.3f}] of the time before; by pair {pairs}')


def parse():
    parser = argparse.ArgumentParser(description='Two builds of rung on this processor.')
    parser.add_argument('before', help='the older tool')
    parser.add_argument('after', help='the newer tool')
    parser.add_argument('--model', required=True, help='folder of all-MiniLM-L6-v2')
    parser.add_argument('--tokens', type=int, nargs='+', default=[16, 128, 256])
    parser.add_argument('--threads', type=int, nargs='+', default=[1, 2])
    parser.add_argument('--dtype', nargs='+', default=['f32', 'bf16'], choices=['f32', 'bf16'])
    parser.add_argument('--pairs', type=int, default=6, help='of processes')
    parser.add_argument('--blocks', type=int, default=8, help='of each process')
    parser.add_argument('--block-ms', type=int, default=150)
    parser.add_argument('--budget', default='30s', help='of each climb')
    return parser.parse_args()


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / 'log', 'w', encoding='utf-8') as log:
        builds = [Rung(tool, arguments.model, Path(folder) / name, arguments.budget)
                  for name, tool in (('before', arguments.before), ('after', arguments.after))]
        for dtype, tokens, threads in itertools.product(arguments.dtype, arguments.tokens, arguments.threads):
            setting = Setting(tokens, threads, dtype)
            print(line_of(setting, ratios_of(builds, setting, arguments, log)), flush=True)


if __name__ == '__main__':
    main()
