# The layers of decoder.py split over the processes of a group, one GPU each; their parts are summed by all-reduce.
# SPDX-License-Identifier: Apache-2.0
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
from torch import nn
from torch.nn import functional as F


class Parts(nn.Module):
    """One layer's share of heads and hidden units: two functions of [sequences, tokens, width], parts of sums."""

    def __init__(self, shape, ranks):
        super().__init__()
        self.head = shape.head
        self.sizes = [heads // ranks * shape.head for heads in (shape.heads, shape.kv_heads, shape.kv_heads)]
        linear = lambda i, o: nn.Linear(i, o, bias=False, dtype=torch.bfloat16, device='cuda')
        self.projection, self.out = linear(shape.width, sum(self.sizes)), linear(self.sizes[0], shape.width)
        hidden = shape.hidden // ranks
        self.up, self.down = linear(shape.width, hidden), linear(hidden, shape.width)

    def attention(self, x, out=None):
        b, s, width = x.shape
        parts = self.projection(F.rms_norm(x, (width,), None, 1e-6)).split(self.sizes, dim=-1)
        q, k, v = (t.view(b, s, -1, self.head).transpose(1, 2) for t in parts)
        o = F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])
        return torch.matmul(o.transpose(1, 2).reshape(b, s, -1), self.out.weight.t(), out=out)

    def feed_forward(self, x, out=None):
        hidden = F.gelu(self.up(F.rms_norm(x, (x.shape[-1],), None, 1e-6)), approximate='tanh')
        return torch.matmul(hidden, self.down.weight.t(), out=out)


class NcclSum:
    """The sum over all ranks by the group's library."""
    buffer = None

    def __call__(self, part):
        dist.all_reduce(part)
        return part


class OneShotSum:
    """The sum over all ranks by one kernel that reads every rank's part over the links; parts go to `buffer`."""

    def __init__(self, shape):
        self.buffer = symmetric.empty(shape, dtype=torch.bfloat16, device='cuda')
        self.group = dist.group.WORLD.group_name
        symmetric.rendezvous(self.buffer, self.group)

    def __call__(self, part):
        return torch.ops.symm_mem.one_shot_all_reduce(part, 'sum', self.group)


class ParallelDecoder(nn.Module):
    """`layers` blocks, each summed twice; `overlapped` runs a sequence's sums beside the other sequences' products.

    `delay_s` is what this rank's host does besides before each part."""

    def __init__(self, shape, ranks, total=None, delay_s=0):
        super().__init__()
        self.layers = nn.ModuleList(Parts(shape, ranks) for _ in range(shape.layers))
        self.total, self.delay_s = total or NcclSum(), delay_s

    def halves(self):
        return (half for layer in self.layers for half in (layer.attention, layer.feed_forward))

    def forward(self, x):
        for half in self.halves():
            end = time.perf_counter() + self.delay_s
            while time.perf_counter() < end:
                pass
            x = x + self.total(half(x, self.total.buffer))
        return x

    def overlapped(self, x):
        xs = list(x.split(1))
        parts, sums = [None] * len(xs), [None] * len(xs)
        for half in self.halves():
            for i in range(len(xs)):
                if sums[i]:
                    sums[i].wait()
                    xs[i] = xs[i] + parts[i]
                parts[i] = half(xs[i])
                sums[i] = dist.all_reduce(parts[i], async_op=True)
        for total in sums:
            total.wait()
        return torch.cat([x + part for x, part in zip(xs, parts)])
