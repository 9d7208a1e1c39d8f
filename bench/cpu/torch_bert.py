# A BERT sentence encoder in PyTorch, written as the published one computes it; in f32 it is the reference.
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn
from torch.nn import functional


class Layer(nn.Module):
    def __init__(self, model):
        super().__init__()
        size, self.heads = model.hidden, model.heads
        wide = model.weights['encoder.layer.0.intermediate.dense.weight'].shape[0]
        self.query, self.key, self.value = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.attended, self.attention_norm = nn.Linear(size, size), nn.LayerNorm(size, model.epsilon)
        self.up, self.down = nn.Linear(size, wide), nn.Linear(wide, size)
        self.norm = nn.LayerNorm(size, model.epsilon)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.attention_norm(self.attended(mixed.transpose(1, 2).flatten(2)) + x)
        return self.norm(self.down(functional.gelu(self.up(x))) + x)


class Encoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        weights = model.weights

        def table(name):
            return nn.Embedding(*weights[f'embeddings.{name}_embeddings.weight'].shape)

        self.words, self.positions, self.types = table('word'), table('position'), table('token_type')
        self.norm = nn.LayerNorm(model.hidden, model.epsilon)
        self.layers = nn.ModuleList(Layer(model) for _ in range(model.layers))

    def forward(self, input_ids, attention_mask, token_type_ids):
        places = torch.arange(input_ids.shape[1])
        x = self.norm(self.words(input_ids) + self.types(token_type_ids) + self.positions(places))
        mask = attention_mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, mask)
        counted = attention_mask[:, :, None].to(x.dtype)
        mean = (x * counted).sum(1) / counted.sum(1).clamp(min=1e-9)
        return x, functional.normalize(mean, dim=1)


LAYER_NAMES = {'attention.self.query': 'query', 'attention.self.key': 'key', 'attention.self.value': 'value',
               'attention.output.dense': 'attended', 'attention.output.LayerNorm': 'attention_norm',
               'intermediate.dense': 'up', 'output.dense': 'down', 'output.LayerNorm': 'norm'}
EMBEDDING_NAMES = {'word_embeddings': 'words', 'position_embeddings': 'positions', 'token_type_embeddings': 'types',
                   'LayerNorm': 'norm'}


def own_name(name):
    """The module's name for a tensor of the checkpoint; None for one that it does not use."""
    stem, _, kind = name.rpartition('.')
    if stem.startswith('encoder.layer.'):
        _, _, index, part = stem.split('.', 3)
        return f'layers.{index}.{LAYER_NAMES[part]}.{kind}'
    part = stem.removeprefix('embeddings.')
    return f'{EMBEDDING_NAMES[part]}.{kind}' if part in EMBEDDING_NAMES else None


def build(model):
    encoder = Encoder(model).eval()
    state = {own_name(name): torch.from_numpy(array.copy()) for name, array in model.weights.items() if own_name(name)}
    encoder.load_state_dict(state)  # strict: every parameter is there, and nothing else
    return encoder
