#!/usr/bin/env python3
# Models of real sizes, as rung opens them without a climb, in turns with onnxruntime and OpenVINO over one ONNX file.
# SPDX-License-Identifier: Apache-2.0
#
# Weights are random. PyTorch exports each model once into a folder. In a round every contender takes one call that is
# not counted and then two that are. The ratio is that of the better peer's time to the plan's, within rounds and
# between the shortest calls. Before each call the process sleeps: Linux stops one of real-time priority for 50 ms of a
# second that it fills, and would stop the same contender in each round.
import argparse
import statistics
import time
from pathlib import Path

import numpy
import onnx
import onnxruntime
import openvino
import torch

import rung

from modules import REAL, example, first_tensor  # beside this file


def export(name, folder, tokens):
    """The ONNX file of a model, its inputs by the file's names, and PyTorch's first result."""
    path, arrays = folder / 'model.onnx', folder / 'arrays.npz'
    if not arrays.exists():
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        model = REAL[name]().eval()
        inputs = example(model, tokens, torch.float32, 'cpu')
        with torch.inference_mode():
            wanted = first_tensor(model(**inputs)).numpy()
            torch.onnx.export(model, (), path, kwargs=inputs, dynamo=True, verbose=False)
        numpy.savez(arrays, wanted, *[value.numpy() for value in inputs.values()])
    wanted, *values = numpy.load(arrays).values()
    ports = onnx.load(path, load_external_data=False).graph.input
    return path, dict(zip([port.name for port in ports], values)), wanted


def plan_of(path, options, inputs):
    model = rung.load(options.plan) if options.plan else rung.load(path, threads=options.threads, dtype=options.dtype)
    session = model.session()
    return lambda: next(iter(session(**inputs).values()))


def onnxruntime_of(path, options, inputs):
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    session = onnxruntime.InferenceSession(path, settings, providers=['CPUExecutionProvider'])
    return lambda: session.run(None, inputs)[0]


def openvino_of(path, options, inputs):
    settings = {'INFERENCE_NUM_THREADS': options.threads, 'PERFORMANCE_HINT': 'LATENCY',
                'INFERENCE_PRECISION_HINT': options.dtype}
    request = openvino.compile_model(path, 'CPU', settings).create_infer_request()
    return lambda: request.infer(inputs)[0]


MAKERS = {'rung': plan_of, 'onnxruntime': onnxruntime_of, 'openvino': openvino_of}


def milliseconds(call):
    time.sleep(0.1)
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e3


def compare(name, options):
    path, inputs, wanted = export(name, Path(options.folder) / name.replace(' ', '_').replace('/', '_'), options.tokens)
    calls = {key: MAKERS[key](path, options, inputs) for key in ['rung', *options.peers]}
    error = numpy.linalg.norm(numpy.asarray(calls['rung']()) - wanted) / numpy.linalg.norm(wanted)
    rounds = {key: [] for key in calls}
    shortest = dict.fromkeys(calls, float('inf'))
    for _ in range(options.rounds):
        for key, call in calls.items():
            call()
            times = [milliseconds(call) for _ in range(2)]
            rounds[key].append(statistics.median(times))
            shortest[key] = min(shortest[key], *times)
    ratios = sorted(min(peers) / mine for mine, *peers in zip(*rounds.values()))
    least = min(shortest[key] for key in options.peers)
    times = ' | '.join(f'{statistics.median(rounds[key]):.1f} ({shortest[key]:.1f})' for key in calls)
    print(f'| {name} | {times} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | '
          f'{least / shortest["rung"]:.2f} | {error:.1e} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description='Plans, onnxruntime and OpenVINO over one ONNX file.')
    parser.add_argument('models', nargs='+', choices=list(REAL), metavar='MODEL', help=', '.join(REAL))
    parser.add_argument('--folder', default='onnx_files', help='for the files, which later runs use again')
    parser.add_argument('--dtype', default='f32', choices=['f32', 'bf16'],
                        help='what rung and OpenVINO compute in; onnxruntime has no bf16 on processors')
    parser.add_argument('--plan', help="of a climb, for rung, instead of the model's file")
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--tokens', type=int, default=128)
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--peers', nargs='+', default=['onnxruntime', 'openvino'], choices=list(MAKERS)[1:])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print('| model | rung | ' + ' | '.join(options.peers) + ' | better peer / rung | of the shortest | error |')
    for name in options.models:
        compare(name, options)


if __name__ == '__main__':
    main()
