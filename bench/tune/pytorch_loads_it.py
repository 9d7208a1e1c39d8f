#!/usr/bin/env python3
# Shows that PyTorch on this machine's GPU takes the file that rung tuned for it, and uses its rows.
# SPDX-License-Identifier: Apache-2.0
#
# PyTorch records the products of a small transformer layer; rung tunes them into a file of TunableOp results, for which
# it asks this Python. Then four processes of PyTorch run the layer, and their own logs are read:
#
#   plain    without TunableOp: its outputs are those to compare with
#   loaded   with the file, and tuning on: validators pass, every row is loaded, and only a product that is not in the
#            file (the control) is tuned
#   foreign  with the file for another version of PyTorch: it is refused, and every product is tuned
#   strange  the file in which every solution is replaced by one that there is not: PyTorch stops or says so, which
#            shows that rows decide what runs
#
# Exit status 1: one of these is not so. Needs PyTorch with a GPU:
#
#   python3 bench/tune/pytorch_loads_it.py --rung build/rung --budget 60s
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEADS, TOKENS = 1024, 16, 48
CONTROL = (37, 256, 512)  # rows, columns, terms of a product that no file has


def layer(torch, weights, x):
    """Products with and without a bias, of one and of a batch."""
    heads = WIDTH // HEADS
    qkv = torch.nn.functional.linear(x, weights['qkv'], weights['qkv_bias'])
    q, k, v = (part.reshape(TOKENS, HEADS, heads).transpose(0, 1) for part in qkv.chunk(3, dim=-1))
    attended = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / heads ** 0.5, dim=-1), v)
    x = x + torch.nn.functional.linear(attended.transpose(0, 1).reshape(TOKENS, WIDTH), weights['out'])
    return x + torch.nn.functional.linear(torch.relu(torch.nn.functional.linear(x, weights['up'])), weights['down'])


def child(arguments):
    """What the processes of PyTorch do; TunableOp is told by the environment."""
    import torch
    torch.manual_seed(1)
    made = {'qkv': (3 * WIDTH, WIDTH), 'qkv_bias': (3 * WIDTH,), 'out': (WIDTH, WIDTH), 'up': (4 * WIDTH, WIDTH),
            'down': (WIDTH, 4 * WIDTH)}
    weights = {name: torch.randn(shape, device='cuda', dtype=torch.bfloat16) / shape[-1] ** 0.5
               for name, shape in made.items()}
    x = torch.randn((TOKENS, WIDTH), device='cuda', dtype=torch.bfloat16)
    with torch.inference_mode():
        for _ in range(2):
            y = layer(torch, weights, x)
        if arguments.control:
            m, n, k = CONTROL
            torch.nn.functional.linear(x.new_ones((m, k)), x.new_ones((n, k)))
    torch.cuda.synchronize()
    rows = [','.join(row[:3]) for row in torch.cuda.tunable.get_results()] if arguments.control else []
    print(json.dumps({'version': torch.__version__, 'device': torch.cuda.get_device_name(), 'rows': rows,
                      'output': y.float().flatten().tolist()}))


class Check:
    def __init__(self, work):
        self.work, self.failed = work, False

    def see(self, what, holds):
        print(f'{"yes" if holds else "NO ":<4} {what}')
        self.failed |= not holds

    def pytorch(self, name, control=False, **environment):
        """What a process printed, or none where it failed; its log."""
        variables = {f'PYTORCH_TUNABLEOP_{key}': str(value) for key, value in environment.items()}
        words = [sys.executable, __file__, '--child'] + ['--control'] * control
        ran = subprocess.run(words, capture_output=True, text=True, env=os.environ | variables)
        (self.work / f'{name}.log').write_text(ran.stderr)
        return json.loads(ran.stdout) if ran.returncode == 0 else None, ran.stderr

    def with_file(self, name, text):
        """The environment for a results file that one process reads and writes; PyTorch puts the device's number in."""
        (self.work / f'{name}0.csv').write_text(text)
        return {'ENABLED': 1, 'TUNING': 1, 'VERBOSE': 3, 'MAX_TUNING_DURATION_MS': 5,
                'FILENAME': self.work / f'{name}.csv'}


def tuned_by_pytorch(log):
    """Products for which PyTorch looked for the fastest solution, by its log."""
    return set(re.findall(r'finding fastest for (\w+)\(([^)]*)\)', log))


