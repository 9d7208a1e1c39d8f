# A transformer block stack that a caller can spoil: each option plants one thing that costs latency.
# SPDX-License-Identifier: Apache-2.0
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Shape:
    """Large enough by default that a GPU is never waiting for the host."""
    tokens: int = 2048
    width: int = 4096
    layers: int = 4
    heads: int = 32
    kv_heads: int = 8
    hidden: int = 14336

    @property
    def head(self):
        return self.width // self.heads


SMALL = Shape(tokens=51, width=1024, layers=8, heads=8, kv_heads=8, hidden=4096)


@dataclasses.dataclass
class Faults:
    """What is planted; none by default."""
    separate_projections: bool = False
    unfused_attention: bool = False
    repeated_kv: bool = False
    layout_copies: bool = False
    norm_by_pieces: bool = False
    item_per_layer: bool = False
    pageable_copy: bool = False
    allocation: bool = False
    break_at_attention: bool = False


@torch.compiler.disable
def broken_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])


class Layer(nn.Module):
    def __init__(self, shape, faults, dtype):
        super().__init__()
        self.shape, self.faults = shape, faults
        kv = shape.kv_heads * shape.head
        sizes = (shape.width, kv, kv)
        linear = lambda i, o: nn.Linear(i, o, bias=False, dtype=dtype, device='cuda')
        if faults.separate_projections:
            self.projections = nn.ModuleList(linear(shape.width, size) for size in sizes)
        else:
            self.projection = linear(shape.width, sum(sizes))
        self.sizes = sizes
        self.out = linear(shape.width, shape.width)
        self.up, self.down = linear(shape.width, shape.hidden), linear(shape.hidden, shape.width)
        self.scales = nn.ParameterList(
            torch.ones(shape.width, dtype=dtype, device='cuda') for _ in range(2))

    def norm(self, x, scale):
        if not self.faults.norm_by_pieces:
            return F.rms_norm(x, (x.shape[-1],), scale, 1e-6)
        square = x.float().pow(2).mean(-1, keepdim=True)
        return (x.float() * torch.rsqrt(square + 1e-6)).to(x.dtype) * scale

    def project(self, x):
        if self.faults.separate_projections:
            return [p(x) for p in self.projections]
        return self.projection(x).split(self.sizes, dim=-1)

    def attend(self, q, k, v):
        if self.faults.repeated_kv:
            k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
        if self.faults.layout_copies:
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
        if self.faults.unfused_attention:
            times = q.shape[1] // k.shape[1]
            if times > 1:
                k, v = (t[:, :, None].expand(-1, -1, times, -1, -1).flatten(1, 2) for t in (k, v))
            weights = torch.matmul(q, k.transpose(2, 3)) * self.shape.head**-0.5
            return torch.matmul(weights.softmax(-1), v)
        if self.faults.break_at_attention:
            return broken_attention(q, k, v)
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])

    def forward(self, x):
        b, s, _ = x.shape
        parts = self.project(self.norm(x, self.scales[0]))
        q, k, v = (t.view(b, s, -1, self.shape.head).transpose(1, 2) for t in parts)
        o = self.attend(q, k, v).transpose(1, 2).reshape(b, s, -1)
        x = x + self.out(o)
        return x + self.down(F.gelu(self.up(self.norm(x, self.scales[1])), approximate='tanh'))


class Decoder(nn.Module):
    """`layers` blocks over [1, tokens, width]."""

    def __init__(self, shape=None, faults=None, dtype=torch.bfloat16):
        super().__init__()
        self.shape, self.faults = shape or Shape(), faults or Faults()
        self.layers = nn.ModuleList(Layer(self.shape, self.faults, dtype) for _ in range(self.shape.layers))
        self.host = torch.randn(self.shape.tokens, self.shape.width, dtype=dtype)  # pageable
        self.kept = []

    def plant(self, x):
        if self.faults.item_per_layer and x[0, 0, 0].item() > 1e30:
            raise FloatingPointError('a value ran away')
        if self.faults.pageable_copy:
            x = x + 1e-3 * self.host.to('cuda', non_blocking=True)
        if self.faults.allocation:
            torch.cuda.empty_cache()
            self.kept = [torch.empty(1 << 28, dtype=torch.uint8, device='cuda')]
        return x

    def forward(self, x):
        for layer in self.layers:
            x = layer(self.plant(x))
        return x

    def example(self, tokens=None):
        shape = (1, tokens or self.shape.tokens, self.shape.width)
        return torch.randn(shape, device='cuda', dtype=next(self.parameters()).dtype)


