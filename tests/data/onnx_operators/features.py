#!/usr/bin/env python3
# Makes features.npz, in the form of operators.npz: determinants, features of tables and texts, crops, weights that name
# floats, tables of bytes, and convolutions of bytes. Wants onnx and onnxruntime; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import make
import numpy
from make import floats, ints, one
from onnx import helper

node = helper.make_node
f4 = numpy.float32
ML = 'ai.onnx.ml'


def of_bytes(word, *shape):
    least = -127 if word == 'i1' else 0
    return make.random.integers(least, 255 + least, shape).astype(word)


def determinants():
    one('DetOne', 'Det', [floats(3, 1, 1)])
    one('Det2d', 'Det', [floats(5, 5)])
    one('DetBatches', 'Det', [floats(2, 3, 4, 4)])
    turned = floats(3, 3)
    turned[:, 0] = 0, 0, 2  # the first pivots are zeros
    one('DetTurned', 'Det', [turned])
    one('DetOfDependentRows', 'Det', [numpy.array([[1, 2, 3], [2, 4, 6], [1, 1, 1]], 'f4')])


def features():
    one('Extract', 'ArrayFeatureExtractor', [floats(3, 5), ints(4, 0, 0)], domain=ML)
    one('ExtractRow', 'ArrayFeatureExtractor', [floats(6), ints([5, 2])], domain=ML)
    one('Binarizer', 'Binarizer', [floats(2, 7)], domain=ML, threshold=0.25)
    pool = dict(ngram_counts=[0, 4], ngram_indexes=[0, 1, 2, 3, 4, 5, 6], pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7])
    text = ints([1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8])
    weights = [float(w) for w in floats(7)]
    for mode, more in (('TF', {}), ('IDF', dict(weights=weights)), ('TFIDF', dict(weights=weights))):
        for least, most, skips in ((1, 2, 0), (2, 2, 5), (1, 2, 3), (1, 1, 1)):
            one(f'Grams{mode}{least}{most}{skips}', 'TfIdfVectorizer', [text], mode=mode, min_gram_length=least,
                max_gram_length=most, max_skip_count=skips, **pool, **more)
    one('GramsOfRow', 'TfIdfVectorizer', [text[0].astype('i4')], mode='TF', min_gram_length=2, max_gram_length=2,
        max_skip_count=1, **pool)


def images():
    x = floats(1, 2, 4, 6)
    places = ints([[[5, 7], [13, 15]]])
    one('Unpool', 'MaxUnpool', [floats(1, 1, 2, 2), places], kernel_shape=[2, 2], strides=[2, 2])
    roi = dict(coordinate_transformation_mode='tf_crop_and_resize', extrapolation_value=-7.5)
    for mode in ('nearest', 'linear'):
        for name, corners in (('Inside', [0, 0, 0.2, 0.5, 1, 1, 0.6, 0.8]), ('Beyond', [0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7])):
            one(f'Crop{mode.title()}{name}', 'Resize', [x, numpy.array(corners, 'f4'), None, ints(1, 2, 3, 3)], (1, 3),
                mode=mode, **roi)


