#!/usr/bin/env python3
# Measures rung and PyTorch on one Pi0 policy, on this machine's GPU: the same random weights, the same inputs, one run.
# SPDX-License-Identifier: Apache-2.0
#
# PyTorch runs eagerly, as one CUDA graph, and (on request) with its layers compiled inside a graph. rung climbs the
# checkpoint and is timed back to back and at a robot's 20 Hz. All actions are compared with PyTorch's in f32. It prints
# three tables: latencies; power and energy, beside a public figure; where the time is left, by stage.
import argparse
import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import policy

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'bench'))

from torch_timing import graph_of, median_of_events  # noqa: E402

PUBLIC_MS, PUBLIC_WATTS = 21.2, 700  # of the headline: the best public implementation, on one H200
LIMIT = 1.25  # times the error of PyTorch's own bf16 run
WORKLOADS = {
    'headline': {'config': {}, 'inputs': {}},
    'source': {'config': {'prompt': 20, 'horizon': 10}, 'inputs': {'drop_view': True}},
    'two-cameras': {'config': {'views': 2}, 'inputs': {}},
}


def relative_l2(got, wanted):
    return float((got.double() - wanted.double()).norm() / wanted.double().norm())


def errors_of(trajectories, wanted):
    """[inputs, steps]"""
    return np.array([[relative_l2(*pair) for pair in zip(*both)] for both in zip(trajectories, wanted)])


class Baseline:
    """The policy in PyTorch: writes the checkpoint, times the modes, computes the actions to compare with."""

    def __init__(self, workload, folder, count):
        self.config = policy.Config(**workload['config'])
        self.model = policy.Pi0(self.config).cuda().init(0).eval()
        self.folder = folder
        self.inputs = [policy.inputs(self.config, 'cuda', 1 + i, **workload['inputs']) for i in range(count)]
        self.arguments = [policy.args_of(self.config, i) for i in self.inputs]

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {k: p.detach().contiguous().cpu() for k, p in policy.openpi_names(self.model).items()}
        save_file(tensors, self.folder / 'model.safetensors')
        (self.folder / 'config.json').write_text(json.dumps({'type': 'pi0', **dataclasses.asdict(self.config)}))
        for i, values in enumerate(self.inputs):
            np.savez(self.folder / f'inputs{i}.npz', **{k: v.cpu().numpy() for k, v in values.items()})

    def run(self):
        return self.model(*self.arguments[0])

    def time(self, mode):
        compiled = mode == 'compiled'
        self.model.impl = 'sdpa' if compiled else 'eager'
        self.model.batch_images = compiled
        if compiled:  # one layer of each kind; the whole unrolled model takes many minutes
            for layer in [*self.model.vision.layers, *self.model.prefix, *self.model.expert]:
                layer.compile(dynamic=False)
        return median_of_events(self.run if mode == 'eager' else graph_of(self.run)[0].replay)

    def trajectories(self):
        """The actions after every denoising step, in bf16 and in f32, for every input; the model stays in f32."""
        self.model.impl, self.model.batch_images = 'eager', False
        narrow = [self.trajectory(a) for a in self.arguments]
        self.model.float()
        return narrow, [self.trajectory(a) for a in self.arguments]

    def trajectory(self, arguments):
        self.model(*arguments)
        return [actions.float().cpu() for actions in self.model.trajectory]