def record(check):
    done, log = check.pytorch('recorded', ENABLED=1, TUNING=0, RECORD_UNTUNED=1,
                              UNTUNED_FILENAME=check.work / 'untuned.csv')
    recorded = check.work / 'untuned0.csv'
    if not done or not recorded.exists():
        sys.exit(f'PyTorch recorded nothing: {log[-2000:]}')
    print(f'{done["device"]}, PyTorch {done["version"]}\n')
    return recorded


def tune(check, recorded, arguments):
    words = [arguments.rung, 'tune', recorded, '--device', arguments.device, '--budget', arguments.budget, '--out',
             check.work / 'tuned.csv', '--format', 'tunableop', '--python', sys.executable, '--database',
             check.work / 'tuning.json', '--json']
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f'rung tune: {ran.stderr}')
    result = json.loads(ran.stdout)
    print(f'{"product":<44} {"default us":>10} {"best us":>10} {"ratio":>7} {"interval":>16}  row')
    for row in result['products']:
        interval = ', '.join('-' if end is None else f'{end:.3f}' for end in row['ci95'])
        print(f'{row["product"]:<44} {row["default_us"]:>10.2f} {row["best_us"]:>10.2f} {row["ratio"]:>7.3f} '
              f'{interval:>16}  {row.get("solution", "none")}: {row["reason"]}')
    print()
    return (check.work / 'tuned.csv').read_text(), result


def judge(check, text, recorded):
    rows = [line.split(',') for line in text.splitlines() if not line.startswith('Validator,')]
    products = {tuple(row[:2]) for row in rows}
    wanted = {tuple(line.split(',')[:2]) for line in recorded.read_text().splitlines()}
    check.see(f'every recorded product has a row: {len(products & wanted)} of {len(wanted)}', products == wanted)

    plain, _ = check.pytorch('plain', ENABLED=0)
    loaded, log = check.pytorch('loaded', control=True, **check.with_file('loaded', text))
    check.see('PyTorch runs with the file', plain is not None and loaded is not None)
    if check.failed:
        sys.exit(f'{log[-2000:]}\nlogs are in {check.work}')
    check.see('its validators pass', 'PT_VERSION validation' in log and 'check failed' not in log)
    for line in re.findall(r'^.*validation: expect.*$', log, re.M):
        print(f'       {line}')
    check.see('it loads every row, with its solution', all(','.join(row[:3]) in loaded['rows'] for row in rows))
    check.see('it tunes the control alone', {name[1].split('_ld_')[0] for name in tuned_by_pytorch(log)} ==
              {f'tn_{CONTROL[1]}_{CONTROL[0]}_{CONTROL[2]}'})
    difference = max(abs(a - b) for a, b in zip(plain['output'], loaded['output'], strict=True))
    largest = max(abs(a) for a in plain['output'])
    check.see(f'outputs are those without it, to {difference / largest:.1e} of the largest',
              difference <= 0.02 * largest)

    foreign, log = check.pytorch('foreign', control=True, **check.with_file(
        'foreign', re.sub(r'(?m)^(Validator,PT_VERSION),.*$', r'\1,1.0.0', text)))
    check.see('the same file of another version is refused, and every product tuned',
              foreign is not None and 'check failed' in log and products <= tuned_by_pytorch(log))

    strange = re.sub(r'(?m)^((?!Validator)[^,]*,[^,]*),[^,\n]*', r'\1,Gemm_Strange_1', text)
    ran, log = check.pytorch('strange', **check.with_file('strange', strange) | {'TUNING': 0})
    check.see('rows decide what runs: with a solution that it cannot have PyTorch stops, or says so',
              ran is None or 'Gemm_Strange_1' in log)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rung', default='build/rung')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--budget', default='60s')
    parser.add_argument('--keep', help='a folder for the file and the logs')
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    parser.add_argument('--control', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments)
    work = Path(tempfile.mkdtemp())
    check = Check(work)
    recorded = record(check)
    text, _ = tune(check, recorded, arguments)
    judge(check, text, recorded)
    if arguments.keep:
        shutil.copytree(work, arguments.keep, dirs_exist_ok=True)
    return int(check.failed)


if __name__ == '__main__':
    sys.exit(main())
