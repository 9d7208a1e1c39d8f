#!/usr/bin/env python3
# Measures how long rung and PyTorch take to read a prompt with a Llama of a config.json, on this machine's GPU.
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch_timing  # noqa: E402


def rotate(x, cos, sin):
    """RoPE of [1,heads,S,D] by angles [S,D]."""
    lower, upper = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-upper, lower), dim=-1) * sin


class Layer(nn.Module):
    """A layer of Llama. Its q, k and v are one product, and its gate and up are one."""

    def __init__(self, config):
        super().__init__()
        hidden, self.heads = config['hidden_size'], config['num_attention_heads']
        self.kv_heads = config['num_key_value_heads']
        self.size = config.get('head_dim') or hidden // self.heads
        self.norm = nn.RMSNorm(hidden, config['rms_norm_eps'])
        self.qkv = nn.Linear(hidden, (self.heads + 2 * self.kv_heads) * self.size, bias=False)
        self.o = nn.Linear(self.heads * self.size, hidden, bias=False)
        self.mlp_norm = nn.RMSNorm(hidden, config['rms_norm_eps'])
        self.gate_up = nn.Linear(hidden, 2 * config['intermediate_size'], bias=False)
        self.down = nn.Linear(config['intermediate_size'], hidden, bias=False)

    def forward(self, x, cos, sin):
        heads = self.qkv(self.norm(x)).view(1, x.shape[1], -1, self.size).transpose(1, 2)
        q, k, v = heads.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
        y = functional.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True,
                                                    enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(1, x.shape[1], -1))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        # The keys and values are what a prompt is read for.
        return x + self.down(functional.silu(gate) * up), rotate(k, cos, sin), v


class PyTorch:
    """A decoder of random weights whose layers are compiled one by one, all in one CUDA graph."""

    def __init__(self, config):
        self.config = config
        with torch.device('cuda'), torch.no_grad():
            torch.set_default_dtype(torch.bfloat16)
            self.embedding = nn.Embedding(config['vocab_size'], config['hidden_size'])
            self.layers = [Layer(config) for _ in range(config['num_hidden_layers'])]
            self.norm = nn.RMSNorm(config['hidden_size'], config['rms_norm_eps'])
            torch.set_default_dtype(torch.float32)
        self.layer = torch.compile(lambda layer, *inputs: layer(*inputs), dynamic=False)

    def read(self, ids, cos, sin):
        x, caches = self.embedding(ids), []
        for layer in self.layers:
            x, keys, values = self.layer(layer, x, cos, sin)
            caches.append((keys, values))
        return self.norm(x[:, -1]) @ self.embedding.weight.T, caches

    @torch.no_grad()
    def milliseconds(self, tokens):
        size = self.layers[0].size
        frequencies = self.config.get('rope_theta', 10000.0) ** (-torch.arange(0, size, 2, device='cuda') / size)
        angles = torch.outer(torch.arange(tokens, device='cuda'), frequencies).repeat(1, 2)
        ids = torch.randint(self.config['vocab_size'], (1, tokens), device='cuda')
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        graph, _ = torch_timing.graph_of(lambda: self.read(ids, cos, sin))
        return torch_timing.median_of_events(graph.replay)


def rung(arguments, tokens):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([arguments.rung, 'climb', arguments.model, '--random-weights', '1', '--device', 'cuda',
                               '--prompt', str(tokens), '--new', '2', '--budget', arguments.budget, '--out', folder,
                               '--json'], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)['mix']


def main():
    parser = argparse.ArgumentParser(description='rung against torch.compile on prompts of a Llama of random weights.')
    parser.add_argument('model', help='folder of config.json')
    parser.add_argument('--tokens', type=int, nargs='+', default=[512, 4096])
    parser.add_argument('--rung', default=str(ROOT / 'build' / 'rung'))
    parser.add_argument('--budget', default='60s', help='of each climb')
    arguments = parser.parse_args()
    theirs = PyTorch(json.loads((Path(arguments.model) / 'config.json').read_text()))
    print('| tokens | PyTorch, ms | rung, ms | ratio | floor, ms |')
    print('| --- | --- | --- | --- | --- |')
    for tokens in arguments.tokens:
        theirs_ms, mix = theirs.milliseconds(tokens), rung(arguments, tokens)
        print(f'| {tokens} | {theirs_ms:.2f} | {mix["prefill_ms"]:.2f} | {theirs_ms / mix["prefill_ms"]:.2f} | '
              f'{mix["prefill_floor_ms"]:.2f} |', flush=True)


if __name__ == '__main__':
    main()
