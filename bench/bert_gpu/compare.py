#!/usr/bin/env python3
# Measures rung and PyTorch with a CUDA graph on one BERT encoder, on this machine's GPU, in one run.
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / 'cpu')]

import checkpoint  # noqa: E402
import torch_bert  # noqa: E402
import torch_timing  # noqa: E402

DTYPES = {'f32': torch.float32, 'bf16': torch.bfloat16}


def pytorch(encoder, inputs, dtype):
    """(milliseconds of a replay on the device and on the host's clock, last_hidden_state)."""
    encoder = encoder.to(DTYPES[dtype])
    graph, results = torch_timing.graph_of(lambda: encoder(**inputs))
    device_ms = torch_timing.median_of_events(graph.replay, runs=200)
    host = []
    for _ in range(200):
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        host.append((time.perf_counter() - start) * 1e3)
    return device_ms, sorted(host)[100], results[0].float().cpu().numpy()


def rung(arguments, folder, dtype):
    plan = folder / dtype / 'plan.rung'
    common = ['--device', arguments.device, '--inputs', str(folder / 'inputs.npz')]

    def call(*words):
        done = subprocess.run([arguments.rung, *words, *common], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{words}: {done.stderr}')
        return done.stdout

    call('climb', arguments.model, '--shape', f'input_ids=1,{arguments.tokens}', '--dtype', dtype, '--budget',
         arguments.budget, '--out', str(plan.parent))
    bench = json.loads(call('bench', str(plan), '--json'))
    call('run', str(plan), '--outputs', str(folder / dtype / 'outputs.npz'))
    return bench['median_ms'], np.load(folder / dtype / 'outputs.npz')['last_hidden_state']


def distance(got, wanted):
    return float(np.linalg.norm(got.astype(np.float64) - wanted) / np.linalg.norm(wanted))


def parse():
    parser = argparse.ArgumentParser(description='rung against PyTorch with a CUDA graph on a BERT encoder.')
    parser.add_argument('--model', required=True, help='folder of all-MiniLM-L6-v2')
    parser.add_argument('--rung', default=str(ROOT / 'build' / 'rung'))
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--tokens', type=int, default=128)
    parser.add_argument('--budget', default='60s', help='of each climb')
    parser.add_argument('--folder', default=str(ROOT / '.cache' / 'bench' / 'bert_gpu'))
    return parser.parse_args()


def main():
    arguments = parse()
    folder = Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_grad_enabled(False)
    torch.set_default_device('cuda')
    example = checkpoint.example_inputs(arguments.tokens)
    np.savez(folder / 'inputs.npz', **example)
    inputs = {name: torch.from_numpy(array).cuda() for name, array in example.items()}
    encoder = torch_bert.build(checkpoint.load(arguments.model)).cuda()
    wanted = None
    print('| dtype | PyTorch graph, device | its host | rung, host | ratio of hosts | error | PyTorch error |')
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for dtype in DTYPES:
        device_ms, host_ms, theirs = pytorch(encoder, inputs, dtype)
        wanted = theirs.astype(np.float64) if wanted is None else wanted
        rung_ms, ours = rung(arguments, folder, dtype)
        print(f'| {dtype} | {device_ms:.3f} | {host_ms:.3f} | {rung_ms:.3f} | {host_ms / rung_ms:.2f} | '
              f'{distance(ours, wanted):.1e} | {distance(theirs, wanted):.1e} |', flush=True)


if __name__ == '__main__':
    main()
