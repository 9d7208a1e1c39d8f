#!/usr/bin/env python3
# Makes tokens.tsv: the tokens that sampling draws, by a plain statement of its rules in f64, with a sort. It knows
# nothing of rung: neither its weights in integers nor its order of sums. Wants numpy; README.md says which version.
# SPDX-License-Identifier: Apache-2.0
#
# A line has the number of tokens, whether there are a bias and counts of seen tokens, the seven settings, the seed,
# and counters with the token that each draws. Draws are left out where arithmetic in f32 might decide otherwise.
from pathlib import Path

import numpy

MARGIN = 1e-5  # of a probability: f32 is a hundred times finer
DRAWS = 40

#        temperature, top_k, top_p, min_p, repetition, presence, frequency
NEUTRAL = (1, 0, 1, 0, 1, 0, 0)
SETTINGS = [
    NEUTRAL, (0, 0, 1, 0, 1, 0, 0), (0.5, 0, 1, 0, 1, 0, 0), (1.75, 0, 1, 0, 1, 0, 0), (1, 1, 1, 0, 1, 0, 0),
    (1, 20, 1, 0, 1, 0, 0), (2, 7, 1, 0, 1, 0, 0), (4, 300, 1, 0, 1, 0, 0), (1, 0, 0.9, 0, 1, 0, 0),
    (2, 0, 0.5, 0, 1, 0, 0), (16, 0, 0.95, 0, 1, 0, 0), (1, 0, 0, 0, 1, 0, 0), (1, 0, 1, 0.125, 1, 0, 0),
    (2, 0, 1, 0.01, 1, 0, 0), (1, 0, 1, 1, 1, 0, 0), (2, 50, 0.75, 0, 1, 0, 0), (3, 50, 0.9, 0.05, 1, 0, 0),
    (1, 0, 1, 0, 1.5, 0, 0), (1, 0, 1, 0, 0.75, 0, 0), (1, 0, 1, 0, 1, 2, 0), (1, 0, 1, 0, 1, 0, 1.25),
    (1.5, 40, 0.95, 0.02, 1.25, 0.5, 0.25), (0, 0, 1, 0, 2, 1, 1),
]
SIZES = [1, 2, 40, 257, 1000, 3000]
SEEDS = [0, 7, -1, 0x123456789abcdef]


def philox(seed, counter):
    """Two words of Philox 4x32-10, as one number below 1."""
    words = [counter & 0xffffffff, counter >> 32 & 0xffffffff, 0, 0]
    key = [seed & 0xffffffff, seed >> 32 & 0xffffffff]
    for _ in range(10):
        a, b = 0xd2511f53 * words[0], 0xcd9e8d57 * words[2]
        words = [(b >> 32) ^ words[1] ^ key[0], b & 0xffffffff, (a >> 32) ^ words[3] ^ key[1], a & 0xffffffff]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
    return (words[0] + (words[1] << 32)) / 2 ** 64


def inputs(tokens):
    """Logits with many equal ones, a bias that bans some, and counts: the test has the same formulas."""
    place = numpy.arange(tokens)
    logits = (((place * 2654435761 + 12345) % 2 ** 32 >> 22) / 64) - 8
    bias = numpy.where(place % 11 == 3, -numpy.inf, (place % 7 - 3) * 0.5)
    seen = numpy.where(place % 3 == 0, place % 4, 0)
    return logits, bias, seen


def penalised(logits, bias, seen, settings):
    _, _, _, _, repetition, presence, frequency = settings
    if seen is not None:
        scaled = numpy.where(logits > 0, logits / repetition, logits * repetition)
        logits = numpy.where(seen > 0, scaled - frequency * seen - presence, logits)
    return logits if bias is None else logits + bias


def kept(logits, settings):
    """The tokens that stay, with their probabilities, or nothing where a border is too close to call."""
    temperature, top_k, top_p, min_p = settings[:4]
    order = numpy.lexsort((numpy.arange(len(logits)), -logits))
    if temperature == 0:
        return order[:1], numpy.ones(1)
    weights = numpy.exp((logits - logits.max()) / temperature)
    if 0 < top_k < len(order):
        order = order[:top_k]
    if top_p < 1:
        share = numpy.cumsum(weights[order]) / weights[order].sum()
        if len(order) > 1 and top_p > 0 and numpy.abs(share - top_p).min() < MARGIN:
            return None
        order = order[:max(1, numpy.searchsorted(share, top_p) + 1)]
    if 0 < min_p < 1 and numpy.abs(weights[order] - min_p).min() < MARGIN:
        return None
    order = numpy.sort(order[weights[order] >= min_p])
    return order, weights[order] / weights[order].sum()


def draws(tokens, probabilities, seed):
    borders = numpy.cumsum(probabilities)
    for counter in range(DRAWS):
        counter = counter if counter % 2 else counter + (counter << 40)
        u = philox(seed, counter)
        if len(tokens) == 1 or numpy.abs(borders - u).min() > MARGIN:
            yield counter, tokens[min(numpy.searchsorted(borders, u, side='right'), len(tokens) - 1)]


def lines():
    for number, (size, settings) in enumerate((s, t) for s in SIZES for t in SETTINGS):
        logits, bias, seen = inputs(size)
        has_bias, has_seen = number % 3 == 1, settings[4:] != NEUTRAL[4:] or number % 5 == 2
        adjusted = penalised(logits, bias if has_bias else None, seen if has_seen else None, settings)
        found = kept(adjusted, settings)
        if found is None or not numpy.isfinite(adjusted.max()):
            continue
        seed = SEEDS[number % len(SEEDS)]
        tokens = ' '.join(f'{counter}:{token}' for counter, token in draws(*found, seed))
        yield f"{size}\t{int(has_bias)}\t{int(has_seen)}\t{' '.join(map(str, settings))}\t{seed}\t{tokens}\n"


if __name__ == '__main__':
    (Path(__file__).resolve().parent / 'tokens.tsv').write_text(''.join(lines()))