def tables():
    for kind in (0, 1):
        one(f'NamedFloats{kind}', 'MatMulBnb4', [floats(3, 48), of_bytes('u1', 40 * 48 // 2), abs(floats(40 * 48 // 32))], (1, 2),
            domain=make.CONTRIB, K=48, N=40, block_size=32, quant_type=kind)
    one('NamedFloatsBlocksAcrossRows', 'MatMulBnb4', [floats(3, 24), of_bytes('u1', 9 * 24 // 2), abs(floats(14))], (1, 2),
        domain=make.CONTRIB, K=24, N=9, block_size=16, quant_type=1)
    words, segments = ints([3, 0, 5, 2]).astype('i4'), ints([0, 1, 1, 0]).astype('i4')
    steps, zeros = [f4(0.01 + 0.002 * i) for i in range(5)], [numpy.uint8(120 + i) for i in range(5)]
    one('QEmbedding', 'QEmbedLayerNormalization',
        [words, segments, of_bytes('u1', 9, 16), of_bytes('u1', 6, 16), of_bytes('u1', 2, 16), of_bytes('u1', 16), of_bytes('u1', 16),
         ints([1, 1, 1, 0]).astype('i4'), *steps, *zeros], range(2, 18), 2, domain=make.CONTRIB, epsilon=1e-6)
    one('QEmbeddingWithoutSegments', 'QEmbedLayerNormalization',
        [words, None, of_bytes('i1', 9, 16), of_bytes('i1', 6, 16), None, of_bytes('i1', 16), of_bytes('i1', 16), ints([1, 1, 0, 0]).astype('i4'),
         *steps[:2], None, *steps[3:], *(numpy.int8(0) for _ in range(2)), None, *(numpy.int8(0) for _ in range(2))], range(2, 18), 2,
        domain=make.CONTRIB)


def recurrence(case, per_row, bidirectional):
    """DynamicQuantizeLSTM with the answers of an LSTM of its weights as floats: inputs and states are not rounded."""
    directions, size, hidden, gates = 2 if bidirectional else 1, 5, 6, 24
    way = 'bidirectional' if bidirectional else 'forward'
    extents = (directions, gates) if per_row else (directions,)
    steps = [(0.004 * (1 + make.random.random(extents))).astype('f4') for _ in range(2)]
    zeros = [numpy.zeros(extents, 'i1') if per_row else of_bytes('u1', *extents) for _ in range(2)]
    bytes_ = [of_bytes('i1' if per_row else 'u1', directions, rows, gates) for rows in (size, hidden)]

    def plain(value, step, zero):
        shape = (directions, 1, -1)
        return ((value.astype('f4') - zero.astype('f4').reshape(shape)) * step.reshape(shape)).transpose(0, 2, 1).copy()

    x, bias = floats(4, 2, size), floats(directions, 2 * gates)
    one(case, 'LSTM', [x, *map(plain, bytes_, steps, zeros), bias], (1, 2, 3), 3, direction=way, hidden_size=hidden)
    answers = {name: make.arrays[name] for name in make.arrays if name.startswith(f'{case}/out/')}
    one(case, 'DynamicQuantizeLSTM',
        [x, *bytes_, bias, None, None, None, None, steps[0], zeros[0], steps[1], zeros[1]], (1, 2, 3, 8, 9, 10, 11), 3,
        domain=make.CONTRIB, direction=way, hidden_size=hidden)
    for name, answer in answers.items():
        rounded = make.arrays[name]
        print(name, 'is apart from ONNX Runtime by', numpy.linalg.norm(rounded - answer) / numpy.linalg.norm(answer))
    make.arrays.update(answers)


def recurrences():
    recurrence('LstmOfBytes', False, False)
    recurrence('LstmOfBytesByRow', True, True)


def between_pairs(case, channels, rows, window, groups=1, zero=117, relu=False, size=(9, 8), **attributes):
    """A convolution between QDQ pairs, as ONNX Runtime's quantiser writes it."""
    each = channels // groups
    step, wide = f4(0.03), (0.002 * (1 + make.random.random(rows))).astype('f4')
    constants = dict(s=step, z=numpy.uint8(zero), w=of_bytes('i1', rows, each, *window), t=wide, v=numpy.zeros(rows, 'i1'),
                     b=make.random.integers(-900, 900, rows).astype('i4'), bs=step * wide, bz=numpy.zeros(rows, 'i4'),
                     o=f4(0.06 * numpy.sqrt(each)), p=numpy.uint8(0 if relu else 131))
    nodes = [node('QuantizeLinear', ['x', 's', 'z'], ['q']), node('DequantizeLinear', ['q', 's', 'z'], ['d']),
             node('DequantizeLinear', ['w', 't', 'v'], ['wd'], axis=0), node('DequantizeLinear', ['b', 'bs', 'bz'], ['bd'], axis=0),
             node('Conv', ['d', 'wd', 'bd'], ['c'], group=groups, **attributes),
             *([node('Relu', ['c'], ['r'])] if relu else []),
             node('QuantizeLinear', ['r' if relu else 'c', 'o', 'p'], ['y'])]
    make.add(case, nodes, {'x': 2 * floats(1, channels, *size)}, ['y'], constants)


def of_operator(case, channels, rows, window, zero, word, groups=1, **attributes):
    """QLinearConv, whose sums go beyond what f32 adds up exactly where there are many channels."""
    steps = (0.0004 * (1 + make.random.random(rows))).astype('f4')
    inputs = [of_bytes('u1', 1, channels, 7, 6), f4(0.03), numpy.uint8(zero), of_bytes(word, rows, channels // groups, *window), steps,
              numpy.zeros(rows, word) if word == 'i1' else numpy.full(rows, 128, word), f4(0.002 * numpy.sqrt(channels // groups)),
              numpy.uint8(99), make.random.integers(-9000, 9000, rows).astype('i4')]
    one(case, 'QLinearConv', inputs, range(1, 9), group=groups, **attributes)


def convolutions():
    around = dict(pads=[1, 1, 1, 1])
    between_pairs('ConvBytes', 16, 24, (3, 3), **around)
    between_pairs('ConvBytesRelu', 16, 24, (3, 3), zero=0, relu=True, strides=[2, 2], **around)
    between_pairs('ConvBytesPoints', 32, 48, (1, 1), zero=3)
    between_pairs('ConvBytesFewChannels', 3, 16, (5, 3), strides=[2, 1], pads=[2, 1, 2, 1])
    between_pairs('ConvBytesDepthwise', 24, 24, (3, 3), groups=24, zero=0, **around)
    between_pairs('ConvBytesGroups', 32, 64, (3, 3), groups=2, **around)
    between_pairs('ConvBytesStridedPoints', 32, 48, (1, 1), size=(8, 8), strides=[2, 2])
    of_operator('ConvBytesOperator', 16, 24, (3, 3), 128, 'i1', **around)
    of_operator('ConvBytesOperatorDeep', 320, 16, (3, 3), 7, 'i1', **around)
    of_operator('ConvBytesOperatorUnsigned', 16, 8, (1, 1), 0, 'u1')
    of_operator('ConvBytesOperatorDepthwise', 24, 24, (3, 3), 64, 'i1', groups=24, strides=[2, 2])


def main():
    for family in (determinants, features, images, tables, convolutions, recurrences):
        family()
    numpy.savez_compressed(Path(__file__).with_name('features.npz'), **make.arrays)
    print(sum(name.endswith('/model') for name in make.arrays), 'cases')


if __name__ == '__main__':
    main()
