#!/usr/bin/env python3
# Makes caches/: a small decoder with its caches as exporters write them. growing.onnx has Optimum's names, and joins
# the keys of the tokens before with the new ones; static.pt2 and static_decomposed.pt2 write buffers of fixed size.
# text.npz has a text and the logits of each of its tokens, as PyTorch gives them for the whole text at once.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy
import torch
from torch.nn.functional import scaled_dot_product_attention

from make import pack

HERE = Path(__file__).resolve().parent / 'caches'
WIDTH, HEADS, VOCABULARY, PLACES, LAYERS = 16, 2, 20, 24, 2


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (torch.nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm = torch.nn.LayerNorm(WIDTH)

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x, remember, mask):
        h = self.norm(x)
        keys, values = remember(self.heads(self.k(h)), self.heads(self.v(h)))
        y = scaled_dot_product_attention(self.heads(self.q(h)), keys, values, attn_mask=mask)
        return x + self.o(y.transpose(1, 2).reshape(x.shape)), keys, values


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(PLACES, WIDTH)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)


class Growing(Decoder):
    """Takes the caches and gives them with the new tokens behind the others."""

    def forward(self, input_ids, attention_mask, position_ids, past):
        before, new = past[0].shape[2], input_ids.shape[1]
        x = self.tokens(input_ids) + self.places(position_ids)
        order = torch.arange(before + new)[None, :] <= torch.arange(before, before + new)[:, None]
        mask = order[None, None] & attention_mask[:, None, None, :].bool()
        presents = []
        for i, layer in enumerate(self.layers):
            def joined(keys, values, i=i):
                return torch.cat([past[2 * i], keys], 2), torch.cat([past[2 * i + 1], values], 2)
            x, *present = layer(x, joined, mask)
            presents += present
        return (self.head(x), *presents)


class Static(Decoder):
    """Writes the caches, which are buffers: the keys by index_copy_, the values by assignment to places."""

    def __init__(self):
        super().__init__()
        for i in range(LAYERS):
            for kind in ('keys', 'values'):
                self.register_buffer(f'{kind}_{i}', torch.zeros(1, HEADS, PLACES, WIDTH // HEADS))

    def forward(self, input_ids, cache_position):
        x = self.tokens(input_ids) + self.places(cache_position)
        mask = torch.arange(PLACES)[None, :] <= cache_position[:, None]
        for i, layer in enumerate(self.layers):
            def written(keys, values, i=i):
                all_keys, all_values = getattr(self, f'keys_{i}'), getattr(self, f'values_{i}')
                all_keys.index_copy_(2, cache_position, keys)
                all_values[:, :, cache_position] = values
                return all_keys, all_values
            x, _, _ = layer(x, written, mask)
        return self.head(x)


def perturbed(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def save_growing(model):
    caches = [f'{i}.{kind}' for i in range(LAYERS) for kind in ('key', 'value')]
    past = [torch.zeros(1, HEADS, 3, WIDTH // HEADS) for _ in caches]
    inputs = ['input_ids', 'attention_mask', 'position_ids', *(f'past_key_values.{name}' for name in caches)]
    outputs = ['logits', *(f'present.{name}' for name in caches)]
    sizes = {'input_ids': {0: 'batch_size', 1: 'sequence_length'}, 'position_ids': {0: 'batch_size', 1: 'sequence_length'},
             'attention_mask': {0: 'batch_size', 1: 'past_sequence_length + sequence_length'},
             **{f'past_key_values.{name}': {0: 'batch_size', 2: 'past_sequence_length'} for name in caches}}
    path = HERE / 'growing.onnx'
    example = (torch.ones(1, 2, dtype=torch.long), torch.ones(1, 5, dtype=torch.long), torch.tensor([[3, 4]]), past)
    torch.onnx.export(model, example, path, dynamo=False, opset_version=17, input_names=inputs, output_names=outputs,
                      dynamic_axes=sizes)


def save_static(model):
    program = torch.export.export(model, (torch.tensor([[3]]), torch.tensor([0])))
    for name, one in (('static', program), ('static_decomposed', program.run_decompositions({}))):
        torch.export.save(one, HERE / f'{name}.pt2')
        pack(HERE / f'{name}.pt2')


def main():
    HERE.mkdir(exist_ok=True)
    torch.manual_seed(0)
    growing = perturbed(Growing())
    static = Static().eval()
    static.load_state_dict(growing.state_dict(), strict=False)
    text = torch.randint(0, VOCABULARY, (1, PLACES))
    none = [torch.zeros(1, HEADS, 0, WIDTH // HEADS) for _ in range(2 * LAYERS)]
    with torch.no_grad():
        logits = growing(text, torch.ones_like(text), torch.arange(PLACES)[None], none)[0]
    numpy.savez(HERE / 'text.npz', input_ids=text.numpy(), logits=logits.numpy())
    save_static(static)
    save_growing(growing)


if __name__ == '__main__':
    main()