class Rung:
    def __init__(self, arguments, folder, freeze):
        self.tool, self.device, self.folder = arguments.rung, arguments.device, folder
        self.plan, self.traced = folder / 'climbed' / 'plan.rung', folder / 'traced.rung'
        self.workload = ['--inputs', folder / 'inputs0.npz']
        if freeze:
            self.workload += ['--freeze', 'image_mask,token_mask']

    def call(self, *words):
        command = [self.tool, *map(str, words), '--device', self.device]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{" ".join(command)}\n{done.stderr}')
        return done.stdout

    def climb(self, budget):
        return json.loads(self.call('climb', self.folder, *self.workload, '--budget', budget, '--out', self.plan.parent,
                                    '--json'))

    def build_traced(self, steps):
        """The climbed plan once more, with the actions after every step among its outputs."""
        labels = ','.join(f'step.{i}' for i in range(steps - 1))
        self.call('build', self.folder, *self.workload, '--recipe', self.plan.parent / 'recipe.json',
                  '--observe', labels, '--out', self.traced)

    def bench(self, *options):
        return json.loads(self.call('bench', self.plan, '--inputs', self.folder / 'inputs0.npz', '--json', *options))

    def outputs(self, plan, index):
        outputs = self.folder / 'outputs.npz'
        self.call('run', plan, '--inputs', self.folder / f'inputs{index}.npz', '--outputs', outputs)
        return {name: torch.from_numpy(array) for name, array in np.load(outputs).items()}

    def trajectories(self, count, steps):
        """The last actions by the climbed plan, those before by its traced twin."""
        self.build_traced(steps)
        found = []
        for i in range(count):
            traced, last = self.outputs(self.traced, i), self.outputs(self.plan, i)['actions']
            found.append([traced[f'step.{step}'] for step in range(steps - 1)] + [last])
        return found


def measure(name, arguments):
    folder = Path(arguments.folder) / name
    baseline = Baseline(WORKLOADS[name], folder, arguments.inputs)
    baseline.write()
    modes = {}
    for mode in arguments.modes:
        modes[mode] = baseline.time(mode)
        print(f'{name}: PyTorch {mode} {modes[mode]:.2f} ms', file=sys.stderr, flush=True)
    narrow, exact = baseline.trajectories()
    steps = baseline.config.steps
    del baseline
    torch.cuda.empty_cache()
    rung = Rung(arguments, folder, freeze=name == 'source')
    climbed = rung.climb(arguments.budget)
    back_to_back, paced = rung.bench(), rung.bench('--rate', '20', '--runs', '60')
    errors = errors_of(rung.trajectories(arguments.inputs, steps), exact)
    theirs = errors_of(narrow, exact)
    return {'workload': name, 'pytorch_ms': modes, 'rung_ms': back_to_back['median_ms'],
            'rung_20hz_ms': paced['median_ms'], 'load_ms': back_to_back['load_ms'],
            'load': back_to_back['load'], 'load_20hz': paced['load'], 'stages': climbed['stages'],
            'final_ms': climbed['final_ms'], 'floor_ms': climbed['floor_ms'], 'climb_s': climbed['total_s'],
            'error': errors.tolist(), 'pytorch_bf16_error': theirs.tolist(),
            'worst_step': float((errors / theirs).max()), 'worst_actions': float((errors / theirs)[:, -1].max())}


def card():
    query = 'name,driver_version,clocks.sm,clocks.mem,power.limit,power.draw,temperature.gpu'
    return subprocess.run(['nvidia-smi', f'--query-gpu={query}', '--format=csv,noheader'], capture_output=True,
                          text=True).stdout.strip()


def table(results):
    lines = ['| workload | ' + ' | '.join(f'PyTorch {m}' for m in results[0]['pytorch_ms']) +
             ' | rung | at 20 Hz | floor | best PyTorch / rung | actions: worst error / PyTorch bf16 | any step |']
    lines.append('| --- ' * (len(results[0]['pytorch_ms']) + 7) + '|')
    for r in results:
        best = min(r['pytorch_ms'].values()) if r['pytorch_ms'] else float('nan')
        lines.append(f'| {r["workload"]} | ' + ' | '.join(f'{ms:.2f}' for ms in r['pytorch_ms'].values()) +
                     f' | {r["rung_ms"]:.2f} | {r["rung_20hz_ms"]:.2f} | {r["floor_ms"]:.2f} | '
                     f'{best / r["rung_ms"]:.2f} | {r["worst_actions"]:.2f} | {r["worst_step"]:.2f} |')
    return '\n'.join(lines)


