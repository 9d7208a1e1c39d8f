# Convolutional networks in small, as their authors' papers describe them: what make.py exports beside transformers.
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn
from torch.nn import functional


def convolved(inputs, outputs, window=3, stride=1, groups=1, act=nn.ReLU):
    """Convolution, batch norm and activation."""
    layers = [nn.Conv2d(inputs, outputs, window, stride, window // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Residual(nn.Module):
    """A residual block: two 3x3 convolutions, or a bottleneck of three (He et al., 2015)."""

    def __init__(self, inputs, outputs, stride, bottleneck):
        super().__init__()
        inner = outputs // 4
        self.path = nn.Sequential(
            convolved(inputs, inner, 1), convolved(inner, inner, 3, stride), convolved(inner, outputs, 1, act=None),
        ) if bottleneck else nn.Sequential(convolved(inputs, outputs, 3, stride), convolved(outputs, outputs, act=None))
        self.skip = convolved(inputs, outputs, 1, stride, act=None) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        return torch.relu(self.path(x) + self.skip(x))


class ResNet(nn.Module):
    def __init__(self, widths=(8, 16, 24), bottleneck=False, classes=10):
        super().__init__()
        self.stem = nn.Sequential(convolved(3, widths[0], 7, 2), nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], widths[0]
        for i, width in enumerate(widths):
            blocks += [Residual(inputs, width, 1 + (i > 0), bottleneck), Residual(width, width, 1, bottleneck)]
            inputs = width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(inputs, classes)

    def forward(self, image):
        x = self.blocks(self.stem(image))
        return self.head(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


class Excitation(nn.Module):
    """Scales channels by what their means say (Hu et al., 2017)."""

    def __init__(self, width, inner, act, gate):
        super().__init__()
        self.down, self.up, self.act, self.gate = nn.Conv2d(width, inner, 1), nn.Conv2d(inner, width, 1), act(), gate()

    def forward(self, x):
        return x * self.gate(self.up(self.act(self.down(functional.adaptive_avg_pool2d(x, 1)))))


class InvertedResidual(nn.Module):
    """Wide depthwise convolution between two narrow ends."""

    def __init__(self, inputs, outputs, window, stride, act, gate):
        super().__init__()
        wide = 4 * inputs
        self.path = nn.Sequential(convolved(inputs, wide, 1, act=act), convolved(wide, wide, window, stride, wide, act),
                                  Excitation(wide, 4, nn.SiLU if act is nn.SiLU else nn.ReLU, gate),
                                  convolved(wide, outputs, 1, act=None))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.path(x) if self.adds else self.path(x)


class MobileNet(nn.Module):
    """EfficientNet (Tan and Le, 2019) with SiLU, MobileNetV3 (Howard et al., 2019) with hardswish."""

    def __init__(self, act, gate, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            convolved(3, 8, 3, 2, act=act), InvertedResidual(8, 8, 3, 1, act, gate),
            InvertedResidual(8, 12, 5, 2, act, gate), InvertedResidual(12, 12, 5, 1, act, gate),
            convolved(12, 40, 1, act=act))
        self.head = nn.Sequential(nn.Dropout(0.2, inplace=True), nn.Linear(40, classes))

    def forward(self, image):
        return self.head(functional.adaptive_avg_pool2d(self.features(image), 1).flatten(1))


class ConvNeXtBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width, eps=1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(0.5 * torch.ones(width, 1, 1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + self.scale * self.down(functional.gelu(self.up(y))).permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    """Liu et al., 2022."""

    def __init__(self, widths=(12, 20), classes=10):
        super().__init__()
        layers = [nn.Conv2d(3, widths[0], 4, 4), ChannelNorm(widths[0])]
        for inputs, width in zip((None, *widths), widths):
            if inputs:
                layers += [ChannelNorm(inputs), nn.Conv2d(inputs, width, 2, 2)]
            layers += [ConvNeXtBlock(width), ConvNeXtBlock(width)]
        self.layers, self.norm, self.head = nn.Sequential(*layers), nn.LayerNorm(widths[-1]), nn.Linear(widths[-1], classes)

    def forward(self, image):
        return self.head(self.norm(self.layers(image).mean([-2, -1])))


def convolved_row(inputs, outputs):
    return nn.Sequential(nn.Conv1d(inputs, outputs, 5, padding=2), nn.GroupNorm(4, outputs), nn.Mish())


class ConditionedBlock(nn.Module):
    def __init__(self, inputs, outputs, condition):
        super().__init__()
        self.first, self.second = convolved_row(inputs, outputs), convolved_row(outputs, outputs)
        self.film = nn.Sequential(nn.Mish(), nn.Linear(condition, 2 * outputs), nn.Unflatten(-1, (2, outputs, 1)))
        self.skip = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, condition):
        scale, shift = self.film(condition).unbind(1)
        return self.second(scale * self.first(x) + shift) + self.skip(x)


class DiffusionUNet(nn.Module):
    """The 1-d U-Net of diffusion policies (Chi et al., 2023): actions, timestep and observation -> noise."""

    def __init__(self, action=4, observation=6, widths=(16, 24)):
        super().__init__()
        self.condition, size = nn.Sequential(nn.Linear(16, 32), nn.Mish(), nn.Linear(32, 16)), 16 + observation
        a, b = widths
        self.down1, self.down2 = ConditionedBlock(action, a, size), ConditionedBlock(a, b, size)
        self.shrink, self.grow = nn.Conv1d(a, a, 3, 2, 1), nn.ConvTranspose1d(a, a, 4, 2, 1)
        self.middle, self.up = ConditionedBlock(b, b, size), ConditionedBlock(b, a, size)
        self.join, self.out = ConditionedBlock(2 * a, a, size), nn.Sequential(convolved_row(a, a), nn.Conv1d(a, action, 1))

    def forward(self, actions, time, observation):
        angles = time[:, None] * torch.exp(-torch.arange(8, dtype=time.dtype) * 1.3)[None]
        condition = torch.cat([self.condition(torch.cat([angles.sin(), angles.cos()], -1)), observation], -1)
        kept = self.down1(actions.transpose(1, 2), condition)
        x = self.middle(self.down2(self.shrink(kept), condition), condition)
        x = self.join(torch.cat([self.grow(self.up(x, condition)), kept], 1), condition)
        return self.out(x).transpose(1, 2)


class ActionChunks(nn.Module):
    """Images and joints -> actions by a convnet and a transformer, as ACT (Zhao et al., 2023) runs without its encoder
    of styles."""

    def __init__(self, width=24, joints=5, horizon=6):
        super().__init__()
        self.backbone = ResNet((8, 16), classes=1)
        self.project, self.joints = nn.Conv2d(16, width, 1), nn.Linear(joints, width)
        self.places, self.queries = nn.Parameter(torch.randn(1, width, 4, 4)), nn.Parameter(torch.randn(horizon, width))
        layer = dict(d_model=width, nhead=4, dim_feedforward=48, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), 1, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), 1)
        self.head = nn.Linear(width, joints)

    def forward(self, images, joints):
        cameras = []
        for i in range(images.shape[1]):
            features = self.project(self.backbone.blocks(self.backbone.stem(images[:, i]))) + self.places
            cameras.append(features.flatten(2).transpose(1, 2))
        memory = self.encoder(torch.cat([self.joints(joints)[:, None], *cameras], 1))
        return self.head(self.decoder(self.queries[None].expand(images.shape[0], -1, -1), memory))


class Split(nn.Module):
    """Half of the channels go through blocks, and all stages are joined."""

    def __init__(self, inputs, outputs):
        super().__init__()
        half = outputs // 2
        self.first, self.last = convolved(inputs, outputs, 1, act=nn.SiLU), convolved(3 * half, outputs, 1, act=nn.SiLU)
        self.block = nn.Sequential(convolved(half, half, act=nn.SiLU), convolved(half, half, act=nn.SiLU))

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        return self.last(torch.cat([a, b, b + self.block(b)], 1))


class Detector(nn.Module):
    """Boxes and classes on two scales, by the design of YOLOv8: split blocks, pooled pyramid, upsampled neck."""

    def __init__(self, classes=3, bins=4):
        super().__init__()
        self.bins, act = bins, nn.SiLU
        self.stem = nn.Sequential(convolved(3, 8, 3, 2, act=act), convolved(8, 12, 3, 2, act=act), Split(12, 12))
        self.deep = nn.Sequential(convolved(12, 16, 3, 2, act=act), Split(16, 16))
        self.squeeze, self.pyramid = convolved(16, 8, 1, act=act), convolved(32, 16, 1, act=act)
        self.neck, self.shrink, self.low = Split(28, 12), convolved(12, 12, 3, 2, act=act), Split(28, 16)
        self.heads = nn.ModuleList(nn.Sequential(convolved(width, 12, act=act), nn.Conv2d(12, 4 * bins + classes, 1))
                                   for width in (12, 16))

    def forward(self, image):
        fine = self.stem(image)
        pools = [self.squeeze(self.deep(fine))]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        coarse = self.pyramid(torch.cat(pools, 1))
        fine = self.neck(torch.cat([functional.interpolate(coarse, scale_factor=2, mode='nearest'), fine], 1))
        coarse = self.low(torch.cat([self.shrink(fine), coarse], 1))
        found = torch.cat([head(x).flatten(2) for head, x in zip(self.heads, (fine, coarse))], 2)
        boxes, classes = found.split((4 * self.bins, found.shape[1] - 4 * self.bins), 1)
        bins = boxes.view(boxes.shape[0], 4, self.bins, -1).softmax(2)
        return (bins * torch.arange(self.bins)[:, None]).sum(2), classes.sigmoid()


class Generator(nn.Module):
    """Noise -> image by transposed convolutions, as DCGAN (Radford et al., 2015)."""

    def __init__(self, noise=16, width=12):
        super().__init__()
        layers = []
        for inputs, outputs, stride in ((noise, 2 * width, 1), (2 * width, width, 2), (width, width, 2)):
            layers += [nn.ConvTranspose2d(inputs, outputs, 4, stride, stride - 1, bias=False), nn.BatchNorm2d(outputs),
                       nn.ReLU(True)]
        self.layers = nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, noise):
        return self.layers(noise)


class Windows(nn.Module):
    """Convolutions, poolings and what else walks over one to three axes, in PyTorch's variants."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterDict({name: nn.Parameter(torch.randn(shape)) for name, shape in dict(
            row=(4, 3, 3), solid=(4, 2, 3, 2, 2), back=(6, 2, 3), image=(6, 3, 3, 2), volume=(4, 2, 2, 3, 2), bias=(4,),
            scale=(6,), shift=(6,), slope=(6,)).items()})

    def forward(self, image, row, volume):
        w, f = self.weights, functional
        largest, places = f.max_pool2d(image, 3, 2, 1, return_indices=True)
        return [
            f.conv1d(row, w['row'], w['bias'], padding=2, dilation=2, groups=2),
            f.conv1d(row[0], w['row'], groups=2),
            f.conv3d(volume, w['solid'], w['bias'], stride=(1, 2, 1), padding=(1, 0, 1), groups=2),
            f.conv3d(volume, w['solid'], padding='same', groups=2),
            f.conv_transpose1d(row, w['back'], stride=2, padding=1, output_padding=1, groups=2),
            f.conv_transpose2d(image, w['image'], stride=(3, 2), padding=(1, 0), dilation=(1, 2)),
            f.conv_transpose3d(volume, w['volume'], stride=2),
            largest, places, f.max_pool1d(row, 3, 2, 1), f.max_pool2d(image, 3, 2, 1, ceil_mode=True),
            f.max_pool3d(volume, 2), f.max_pool2d(image[0], 2), f.avg_pool1d(row, 3, 2, 1, ceil_mode=True),
            f.avg_pool2d(image, 3, 2, 1, ceil_mode=True), f.avg_pool2d(image, 3, 2, 1, count_include_pad=False),
            f.avg_pool2d(image, 3, 2, 1, divisor_override=5), f.avg_pool3d(volume, 2, 1),
            f.adaptive_avg_pool1d(row, 4), f.adaptive_avg_pool2d(image, (3, None)), f.adaptive_avg_pool3d(volume, 2),
            f.adaptive_max_pool1d(row, 4), f.adaptive_max_pool2d(image, (4, 2)), f.adaptive_max_pool3d(volume, 1),
            f.instance_norm(image, None, None, w['scale'], w['shift']), f.prelu(image, w['slope']), f.mish(image),
            f.elu(image, 0.5), f.selu(image), f.celu(image, 0.5), f.relu6(4 * image), f.lp_pool2d(image.abs(), 3, 2),
            f.interpolate(volume, scale_factor=2, mode='trilinear'), f.interpolate(volume, size=(2, 5, 3)),
            f.pixel_unshuffle(image[:, :, :, :6], 2), f.pixel_shuffle(volume[0], 1),
            f.pixel_shuffle(torch.cat([image, image[:, :2]], 1), 2), f.channel_shuffle(image, 3),
            f.local_response_norm(image, 3, alpha=0.1),
        ]


def picture(dtype, size=32):
    return dict(image=torch.randn(1, 3, size, size).to(dtype))


MODELS = {
    'resnet': lambda: ResNet(),
    'resnet_bottleneck': lambda: ResNet((16, 24), bottleneck=True),
    'efficientnet': lambda: MobileNet(nn.SiLU, nn.Sigmoid),
    'mobilenet': lambda: MobileNet(nn.Hardswish, nn.Hardsigmoid),
    'convnext': lambda: ConvNeXt(),
    'diffusion_unet': lambda: DiffusionUNet(),
    'act': lambda: ActionChunks(),
    'detector': lambda: Detector(),
    'dcgan': lambda: Generator(),
    'operators_of_windows': lambda: Windows(),
}
EXAMPLES = {
    'resnet': picture,
    'resnet_bottleneck': picture,
    'efficientnet': picture,
    'mobilenet': picture,
    'convnext': picture,
    'detector': picture,
    'diffusion_unet': lambda dtype: dict(actions=torch.randn(1, 8, 4), time=torch.tensor([7.0]),
                                         observation=torch.randn(1, 6)),
    'act': lambda dtype: dict(images=torch.randn(1, 2, 3, 32, 32), joints=torch.randn(1, 5)),
    'dcgan': lambda dtype: dict(noise=torch.randn(1, 16, 1, 1)),
    'operators_of_windows': lambda dtype: dict(image=torch.randn(2, 6, 8, 7), row=torch.randn(2, 6, 9),
                                               volume=torch.randn(1, 4, 5, 4, 6)),
}
