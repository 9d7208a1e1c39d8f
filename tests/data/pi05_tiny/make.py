#!/usr/bin/env python3
# Makes this folder's Pi0.5 policy: a tiny checkpoint of random weights, inputs, and the actions that PyTorch gives.
# SPDX-License-Identifier: Apache-2.0
#
# Pi0.5 is Pi0 (bench/pi0_gpu/policy.py) but for its suffix, as openpi publishes it: the prompt tells of the state, which
# is no token of its own, and the time of a step stands in no token either. Through two layers with SiLU it becomes a
# condition, of which each norm of the expert has a linear of its own, for its scale, its shift and the gate of what is
# added behind it. Wants torch and safetensors; the README above says what it was run with.
import dataclasses
import json
import math
import sys
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / 'bench' / 'pi0_gpu'))
import policy  # noqa: E402

TINY = policy.Config(views=2, prompt=6, horizon=5, action_dim=4, steps=3, image=28, patch=14, vision=(2, 48, 80, 4),
                     prefix=(3, 64, 128, 4, 1, 16), expert=(3, 32, 64, 4, 1, 16), vocab=128)


class AdaptiveNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dense = nn.Linear(width, 3 * width)

    def forward(self, x, condition):
        variance = x.float().square().mean(-1, keepdim=True)
        scale, shift, gate = self.dense(condition)[:, None].chunk(3, -1)
        y = x * torch.rsqrt(variance + 1e-6) * (1 + scale.float()) + shift.float()
        return y.to(x.dtype), gate.to(x.dtype)


class ExpertLayer(policy.GemmaLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.input_layernorm, self.post_attention_layernorm = AdaptiveNorm(sizes[0]), AdaptiveNorm(sizes[0])

    def conditioned(self, x, angles, mask, past, condition):
        (b, s, _), (cos, sin) = x.shape, angles
        h, gate = self.input_layernorm(x, condition)
        q = self.q_proj(h).view(b, s, self.nh, self.hd).transpose(1, 2)
        k = self.k_proj(h).view(b, s, self.nkv, self.hd).transpose(1, 2)
        v = self.v_proj(h).view(b, s, self.nkv, self.hd).transpose(1, 2)
        q, k = q * cos + policy.rotate_half(q) * sin, k * cos + policy.rotate_half(k) * sin
        o = policy.attend(q, torch.cat([past[0], k], 2), torch.cat([past[1], v], 2), mask, 'eager')
        x = x + self.o_proj(o.transpose(1, 2).reshape(b, s, -1)) * gate
        h, gate = self.post_attention_layernorm(x, condition)
        return x + self.down_proj(F.gelu(self.gate_proj(h), approximate='tanh') * self.up_proj(h)) * gate


class Pi05(policy.Pi0):
    def __init__(self, c):
        super().__init__(c)
        width = c.expert[1]
        self.expert = nn.ModuleList(ExpertLayer(*c.expert[1:]) for _ in range(c.expert[0]))
        self.expert_norm = AdaptiveNorm(width)
        self.time_mlp_in, self.time_mlp_out = nn.Linear(width, width), nn.Linear(width, width)
        del self.state_proj, self.action_time_mlp_in, self.action_time_mlp_out

    def condition(self, time):
        c = self.c
        fraction = torch.linspace(0.0, 1.0, c.expert[1] // 2, dtype=torch.float64)
        angle = 2 * math.pi * time / (4e-3 * (4.0 / 4e-3) ** fraction)
        embedding = torch.cat([torch.sin(angle), torch.cos(angle)]).float()[None]
        return F.silu(self.time_mlp_out(F.silu(self.time_mlp_in(embedding))))

    def forward(self, images, valid, tokens, noise):
        c, dtype = self.c, self.prefix[0].q_proj.weight.dtype
        low = -2.3819763e38
        x = torch.cat([self.vision(images[i:i + 1], 'eager') for i in range(c.views)], 1)
        x = torch.cat([x, self.embed(tokens) * math.sqrt(c.prefix[1])], 1).to(dtype)
        mask = torch.where((valid[:, None, :] & valid[:, :, None])[:, None], 0.0, low)
        angles, cache = self.rope(torch.cumsum(valid, 1) - 1, dtype), []
        for layer in self.prefix:
            x, keys = layer(x, angles, mask, None, 'eager')
            cache.append(keys)
        among = torch.ones(1, c.horizon, c.horizon, dtype=torch.bool)
        seen = torch.cat([valid[:, None, :].expand(1, c.horizon, -1), among], 2)
        mask = torch.where(seen[:, None], 0.0, low)
        angles = self.rope(valid.sum(1)[:, None] + torch.arange(c.horizon)[None], dtype)
        for step in range(c.steps):
            condition = self.condition(1.0 - step / c.steps)
            x = self.action_in_proj(noise).to(dtype)
            for layer, keys in zip(self.expert, cache):
                x = layer.conditioned(x, angles, mask, keys, condition)
            noise = noise - self.action_out_proj(self.expert_norm(x, condition)[0].float()) / c.steps
        return noise


def tensors(model):
    """By openpi's names."""
    named = policy.openpi_names(model)
    expert = 'paligemma_with_expert.gemma_expert.model.'
    for name in [name for name in named if 'layernorm.weight' in name and name.startswith(expert)]:
        del named[name]
    for name, value in model.named_parameters():
        if '.dense.' in name:
            place = name.replace('expert_norm', 'norm').replace('expert.', 'layers.')
            named.pop(name, None)
            named[expert + place] = value
    return {name: value.detach().contiguous() for name, value in named.items()}


@torch.no_grad()
def main():
    model = Pi05(TINY).init(7)
    save_file(tensors(model), HERE / 'model.safetensors')
    config = dataclasses.asdict(TINY)
    (HERE / 'config.json').write_text(json.dumps({'type': 'pi05', **config}, indent=1) + '\n')
    given = policy.inputs(TINY, 'cpu', prompt_valid=4)
    images, valid, tokens, _, noise = policy.args_of(TINY, given)
    in_bf16 = model(images, valid, tokens, noise)
    in_f32 = model.float()(images, valid, tokens, noise)
    given.pop('state')
    numpy.savez(HERE / 'inputs.npz', **{name: value.numpy() for name, value in given.items()})
    numpy.savez(HERE / 'outputs.npz', actions_f32=in_f32[0].numpy(), actions_bf16=in_bf16[0].numpy())


if __name__ == '__main__':
    main()
