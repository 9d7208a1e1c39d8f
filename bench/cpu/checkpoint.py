# Reads a BERT sentence encoder: its shape from config.json, its weights from model.safetensors.
# SPDX-License-Identifier: Apache-2.0
import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DTYPES = {'F32': np.float32, 'I64': np.int64}


@dataclass
class Bert:
    layers: int
    hidden: int
    heads: int
    epsilon: float
    weights: dict

    @property
    def head_size(self):
        return self.hidden // self.heads


def load(folder):
    config = json.loads((Path(folder) / 'config.json').read_text())
    return Bert(layers=config['num_hidden_layers'], hidden=config['hidden_size'], heads=config['num_attention_heads'],
                epsilon=config['layer_norm_eps'], weights=read_safetensors(Path(folder) / 'model.safetensors'))


def read_safetensors(path):
    data = path.read_bytes()
    size, = struct.unpack_from('<Q', data)
    header = json.loads(data[8:8 + size])
    return {name: tensor(data, 8 + size, entry) for name, entry in header.items() if name != '__metadata__'}


def tensor(data, start, entry):
    begin, end = entry['data_offsets']
    return np.frombuffer(data[start + begin:start + end], DTYPES[entry['dtype']]).reshape(entry['shape'])


def example_inputs(tokens, seed=7):
    """One sentence that fills the length: what all contestants time and are verified on."""
    ids = np.random.default_rng(seed).integers(1000, 30000, size=(1, tokens), dtype=np.int64)
    ids[0, 0], ids[0, -1] = 101, 102
    return {'input_ids': ids, 'attention_mask': np.ones((1, tokens), np.int64),
            'token_type_ids': np.zeros((1, tokens), np.int64)}
