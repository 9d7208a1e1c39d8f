# One contestant in its own process: builds its model, then runs blocks and writes outputs as stdin's lines ask.
# SPDX-License-Identifier: Apache-2.0
#
# "go MS"         warm up for 50 ms, run back to back for MS milliseconds, answer {"runs", "median_ms", "times_ms"}
# "outputs PATH"  write the outputs for the example inputs as .npz, answer {"written": PATH}
# Before the first it prints "ready"; a contestant that cannot take part prints {"unavailable": reason} instead.
import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import checkpoint

WARM_UP_S = 0.05
OUTPUTS = ('last_hidden_state', 'sentence_embedding')


class Unavailable(Exception):
    pass


def torch_eager(setup):
    return torch_encoder(setup, compiled=False)


def torch_compiled(setup):
    return torch_encoder(setup, compiled=True)


def torch_encoder(setup, compiled):
    import torch
    import torch_bert
    if setup.dtype == 'i8':
        raise Unavailable('PyTorch is not measured in i8')
    torch.set_num_threads(setup.threads)
    torch.set_num_interop_threads(1)
    encoder = torch_bert.build(checkpoint.load(setup.model))
    if setup.dtype == 'bf16':
        encoder = encoder.to(torch.bfloat16)
    if compiled:
        encoder = torch.compile(encoder, mode='max-autotune-no-cudagraphs', dynamic=False)
    inputs = {name: torch.from_numpy(array) for name, array in checkpoint.example_inputs(setup.tokens).items()}

    def run():
        with torch.inference_mode():
            return [x.float().numpy() for x in encoder(**inputs)]
    return run


def onnx_file(setup):
    """The model for this length, written once; named for its writer's text, so that an edit is not ignored."""
    import hashlib
    import onnx
    import onnx_bert
    text = Path(onnx_bert.__file__).read_bytes() + str(Path(setup.model).resolve()).encode()
    path = Path(setup.cache) / f'bert-{setup.tokens}-{hashlib.sha256(text).hexdigest()[:12]}.onnx'
    if not path.exists():
        onnx.save(onnx_bert.build(checkpoint.load(setup.model), setup.tokens), f'{path}.part')
        Path(f'{path}.part').rename(path)
    return path


def onnxruntime_plain(setup):
    return onnxruntime_session(setup, onnx_file(setup))


def onnxruntime_fused(setup):
    """With the fusions that the runtime ships as a separate tool for transformers."""
    from onnxruntime.transformers import optimizer
    source, model = onnx_file(setup), checkpoint.load(setup.model)
    path = source.with_suffix('.fused.onnx')
    if not path.exists():
        made = optimizer.optimize_model(str(source), model_type='bert', num_heads=model.heads,
                                        hidden_size=model.hidden, opt_level=0)
        if not any(made.get_fused_operator_statistics().values()):
            raise Unavailable('its optimizer fused nothing in this model')
        made.save_model_to_file(f'{path}.part')
        Path(f'{path}.part').rename(path)
    return onnxruntime_session(setup, path)


def onnxruntime_without_spinning(setup):
    """Its threads go to sleep at once when they have nothing to do."""
    return onnxruntime_session(setup, onnx_file(setup), {'session.intra_op.allow_spinning': '0'})


def onnxruntime_session(setup, path, entries=None):
    import onnxruntime
    if setup.dtype != 'f32':
        raise Unavailable(f'ONNX Runtime is not measured in {setup.dtype} on CPU')
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = setup.threads, 1
    for key, value in (entries or {}).items():
        options.add_session_config_entry(key, value)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=['CPUExecutionProvider'])
    inputs = checkpoint.example_inputs(setup.tokens)
    return lambda: session.run(OUTPUTS, inputs)


def openvino_onnx(setup):
    import openvino
    return openvino_request(setup, openvino.Core().read_model(onnx_file(setup)))