class CachedLayer(nn.Module):
    """One token against keys and values kept in fixed buffers."""

    def __init__(self, shape, length):
        super().__init__()
        self.shape = shape
        linear = lambda i, o: nn.Linear(i, o, bias=False, dtype=torch.bfloat16, device='cuda')
        kv = shape.kv_heads * shape.head
        self.sizes = (shape.width, kv, kv)
        self.projection, self.out = linear(shape.width, sum(self.sizes)), linear(shape.width, shape.width)
        self.up, self.down = linear(shape.width, shape.hidden), linear(shape.hidden, shape.width)
        buffer = lambda: torch.zeros(1, shape.kv_heads, length, shape.head, dtype=torch.bfloat16, device='cuda')
        self.keys, self.values = buffer(), buffer()

    def forward(self, x, position, mask):
        norm = lambda t: F.rms_norm(t, (t.shape[-1],), None, 1e-6)
        q, k, v = (t.view(1, 1, -1, self.shape.head).transpose(1, 2)
                   for t in self.projection(norm(x)).split(self.sizes, dim=-1))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        o = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask,
                                           enable_gqa=self.shape.heads != self.shape.kv_heads)
        x = x + self.out(o.transpose(1, 2).reshape(1, 1, -1))
        return x + self.down(F.gelu(self.up(norm(x)), approximate='tanh'))


class CachedDecoder(nn.Module):
    """decode(x, position) one token at a time, keys and values kept between calls."""

    def __init__(self, shape=None, length=1024):
        super().__init__()
        self.shape = shape or Shape(tokens=1)
        self.layers = nn.ModuleList(CachedLayer(self.shape, length) for _ in range(self.shape.layers))
        self.slots = torch.arange(length, device='cuda')

    def forward(self, x, position):
        mask = torch.where(self.slots <= position, 0.0, float('-inf')).to(x.dtype)[None, None, None]
        for layer in self.layers:
            x = layer(x, position, mask)
        return x


class Denoiser(nn.Module):
    """A step of a small convolutional diffusion model: blocks of norm, activation and convolution, one attention."""

    def __init__(self, channels=320, size=64):
        super().__init__()
        conv = lambda i, o: nn.Conv2d(i, o, 3, padding=1, dtype=torch.bfloat16, device='cuda')
        norm = lambda: nn.GroupNorm(32, channels, dtype=torch.bfloat16, device='cuda')
        self.size, self.first, self.last = size, conv(4, channels), conv(channels, 4)
        self.blocks = nn.ModuleList(nn.Sequential(norm(), nn.SiLU(), conv(channels, channels)) for _ in range(6))
        self.attention_norm = norm()
        self.qkv = nn.Linear(channels, 3 * channels, dtype=torch.bfloat16, device='cuda')
        self.out = nn.Linear(channels, channels, dtype=torch.bfloat16, device='cuda')

    def forward(self, noisy):
        x = self.first(noisy)
        for block in self.blocks:
            x = x + block(x)
        b, c, h, w = x.shape
        tokens = self.attention_norm(x).flatten(2).transpose(1, 2)
        q, k, v = (t.view(b, h * w, 8, c // 8).transpose(1, 2) for t in self.qkv(tokens).chunk(3, dim=-1))
        o = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, h * w, c)
        x = x + self.out(o).transpose(1, 2).view(b, c, h, w)
        return noisy - 0.1 * self.last(x)
