#!/usr/bin/env python3
# Measures a control loop at a robot's rate: what a step costs from observations in host memory to actions in host
# memory, by rung from C++ and from Python and by PyTorch's CUDA graph, on this machine's GPU.
# SPDX-License-Identifier: Apache-2.0
#
# It wants the plan of a Pi0 checkpoint (bench/pi0_gpu/compare.py leaves one), the example control_loop and, for the row
# from Python, the package rung. Every contestant gets the same shapes and as many steps, one after another; --beside
# keeps every core of the machine busy with another process meanwhile.
import argparse
import contextlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch

import policy

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'bench'))

from torch_timing import graph_of  # noqa: E402

SHARES = {'p50': 0.5, 'p99': 0.99, 'p99.9': 0.999, 'worst': 1.0}
LINE = re.compile(r'^(.+?) {2,}p50 +([\d.]+) ms +p99 +([\d.]+) +p99.9 +([\d.]+) +worst +([\d.]+)$', re.M)


def percentiles(ms):
    ordered = np.sort(np.asarray(ms))
    return {name: float(ordered[int(share * (len(ordered) - 1))]) for name, share in SHARES.items()}


def loop(step, rate, steps):
    """Milliseconds of each step; the first ten are not counted."""
    ms, turn = [], time.perf_counter()
    for _ in range(steps + 10):
        began = time.perf_counter()
        step()
        ms.append((time.perf_counter() - began) * 1e3)
        if rate > 0:
            turn += 1 / rate
            time.sleep(max(0.0, turn - time.perf_counter()))
    return percentiles(ms[10:])


def from_cpp(arguments):
    command = [arguments.example, arguments.plan, str(arguments.rate), str(arguments.steps)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return {f'rung from C++, {name}': dict(zip(SHARES, map(float, numbers)))
            for name, *numbers in LINE.findall(done.stdout)}


def sample(port, random):
    """Random pixels, masks that hide nothing, and zeros, which are a token in every vocabulary."""
    if str(port.dtype) == 'float32':
        return random.uniform(-1, 1, port.shape).astype(np.float32)
    return np.full(port.shape, str(port.dtype) == 'bool', port.dtype)


def observations(ports):
    random = np.random.default_rng(1)
    return {name: sample(port, random) for name, port in ports.items() if port.required}


def from_python(arguments):
    import rung
    model = rung.load(arguments.plan)
    arrived = observations(model.inputs)
    into = {name: model.input(name) for name in arrived}
    actions = [model.output(name) for name in model.outputs]

    def bound():
        for name, values in arrived.items():
            np.copyto(into[name], values)
        model.run()
        return actions

    # A session of its own: where memory was asked for, as above, a call clears it again at its end.
    session = model.session()

    def called():
        return session(**arrived)
    return {'rung from Python, bound memory': loop(bound, arguments.rate, arguments.steps),
            'rung from Python, model(...)': loop(called, arguments.rate, arguments.steps)}


def by_pytorch(arguments):
    config = policy.Config()
    model = policy.Pi0(config).cuda().init(0).eval()
    on_device = policy.inputs(config, 'cuda', 1)
    graph, results = graph_of(lambda: model(*policy.args_of(config, on_device)))
    arrived = {name: tensor.cpu().numpy() for name, tensor in on_device.items()}
    pinned = {name: torch.empty_like(tensor, device='cpu').pin_memory() for name, tensor in on_device.items()}
    actions = torch.empty_like(results, device='cpu').pin_memory()

    def step():
        for name, values in arrived.items():
            np.copyto(pinned[name].numpy(), values)
            on_device[name].copy_(pinned[name], non_blocking=True)
        graph.replay()
        actions.copy_(results, non_blocking=True)
        torch.cuda.synchronize()
    return {"PyTorch's CUDA graph": loop(step, arguments.rate, arguments.steps)}


def spin():
    while True:
        sum(range(100000))


@contextlib.contextmanager
def busy(cores):
    others = [multiprocessing.get_context('spawn').Process(target=spin, daemon=True) for _ in range(cores)]
    for other in others:
        other.start()
    yield
    for other in others:
        other.kill()


def table(rows):
    lines = ['| one step, ms | ' + ' | '.join(SHARES) + ' |', '| --- ' * (len(SHARES) + 1) + '|']
    for name, ms in rows.items():
        lines.append(f'| {name} | ' + ' | '.join(f'{ms[share]:.3f}' for share in SHARES) + ' |')
    return '\n'.join(lines)


CONTESTANTS = {'cpp': from_cpp, 'python': from_python, 'pytorch': by_pytorch}


def main():
    parser = argparse.ArgumentParser(description='A Pi0 control loop, host memory to host memory.')
    parser.add_argument('--plan', default=str(ROOT / '.cache' / 'bench' / 'pi0' / 'headline' / 'climbed' / 'plan.rung'))
    parser.add_argument('--example', default=str(ROOT / 'build' / 'examples' / 'control_loop'))
    parser.add_argument('--rate', type=float, default=20, help='steps a second; 0: one after another')
    parser.add_argument('--steps', type=int, default=10000)
    parser.add_argument('--contestants', nargs='+', default=list(CONTESTANTS), choices=CONTESTANTS)
    parser.add_argument('--beside', action='store_true', help='keep every core busy with another process')
    parser.add_argument('--json', help='a file for the figures')
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    rows = {}
    with busy(os.cpu_count() if arguments.beside else 0):
        for name in arguments.contestants:
            found = CONTESTANTS[name](arguments)
            rows |= found
            print(f'{name}: {found}', file=sys.stderr, flush=True)
    print(table(rows))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == '__main__':
    main()