def openvino_torch(setup):
    """From PyTorch: attention arrives as one operator instead of a pattern."""
    import openvino
    import torch
    import torch_bert
    encoder = torch_bert.build(checkpoint.load(setup.model))
    inputs = {name: torch.from_numpy(array) for name, array in checkpoint.example_inputs(setup.tokens).items()}
    model = openvino.convert_model(encoder, example_input=inputs)
    model.reshape({name: [1, setup.tokens] for name in inputs})
    for output, name in zip(model.outputs, OUTPUTS):
        output.get_tensor().set_names({name})
    return openvino_request(setup, model)


def quantised_by_nncf(setup, model):
    """Products in i8, with the static scales that NNCF finds on sentences like the one that is timed."""
    import nncf
    sentences = [checkpoint.example_inputs(setup.tokens, seed) for seed in range(7, 39)]
    return nncf.quantize(model, nncf.Dataset(sentences), model_type=nncf.ModelType.TRANSFORMER,
                         subset_size=len(sentences))


def openvino_request(setup, model):
    import openvino
    core = openvino.Core()
    if setup.dtype == 'i8':
        model = quantised_by_nncf(setup, model)
    if setup.dtype == 'bf16' and 'BF16' not in core.get_property('CPU', 'OPTIMIZATION_CAPABILITIES'):
        raise Unavailable('OpenVINO offers no bf16 on this processor')
    precision = 'bf16' if setup.dtype == 'bf16' else 'f32'  # of what is not quantised
    wanted = {'f32': openvino.Type.f32, 'bf16': openvino.Type.bf16}[precision]
    compiled = core.compile_model(model, 'CPU', {
        'PERFORMANCE_HINT': 'LATENCY', 'NUM_STREAMS': 1, 'INFERENCE_NUM_THREADS': setup.threads,
        'INFERENCE_PRECISION_HINT': precision, 'ENABLE_CPU_PINNING': True})
    if compiled.get_property('INFERENCE_PRECISION_HINT') != wanted:
        raise Unavailable(f'OpenVINO did not take {setup.dtype}')
    request = compiled.create_infer_request()
    for name, array in checkpoint.example_inputs(setup.tokens).items():
        request.set_tensor(name, openvino.Tensor(array))
    outputs = [request.get_tensor(name).data for name in OUTPUTS]

    def run():
        request.infer()
        return outputs
    return run


CONTESTANTS = {'openvino': openvino_onnx, 'openvino-torch': openvino_torch, 'onnxruntime': onnxruntime_plain,
               'onnxruntime-fused': onnxruntime_fused, 'onnxruntime-no-spinning': onnxruntime_without_spinning,
               'torch': torch_eager, 'torch-compile': torch_compiled}


def run_for(run, seconds):
    times, end = [], time.perf_counter() + seconds
    while not times or times[-1][1] < end:
        start = time.perf_counter()
        run()
        times.append((start, time.perf_counter()))
    return [1e3 * (stop - start) for start, stop in times]


def answer(run, line):
    word, argument = line.split(None, 1)
    if word == 'outputs':
        np.savez(argument.strip(), **dict(zip(OUTPUTS, map(np.array, run()))))
        return {'written': argument.strip()}
    run_for(run, WARM_UP_S)
    times = run_for(run, float(argument) / 1e3)
    return {'runs': len(times), 'median_ms': statistics.median(times), 'times_ms': times}


def main():
    parser = argparse.ArgumentParser(description='One contestant of compare.py.')
    parser.add_argument('contestant', choices=CONTESTANTS)
    parser.add_argument('--model', required=True)
    parser.add_argument('--cache', required=True)
    parser.add_argument('--tokens', type=int, required=True)
    parser.add_argument('--threads', type=int, required=True)
    parser.add_argument('--dtype', choices=('f32', 'bf16', 'i8'), required=True)
    setup = parser.parse_args()
    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not mix with the answers
    try:
        run = CONTESTANTS[setup.contestant](setup)
    except (Unavailable, ImportError) as reason:
        print(json.dumps({'unavailable': str(reason)}), file=replies)
        return
    run()
    print('ready', file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(run, line)), file=replies, flush=True)


if __name__ == '__main__':
    main()
