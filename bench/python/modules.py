#!/usr/bin/env python3
# Transformers and convnets by rung.optimize(), in turns with what else runs them: a table of times per call.
# SPDX-License-Identifier: Apache-2.0
#
# Weights are random. On a GPU the peers are torch.compile() in two modes; on a processor onnxruntime and OpenVINO,
# where they are installed, over the ONNX file that PyTorch exports. Every contender of a model takes blocks of calls in
# turns; a call ends when its results are there. The last column is the best peer's time over the plan's.
import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers as t

import rung

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from convnets import CONVNETS  # noqa: E402
from operators import OPERATORS  # noqa: E402
from torch_timing import graph_of  # noqa: E402

TEXT = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, vocab_size=999)
HEADS = dict(num_key_value_heads=2, head_dim=16, use_cache=False)
IMAGE = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, image_size=32,
             patch_size=8)
DISTILBERT = dict(dim=64, n_layers=2, n_heads=4, hidden_dim=256, vocab_size=999)
T5 = dict(d_model=64, d_kv=16, d_ff=256, num_layers=2, num_heads=4, vocab_size=999)
LLAMA_8B = dict(hidden_size=4096, num_hidden_layers=6, num_attention_heads=32, num_key_value_heads=8, head_dim=128,
                use_cache=False, vocab_size=32000)
EFFICIENTNET_B0 = t.EfficientNetConfig(image_size=224, width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280)

SMALL = {
    'bert': lambda: t.BertModel(t.BertConfig(**TEXT)),
    'distilbert': lambda: t.DistilBertModel(t.DistilBertConfig(**DISTILBERT)),
    'roberta': lambda: t.RobertaModel(t.RobertaConfig(**TEXT)),
    'modernbert': lambda: t.ModernBertModel(t.ModernBertConfig(pad_token_id=0, **TEXT)),
    'gpt2': lambda: t.GPT2Model(t.GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=999, use_cache=False)),
    'llama': lambda: t.LlamaModel(t.LlamaConfig(**HEADS, **TEXT)),
    'qwen3': lambda: t.Qwen3Model(t.Qwen3Config(**HEADS, **TEXT)),
    'gemma3': lambda: t.Gemma3TextModel(t.Gemma3TextConfig(**HEADS, **TEXT)),
    'phi': lambda: t.PhiModel(t.PhiConfig(use_cache=False, **TEXT)),
    't5_encoder': lambda: t.T5EncoderModel(t.T5Config(**T5)),
    'vit': lambda: t.ViTModel(t.ViTConfig(**IMAGE)),
    'clip_vision': lambda: t.CLIPVisionModel(t.CLIPVisionConfig(**IMAGE)),
}
REAL = {
    'bert-base': lambda: t.BertModel(t.BertConfig()),
    'roberta-base': lambda: t.RobertaModel(t.RobertaConfig(max_position_embeddings=514)),
    'modernbert-base': lambda: t.ModernBertModel(t.ModernBertConfig()),
    'gpt2': lambda: t.GPT2Model(t.GPT2Config(use_cache=False)),
    't5-base encoder': lambda: t.T5EncoderModel(t.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12)),
    'vit-base': lambda: t.ViTModel(t.ViTConfig()),
    'dinov2-base': lambda: t.Dinov2Model(t.Dinov2Config()),
    'whisper-base encoder': lambda: whisper_encoder(),
    'clip vision b/32': lambda: t.CLIPVisionModel(t.CLIPVisionConfig()),
    'resnet-50': lambda: t.ResNetForImageClassification(t.ResNetConfig()),
    'convnext-tiny': lambda: t.ConvNextForImageClassification(t.ConvNextConfig()),
    'efficientnet-b0': lambda: t.EfficientNetForImageClassification(EFFICIENTNET_B0),
    **CONVNETS,
    **OPERATORS,
    'llama 8b, 6 layers': lambda: t.LlamaModel(t.LlamaConfig(intermediate_size=14336, **LLAMA_8B)),
    'qwen3 8b, 6 layers': lambda: t.Qwen3Model(t.Qwen3Config(intermediate_size=12288, **LLAMA_8B)),
}


def whisper_encoder():
    """Whisper's audio encoder of the base size, over 30 seconds of sound."""
    config = t.WhisperConfig(d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048)
    encoder = t.models.whisper.modeling_whisper.WhisperEncoder(config)
    encoder.example = lambda dtype, device: dict(
        input_features=torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions, dtype=dtype, device=device))
    return encoder


def example(model, tokens, dtype, device):
    if hasattr(model, 'example'):
        return model.example(dtype, device)
    if not hasattr(model, 'config'):
        return dict(x=torch.randn(1, 3, 224, 224, dtype=dtype, device=device))
    config = model.config
    if hasattr(config, 'num_channels'):
        size = getattr(config, 'image_size', 224)
        return dict(pixel_values=torch.randn(1, 3, size, size, dtype=dtype, device=device))
    ids = torch.randint(2, 99, (1, tokens), device=device)
    return dict(input_ids=ids, attention_mask=torch.ones_like(ids))


def first_tensor(results):
    return next(value for value in torch.utils._pytree.tree_leaves(results) if torch.is_tensor(value))


