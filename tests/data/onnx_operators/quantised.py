#!/usr/bin/env python3
# Makes quantised.npz, in the form of operators.npz: operators of quantised values, and those that ONNX Runtime writes
# when it optimises a graph. Wants onnx and onnxruntime; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import make
import numpy
from make import CONTRIB, add, floats, one
from onnx import helper

f4 = numpy.float32


def bytes_of(word, *shape):
    """Random integers of 8 bits, 'u1' or 'i1', over the whole range."""
    least = -128 if word == 'i1' else 0
    return make.random.integers(least, least + 256, shape).astype(word)


def scales(*shape, around=0.02):
    return (around * (1 + numpy.abs(make.random.standard_normal(shape)))).astype('f4')


def zero(word, value=3):
    return numpy.array(value, word)


def convolutions():
    for x_word, w_word in (('u1', 'u1'), ('u1', 'i1'), ('i1', 'i1')):
        x, w = bytes_of(x_word, 1, 4, 7, 6), bytes_of(w_word, 6, 4, 3, 3)
        name = f'{x_word}{w_word}'.upper()
        pads = dict(pads=[1, 0, 2, 1], strides=[2, 1])
        one(f'ConvInteger{name}', 'ConvInteger', [x, w, zero(x_word, 7), zero(w_word, 5)], (1, 2, 3), **pads)
        inputs = [x, f4(0.02), zero(x_word, 7), w, f4(0.003), zero(w_word, 5), f4(0.11), zero(x_word, 9),
                  make.random.integers(-900, 900, 6).astype('i4')]
        one(f'QLinearConv{name}', 'QLinearConv', inputs, range(1, 9), **pads)
    x, w = bytes_of('u1', 1, 4, 7, 6), bytes_of('i1', 6, 4, 3, 3)
    one('ConvIntegerPlain', 'ConvInteger', [x, w])
    one('ConvIntegerGivenZero', 'ConvInteger', [x, w, zero('u1', 200)], (1,), pads=[1, 1, 1, 1])
    one('ConvIntegerGroups', 'ConvInteger', [x, bytes_of('u1', 6, 2, 3, 3), zero('u1'), zero('u1', 130)], (1, 2, 3), group=2)
    one('ConvIntegerDilated', 'ConvInteger', [x, bytes_of('u1', 2, 4, 2, 3), zero('u1')], (1, 2), dilations=[2, 2])
    by_axis = [x, f4(0.02), zero('u1', 128), w, scales(6, around=0.002), numpy.zeros(6, 'i1'), f4(0.1), zero('u1', 120)]
    one('QLinearConvByAxis', 'QLinearConv', by_axis, range(1, 8), auto_pad='SAME_UPPER')
    one('QLinearConvGivenScales', 'QLinearConv', by_axis, (3, 4, 5), pads=[1, 1, 1, 1])
    one('QLinearConvDepthwise', 'QLinearConv', [x, f4(0.02), zero('u1', 128), bytes_of('i1', 4, 1, 3, 3), *by_axis[4:]][:4]
        + [scales(4, around=0.002), numpy.zeros(4, 'i1'), f4(0.02), zero('u1', 120)], range(1, 8), group=4)
    large = [numpy.full((1, 700, 3, 3), 255, 'u1'), f4(1), zero('u1', 0), numpy.full((2, 700, 3, 3), 127, 'i1'), f4(1),
             zero('i1', 0), f4(2e6), zero('u1', 1)]
    large[3][1] = bytes_of('i1', 700, 3, 3)
    one('QLinearConvManyTerms', 'QLinearConv', large, range(1, 8))
    one('ConvIntegerManyTerms', 'ConvInteger', [large[0], large[3]], (1,))
    one('ConvIntegerManyGivenTerms', 'ConvInteger', [large[0][:, :90], large[3][:, :90]])
    groups = bytes_of('u1', 2, 200, 3, 3)
    one('ConvIntegerManyTermsOfGroups', 'ConvInteger', [bytes_of('u1', 1, 400, 4, 4), groups], group=2)
    last = [numpy.moveaxis(x, 1, -1).copy(), *by_axis[1:]]
    one('QLinearConvChannelsLast', 'QLinearConv', last, range(1, 8), domain=CONTRIB, channels_last=1, pads=[1, 1, 1, 1])


