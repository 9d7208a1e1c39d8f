#!/usr/bin/env python3
# Makes windows.npz, in the form of operators.npz: convolutions, poolings and what normalises channels. Wants onnx and
# onnxruntime; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import make
import numpy
from make import floats, ints, one


def convolutions():
    for axes, sizes in ((1, (9,)), (2, (7, 6)), (3, (5, 4, 6))):
        window = (3, 2, 3)[:axes]
        one(f'Conv{axes}d', 'Conv', [floats(2, 4, *sizes), floats(6, 4, *window), floats(6)], (1, 2))
        one(f'Conv{axes}dPadded', 'Conv', [floats(1, 4, *sizes), floats(6, 2, *window), floats(6)], (1, 2), group=2,
            pads=[1, 0, 2, 2, 1, 1][:axes] + [0, 2, 1][:axes], strides=[2, 1, 2][:axes], dilations=[1, 2, 1][:axes])
        for word in ('SAME_UPPER', 'SAME_LOWER', 'VALID'):
            one(f'Conv{axes}d{word}', 'Conv', [floats(1, 3, *sizes), floats(5, 3, *window)], (1,), auto_pad=word,
                strides=[2, 3, 1][:axes])
        one(f'ConvTranspose{axes}d', 'ConvTranspose', [floats(2, 4, *sizes), floats(4, 3, *window), floats(3)], (1, 2),
            strides=[2, 3, 1][:axes])
        one(f'ConvTranspose{axes}dPadded', 'ConvTranspose', [floats(1, 4, *sizes), floats(4, 3, *window)], (1,), group=2,
            strides=[2, 3, 2][:axes], pads=[1, 0, 1][:axes] + [0, 1, 1][:axes], output_padding=[1, 2, 0][:axes])
    one('ConvTransposeDilated', 'ConvTranspose', [floats(1, 4, 5), floats(4, 3, 3)], (1,), dilations=[2], strides=[3])
    for word in ('SAME_UPPER', 'SAME_LOWER'):
        one(f'ConvTranspose{word}', 'ConvTranspose', [floats(1, 4, 5, 4), floats(4, 3, 3, 4)], (1,), auto_pad=word,
            strides=[2, 3])
    one('ConvTransposeSizes', 'ConvTranspose', [floats(1, 4, 5, 4), floats(4, 3, 3, 3)], (1,), strides=[2, 3],
        output_shape=[10, 12])
    one('ConvTransposeGivenWeights', 'ConvTranspose', [floats(1, 4, 5), floats(4, 3, 4)], strides=[2], pads=[1, 1])
    one('ConvTransposeGaps', 'ConvTranspose', [floats(1, 4, 5), floats(4, 3, 2)], (1,), strides=[3])


