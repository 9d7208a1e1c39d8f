# Convnets that modules.py times: torchvision's, and the one-dimensional U-Net of a diffusion policy.
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn


class Block(nn.Sequential):
    """Convolution, group norm and Mish over [batch, channels, steps]."""

    def __init__(self, channels, to, taps=5, groups=8):
        super().__init__(nn.Conv1d(channels, to, taps, padding=taps // 2), nn.GroupNorm(groups, to), nn.Mish())


class ConditionedBlock(nn.Module):
    """Two blocks with a skip connection; the condition gives a scale and a bias for each channel between them."""

    def __init__(self, channels, to, condition):
        super().__init__()
        self.first, self.second = Block(channels, to), Block(to, to)
        self.condition = nn.Sequential(nn.Mish(), nn.Linear(condition, 2 * to))
        self.skip = nn.Conv1d(channels, to, 1) if channels != to else nn.Identity()

    def forward(self, x, condition):
        scale, bias = self.condition(condition).unsqueeze(-1).chunk(2, dim=1)
        return self.second(scale * self.first(x) + bias) + self.skip(x)


class DiffusionUnet(nn.Module):
    """One denoising step over `horizon` actions, as diffusion policies for robots have it: 65 M parameters."""

    def __init__(self, actions=7, observed=132, widths=(256, 512, 1024), step_width=256, horizon=16):
        super().__init__()
        self.shape = (horizon, actions, observed)
        self.step_width = step_width
        wide = 4 * step_width
        self.embed = nn.Sequential(nn.Linear(step_width, wide), nn.Mish(), nn.Linear(wide, step_width))
        condition = step_width + observed
        ends = list(zip((actions, *widths[:-1]), widths))
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        for i, (channels, to) in enumerate(ends):
            smaller = nn.Conv1d(to, to, 3, 2, 1) if i + 1 < len(ends) else nn.Identity()
            self.down.append(nn.ModuleList(
                [ConditionedBlock(channels, to, condition), ConditionedBlock(to, to, condition), smaller]))
        self.middle = nn.ModuleList(ConditionedBlock(widths[-1], widths[-1], condition) for _ in range(2))
        for channels, to in reversed(ends[1:]):
            larger = nn.ConvTranspose1d(channels, channels, 4, 2, 1)
            first = ConditionedBlock(2 * to, channels, condition)
            self.up.append(nn.ModuleList([first, ConditionedBlock(channels, channels, condition), larger]))
        self.end = nn.Sequential(Block(widths[0], widths[0]), nn.Conv1d(widths[0], actions, 1))

    def forward(self, sample, timestep, observation):
        half = self.step_width // 2
        rates = torch.exp(torch.arange(half, device=sample.device) * (-9.210340371976184 / (half - 1)))
        angles = timestep[:, None] * rates[None, :]
        step = self.embed(torch.cat([angles.sin(), angles.cos()], dim=-1).to(sample.dtype))
        condition = torch.cat([step, observation], dim=-1)
        x, kept = sample.transpose(1, 2), []
        for first, second, smaller in self.down:
            x = second(first(x, condition), condition)
            kept.append(x)
            x = smaller(x)
        for block in self.middle:
            x = block(x, condition)
        for first, second, larger in self.up:
            x = larger(second(first(torch.cat((x, kept.pop()), dim=1), condition), condition))
        return self.end(x).transpose(1, 2)

    def example(self, dtype, device):
        horizon, actions, observed = self.shape
        return dict(sample=torch.randn(1, horizon, actions, dtype=dtype, device=device),
                    timestep=torch.full((1,), 37.0, device=device),
                    observation=torch.randn(1, observed, dtype=dtype, device=device))


def of_torchvision(name):
    """Returns the maker of a classifier of torchvision with random weights.

    Its norms have statistics of noise; without any, numbers would shrink from layer to layer until they are denormal.
    """

    def make():
        import torchvision

        model = getattr(torchvision.models, name)(weights=None)
        for module in model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = None  # the mean of all batches, here of one
        with torch.no_grad():
            model(torch.randn(2, 3, 224, 224))
        return model

    return make


CONVNETS = {
    'torchvision resnet-50': of_torchvision('resnet50'),
    'torchvision efficientnet-b0': of_torchvision('efficientnet_b0'),
    'mobilenet-v3 large': of_torchvision('mobilenet_v3_large'),
    'diffusion u-net': DiffusionUnet,
}