def products():
    a, b = bytes_of('u1', 3, 8), bytes_of('i1', 8, 5)
    point, w_point, by_column = zero('u1', 100), zero('i1', 2), scales(5)
    one('MatMulInteger', 'MatMulInteger', [a, b, point, numpy.arange(5).astype('i1')], (1, 3))
    one('MatMulIntegerManyTerms', 'MatMulInteger', [numpy.full((2, 900), 255, 'u1'), numpy.full((900, 3), -128, 'i1')], (1,))
    one('MatMulIntegerManyGivenTerms', 'MatMulInteger', [bytes_of('u1', 2, 900), bytes_of('u1', 900, 3)])
    one('QLinearMatMul', 'QLinearMatMul', [a, f4(0.03), point, b, f4(0.02), w_point, f4(0.7), zero('u1', 130)], range(1, 8))
    one('QLinearMatMulByColumn', 'QLinearMatMul', [a, f4(0.03), point, b, by_column, numpy.zeros(5, 'i1'), f4(0.7),
                                                   zero('u1', 130)], range(1, 8))
    bias = make.random.integers(-900, 900, 5).astype('i4')
    gemm = [a, f4(0.03), point, b, f4(0.02), w_point, bias]
    one('QGemm', 'QGemm', [*gemm, f4(0.7), zero('u1', 130)], range(1, 9), domain=CONTRIB)
    one('QGemmFloats', 'QGemm', gemm, range(1, 7), domain=CONTRIB, alpha=0.5)
    turned = [a.T.copy(), *gemm[1:3], b.T.copy(), by_column, numpy.zeros(5, 'i1'), None, f4(0.7), zero('u1', 130)]
    one('QGemmTransposed', 'QGemm', turned, (1, 2, 3, 4, 5, 7, 8), domain=CONTRIB, transA=1, transB=1)
    one('MatMulIntegerToFloat', 'MatMulIntegerToFloat', [a, b, f4(0.03), by_column, point, numpy.zeros(5, 'i1'), floats(5)],
        (1, 3, 5, 6), domain=CONTRIB)
    one('MatMulIntegerToFloatPlain', 'MatMulIntegerToFloat', [a, b, f4(0.03), f4(0.02)], (1,), domain=CONTRIB)
    one('DynamicQuantizeMatMul', 'DynamicQuantizeMatMul', [floats(3, 8), b, by_column, numpy.arange(5).astype('i1'), floats(5)],
        (1, 2, 3, 4), domain=CONTRIB)
    one('DynamicQuantizeMatMulPlain', 'DynamicQuantizeMatMul', [floats(2, 3, 8), b, f4(0.02)], (1, 2), domain=CONTRIB)
    one('DynamicQuantizeZeros', 'DynamicQuantizeLinear', [numpy.zeros((2, 3), 'f4')], outputs=3)


