#!/usr/bin/env python3
# How long does an inference take beside other programs? rung with one thread, two, and as many as it takes by default,
# and ONNX Runtime with its threads spinning (its default) and asleep, in alternating blocks beside busy loops.
# SPDX-License-Identifier: Apache-2.0
"""python3 bench/cpu/shared_processors.py --rung build/rung --model all-MiniLM-L6-v2 [--busy 0 1 2]

Each contestant has its own process and is stopped while another is measured; the busy loops are not, and nobody is
bound to a processor. Prints a Markdown table: the median over the rounds of each block's median, in ms, and for the
default its ratio to the better of one and two threads within the rounds. Without onnxruntime, its columns are empty.
"""
import argparse
import os
import statistics
import sys
from pathlib import Path

from contestant import Contestant

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from busy_loops import busy_loops  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEFAULT = 'rung, default'
ONE, TWO = 'rung, 1 thread', 'rung, 2 threads'
PEERS = {'ONNX Runtime': 'onnxruntime', 'ONNX Runtime, no spinning': 'onnxruntime-no-spinning'}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rung', default=os.path.relpath(ROOT / 'build' / 'rung'))
    parser.add_argument('--model', required=True, help='folder of all-MiniLM-L6-v2')
    parser.add_argument('--cache', default=os.path.relpath(ROOT / '.cache' / 'bench' / 'models'))
    parser.add_argument('--tokens', type=int, nargs='+', default=[16, 128])
    parser.add_argument('--busy', type=int, nargs='+', default=[0, 1], help='busy loops beside them')
    parser.add_argument('--dtype', default='f32', choices=['f32', 'bf16'])
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--block-ms', type=int, default=500)
    return parser.parse_args()


def contestants(options, tokens, log):
    cores = os.sched_getaffinity(0)
    model = [options.rung, 'bench', options.model, '--shape', f'input_ids=1,{tokens}', '--dtype', options.dtype,
             '--blocks']
    for name, threads in ((ONE, ['--threads', '1']), (TWO, ['--threads', '2']), (DEFAULT, [])):
        yield Contestant(name, model + threads, cores, log)
    for name, word in PEERS.items():
        command = [sys.executable, str(HERE / 'worker.py'), word, '--model', options.model, '--cache', options.cache,
                   '--tokens', str(tokens), '--threads', str(len(cores)), '--dtype', options.dtype]
        yield Contestant(name, command, cores, log)


def measured(options, everyone):
    """The blocks' medians, by name."""
    blocks = {one.name: [] for one in everyone}
    for index in range(options.rounds):
        turn = index % len(everyone)
        for one in everyone[turn:] + everyone[:turn]:
            if answer := one.ask(f'go {options.block_ms}'):
                blocks[one.name].append(answer['median_ms'])
    return blocks


def ratio(blocks):
    better = map(min, zip(blocks[ONE], blocks[TWO]))
    return statistics.median(ours / best for ours, best in zip(blocks[DEFAULT], better))


def line(tokens, busy, blocks):
    cells = [f'{statistics.median(times):.3f}' if times else '-' for times in blocks.values()]
    return f'| {tokens} tokens, {busy} busy | ' + ' | '.join(cells) + f' | {ratio(blocks):.2f} |'


def main():
    options = parsed()
    Path(options.cache).mkdir(parents=True, exist_ok=True)
    with open(Path(options.cache) / 'workers.log', 'w', encoding='utf-8') as log:
        for tokens in options.tokens:
            everyone = list(contestants(options, tokens, log))
            try:
                if tokens == options.tokens[0]:
                    print('| | ' + ' | '.join(one.name for one in everyone) + ' | default / better |')
                    print('| --- ' * (len(everyone) + 2) + '|', flush=True)
                for busy in options.busy:
                    with busy_loops(busy):
                        print(line(tokens, busy, measured(options, everyone)), flush=True)
                for one in everyone:
                    if one.reason:
                        print(f'{one.name}: {one.reason}', file=sys.stderr)
            finally:
                for one in everyone:
                    one.close()


if __name__ == '__main__':
    main()
