#!/usr/bin/env python3
# Writes the tables of docs/prediction.md: what `rung predict` says, beside what was measured where something was.
# SPDX-License-Identifier: Apache-2.0
#
# prediction_table.py RUNG --model all-MiniLM-L6-v2 [--into docs/prediction.md]: takes some minutes, as it has AMD's
# instructions counted. Without --into it prints the tables. Weights of the policy are not read: its config is enough.
import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from page_tables import PageTables

PLACES = PageTables('prediction')
ROOT = Path(__file__).resolve().parent.parent
POLICY = ROOT / 'tests' / 'data' / 'pi0_full' / 'config.json'
AMD = ['mi300x', 'mi325x', 'mi350x', 'mi355x']
CARDS = ['h100', 'h200', *AMD]
FITTED = 'Pi0, headline'


@dataclass(frozen=True)
class Workload:
    name: str
    measured_ms: float                                      # on one H200
    config: dict = field(default_factory=dict)              # of the policy, beside its own
    masked_cameras: int = 0
    encoder: list[str] = field(default_factory=list)        # arguments, for the other model


def encoder(tokens, dtype, measured_ms):
    return Workload(f'MiniLM, {tokens} tokens, {dtype}', measured_ms,
                    encoder=['--shape', f'input_ids=1,{tokens}', '--dtype', dtype])


WORKLOADS = [Workload(FITTED, 11.28),
             Workload('Pi0, source', 8.99, config={'prompt': 20, 'horizon': 10}, masked_cameras=1),
             Workload('Pi0, two cameras', 9.60, config={'views': 2}),
             encoder(16, 'f32', 0.190), encoder(128, 'f32', 0.480), encoder(256, 'f32', 0.596),
             encoder(16, 'bf16', 0.142), encoder(128, 'bf16', 0.182), encoder(256, 'bf16', 0.202)]


@dataclass(frozen=True)
class Decoder:
    name: str
    config: dict            # beside what all have
    measured_ms: float = 0  # a token on one H100; 0: not measured


# The tokens of a text before the one that is made; the caches hold no more.
CONTEXT = 1024
LLAMA = {'model_type': 'llama', 'architectures': ['LlamaForCausalLM']}
DECODERS = [
    Decoder('Llama-3.2-1B', {
        **LLAMA, 'hidden_size': 2048, 'intermediate_size': 8192, 'num_hidden_layers': 16,
        'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': 64, 'vocab_size': 128256,
        'rms_norm_eps': 1e-5, 'rope_theta': 500000.0}, measured_ms=1.190),
    Decoder('Llama-3.1-8B', {
        **LLAMA, 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32,
        'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': 128, 'vocab_size': 128256,
        'tie_word_embeddings': False, 'rms_norm_eps': 1e-5, 'rope_theta': 500000.0}),
    Decoder('Qwen3-0.6B', {
        'model_type': 'qwen3', 'architectures': ['Qwen3ForCausalLM'],
        'hidden_size': 1024, 'intermediate_size': 3072, 'num_hidden_layers': 28,
        'num_attention_heads': 16, 'num_key_value_heads': 8, 'head_dim': 128, 'vocab_size': 151936,
        'rms_norm_eps': 1e-6, 'rope_theta': 1000000.0}, measured_ms=1.094)]
DECODER_CONFIG = {'hidden_act': 'silu', 'torch_dtype': 'bfloat16', 'max_position_embeddings': 4096,
                  'tie_word_embeddings': True}
DECODER_CARDS = ['h100', 'mi300x', 'mi355x']


def array(flags):
    """Of booleans, as NumPy's format 1.0 has it."""
    header = f"{{'descr': '|b1', 'fortran_order': False, 'shape': ({len(flags)},)}}".ljust(117) + '\n'
    return b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little') + header.encode() + bytes(flags)


def policy_arguments(workload, folder):
    """The policy's directory with the workload's config, and masks that its plan may rely on."""
    config = json.loads(POLICY.read_text()) | workload.config
    (folder / 'config.json').write_text(json.dumps(config))
    arguments = [str(folder), '--random-weights', '1']
    if not workload.masked_cameras:
        return arguments
    seen = config['views'] - workload.masked_cameras
    with zipfile.ZipFile(folder / 'masks.npz', 'w') as masks:
        masks.writestr('image_mask.npy', array([camera < seen for camera in range(config['views'])]))
        masks.writestr('token_mask.npy', array([True] * config['prompt']))
    return [*arguments, '--inputs', str(folder / 'masks.npz'), '--freeze', 'image_mask,token_mask']


def predict(rung, model, workload, gpus):
    """The predictions of a workload, by GPU."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [model, *workload.encoder] if workload.encoder else policy_arguments(workload, Path(folder))
        return answer_of(rung, workload.name, [*arguments, '--gpu', ','.join(gpus)])


def predict_decoder(rung, decoder, gpus):
    """The predictions of a decoder's step over one token, by GPU."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'config.json').write_text(json.dumps(DECODER_CONFIG | decoder.config))
        return answer_of(rung, decoder.name, [folder, '--random-weights', '1', '--cache', str(CONTEXT), '--shape',
                                              'input_ids=1,1', '--gpu', ','.join(gpus)])