def functions():
    x, y = bytes_of('u1', 2, 3, 4), bytes_of('u1', 3, 1)
    p, q, r = zero('u1', 100), zero('u1', 31), zero('u1', 128)
    for operator in ('QLinearAdd', 'QLinearMul'):
        one(operator, operator, [x, f4(0.031), p, y, f4(0.017), q, f4(0.043), r], (1, 2, 4, 5, 6, 7), domain=CONTRIB)
        one(f'{operator}Signed', operator, [bytes_of('i1', 5, 7), f4(0.03), zero('i1', -4), bytes_of('i1', 5, 7), f4(0.02), zero('i1'),
                                            f4(0.05), zero('i1')], (1, 2, 4, 5, 6, 7), domain=CONTRIB)
    one('QLinearSigmoid', 'QLinearSigmoid', [x, f4(0.05), p, f4(0.0039), zero('u1', 0)], (1, 2, 3, 4), domain=CONTRIB)
    one('QLinearLeakyRelu', 'QLinearLeakyRelu', [x, f4(0.05), p, f4(0.043), q], (1, 2, 3, 4), domain=CONTRIB, alpha=0.2)
    softmax = [x, f4(0.05), p, f4(1 / 256), zero('u1', 0)]
    for word, version in (('', 13), ('Old', 11)):
        node = helper.make_node('QLinearSoftmax', [f'x{i}' for i in range(5)], ['y0'], domain=CONTRIB, axis=1, opset=version)
        given = {f'x{i}': numpy.asarray(value) for i, value in enumerate(softmax)}
        add(f'QLinearSoftmax{word}', [node], {'x0': given.pop('x0')}, ['y0'], given, contrib=CONTRIB)
    image, to = bytes_of('u1', 1, 3, 6, 5), [f4(0.03071), p, f4(0.02293), q]  # no mean is a tie
    pool = dict(domain=CONTRIB, kernel_shape=[3, 2], strides=[2, 1])
    one('QLinearAveragePool', 'QLinearAveragePool', [image, *to], (1, 2, 3, 4), pads=[1, 0, 1, 1], **pool)
    one('QLinearAveragePoolCounted', 'QLinearAveragePool', [image, *to], (1, 2, 3, 4), pads=[1, 0, 1, 1],
        count_include_pad=1, **pool)
    last = numpy.moveaxis(image, 1, -1).copy()
    one('QLinearAveragePoolChannelsLast', 'QLinearAveragePool', [last, *to], (1, 2, 3, 4), channels_last=1, **pool)
    one('QLinearGlobalAveragePool', 'QLinearGlobalAveragePool', [image, *to], (1, 2, 3, 4), domain=CONTRIB)
    one('QLinearGlobalAveragePoolChannelsLast', 'QLinearGlobalAveragePool', [last, *to], (1, 2, 3, 4), domain=CONTRIB,
        channels_last=1)
    parts = [f4(0.03), p, x, f4(0.031), p, bytes_of('u1', 2, 2, 4), f4(0.05), q]
    one('QLinearConcat', 'QLinearConcat', parts, (0, 1, 3, 4, 6, 7), domain=CONTRIB, axis=1)
    condition = make.random.integers(0, 2, (3, 4)).astype(bool)
    one('QLinearWhere', 'QLinearWhere', [condition, x, f4(0.03), p, y, f4(0.05), q, f4(0.04), r], (2, 3, 5, 6, 7, 8),
        domain=CONTRIB)