def poolings():
    for axes, sizes in ((1, (9,)), (2, (7, 8)), (3, (5, 4, 6))):
        window, x = [3, 2, 3][:axes], floats(2, 3, *sizes)
        pads = dict(pads=[1, 0, 1][:axes] + [0, 1, 1][:axes], strides=[2, 3, 2][:axes])
        for operator in ('MaxPool', 'AveragePool', 'LpPool'):
            one(f'{operator}{axes}d', operator, [x], kernel_shape=window)
            one(f'{operator}{axes}dPadded', operator, [x], kernel_shape=window, **pads)
            one(f'{operator}{axes}dDilated', operator, [x], kernel_shape=[2] * axes, dilations=[2, 1, 2][:axes])
            for word in ('SAME_UPPER', 'SAME_LOWER', 'VALID'):
                one(f'{operator}{axes}d{word}', operator, [x], kernel_shape=window, auto_pad=word,
                    strides=[2, 3, 2][:axes])
        for operator in ('MaxPool', 'AveragePool'):
            one(f'{operator}{axes}dCeil', operator, [x], kernel_shape=window, ceil_mode=1, **pads)
            one(f'{operator}{axes}dCeilNoWindowBehind', operator, [x], kernel_shape=[2] * axes, ceil_mode=1,
                strides=[3, 3, 3][:axes], pads=[0] * axes + [1] * axes)
        one(f'AveragePool{axes}dCounted', 'AveragePool', [x], kernel_shape=window, count_include_pad=1, **pads)
        for operator in ('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'):
            one(f'{operator}{axes}d', operator, [x])
    one('LpPoolOfThree', 'LpPool', [floats(1, 2, 6, 6)], kernel_shape=[2, 3], p=3)
    one('LpPoolOfOne', 'LpPool', [floats(1, 2, 6, 6)], kernel_shape=[2, 3], p=1)
    one('MaxPoolPlaces', 'MaxPool', [floats(2, 3, 6, 7)], outputs=2, kernel_shape=[2, 3], strides=[2, 2])
    one('MaxPoolPlacesPadded', 'MaxPool', [floats(1, 2, 6, 7)], outputs=2, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    one('MaxPoolPlacesByColumns', 'MaxPool', [floats(2, 3, 6, 7)], outputs=2, kernel_shape=[2, 3], storage_order=1)
    one('MaxPoolPlacesOneAxis', 'MaxPool', [floats(2, 3, 9)], outputs=2, kernel_shape=[3], storage_order=1)
    one('MaxPoolBytes', 'MaxPool', [make.random.integers(0, 255, (1, 2, 5, 5), dtype='u1')], kernel_shape=[2, 2])


def channel_norms():
    for sizes in ((), (9,), (5, 6), (3, 4, 5)):
        x, numbers = floats(2, 4, *sizes), [floats(4) for _ in range(3)] + [numpy.abs(floats(4))]
        one(f'BatchNorm{len(sizes)}d', 'BatchNormalization', [x, *numbers], (1, 2, 3, 4), epsilon=1e-3)
        if sizes:
            one(f'InstanceNorm{len(sizes)}d', 'InstanceNormalization', [x, *numbers[:2]], (1, 2), epsilon=1e-3)
    one('BatchNormOfConv', 'BatchNormalization', [floats(1, 4, 5, 6), *[floats(4)] * 3, numpy.ones(4, 'f4')])
    one('GroupNorm', 'GroupNormalization', [floats(2, 6, 5, 4), floats(6), floats(6)], (1, 2), opset=21, num_groups=3)
    one('GroupNormOfGroups', 'GroupNormalization', [floats(2, 6, 5), floats(2), floats(2)], (1, 2), opset=20,
        num_groups=2)
    for size in (1, 3, 5):
        one(f'Lrn{size}', 'LRN', [floats(1, 7, 3, 4)], size=size, alpha=0.1, beta=0.6, bias=1.5)


def movement():
    for mode in ('DCR', 'CRD'):
        one(f'DepthToSpace{mode}', 'DepthToSpace', [floats(2, 12, 2, 3)], blocksize=2, mode=mode)
    one('SpaceToDepth', 'SpaceToDepth', [floats(2, 3, 4, 6)], blocksize=2)
    for axes, sizes in ((1, (5,)), (2, (4, 5)), (3, (3, 4, 5))):
        for mode in ('nearest', 'linear') + (('cubic',) if axes == 2 else ()):
            for way in ('half_pixel', 'asymmetric', 'align_corners', 'pytorch_half_pixel', 'half_pixel_symmetric'):
                one(f'Resize{axes}d_{mode}_{way}', 'Resize',
                    [floats(1, 2, *sizes), None, None, ints(1, 2, *[2 * n - 1 for n in sizes])], (3,), mode=mode,
                    coordinate_transformation_mode=way)
    one('MishOperator', 'Mish', [floats(3, 4)], opset=18)


def patches():
    # Over two axes alone: over one or three, ONNX Runtime 1.32 strays from ONNX's definition where there is padding.
    windows = 8 * 7  # of two elements, one apart, with one element before the image and two behind
    one('Col2Im', 'Col2Im', [floats(2, 12, windows), ints(7, 6), ints(2, 2)], (1, 2),
        pads=[1, 1, 2, 2], dilations=[2, 2])
    one('Col2ImSteps', 'Col2Im', [floats(1, 6, 12), ints(9, 6), ints(2, 3)], (1, 2), strides=[2, 2], pads=[0, 1, 0, 0])


def resized_as_asked():
    image = floats(1, 2, 9, 12)
    for mode in ('linear', 'cubic'):
        for name, sizes in (('Less', ints(1, 2, 4, 5)), ('More', ints(1, 2, 13, 5))):
            one(f'ResizeAntialias{name}_{mode}', 'Resize', [image, None, None, sizes], (3,), mode=mode, antialias=1)
        one(f'ResizeAntialiasWithin_{mode}', 'Resize', [image, None, None, ints(1, 2, 4, 5)], (3,), mode=mode, antialias=1,
            exclude_outside=1)
    for policy in ('not_larger', 'not_smaller'):
        one(f'Resize_{policy}', 'Resize', [image, None, None, ints(7, 20)], (3,), mode='linear', axes=[2, 3],
            keep_aspect_ratio_policy=policy)


def main():
    make.onnxruntime.set_default_logger_severity(4)
    for family in (convolutions, poolings, channel_norms, movement, patches, resized_as_asked):
        family()
    numpy.savez_compressed(Path(__file__).with_name('windows.npz'), **make.arrays)
    print(sum(name.endswith('/model') for name in make.arrays), 'cases')


if __name__ == '__main__':
    main()