def answer_of(rung, name, arguments):
    done = subprocess.run([rung, 'predict', *arguments, '--json'], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{name}: {done.stderr}')
    answer = json.loads(done.stdout)
    return {p['gpu']['word']: p | {'model': answer['model']} for p in answer['predictions']}


def row(*cells):
    return '| ' + ' | '.join(cells) + ' |\n'


def error_of(predicted, measured):
    return f'{round((predicted / measured - 1) * 100):+d} %'


def digits(ms):
    return f'{ms:.2f}' if ms >= 1 else f'{ms:.3f}'


def card_table(predictions):
    """predictions: of any workload, by GPU."""
    text = row('card', 'units', 'MHz', 'memory, GB/s', 'share', 'products of 16 bits, TFLOP/s', 'share', 'f32, TFLOP/s',
               'boundary, us', 'where from')
    text += row(*['---'] * 10)
    for gpu in CARDS:
        card = predictions[gpu]['gpu']
        text += row(card['name'], *(f'{card[key]:g}' for key in (
            'units', 'clock_mhz', 'memory_gbps', 'memory_share', 'narrow_tflops', 'narrow_share', 'f32_tflops',
            'boundary_us')), card['source'])
    return text


def parameters(prediction):
    model = prediction['model']
    return (f'Of all cards: a round of blocks takes {model["round_us"]:.2f} us, a path moves {model["path_bytes"]:g} '
            f'bytes a cycle,\nand f32 without matrix units reaches {model["f32_share"]:g} of its rate.\n')


def hopper_table(predictions):
    """predictions: of an H200, by the name of the workload."""
    text = row('H200', 'launches', 'floor by published rates, ms', 'predicted, ms', 'measured, ms', 'error')
    text += row(*['---'] * 6)
    for workload in WORKLOADS:
        got = predictions[workload.name]
        error = error_of(got['predicted_ms'], workload.measured_ms)
        text += row(workload.name, str(got['launches']), digits(got['floor_ms']), digits(got['predicted_ms']),
                    digits(workload.measured_ms), error + (', fitted' if workload.name == FITTED else ''))
    return text


def amd_table(name, predictions):
    """predictions: of one workload, by GPU."""
    stages = [stage['name'] for stage in predictions[AMD[0]]['stages']]
    text = row(name, 'launches', 'floor by published rates, ms', 'predicted, ms', 'launches of it, ms',
               *(f'{stage}, ms' for stage in stages))
    text += row(*['---'] * (5 + len(stages)))
    for gpu in AMD:
        got = predictions[gpu]
        text += row(got['gpu']['name'], str(got['launches']), digits(got['floor_ms']), digits(got['predicted_ms']),
                    digits(got['launch_ms']), *(digits(stage['predicted_ms']) for stage in got['stages']))
    return text


def decoder_table(decoder, predictions):
    """predictions: of one decoder's step, by GPU."""
    text = row(f'{decoder.name}, a token behind {CONTEXT:,}', 'launches', 'MB of memory',
               'vector instructions, millions', 'matrix instructions, thousands', 'floor by published rates, ms',
               'predicted, ms', 'measured, ms', 'error')
    text += row(*['---'] * 9)
    for gpu in DECODER_CARDS:
        got = predictions[gpu]
        counts = ([f'{got["vector_instructions"] * 1e-6:.2f}', f'{got["matrix_instructions"] * 1e-3:.1f}']
                  if got['instructions_counted'] else ['', ''])
        measured = decoder.measured_ms if gpu == 'h100' else 0
        text += row(got['gpu']['name'], str(got['launches']), f'{got["bytes"] * 1e-6:.0f}', *counts,
                    digits(got['floor_ms']), digits(got['predicted_ms']), digits(measured) if measured else '',
                    error_of(got['predicted_ms'], measured) if measured else '')
    return text


def longest_table(prediction, count=8):
    """The ops that take longest together."""
    text = row(prediction['gpu']['name'], 'count', 'each, us', 'floor, us', 'bound', 'blocks', 'a unit holds', 'by')
    text += row(*['---'] * 8)
    for op in prediction['ops'][:count]:
        words = op['problem'].split(' x=')[0].split()
        if words[0] == 'attention':
            words = ['attention', *(w.split('{')[0].replace('bf16', '') for w in words[1:4:2])]
        text += row(' '.join(words[:4]) + f', `{op["kernel"]}`', str(op['count']), f'{op["predicted_us"]:.1f}',
                    f'{op["floor_us"]:.1f}', op['bound'], f'{op["blocks"]:.0f}', f'{op["resident"]:.0f}',
                    op['resident_limit'])
    return text


def tables(rung, model):
    """By the names of their places in the page."""
    hopper = {w.name: predict(rung, model, w, ['h200'])['h200'] for w in WORKLOADS}
    amd = predict(rung, model, WORKLOADS[0], AMD)
    cards = predict(rung, model, encoder(16, 'bf16', 0), CARDS)
    decoders = [decoder_table(d, predict_decoder(rung, d, DECODER_CARDS)) for d in DECODERS]
    return {'cards': card_table(cards) + '\n' + parameters(cards['h200']),
            'error': hopper_table(hopper),
            'amd': '\n'.join([amd_table(FITTED, amd), longest_table(amd['mi300x']), longest_table(amd['mi355x'])]),
            'decoders': '\n'.join(decoders)}


def main():
    parser = argparse.ArgumentParser(description='The tables of docs/prediction.md.')
    parser.add_argument('rung', help='the tool')
    parser.add_argument('--model', required=True, help='the directory of all-MiniLM-L6-v2')
    parser.add_argument('--into', type=Path, help='a page between whose marks the tables go')
    arguments = parser.parse_args()
    texts = tables(arguments.rung, arguments.model)
    if not arguments.into:
        print('\n'.join(texts.values()), end='')
        return
    arguments.into.write_text(PLACES.replaced(arguments.into.read_text(), texts))


if __name__ == '__main__':
    main()
