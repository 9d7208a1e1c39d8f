# Modules of one operator each, in sizes that models have: what bench/python/modules.py times beside whole models.
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn
from torch.nn import functional


class Recurrent(nn.Module):
    """Two layers of both directions, 256 wide, over 100 steps."""

    def __init__(self, kind):
        super().__init__()
        self.layers = kind(128, 256, 2, bidirectional=True, batch_first=True)

    def forward(self, x):
        return self.layers(x)[0]

    def example(self, dtype, device):
        return dict(x=torch.randn(1, 100, 128, dtype=dtype, device=device))


class GridSample(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def forward(self, x, grid):
        return functional.grid_sample(x, grid, mode=self.mode, padding_mode='zeros', align_corners=False)

    def example(self, dtype, device):
        return dict(x=torch.randn(1, 32, 64, 64, dtype=dtype, device=device),
                    grid=(2.2 * torch.rand(1, 64, 64, 2, dtype=dtype, device=device) - 1.1))


class ScatterAdd(nn.Module):
    def forward(self, x, places, updates):
        return x.scatter_add(1, places, updates)

    def example(self, dtype, device):
        return dict(x=torch.randn(1, 4096, 64, dtype=dtype, device=device),
                    places=torch.randint(0, 4096, (1, 4096, 64), device=device),
                    updates=torch.randn(1, 4096, 64, dtype=dtype, device=device))


class Upsampled(nn.Module):
    """A step of a decoder: a resize between two convolutions, with a group norm."""

    def __init__(self, mode):
        super().__init__()
        self.mode, self.first, self.last = mode, nn.Conv2d(64, 64, 3, padding=1), nn.Conv2d(64, 32, 3, padding=1)
        self.norm = nn.GroupNorm(8, 64)

    def forward(self, x):
        y = functional.silu(self.norm(self.first(x)))
        return self.last(functional.interpolate(y, scale_factor=2, mode=self.mode))

    def example(self, dtype, device):
        return dict(x=torch.randn(1, 64, 32, 32, dtype=dtype, device=device))


class DynamicFilters(nn.Module):
    """A convolution whose weights follow from an input."""

    def forward(self, x, w):
        return functional.conv2d(x, torch.tanh(w), padding=1)

    def example(self, dtype, device):
        return dict(x=torch.randn(1, 64, 32, 32, dtype=dtype, device=device),
                    w=0.1 * torch.randn(64, 64, 3, 3, dtype=dtype, device=device))


OPERATORS = {
    'lstm': lambda: Recurrent(nn.LSTM),
    'gru': lambda: Recurrent(nn.GRU),
    'grid sample': lambda: GridSample('bilinear'),
    'grid sample, bicubic': lambda: GridSample('bicubic'),
    'scatter add': lambda: ScatterAdd(),
    'upsampled, bilinear': lambda: Upsampled('bilinear'),
    'upsampled, bicubic': lambda: Upsampled('bicubic'),
    'dynamic filters': lambda: DynamicFilters(),
}