def number(value, form='.2f'):
    return '-' if value is None else format(value, form)


def watts(results):
    """Per watt of the card's limit, as published figures can be put too, and by the power that was measured."""
    columns = ['', 'ms', 'card, W', 'inferences/s per W of the card', 'drawn, W', 'J per inference', 'inferences/J',
               'SM clock, MHz', 'throttled']
    lines = ['| ' + ' | '.join(columns) + ' |', '| --- ' * len(columns) + '|']

    def row(name, ms, limit, load):
        held = ', '.join(load['throttled']) or 'no' if load and not load['unknown'] else '-'
        joules = load['energy_mj'] / 1e3 if load and load['energy_mj'] else None
        lines.append(f'| {name} | {ms:.2f} | {number(limit, ".0f")} | {number(limit and 1e3 / ms / limit, ".3f")} | '
                     f'{number(load and load["power_w"], ".0f")} | {number(joules)} | '
                     f'{number(joules and 1 / joules, ".3f")} | {number(load and load["sm_mhz"], ".0f")} | '
                     f'{held} |')

    for r in results:
        for cadence, ms, load in [('back to back', 'rung_ms', 'load'), ('at 20 Hz', 'rung_20hz_ms', 'load_20hz')]:
            row(f'{r["workload"]}, rung {cadence}', r[ms], r[load]['power_limit_w'], r[load])
        if r['workload'] == 'headline':
            row('headline, best public figure', PUBLIC_MS, PUBLIC_WATTS, None)
    unknown = {r['load']['unknown'] for r in results if r['load']['unknown']}
    return '\n'.join(lines + [f'Clocks and power are not known: {reason}' for reason in unknown])


def stages(result):
    lines = [f'| {result["workload"]}: stage | launches | ms | floor | left |', '| --- ' * 5 + '|']

    def row(name, launches, ms, floor):
        lines.append(f'| {name} | {launches} | {ms:.2f} | {floor:.2f} | {max(0, ms - floor):.2f} |')

    for s in result['stages']:
        row(s['name'], s['launches'], s['us'] / 1e3, s['floor_us'] / 1e3)
    row('whole run', sum(s['launches'] for s in result['stages']), result['final_ms'], result['floor_ms'])
    return '\n'.join(lines)


def parse():
    parser = argparse.ArgumentParser(description='rung against PyTorch on a Pi0 policy, on one GPU.')
    parser.add_argument('--rung', default=str(ROOT / 'build' / 'rung'))
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--folder', default=str(ROOT / '.cache' / 'bench' / 'pi0'),
                        help='for checkpoints, plans and outputs')
    parser.add_argument('--workloads', nargs='+', default=['headline'], choices=WORKLOADS)
    parser.add_argument('--modes', nargs='*', default=['eager', 'graph'], choices=['eager', 'graph', 'compiled'])
    parser.add_argument('--inputs', type=int, default=5, help='to compare actions on')
    parser.add_argument('--budget', default='300s', help='of each climb')
    return parser.parse_args()


def main():
    arguments = parse()
    torch.set_grad_enabled(False)
    torch.set_float32_matmul_precision('highest')
    environment = {'when': time.strftime('%Y-%m-%d %H:%M:%S'), 'gpu_before': card(), 'torch': torch.__version__}
    results = [measure(name, arguments) for name in arguments.workloads]
    environment['gpu_after'] = card()
    out = Path(arguments.folder) / 'pi0_gpu.json'
    out.write_text(json.dumps({'environment': environment, 'results': results}, indent=1))
    print('\n'.join(f'{key}: {value}' for key, value in environment.items()))
    for text in [table(results), watts(results), *map(stages, results)]:
        print(text + '\n')
    print(f'All figures: {out}')
    return 0 if all(r['worst_step'] <= LIMIT for r in results) else 1


if __name__ == '__main__':
    sys.exit(main())