def peers_of_gpu(model, inputs, modes):
    """Contenders by name: each a callable that enqueues one call."""
    found = {}
    for mode in modes:
        torch.compiler.reset()
        compiled = torch.compile(model, mode=mode)
        for _ in range(4):
            compiled(**inputs)
        if mode.endswith('no-cudagraphs'):
            graph, _ = graph_of(lambda: compiled(**inputs))
            found[mode + ', graph'] = graph.replay
        else:
            found[mode] = lambda compiled=compiled: compiled(**inputs)
    return found


def wide(value):
    return value.float() if value.is_floating_point() else value


def peers_of_processor(model, inputs, options, folder):
    path, threads, narrow = str(Path(folder) / 'model.onnx'), options.threads, options.dtype == 'bfloat16'
    if narrow:  # OpenVINO narrows the f32 file itself; onnxruntime has no bf16 on processors
        model, inputs = model.float(), {name: wide(value) for name, value in inputs.items()}
    with open(os.devnull, 'w') as nothing, contextlib.redirect_stdout(nothing):
        torch.onnx.export(model, (), path, kwargs=inputs, dynamo=True)
    arrays, found = [value.numpy() for value in inputs.values()], {}
    with contextlib.suppress(ImportError):
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, settings, providers=['CPUExecutionProvider'])
        given = dict(zip([port.name for port in session.get_inputs()], arrays))
        found['onnxruntime'] = lambda: session.run(None, given)
    with contextlib.suppress(ImportError):
        import openvino

        precision = 'bf16' if narrow else 'f32'
        settings = {'INFERENCE_NUM_THREADS': threads, 'PERFORMANCE_HINT': 'LATENCY',
                    'INFERENCE_PRECISION_HINT': precision}
        compiled = openvino.compile_model(path, 'CPU', settings)
        request, by_place = compiled.create_infer_request(), dict(enumerate(arrays))
        found['openvino'] = lambda: request.infer(by_place)
    return found


def percentiles(contenders, options, wait):
    """Milliseconds per call of each contender, from blocks of calls in turns."""
    clock = time.process_time if options.clock == 'process' else time.perf_counter
    times = {name: [] for name in contenders}
    for _ in range(options.blocks):
        for name, call in contenders.items():
            call(), wait()
            end = time.perf_counter() + options.seconds
            while time.perf_counter() < end:
                begin = clock()
                call(), wait()
                times[name].append((clock() - begin) * 1e3)
    return {name: sorted(all_of)[len(all_of) * options.percentile // 100] for name, all_of in times.items()}


def compare(name, make, options):
    torch.manual_seed(0)
    dtype = getattr(torch, options.dtype)
    model = make().eval().to(dtype).to(options.device)
    inputs = example(model, options.tokens, dtype, options.device)
    with torch.inference_mode():
        wanted = first_tensor(model(**inputs)).float()
    fast = rung.optimize(model, inputs, budget=options.budget, threads=options.threads, database='', progress=False)
    error = ((first_tensor(fast(**inputs)).float() - wanted).norm() / wanted.norm()).item()
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        if options.device == 'cpu':
            peers, wait = peers_of_processor(model, inputs, options, folder), lambda: None
        else:
            peers, wait = peers_of_gpu(model, inputs, options.modes), torch.cuda.synchronize
        # Without the module's structure of results, which costs its own library the same: peers give plain tensors.
        session, given = fast.plan.session(), fast._signature.bind((), inputs)
        contenders = {'rung.optimize': lambda: fast(**inputs), 'rung plan': lambda: session(**given), **peers}
        if options.device == 'cpu':
            model.to(dtype)
            contenders['PyTorch'] = lambda: model(**inputs)
        found = percentiles(contenders, options, wait)
    best = min(found[peer] for peer in peers)
    row = ' | '.join(f'{found[key]:.3f}' for key in contenders)
    print(f'| {name} | {row} | {error:.1e} | {best / found["rung plan"]:.2f} |', flush=True)
    return list(contenders), best / found['rung plan']


def main():
    parser = argparse.ArgumentParser(description='Modules by rung.optimize() in turns with their peers.')
    parser.add_argument('models', nargs='*', help='names; default: all of the size')
    parser.add_argument('--real', action='store_true', help='real sizes; default: small ones')
    parser.add_argument('--device', default='cuda' if torch.cuda.is_available() else 'cpu')
    parser.add_argument('--dtype', default='float32', choices=['float32', 'bfloat16', 'float16'])
    parser.add_argument('--tokens', type=int, default=128)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--budget', default='20s', help='of each climb')
    parser.add_argument('--blocks', type=int, default=10)
    parser.add_argument('--seconds', type=float, default=0.1, help='of a block')
    parser.add_argument('--clock', default='wall', choices=['wall', 'process'],
                        help='process: time on the processors, for one thread on a machine that others use')
    parser.add_argument('--percentile', type=int, default=50, help='of the times that is shown, 0 to 99')
    parser.add_argument('--modes', nargs='+', default=['reduce-overhead', 'max-autotune-no-cudagraphs'])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    models = REAL if options.real else SMALL
    ratios, contenders = [], []
    for name in options.models or models:
        try:
            contenders, ratio = compare(name, models[name], options)
            ratios.append(ratio)
        except Exception as error:  # a peer that refuses a model ends this one alone
            print(f'{name}: {type(error).__name__}: {str(error).splitlines()[0]}', file=sys.stderr, flush=True)
    print('| model | ' + ' | '.join(contenders) + ' | error | best peer / plan |')
    if ratios:
        print(f'geometric mean {statistics.geometric_mean(ratios):.2f} of {len(ratios)}, lowest {min(ratios):.2f}')


if __name__ == '__main__':
    main()
