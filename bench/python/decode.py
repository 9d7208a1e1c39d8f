#!/usr/bin/env python3
# Milliseconds a token of decoder language models on processors: rung generate, in turns with llama.cpp and OpenVINO.
# SPDX-License-Identifier: Apache-2.0
"""The weights are random, bf16, and the same for all (decoders.py). A round is a block of each contender: a prompt, then
new tokens, one by one. Peers that are not installed are left out: pip install llama-cpp-python gguf openvino-genai
optimum-intel (with torch). RUNG_PROGRAM names the command, if it is not on the path. The stream is the read bandwidth of
all threads, which rung measures behind each block."""
import argparse
import os
import statistics
from pathlib import Path

import numpy

import decoders
from decode_peers import PEERS, Rung, Work


def contenders_of(work, options):
    found = [Rung(work, os.environ.get('RUNG_PROGRAM', 'rung'))]
    for peer in PEERS:
        if options.peers is not None and peer.name not in options.peers:
            continue
        try:
            found.append(peer(work))
        except ImportError as error:
            print(f'without {peer.name}: {error}')
    return found


def agreement(tokens, wanted):
    """The number of first tokens that are the same."""
    return next((at for at, (a, b) in enumerate(zip(tokens, wanted)) if a != b), len(wanted))


def ratio_words(peer, own):
    ratios = [theirs / ours for theirs, ours in zip(peer, own)]
    return f'{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})'


def compare(shape, options):
    folder = Path(options.folder) / shape
    weights = decoders.make_checkpoint(shape, folder / 'checkpoint', options.seed)
    random = numpy.random.default_rng(options.seed)
    prompt = random.integers(2, decoders.SHAPES[shape]['vocab_size'], options.prompt, numpy.int64)
    work = Work(shape, folder, prompt, options.new, options.threads, options.seed)
    contenders = contenders_of(work, options)
    rounds = [[each.block() for each in contenders] for _ in range(options.rounds)]
    own = [blocks[0] for blocks in rounds]
    stream = statistics.median(block.read_gbps for block in own)
    share = statistics.median(block.bytes_per_token / block.decode_ms * 1e-6 / block.read_gbps for block in own)
    print(f'\n{shape}: {weights / 1e9:.2f} GB of weights, {own[0].bytes_per_token / 1e9:.2f} GB a token, stream '
          f'{stream:.1f} GB/s, of which a token reads {100 * share:.0f} %; prompt of {options.prompt}, '
          f'{options.new} new, {options.threads} threads, medians of {options.rounds} rounds')
    print('| contender | ms a token | time over rung\'s (range) | prefill, ms | over rung\'s (range) | same tokens |')
    print('| --- | --- | --- | --- | --- | --- |')
    for place, each in enumerate(contenders):
        blocks = [blocks[place] for blocks in rounds]
        decode, prefill = ([getattr(block, key) for block in blocks] for key in ('decode_ms', 'prefill_ms'))
        print(f'| {each.name} | {statistics.median(decode):.2f} | {ratio_words(decode, [b.decode_ms for b in own])} '
              f'| {statistics.median(prefill):.0f} | {ratio_words(prefill, [b.prefill_ms for b in own])} '
              f'| {agreement(blocks[0].tokens, own[0].tokens)} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(':')[0])
    parser.add_argument('shapes', nargs='*', default=list(decoders.SHAPES), help=' '.join(decoders.SHAPES))
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--prompt', type=int, default=128, help='tokens of the prompt')
    parser.add_argument('--new', type=int, default=64, help='tokens of a block, at least 2')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--peers', nargs='*', help='names; default: all that are installed')
    parser.add_argument('--folder', default=Path.home() / '.cache' / 'rung-bench', help='for models, gigabytes each')
    options = parser.parse_args()
    for shape in options.shapes:
        if shape not in decoders.SHAPES:
            parser.error(f"got the shape '{shape}', wanted {' or '.join(decoders.SHAPES)}")
    for shape in options.shapes:
        compare(shape, options)


if __name__ == '__main__':
    main()
