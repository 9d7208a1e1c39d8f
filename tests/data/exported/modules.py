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


class Convolutions(nn.Module):
    """Windows of all kinds, and what resamples, pads and pools images."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterDict({name: nn.Parameter(torch.randn(shape)) for name, shape in dict(
            plain=(5, 6, 3, 2), bias=(5,), grouped=(4, 3, 3, 3), each=(6, 1, 3, 3), twice=(12, 1, 2, 2),
            row=(4, 6, 3), scale=(6,), shift=(6,), v=(4, 6, 3), g=(4, 1, 1)).items()})
        self.register_buffer('mean', torch.randn(6))
        self.register_buffer('variance', torch.rand(6) + 0.5)

    def forward(self, image, row):
        w = self.weights
        resized = functional.interpolate
        return [
            functional.conv2d(image, w['plain'], w['bias'], stride=(2, 1), padding=(1, 2)),
            functional.conv2d(image, w['plain'], padding='same', dilation=(1, 2)),
            functional.conv2d(image, w['plain'], padding='valid'),
            functional.conv2d(image, w['grouped'], groups=2),
            functional.conv2d(image, w['each'], groups=6, stride=2, dilation=2),
            functional.conv2d(image, w['twice'], groups=6),
            functional.conv1d(row, w['row'], w['bias'][:4], stride=2, padding=1),
            functional.conv1d(row, w['row'], padding='same'),
            functional.conv1d(row, torch._weight_norm(w['v'], w['g'], 0)),
            functional.group_norm(image, 2, w['scale'], w['shift'], eps=1e-3),
            functional.batch_norm(image, self.mean, self.variance, w['scale'], w['shift'], eps=1e-3),
            functional.batch_norm(row, self.mean, self.variance),
            *(resized(image, size=(11, 5), mode=mode, align_corners=corners)
              for mode in ('bilinear', 'bicubic') for corners in (False, True)),
            resized(image, scale_factor=(1.7, 0.6), mode='bilinear'),
            resized(image, scale_factor=1.7, mode='bicubic'),
            resized(image, size=(11, 5), mode='nearest'),
            resized(image, scale_factor=2, mode='nearest'),
            resized(image, size=(11, 5), mode='nearest-exact'),
            resized(row, size=17, mode='linear'),
            functional.pad(image, (1, 2, 0, 1)),
            functional.pad(image, (-1, 2, 3, -2), value=1.5),
            functional.pad(image, (2, 1, 3, 0), mode='reflect'),
            functional.pad(image, (2, 1, 3, 9), mode='replicate'),
            functional.max_pool2d(image, 3, stride=2, padding=1),
            functional.max_pool2d(image, (2, 3), dilation=(2, 1)),
            functional.avg_pool2d(image, 3, stride=2, padding=1),
            functional.avg_pool1d(row, 3),
            functional.adaptive_avg_pool2d(image, (2, 1)),
            torch.flip(image, (1, -1)),
            torch.roll(image, (2, -3), (2, 3)),
        ]


class Arithmetic(nn.Module):
    """Operators of one line: roundings, orders, sums by names, grids, tables in float64, and writes in place."""

    def forward(self, x, y, number, mask):
        table = torch.linspace(0, 1, 5, dtype=torch.float64)
        table = torch.cat([torch.sin(2e3 * table), torch.cos(2e3**table)]).float()
        written = x.clone()
        written[1, 1:3] = 0.5
        written[:, 0].mul_(2)
        turned = written.transpose(0, 1)
        turned[2] += y[0, 0, :2]
        kept = torch.zeros(3, 4)
        view = kept.view(12)
        view[5:9].copy_(x[0, 0])
        rows, columns = torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij')
        return [
            torch.einsum('bhi,bdi->bhd', x, x), torch.einsum('bij,...j->i...', x, y), torch.einsum('ijk->k', x),
            torch.einsum('i,j->ji', x[0, 0], y[0, 0, 0]),
            torch.floor(3 * x), torch.ceil(3 * x), torch.round(2 * x) * 1.0, torch.trunc(3 * x), torch.sign(x),
            torch.div(3 * x, 0.7, rounding_mode='floor'), torch.div(number, 3, rounding_mode='trunc'), number // 3,
            number // -2, number % 3, torch.remainder(3 * x, 0.7), torch.amin(x, (0, 2)), x.min(), x.max(), *x.min(1),
            *x.max(-1, keepdim=True), number.min(0).values, x.argmin(), x.argmin(2), x.std(1), x.var(-1, unbiased=False),
            functional.log_softmax(x, 1), functional.leaky_relu(x, 0.2), functional.hardswish(4 * x),
            functional.hardsigmoid(4 * x), functional.hardtanh(x), functional.softplus(9 * x, beta=2.5, threshold=20),
            torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5])), torch.logical_xor(mask, x > 0), torch.eye(3, 4) + x[0],
            torch.outer(x[0, 0], x[0, 1]), torch.baddbmm(x[:, :, :3], x, x.mT, beta=0.5, alpha=2), x.tile(2, 1),
            torch.masked_scatter(x, mask, y), torch.slice_scatter(x, x[:, :1] * 2, 1, 1, 2),
            torch.select_scatter(x, x[:, :, 0], 2, -1), x[0].T, rows * columns, table, written, turned * 1, kept, view * 1,
            torch.isnan(torch.log(x)), torch.maximum(x, torch.tensor(0.25, dtype=torch.float64).float()),
        ]
