# Models that transformers does not have: what make.py exports beside its own, written as their authors' papers and code
# describe them, in small.
# SPDX-License-Identifier: Apache-2.0
import math

import torch
from torch import nn
from torch.nn import functional


def sinusoids(time, width, longest=10000.0):
    """Returns the embedding of a timestep that diffusion transformers take: time (B,) -> (B, width)."""
    half = width // 2
    angles = time[:, None].float() * torch.exp(-math.log(longest) * torch.arange(half) / half)[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class DiffusionBlock(nn.Module):
    """Attention and MLP whose norms are shifted, scaled and gated by a condition ("adaLN-zero")."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate='tanh'), nn.Linear(4 * width, width))
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(condition)[:, None].chunk(6, dim=-1)
        batch, tokens, width = x.shape
        h = self.norm1(x) * (1 + scale1) + shift1
        q, k, v = self.qkv(h).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        h = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, width)
        x = x + gate1 * self.out(h)
        return x + gate2 * self.mlp(self.norm2(x) * (1 + scale2) + shift2)


class DiffusionTransformer(nn.Module):
    """Image, timestep and class -> image of noise, as DiT (Peebles and Xie, 2022)."""

    def __init__(self, width=32, depth=2, heads=4, channels=4, size=8, patch=2, classes=10):
        super().__init__()
        self.side, self.patch, self.channels = size // patch, patch, channels
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.register_buffer('places', torch.randn(1, self.side**2, width))
        self.time = nn.Sequential(nn.Linear(64, width), nn.SiLU(), nn.Linear(width, width))
        self.label = nn.Embedding(classes + 1, width)
        self.blocks = nn.ModuleList(DiffusionBlock(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))
        self.out = nn.Linear(width, patch * patch * channels)

    def forward(self, image, time, label):
        x = self.patches(image).flatten(2).transpose(1, 2) + self.places
        condition = self.time(sinusoids(time, 64)) + self.label(label)
        for block in self.blocks:
            x = block(x, condition)
        shift, scale = self.modulation(condition)[:, None].chunk(2, dim=-1)
        x = self.out(self.norm(x) * (1 + scale) + shift)
        x = x.reshape(-1, self.side, self.side, self.patch, self.patch, self.channels)
        return torch.einsum('nhwpqc->nchpwq', x).flatten(4).flatten(2, 3)


def rotated(x, positions, longest=10000.0):
    """Returns x (B, S, H, D) rotated by its positions (B, S), in halves."""
    half = x.shape[-1] // 2
    period = longest ** (torch.arange(half, dtype=torch.float32) * 2 / x.shape[-1])
    angles = positions[..., None].float() / period
    sin, cos = torch.sin(angles)[:, :, None], torch.cos(angles)[:, :, None]
    first, second = x.split(half, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.float()
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)).to(self.weight.dtype)


class ExpertLayer(nn.Module):
    """A Llama layer; one that crosses projects the prefix's keys and values, another puts its own behind them."""

    def __init__(self, crosses, width, heads, groups, size):
        super().__init__()
        self.crosses, self.heads, self.groups, self.size = crosses, heads, groups, size
        source = groups * size if crosses else width
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.q, self.o = nn.Linear(width, heads * size, bias=False), nn.Linear(heads * size, width, bias=False)
        self.k = nn.Linear(source, groups * size, bias=False)
        self.v = nn.Linear(source, groups * size, bias=False)
        self.gate, self.up = nn.Linear(width, 2 * width, bias=False), nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def attend(self, q, k, v, mask):
        def repeated(x):
            times = self.heads // self.groups
            return x[:, :, :, None].expand(*x.shape[:3], times, x.shape[3]).reshape(*x.shape[:2], -1, x.shape[3])

        q, k, v = q.transpose(1, 2).float(), repeated(k).transpose(1, 2).float(), repeated(v).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.size**-0.5
        scores = torch.where(mask[:, None], scores, torch.finfo(scores.dtype).min)
        weights = functional.softmax(scores, dim=-1).to(v.dtype)
        return torch.matmul(weights, v).permute(0, 2, 1, 3).flatten(2)

    def forward(self, x, keys, values, positions, mask):
        batch, tokens, _ = x.shape
        h = self.norm1(x)
        if self.crosses:
            q = rotated(self.q(h).view(batch, tokens, -1, self.size), positions - positions.min(dim=1, keepdim=True).values)
            k = self.k(keys.flatten(2)).view(*keys.shape[:2], -1, self.size)
            v = self.v(values.flatten(2)).view(*keys.shape[:2], -1, self.size)
            mask = mask[:, :, :keys.shape[1]]
        else:
            q = rotated(self.q(h).view(batch, tokens, -1, self.size), positions)
            k = torch.cat([keys, rotated(self.k(h).view(batch, tokens, -1, self.size), positions)], dim=1)
            v = torch.cat([values, self.v(h).view(batch, tokens, -1, self.size)], dim=1)
        x = x + self.o(self.attend(q, k, v, mask))
        h = self.norm2(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


class ActionExpert(nn.Module):
    """One denoising step of SmolVLA (Shukor et al., 2025): noisy actions and time attend to a prefix's keys and values,
    of which each layer has its own; every other layer crosses."""

    def __init__(self, width=32, depth=4, heads=4, groups=2, size=8, actions=6):
        super().__init__()
        self.width = width
        self.layers = nn.ModuleList(ExpertLayer(i % 2 == 1, width, heads, groups, size) for i in range(depth))
        self.norm = RMSNorm(width)
        self.action_in, self.action_out = nn.Linear(actions, width), nn.Linear(width, actions)
        self.time_in, self.time_out = nn.Linear(2 * width, width), nn.Linear(width, width)

    def forward(self, actions, time, keys, values, prefix):
        """actions (B,S,A); time (B,); keys and values (L,B,P,G,D); prefix (B,P) bool: which tokens are there."""
        x = self.action_in(actions)
        batch, tokens, _ = x.shape
        fraction = torch.linspace(0, 1, self.width // 2)
        angles = time[:, None] * (2 * math.pi / (4e-3 * (4.0 / 4e-3) ** fraction))[None]
        moment = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)[:, None].expand_as(x)
        x = self.time_out(functional.silu(self.time_in(torch.cat([x, moment], dim=2))))
        causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()[None].expand(batch, -1, -1)
        mask = torch.cat([prefix[:, None].expand(-1, tokens, -1), causal], dim=2)
        positions = prefix.sum(-1)[:, None] + torch.arange(tokens)[None]
        for layer, k, v in zip(self.layers, keys, values):
            x = layer(x, k, v, positions, mask)
        return self.action_out(self.norm(x))


class PaliGemmaPrefix(nn.Module):
    """The prefix of Pi0 and PaliGemma over transformers' modules: images and prompt see each other, padding is seen by
    none."""

    def __init__(self, vision, projector, language):
        super().__init__()
        self.vision, self.projector, self.language = vision, projector, language

    def forward(self, pixel_values, input_ids, attention_mask):
        images = self.projector(self.vision(pixel_values).last_hidden_state)
        words = self.language.embed_tokens(input_ids)
        x = torch.cat([images, words], dim=1)
        valid = torch.cat([torch.ones_like(images[..., 0], dtype=torch.bool), attention_mask.bool()], dim=1)
        mask = torch.where((valid[:, None] & valid[:, :, None])[:, None], 0.0, torch.finfo(x.dtype).min)
        positions = torch.cumsum(valid, dim=1) - 1
        return self.language(inputs_embeds=x, attention_mask=mask, position_ids=positions).last_hidden_state
