#!/usr/bin/env python3
# Measures rung, OpenVINO, ONNX Runtime and PyTorch on one BERT encoder, in alternating blocks of one run.
# SPDX-License-Identifier: Apache-2.0
#
# Every contestant has its own process, bound to the same processors and stopped by a signal while another runs, so that
# no library's spinning threads slow the next. A block is 50 ms of warm-up, then back-to-back runs. The order rotates
# from round to round; a ratio is formed within a round, and its median over the rounds is reported.
import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import report
from contestant import Contestant, cores_for
from rung_plan import Rung

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REFERENCE = 'torch'  # in f32: what all outputs are compared with
PEERS = ['openvino', 'openvino-torch', 'onnxruntime', 'onnxruntime-fused', 'torch']


@dataclass(frozen=True)
class Setting:
    tokens: int
    threads: int
    dtype: str

    @property
    def key(self):
        return f'{self.tokens}-{self.threads}-{self.dtype}'


class Comparison:
    def __init__(self, arguments):
        self.arguments = arguments
        self.cache = Path(arguments.cache)
        self.cache.mkdir(parents=True, exist_ok=True)
        self.rung = Rung(arguments.rung, arguments.model, self.cache, arguments.budget)
        self.wanted = {}  # the reference's outputs, by length
        self.log = open(self.cache / 'workers.log', 'w', encoding='utf-8')

    def enter(self, name, setting):
        if name == 'rung':
            return self.rung.enter(setting, self.log)
        command = [sys.executable, str(HERE / 'worker.py'), name, '--model', self.arguments.model, '--cache',
                   str(self.cache), '--tokens', str(setting.tokens), '--threads', str(setting.threads),
                   '--dtype', setting.dtype]
        return Contestant(name, command, cores_for(setting.threads), self.log)

    def measure(self, setting):
        """All contestants in one setting. They get ready one after the other; then the rounds begin."""
        contestants = []
        try:
            for name in ['rung'] + self.arguments.peers:
                contestants.append(self.enter(name, setting))
            blocks = self.rounds(contestants)
            outputs = {c.name: self.outputs(c, setting) for c in contestants if not c.reason}
            plan = getattr(contestants[0], 'plan', None)
            return {'setting': vars(setting), 'blocks': blocks, 'errors': self.errors(outputs, setting),
                    'unavailable': {c.name: c.reason for c in contestants if c.reason},
                    'profile': self.rung.profile(plan) if plan else {}}
        finally:
            for contestant in contestants:
                contestant.close()

    def rounds(self, contestants):
        blocks = {c.name: [] for c in contestants if not c.reason}
        for index in range(self.arguments.rounds):
            turn = index % len(contestants)
            for contestant in contestants[turn:] + contestants[:turn]:
                answer = contestant.ask(f'go {self.arguments.block_ms}')
                if answer:
                    blocks[contestant.name].append(answer['median_ms'])
        return blocks

    def outputs(self, contestant, setting):
        if contestant.name == 'rung':
            return self.rung.outputs(contestant.plan)
        with tempfile.TemporaryDirectory() as folder:
            path = f'{folder}/outputs.npz'
            contestant.ask(f'outputs {path}')
            return dict(np.load(path))

    def errors(self, outputs, setting):
        """Per contestant and output: cosine and relative L2 against PyTorch in f32."""
        if setting.tokens not in self.wanted:
            reference = self.enter(REFERENCE, Setting(setting.tokens, 1, 'f32'))
            self.wanted[setting.tokens] = self.outputs(reference, setting)
            reference.close()
        wanted = self.wanted[setting.tokens]
        return {name: {output: distance(got[output], wanted[output]) for output in wanted}
                for name, got in outputs.items()}


def distance(got, wanted):
    if got.shape != wanted.shape:
        return {'cosine': None, 'rel_l2': None, 'reason': f'shape {got.shape}, wanted {wanted.shape}'}
    a, b = got.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
    return {'cosine': float(a @ b / np.sqrt((a @ a) * (b @ b))),
            'rel_l2': float(np.linalg.norm(a - b) / np.linalg.norm(b))}


def summarise(result):
    """Medians over the blocks, and how many times faster than the best peer rung is, within each round."""
    blocks = result['blocks']
    result['median_ms'] = {name: statistics.median(values) for name, values in blocks.items() if values}
    rung, peers = blocks.get('rung'), {n: v for n, v in blocks.items() if n != 'rung' and v}
    if peers:
        result['best_peer'] = min(peers, key=lambda name: result['median_ms'][name])
    if rung and peers:
        ratios = sorted(peer / own for peer, own in zip(blocks[result['best_peer']], rung))
        result['ratio'] = {'median': statistics.median(ratios), 'min': ratios[0], 'max': ratios[-1]}
    return result


def parse():
    parser = argparse.ArgumentParser(description='rung against OpenVINO, ONNX Runtime and PyTorch on this processor.')
    parser.add_argument('--model', required=True, help='folder of all-MiniLM-L6-v2')
    parser.add_argument('--rung', default=os.path.relpath(ROOT / 'build' / 'rung'))
    parser.add_argument('--cache', default=os.path.relpath(ROOT / '.cache' / 'bench' / 'models'))
    parser.add_argument('--out', default=os.path.relpath(ROOT / '.cache' / 'bench' / 'cpu.json'))
    parser.add_argument('--tokens', type=int, nargs='+', default=[16, 128, 256])
    parser.add_argument('--threads', type=int, nargs='+', default=[1, 2])
    parser.add_argument('--dtype', nargs='+', default=['f32', 'bf16'], choices=['f32', 'bf16', 'i8'])
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--block-ms', type=int, default=300)
    parser.add_argument('--budget', default='60s', help='of each climb')
    parser.add_argument('--peers', nargs='+', default=PEERS, help='also: torch-compile')
    parser.add_argument('--into', help='a Markdown file: the table goes between its "bench cpu" marks')
    return parser.parse_args()


def main():
    arguments = parse()
    comparison, results = Comparison(arguments), []
    environment = report.environment()
    usable = len(os.sched_getaffinity(0))
    for dtype, threads, tokens in itertools.product(arguments.dtype, arguments.threads, arguments.tokens):
        if threads > usable:
            print(f'{threads} threads: not measured, {usable} processors are usable', file=sys.stderr)
            continue
        result = summarise(comparison.measure(Setting(tokens, threads, dtype)))
        print(report.line(result), file=sys.stderr, flush=True)
        results.append(result)
    document = {'environment': environment, 'contestants': ['rung'] + arguments.peers, 'rounds': arguments.rounds,
                'block_ms': arguments.block_ms, 'results': results}
    Path(arguments.out).write_text(json.dumps(document, indent=1))
    print(report.markdown(document))
    if arguments.into:
        report.write_into(Path(arguments.into), document)
    print(f'All figures: {arguments.out}')


if __name__ == '__main__':
    main()
