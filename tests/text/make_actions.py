#!/usr/bin/env python3
# Writes tests/data/actions: two FAST action tokenizers, and the tokens and actions that the published steps give.
# SPDX-License-Identifier: Apache-2.0
#
# Needs the PyPI packages `tokenizers` (written with 0.23.3), `scipy` and `numpy`. The steps are those of the processor
# that is published with FAST (arXiv 2501.09747): scipy's orthonormal cosine transform, rounding, a character for each
# coefficient, and a byte-level BPE, as `tokenizers` trains and runs it. `motions` is trained; `letters` has a token for
# each of 128 characters, so that whatever tests/data/pi0_fast_tiny writes is a chunk of actions.
from __future__ import annotations

import json
from pathlib import Path

import numpy
from scipy.fft import dct, idct
from tokenizers import ByteLevelBPETokenizer, Tokenizer, decoders, models, pre_tokenizers, trainers

DATA = Path(__file__).resolve().parents[1] / 'data'
OUT = DATA / 'actions'
HORIZON, DIMS, SCALE, VOCABULARY = 10, 3, 60, 768


def motions(count: int, seed: int) -> numpy.ndarray:
    """Smooth paths from -1 to 1, f64[count, HORIZON, DIMS]."""
    draw = numpy.random.default_rng(seed)
    time = numpy.linspace(0, 1, HORIZON)[None, :, None]
    at, speed, phase = (draw.uniform(-1, 1, (count, 1, DIMS)) for _ in range(3))
    return numpy.clip(at + speed * time + 0.2 * numpy.sin(6 * time + 3 * phase), -1, 1)


def coefficients(chunks: numpy.ndarray) -> numpy.ndarray:
    return numpy.around(dct(chunks, axis=1, norm='ortho') * SCALE)


def text_of(coefficient: numpy.ndarray, least: int) -> str:
    return ''.join(map(chr, numpy.maximum(coefficient.flatten() - least, 0).astype(int)))


def actions_of(tokenizer: Tokenizer, tokens: list[int], least: int, shape: tuple[int, int]) -> numpy.ndarray:
    """Those of tokens, f64[shape]."""
    characters = tokenizer.decode(tokens, skip_special_tokens=False)
    values = numpy.array(list(map(ord, characters))) + least
    return idct(values.reshape(shape) / SCALE, axis=0, norm='ortho')


def write(name: str, tokenizer: Tokenizer, config: dict[str, object], cases: list[dict[str, object]]) -> None:
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / 'tokenizer.json'), pretty=False)
    described = {'processor_class': 'UniversalActionProcessor', 'scale': SCALE, **config}
    (folder / 'processor_config.json').write_text(json.dumps(described, indent=1) + '\n')
    (folder / 'cases.json').write_text(json.dumps(cases) + '\n')


def write_motions() -> None:
    known = coefficients(motions(500, 1))
    least, most = int(known.min()), int(known.max())
    tokenizer = ByteLevelBPETokenizer()
    alphabet = [chr(i) for i in range(most - least + 1)]
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, min_frequency=2, show_progress=False, special_tokens=[],
                                  initial_alphabet=alphabet, max_token_length=10000)
    tokenizer._tokenizer.train_from_iterator((text_of(one, least) for one in known), trainer=trainer)
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    cases = []
    for chunk in [*motions(24, 2), *(motions(4, 3) - 1)]:  # the last ones have coefficients below the least one
        text = text_of(coefficients(chunk[None])[0], least)
        tokens = tokenizer.encode(text).ids
        if tokenizer.decode(tokens, skip_special_tokens=False) != text:
            continue  # training has not seen one of its characters
        cases.append({'actions': chunk.tolist(), 'tokens': tokens,
                      'decoded': actions_of(tokenizer, tokens, least, (HORIZON, DIMS)).tolist()})
    sizes = {'time_horizon': None, 'action_dim': None}  # as the processor for all robots says them
    write('motions', tokenizer, {'min_token': least, 'vocab_size': VOCABULARY, **sizes}, cases)


def write_letters() -> None:
    to_letter = {byte: letter for byte, letter in zip(sorted(range(256), key=rank), letters(), strict=True)}
    tokenizer = Tokenizer(models.BPE({to_letter[i]: i for i in range(128)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    written = numpy.load(DATA / 'pi0_fast_tiny' / 'outputs.npz')['tokens'][0]
    tokens = [127 - int(token) for token in written]
    write('letters', tokenizer, {'min_token': -64, 'vocab_size': 128, 'time_horizon': 4, 'action_dim': 4},
          [{'tokens': tokens, 'decoded': actions_of(tokenizer, tokens, -64, (4, 4)).tolist()}])


def shown(byte: int) -> bool:
    return 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255


def rank(byte: int) -> tuple[bool, int]:
    """Bytes that are letters by themselves come before those that take one from 256 on."""
    return not shown(byte), byte


def letters() -> list[str]:
    plain = [chr(i) for i in range(256) if shown(i)]
    return plain + [chr(256 + i) for i in range(256 - len(plain))]


if __name__ == '__main__':
    write_motions()
    write_letters()
