#!/usr/bin/env python3
# Records the traces of tests/data/traces with PyTorch's profiler on a GPU, and times each remedy beside its fault.
# SPDX-License-Identifier: Apache-2.0
#
#   python3 tests/traces/record.py --out DIR [NAME ...]
#
# A scenario is a program with its step, what is planted in it (`planted`), what else is really there (`present`), and
# the program with the remedy in place (`cure`). Traces hold three steps. truth.json has the medians of both programs,
# timed without a profiler, in turns.
import argparse
import contextlib
import dataclasses
import gzip
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Callable

import torch
from torch.profiler import ProfilerActivity, profile, schedule

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2] / 'bench/pi0_gpu')]
import policy  # noqa: E402
from decoder import SMALL, CachedDecoder, Decoder, Denoiser, Faults, Shape  # noqa: E402


@dataclasses.dataclass
class Scenario:
    step: Callable                                    # () -> ()
    planted: tuple = ()
    present: tuple = ()                               # true as well, though nobody planted it
    cures: dict = dataclasses.field(default_factory=dict)  # finding -> the step with its remedy
    warm: int = 3                                     # steps before the recording


SCENARIOS = {}


def scenario(make):
    SCENARIOS[make.__name__] = make
    return make


def captured(step):
    """The step as a CUDA graph; keeps the step, whose weights the graph reads."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return lambda kept=step: graph.replay()


def stepping(model, example=None):
    x = model.example() if example is None else example
    return lambda: model(x)


def spoiled(**faults):
    return stepping(Decoder(faults=Faults(**faults)))


def clean():
    return stepping(Decoder())


# ---- one fault on a model that keeps the GPU busy
@scenario
def clean_eager():
    return Scenario(clean())


@scenario
def sync_in_step():
    return Scenario(spoiled(item_per_layer=True), ('sync_in_step',), cures={'sync_in_step': clean()})


@scenario
def unfused_attention():
    # keys and values of 8 heads are read by 32: without a fused kernel they are repeated
    return Scenario(spoiled(unfused_attention=True), ('unfused_attention',), ('repeated_kv', 'layout_copies'),
                    {'unfused_attention': clean()})


@scenario
def repeated_kv():
    return Scenario(spoiled(repeated_kv=True), ('repeated_kv',), cures={'repeated_kv': clean()})


@scenario
def layout_copies():
    return Scenario(spoiled(layout_copies=True), ('layout_copies',), cures={'layout_copies': clean()})


@scenario
def norm_by_pieces():
    return Scenario(spoiled(norm_by_pieces=True), ('unfused_elementwise',), cures={'unfused_elementwise': clean()})


@scenario
def pageable_copy():
    return Scenario(spoiled(pageable_copy=True), ('pageable_copy',), ('sync_in_step',), {'pageable_copy': clean()})


@scenario
def allocation_in_step():
    return Scenario(spoiled(allocation=True), ('allocation_in_step',), ('sync_in_step',),
                    {'allocation_in_step': clean()})


@scenario
def wide_dtype():
    # no fused kernel takes f32 with grouped heads: attention is computed by pieces, of repeated keys and values
    return Scenario(stepping(Decoder(dtype=torch.float32)), ('wide_dtype',),
                    ('unfused_attention', 'repeated_kv', 'layout_copies'), {'wide_dtype': clean()})


@scenario
def slow_shape():
    odd = Decoder(dataclasses.replace(Shape(), hidden=14335))
    return Scenario(stepping(odd), ('slow_shape',), cures={'slow_shape': clean()})


# ---- few tokens: the host is slower than the GPU
@scenario
def small_eager():
    step = stepping(Decoder(SMALL))
    return Scenario(step, ('launch_bound',), cures={'launch_bound': captured(step)})


@scenario
def small_separate():
    step = stepping(Decoder(SMALL, Faults(separate_projections=True)))
    return Scenario(step, ('separate_projections',), ('launch_bound',),
                    {'separate_projections': stepping(Decoder(SMALL)), 'launch_bound': captured(step)})


@scenario
def small_graph():
    return Scenario(captured(stepping(Decoder(SMALL))))


# ---- compiled
def compiled(model, **options):
    return torch.compile(model, dynamic=False, **options)


@scenario
def clean_compiled():
    model = Decoder()
    return Scenario(stepping(compiled(model), model.example()))


@scenario
def graph_break():
    model, whole = Decoder(SMALL, Faults(break_at_attention=True)), Decoder(SMALL)
    return Scenario(stepping(compiled(model), model.example()), ('graph_break',), ('launch_bound',),
                    {'graph_break': stepping(compiled(whole), whole.example())})


@scenario
def tuning_in_run():
    model = Decoder(dataclasses.replace(SMALL, layers=1))
    step, lengths = compiled(model), iter(range(16, 1024, 8))
    return Scenario(lambda: step(model.example(next(lengths))), ('tuning_in_run',), ('launch_bound',))


@scenario
def gemm_library():
    model, vendor = Decoder(dataclasses.replace(Shape(), layers=2)), Decoder(dataclasses.replace(Shape(), layers=2))
    options = {'max_autotune_gemm': True, 'max_autotune_gemm_backends': 'TRITON'}
    return Scenario(stepping(compiled(model, options=options), model.example()), ('gemm_library',),
                    cures={'gemm_library': stepping(compiled(vendor), vendor.example())})


# ---- whole models
def pi0(attention):
    config = policy.Config(vision=(2, 1152, 4304, 16), prefix=(2, 2048, 16384, 8, 1, 256),
                           expert=(2, 1024, 4096, 8, 1, 256), steps=4, vocab=1024)
    with torch.device('cuda'):
        model = policy.Pi0(config).init().eval()
    model.impl = attention
    arguments = policy.args_of(config, policy.inputs(config, 'cuda'))
    return lambda: model(*arguments)


@scenario
def pi0_eager():
    # 867 keys and values make rows of 1734 bytes; the action projections are in f32
    step = pi0('eager')
    return Scenario(step, ('launch_bound', 'separate_projections', 'unfused_attention', 'repeated_kv',
                           'unfused_elementwise'),
                    ('layout_copies', 'wide_dtype', 'slow_shape'),
                    {'unfused_attention': pi0('sdpa')})


@scenario
def pi0_sdpa():
    return Scenario(pi0('sdpa'), ('launch_bound', 'separate_projections', 'unfused_elementwise'),
                    ('layout_copies', 'wide_dtype', 'slow_attention'))


@scenario
def pi0_graph():
    return Scenario(captured(pi0('sdpa')), (),
                    ('separate_projections', 'layout_copies', 'unfused_elementwise', 'wide_dtype', 'slow_attention'))


@scenario
def pi0_compiled():
    step = torch.compile(pi0('sdpa'), dynamic=False)
    return Scenario(step, (), ('launch_bound', 'separate_projections', 'layout_copies', 'wide_dtype', 'slow_attention'))


def minilm(dtype, attention):
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                        intermediate_size=1536, attn_implementation=attention)
    model = BertModel(config).to('cuda', dtype).eval()
    ids = torch.randint(0, 30522, (1, 128), device='cuda')
    mask = torch.ones_like(ids)
    return lambda: model(input_ids=ids, attention_mask=mask)


@scenario
def minilm_f32():
    step = minilm(torch.float32, 'sdpa')
    return Scenario(step, ('launch_bound', 'separate_projections', 'wide_dtype'),
                    ('layout_copies', 'sync_in_step', 'unfused_elementwise'), {'launch_bound': captured(step)})


@scenario
def minilm_graph():
    return Scenario(captured(minilm(torch.bfloat16, 'sdpa')), (), ('separate_projections', 'unfused_elementwise'))


def decoding(wrap=lambda step: step):
    model = CachedDecoder()
    x = torch.randn(1, 1, model.shape.width, device='cuda', dtype=torch.bfloat16)
    position = torch.full((1,), 500, device='cuda')
    one = wrap(lambda: model(x, position))

    def step():
        for _ in range(4):
            one()
            position.add_(1).remainder_(1000)
    return step


# Attention takes grouped heads as they are; the mask is made by five kernels for each token.
@scenario
def decode_eager():
    return Scenario(decoding(), ('launch_bound',), ('one_row_gemm', 'unfused_elementwise'),
                    {'launch_bound': decoding(captured)})


@scenario
def decode_graph():
    return Scenario(decoding(captured), (), ('one_row_gemm', 'unfused_elementwise'))


@scenario
def denoise():
    model = Denoiser()
    x = torch.randn(2, 4, 64, 64, device='cuda', dtype=torch.bfloat16)
    step = lambda: model(x)
    return Scenario(step, ('launch_bound',), ('unfused_elementwise', 'layout_copies'),
                    {'launch_bound': captured(step)})


# ---- recording
def record(step, warm, path, profiled=1):
    for _ in range(warm):
        step()
    torch.cuda.synchronize()
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    raw = path.with_suffix('.raw')
    with profile(activities=activities, record_shapes=True,
                 schedule=schedule(wait=0, warmup=profiled, active=3, repeat=1),
                 on_trace_ready=lambda recorded: recorded.export_chrome_trace(str(raw))) as recorder:
        for _ in range(profiled + 3):
            step()
            recorder.step()
    events = json.loads(raw.read_text())
    raw.unlink()
    # flow arrows and Python's stack are not read; without them a trace is half as large
    unread = ('ac2g', 'fwdbwd', 'python_function')
    events['traceEvents'] = [event for event in events['traceEvents'] if event.get('cat') not in unread]
    for name in ('trace_name', 'traceName', 'hostname'):
        events.pop(name, None)
    with gzip.GzipFile(path, 'wb', mtime=0) as file:
        file.write(json.dumps(events, separators=(',', ':')).encode())
    return len(events['traceEvents'])


def timed_ms(step, budget_s=1.0):
    """Wall time of a step, the device waited for after each."""
    times, end = [], time.perf_counter() + budget_s
    while time.perf_counter() < end or len(times) < 5:
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def compare(before, after, timed=lambda step: timed_ms(step, 0.4)):
    for step in (before, after):
        for _ in range(3):
            step()
    rounds = [(timed(before), timed(after)) for _ in range(3)]
    old, new = (statistics.median(column) for column in zip(*rounds))
    return {'before_ms': round(old, 4), 'after_ms': round(new, 4), 'gain_ms': round(old - new, 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True)
    parser.add_argument('names', nargs='*', default=list(SCENARIOS))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    truth = {'device': torch.cuda.get_device_name(), 'torch': torch.__version__, 'scenarios': {}}
    for name in arguments.names:
        torch.manual_seed(0)
        torch._dynamo.reset()  # its limit on compilations counts across scenarios
        started, row = time.perf_counter(), {}
        with torch.inference_mode(), contextlib.ExitStack():
            made = SCENARIOS[name]()
            try:
                count = record(made.step, made.warm, arguments.out / f'{name}.json.gz')
                row = {'planted': made.planted, 'present': made.present, 'step_ms': round(timed_ms(made.step), 4)
                       if name != 'tuning_in_run' else None}
                row['cures'] = {finding: compare(made.step, cure) for finding, cure in made.cures.items()}
            except Exception as error:  # the others are still worth having
                print(f'{name}: {type(error).__name__}: {str(error)[:400]}', flush=True)
                continue
        truth['scenarios'][name] = row
        del made
        torch.cuda.empty_cache()
        size = (arguments.out / f'{name}.json.gz').stat().st_size
        print(f'{name}: {count} events, {size} bytes, {time.perf_counter() - started:.0f} s, {row}', flush=True)
        (arguments.out / 'truth.json').write_text(json.dumps(truth, indent=1) + '\n')


if __name__ == '__main__':
    main()