def block_weights():
    for bits, word in ((2, 'Two'), (4, 'Four'), (8, 'Eight')):
        packed = bytes_of('u1', 6, 3, 16 * bits // 8)
        heads = dict(domain=CONTRIB, bits=bits, block_size=16, N=6, K=40)
        steps = scales(6 * 3, around=0.1)
        one(f'MatMul{word}Bits', 'MatMulNBits', [floats(2, 3, 40), packed, steps], (1, 2), **heads)
        points = bytes_of('u1', 6 * -(-3 * bits // 8))
        one(f'MatMul{word}BitsZeros', 'MatMulNBits', [floats(2, 40), packed, steps, points, None, floats(6)], (1, 2, 3, 5), **heads)
        rows = bytes_of('u1', 5, 32 * bits // 8)
        one(f'Gather{word}Bits', 'GatherBlockQuantized', [rows, numpy.array([[3, 0, 4]]), scales(5, 2)], (0, 2),
            domain=CONTRIB, bits=bits, block_size=16, quantize_axis=1, gather_axis=0)
        one(f'Gather{word}BitsZeros', 'GatherBlockQuantized', [rows, numpy.array([3, 1]), scales(5, 2),
                                                               bytes_of('u1', 5, -(-2 * bits // 8))], (0, 2, 3), domain=CONTRIB,
            bits=bits, block_size=16, quantize_axis=1, gather_axis=0)
    one('MatMulFourBitsFloatZeros', 'MatMulNBits', [floats(2, 40), bytes_of('u1', 6, 3, 8), scales(18), floats(18)], (1, 2, 3),
        domain=CONTRIB, bits=4, block_size=16, N=6, K=40)


def fused():
    x, w = floats(1, 3, 6, 5), floats(4, 3, 3, 3)
    for word, parameters in (('Relu', []), ('Tanh', []), ('Sigmoid', []), ('LeakyRelu', [0.2]), ('Clip', [-0.5, 1.5]),
                             ('HardSigmoid', [0.3, 0.4])):
        one(f'FusedConv{word}', 'FusedConv', [x, w, floats(4)], (1, 2), domain=CONTRIB, activation=word, pads=[1, 1, 1, 1],
            **(dict(activation_params=parameters) if parameters else {}))
    one('FusedConvSum', 'FusedConv', [x, w, floats(4), floats(1, 4, 4, 3)], (1, 2), domain=CONTRIB, activation='Relu')
    for word, parameters in (('Relu', {}), ('LeakyRelu', dict(activation_alpha=0.2)), ('Elu', dict(activation_alpha=0.7)),
                             ('HardSigmoid', dict(activation_alpha=0.3, activation_beta=0.4)), ('Softplus', {}),
                             ('Softsign', {}), ('ThresholdedRelu', dict(activation_alpha=0.3)),
                             ('Selu', dict(activation_alpha=1.5, activation_gamma=1.1))):
        one(f'FusedGemm{word}', 'FusedGemm', [floats(3, 4), floats(5, 4), floats(5)], (1, 2), domain=CONTRIB, activation=word,
            transB=1, alpha=0.5, **parameters)
    words, segments = make.random.integers(0, 9, (2, 4)).astype('i4'), make.random.integers(0, 2, (2, 4)).astype('i4')
    tables = [floats(9, 6), floats(5, 6), floats(2, 6)]
    mask = numpy.array([[1, 1, 1, 0], [1, 1, 0, 0]], 'i4')
    one('EmbedLayerNorm', 'EmbedLayerNormalization', [words, segments, *tables, floats(6), floats(6), mask], range(2, 7),
        outputs=3, domain=CONTRIB, epsilon=0.01)
    one('EmbedLayerNormOfWords', 'EmbedLayerNormalization', [words, None, *tables[:2], None, floats(6), floats(6)], (2, 3, 5, 6),
        outputs=2, domain=CONTRIB)
    one('EmbedLayerNormPlaces', 'EmbedLayerNormalization', [words, None, *tables[:2], None, floats(6), floats(6), None,
                                                            numpy.array([[4, 0, 1, 2]], 'i4').repeat(2, 0)], (2, 3, 5, 6),
        outputs=2, keep=[0], domain=CONTRIB)


def attentions():
    x, w, b = floats(2, 4, 8), floats(8, 24), floats(24)
    heads = dict(domain=CONTRIB, num_heads=2)
    masks = {'Ends': numpy.array([4, 2], 'i4'), 'Ranges': numpy.array([4, 3, 1, 0], 'i4'),
             'Keys': numpy.array([[1, 1, 0, 1], [1, 0, 0, 1]], 'i4'),
             'Pairs': numpy.maximum(make.random.integers(0, 2, (2, 4, 4)), numpy.eye(4)).astype('i4')}
    one('ProjectedAttention', 'Attention', [x, w, b], (1, 2), **heads)
    for word, mask in masks.items():
        one(f'ProjectedAttentionOf{word}', 'Attention', [x, w, b, mask], (1, 2), **heads)
    one('ProjectedAttentionCausal', 'Attention', [x, w, b, masks['Keys']], (1, 2), unidirectional=1, scale=0.3, **heads)
    one('ProjectedAttentionPresent', 'Attention', [x, w, b], (1, 2), outputs=2, **heads)
    one('ProjectedAttentionBias', 'Attention', [x, w, b, None, None, floats(1, 2, 4, 4)], (1, 2), **heads)
    one('ProjectedAttentionWideValues', 'Attention', [x, floats(8, 32), floats(32)], (1, 2), qkv_hidden_sizes=[8, 8, 16],
        **heads)
    whole = [bytes_of('u1', 2, 4, 8), bytes_of('i1', 8, 24), b, f4(0.03), f4(0.005), masks['Ends'], zero('u1', 120), zero('i1')]
    one('QAttention', 'QAttention', whole, (1, 2, 3, 4, 6, 7), **heads)
    one('QAttentionCausal', 'QAttention', [*whole[:4], scales(24, around=0.005), None, whole[6], numpy.zeros(24, 'i1')],
        (1, 2, 3, 4, 6, 7), unidirectional=1, **heads)


def answered(case, operator, inputs, constants, plain, outputs, **attributes):
    """A case with the answers of ONNX's own operators: ONNX Runtime has this one for GPUs alone."""
    given = {f'x{i}': numpy.asarray(value) for i, value in enumerate(inputs)}
    add(case, plain, given, outputs, opset=21)
    answers = {name: make.arrays[f'{case}/out/{name}'] for name in outputs}
    graph = helper.make_graph([helper.make_node(operator, list(given), outputs, domain=CONTRIB, **attributes)], 'g',
                              make.value_infos({name: value for name, value in given.items() if name not in constants}),
                              make.value_infos(answers), [make.numpy_helper.from_array(given[name], name) for name in constants])
    versions = [helper.make_opsetid('', 21), helper.make_opsetid(CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10).SerializeToString()
    make.arrays[f'{case}/model'] = numpy.frombuffer(model, 'u1')
    for name in constants:
        del make.arrays[f'{case}/in/{name}']


def images():
    """Images whose channels stand behind the other axes, as diffusion models have them for GPUs."""
    node, first, last = helper.make_node, [0, 3, 1, 2], [0, 2, 3, 1]
    one('NhwcMaxPool', 'NhwcMaxPool', [bytes_of('u1', 1, 6, 5, 3)], domain=CONTRIB, kernel_shape=[3, 2], strides=[2, 1],
        pads=[1, 0, 1, 1])
    for word in ('u1', 'i1'):
        one(f'ResizeBytes{word.upper()}', 'Resize', [bytes_of(word, 1, 2, 4, 4), None, numpy.array([1, 1, 2, 2], 'f4')], (2,),
            mode='linear')
    x, w = floats(1, 6, 5, 4), floats(6, 3, 2, 4)
    window = dict(pads=[1, 0, 1, 1], strides=[2, 1])
    answered('NhwcConv', 'NhwcConv', [x, w, floats(6)], ['x1', 'x2'], [
        node('Transpose', ['x0'], ['a'], perm=first), node('Transpose', ['x1'], ['b'], perm=first),
        node('Conv', ['a', 'b', 'x2'], ['c'], **window), node('Transpose', ['c'], ['y'], perm=last)], ['y'], **window)
    answered('NhwcFusedConv', 'NhwcFusedConv', [x, floats(6, 4, 3, 2), floats(6), floats(1, 3, 5, 6)], ['x1', 'x2'], [
        node('Transpose', ['x0'], ['a'], perm=first), node('Conv', ['a', 'x1', 'x2'], ['b'], **window),
        node('Transpose', ['b'], ['c'], perm=last), node('Add', ['c', 'x3'], ['d']), node('LeakyRelu', ['d'], ['y'], alpha=0.2)],
        ['y'], activation='LeakyRelu', activation_params=[0.2], **window)
    norm = [node('Transpose', ['s'], ['a'], perm=first),
            node('GroupNormalization', ['a', 'x1', 'x2'], ['b'], num_groups=2, epsilon=1e-3),
            node('Transpose', ['b'], ['c'], perm=last)]
    silu = [node('Sigmoid', ['c'], ['d']), node('Mul', ['c', 'd'], ['y'])]
    options = dict(groups=2, epsilon=1e-3)
    answered('GroupNormSilu', 'GroupNorm', [x, floats(4), floats(4)], ['x1', 'x2'],
             [node('Identity', ['x0'], ['s']), *norm, *silu], ['y'], activation=1, **options)
    answered('GroupNormChannelsFirst', 'GroupNorm', [x, floats(6), floats(6)], ['x1', 'x2'],
             [node('GroupNormalization', ['x0', 'x1', 'x2'], ['y'], num_groups=3)], ['y'], groups=3, activation=0, channels_last=0)
    for word, skip in (('', (1, 6, 5, 4)), ('OfChannels', (1, 1, 1, 4))):
        answered(f'SkipGroupNorm{word}', 'SkipGroupNorm', [x, floats(4), floats(4), floats(*skip), floats(4)], ['x1', 'x2'],
                 [node('Add', ['x0', 'x3'], ['r']), node('Add', ['r', 'x4'], ['s']), *norm, node('Identity', ['c'], ['y'])],
                 ['y', 's'], activation=0, **options)
    rows = floats(2, 3, 8)
    answered('BiasSplitGelu', 'BiasSplitGelu', [rows, floats(8)], ['x1'], [
        node('Add', ['x0', 'x1'], ['a']), node('Split', ['a'], ['b', 'c'], axis=-1, num_outputs=2), node('Gelu', ['c'], ['d']),
        node('Mul', ['b', 'd'], ['y'])], ['y'])
    answered('BiasAdd', 'BiasAdd', [rows, floats(8), floats(2, 3, 8)], ['x1'],
             [node('Add', ['x0', 'x1'], ['a']), node('Add', ['a', 'x2'], ['y'])], ['y'])


def main():
    for family in (images, convolutions, products, functions, block_weights, fused, attentions):
        family()
    numpy.savez_compressed(Path(__file__).with_name('quantised.npz'), **make.arrays)
    print(sum(name.endswith('/model') for name in make.arrays), 'cases')


if __name__ == '__main__':
    main()
