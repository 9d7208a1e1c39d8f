#!/usr/bin/env python3
# Makes operators.npz: for each case CASE/model, an ONNX file of one operator, CASE/in/NAME, its inputs, and CASE/out/NAME,
# what ONNX Runtime answers. Wants onnx and onnxruntime; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

CONTRIB = 'com.microsoft'
TYPES = {'f': TensorProto.FLOAT, 'l': TensorProto.INT64, 'i': TensorProto.INT32, '?': TensorProto.BOOL,
         'B': TensorProto.UINT8, 'b': TensorProto.INT8}
random = numpy.random.default_rng(0)
arrays = {}


def floats(*shape):
    return random.standard_normal(shape).astype('f4')


def ints(*values):
    return numpy.array(values, 'i8')


def value_infos(named):
    return [helper.make_tensor_value_info(name, TYPES[value.dtype.char], value.shape) for name, value in named.items()]


def add(case, nodes, inputs, outputs, constants=None, contrib='', opset=20):
    """Runs a graph in ONNX Runtime and notes it with its inputs and outputs."""
    weights = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, 'g', value_infos(inputs), results, weights)
    versions = [helper.make_opsetid('', opset), *([helper.make_opsetid(contrib, 1)] if contrib else [])]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10).SerializeToString()
    answers = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider']).run(outputs, inputs)
    arrays[f'{case}/model'] = numpy.frombuffer(model, 'u1')
    arrays.update({f'{case}/in/{name}': value for name, value in inputs.items()})
    arrays.update({f'{case}/out/{name}': value for name, value in zip(outputs, answers)})


def packed(case, inputs, plain, **attributes):
    """A case of packed heads, with the answers to the same heads apart: the processor's ONNX Runtime takes no others."""
    one(case, 'MultiHeadAttention', plain, domain=CONTRIB, **attributes)
    answer = arrays[f'{case}/out/y0']
    for name in [name for name in arrays if name.startswith(f'{case}/')]:
        del arrays[name]
    names = [f'x{i}' if value is not None else '' for i, value in enumerate(inputs)]
    given = {name: value for name, value in zip(names, inputs) if name}
    node = helper.make_node('MultiHeadAttention', names, ['y0'], domain=CONTRIB, **attributes)
    graph = helper.make_graph([node], 'g', value_infos(given), value_infos({'y0': answer}))
    versions = [helper.make_opsetid('', 20), helper.make_opsetid(CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=10).SerializeToString()
    arrays[f'{case}/model'] = numpy.frombuffer(model, 'u1')
    arrays.update({f'{case}/in/{name}': value for name, value in given.items()})
    arrays[f'{case}/out/y0'] = answer


def one(case, operator, inputs, constants=(), outputs=1, keep=None, domain='', opset=20, **attributes):
    """A case of one node: inputs in order, None where one is left out; `constants` are places of known ones."""
    given = {f'x{i}': numpy.asarray(value) for i, value in enumerate(inputs) if value is not None}
    names = [f'x{i}' if value is not None else '' for i, value in enumerate(inputs)]
    kept = range(outputs) if keep is None else keep
    results = [f'y{i}' if i in kept else '' for i in range(outputs)]
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    known = {f'x{i}' for i in constants}
    add(case, [node], {name: value for name, value in given.items() if name not in known},
        [name for name in results if name], {name: given[name] for name in sorted(known) if name in given}, domain,
        opset)


def elementwise():
    odd = numpy.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.2, 7.7], 'f4')
    large = numpy.array([3e9, -3e9, 8388609], 'f4')
    for operator in ('Floor', 'Ceil', 'Round'):
        one(f'{operator}Large', operator, [large])
    for operator in ('Sign', 'Floor', 'Ceil', 'Round', 'LeakyRelu', 'HardSigmoid', 'HardSwish'):
        one(operator, operator, [odd])
    for operator in ('Elu', 'Softsign'):
        one(operator, operator, [floats(3, 4)])
    one('EluAlpha', 'Elu', [floats(3, 4)], alpha=0.4)
    one('ClipGivenBounds', 'Clip', [floats(3, 4), numpy.float32(-0.5), numpy.float32(0.5)])
    one('ClipBelow', 'Clip', [floats(3, 4), None, numpy.float32(0.5)], (2,))
    one('ArgMin', 'ArgMin', [floats(3, 4)], axis=1)
    one('ArgMinWhole', 'ArgMin', [random.integers(-3, 3, (3, 4))], axis=0, keepdims=0)
    one('ReduceL1', 'ReduceL1', [floats(3, 4), ints(1)], (1,))
    one('LeakyReluAlpha', 'LeakyRelu', [odd], alpha=0.3)
    one('HardSigmoidAlpha', 'HardSigmoid', [odd], alpha=0.4, beta=0.1)
    one('Xor', 'Xor', [numpy.array([True, True, False]), numpy.array([True, False, False])])


def products():
    one('EinsumBatch', 'Einsum', [floats(2, 3, 4), floats(2, 4, 5)], equation='bij,bjk->bik')
    one('EinsumHeads', 'Einsum', [floats(2, 3, 4, 5), floats(2, 6, 4, 5)], equation='bqhd,bkhd->bhqk')
    one('EinsumOuter', 'Einsum', [floats(3), floats(4)], equation='i,j->ij')
    one('EinsumSum', 'Einsum', [floats(2, 3, 4)], equation='ijk->j')
    one('EinsumImplied', 'Einsum', [floats(3, 4), floats(4, 5)], equation='ij,jk')
    one('EinsumEllipsis', 'Einsum', [floats(2, 3, 4), floats(5, 4)], equation='...i,ji->...j')
    one('EinsumThree', 'Einsum', [floats(2, 3), floats(3, 4), floats(4, 5)], equation='ij, jk, kl -> li')
    one('EinsumTransposed', 'Einsum', [floats(2, 3, 4)], equation='abc->cab')
    one('FusedMatMul', 'FusedMatMul', [floats(2, 4, 3), floats(2, 5, 4)], domain=CONTRIB, transA=1, transB=1, alpha=0.5)
    infinite = numpy.full(5, numpy.inf, 'f4')
    one('GemmBeta0', 'Gemm', [floats(3, 4), floats(4, 5), infinite], (2,), beta=0.0)
    one('ConvPatches', 'Conv', [floats(1, 3, 9, 9), floats(6, 3, 4, 4), floats(6)], (1, 2), strides=[4, 4])
    one('ConvPadded', 'Conv', [floats(1, 3, 8, 7), floats(6, 3, 3, 3), floats(6)], (1, 2), pads=[1, 2, 0, 1])
    one('ConvStrided', 'Conv', [floats(2, 3, 9, 8), floats(4, 3, 3, 2)], (1,), strides=[2, 3])
    one('ConvDilated', 'Conv', [floats(1, 2, 9, 9), floats(4, 2, 3, 3)], (1,), dilations=[2, 1])
    one('ConvGroups', 'Conv', [floats(1, 6, 5, 5), floats(4, 3, 3, 3), floats(4)], (1, 2), group=2)
    one('ConvDepthwise', 'Conv', [floats(1, 6, 5, 5), floats(6, 1, 3, 2), floats(6)], (1, 2), group=6, strides=[1, 2])
    one('ConvDepthMultiplied', 'Conv', [floats(1, 3, 5, 5), floats(6, 1, 3, 3)], (1,), group=3)
    one('ConvSameUpper', 'Conv', [floats(1, 3, 8, 7), floats(6, 3, 3, 2)], (1,), strides=[2, 2], auto_pad='SAME_UPPER')
    one('ConvSameLower', 'Conv', [floats(1, 3, 8, 7), floats(6, 3, 3, 2)], (1,), strides=[2, 2], auto_pad='SAME_LOWER')
    one('ConvOneAxis', 'Conv', [floats(1, 3, 8), floats(6, 3, 3), floats(6)], (1, 2), pads=[1, 1], strides=[2])
    one('ConvGivenWeights', 'Conv', [floats(1, 3, 8), floats(6, 3, 3)], pads=[1, 1])


def attention():
    tables = [floats(6, 4), floats(6, 4)]
    places = numpy.array([[1, 3, 0], [5, 2, 4]])
    one('Rotary', 'RotaryEmbedding', [floats(2, 2, 3, 8), *tables, places], opset=23)
    one('RotaryNeighbours', 'RotaryEmbedding', [floats(2, 2, 3, 8), *tables, places], opset=23, interleaved=1)
    one('RotaryRows', 'RotaryEmbedding', [floats(2, 3, 16), *tables, places], opset=23, num_heads=2)
    one('RotaryPart', 'RotaryEmbedding', [floats(2, 2, 3, 12), *tables, places], opset=23, rotary_embedding_dim=8)
    one('RotaryWithoutPlaces', 'RotaryEmbedding', [floats(2, 2, 3, 8), floats(2, 3, 4), floats(2, 3, 4)], opset=23)
    one('ContribRotary', 'RotaryEmbedding', [floats(2, 2, 3, 8), places, *tables], domain=CONTRIB)
    one('ContribRotaryOffset', 'RotaryEmbedding', [floats(2, 3, 16), ints(2), *tables], domain=CONTRIB)
    one('ContribRotaryPart', 'RotaryEmbedding', [floats(2, 3, 24), places, *tables], domain=CONTRIB, num_heads=2,
        rotary_embedding_dim=8)
    q, k, v = floats(2, 3, 16), floats(2, 5, 16), floats(2, 5, 16)
    heads = dict(domain=CONTRIB, num_heads=4)
    one('MultiHead', 'MultiHeadAttention', [q, k, v], **heads)
    one('MultiHeadScale', 'MultiHeadAttention', [q, k, v], scale=0.3, **heads)
    one('MultiHeadBias', 'MultiHeadAttention', [q, k, v, floats(48)], **heads)
    one('MultiHeadAdded', 'MultiHeadAttention', [q, k, v, None, None, floats(1, 4, 3, 5)], **heads)
    padding = numpy.array([[1, 1, 0, 1, 0], [1, 1, 1, 0, 0]], 'i4')
    one('MultiHeadPadding', 'MultiHeadAttention', [q, k, v, None, padding, floats(2, 1, 3, 5)], **heads)
    one('MultiHeadCausal', 'MultiHeadAttention', [k, k + 1, v], unidirectional=1, **heads)
    one('MultiHeadCross', 'MultiHeadAttention', [q, floats(2, 4, 5, 4), floats(2, 4, 5, 4)], **heads)
    whole, total = numpy.array([4, 4], 'i4'), numpy.array(5, 'i4')
    grouped = dict(outputs=3, keep=[0], domain=CONTRIB, num_heads=4, kv_num_heads=2)
    query, keys, values = floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32)
    wide = [floats(6, 8), floats(6, 8)]
    lengths = [None, None, whole, total]
    one('Grouped', 'GroupQueryAttention', [query, keys, values, *lengths], (5, 6), **grouped)
    one('GroupedGivenLengths', 'GroupQueryAttention', [query, keys, values, *lengths], (6,), **grouped)
    one('GroupedPacked', 'GroupQueryAttention', [floats(2, 5, 128), None, None, *lengths], (5, 6), **grouped)
    one('GroupedScale', 'GroupQueryAttention', [query, keys, values, *lengths], (5, 6), scale=0.2, softcap=3.0, **grouped)
    one('GroupedWindow', 'GroupQueryAttention', [query, keys, values, *lengths], (5, 6), local_window_size=2, **grouped)
    one('GroupedRotary', 'GroupQueryAttention', [query, keys, values, *lengths, *wide], (5, 6, 7, 8), do_rotary=1,
        **grouped)
    one('GroupedNeighbours', 'GroupQueryAttention', [query, keys, values, *lengths, *wide], (5, 6, 7, 8), do_rotary=1,
        rotary_interleaved=1, **grouped)
    one('GroupedCache', 'GroupQueryAttention', [query, keys, values, *lengths], (5, 6), **{**grouped, 'keep': None})
    apart = [floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 8)]
    for version in (23, 24):
        one(f'Attention{version}', 'Attention', apart, opset=version)
        one(f'AttentionSoftcap{version}', 'Attention', apart, opset=version, softcap=2.0)
        one(f'AttentionMask{version}', 'Attention', [*apart, floats(3, 5)], opset=version, scale=0.3)
        one(f'AttentionTruth{version}', 'Attention', [*apart, random.random((3, 5)) < 0.8], opset=version)
    one('AttentionRows', 'Attention', [floats(2, 3, 32), floats(2, 5, 16), floats(2, 5, 16)], opset=23, q_num_heads=4,
        kv_num_heads=2)
    one('AttentionCausal', 'Attention', [floats(2, 4, 5, 8), *apart[1:]], opset=23, is_causal=1)
    one('AttentionWidth', 'Attention', [apart[0], apart[1], floats(2, 2, 5, 6)], opset=23)


def norms():
    rows = [floats(2, 3, 4), floats(2, 3, 4), floats(4), floats(4), floats(4)]
    one('SkipLayerNorm', 'SkipLayerNormalization', rows, domain=CONTRIB, outputs=4, keep=[0, 3])
    one('SkipLayerNormPlain', 'SkipLayerNormalization', rows[:3], domain=CONTRIB, epsilon=0.1)
    one('SkipRmsNorm', 'SkipSimplifiedLayerNormalization', [*rows[:3], rows[4]], domain=CONTRIB, outputs=4, keep=[0, 3])
    one('RmsNorm', 'SimplifiedLayerNormalization', [rows[0], rows[2]], axis=-1, epsilon=1e-5)


def quantised():
    x = (floats(4, 6) * 40).astype('f4')
    x[0, :4] = [0.5, 1.5, -2.5, 1e6]
    scales = (numpy.abs(floats(6)) + 0.1).astype('f4')
    for word, zero in (('Unsigned', numpy.uint8(100)), ('Signed', numpy.int8(-3))):
        one(f'Quantize{word}', 'QuantizeLinear', [x, numpy.float32(1), zero], (1, 2))
        one(f'Dequantize{word}', 'DequantizeLinear', [random.integers(0, 100, (4, 6)).astype(zero.dtype),
                                                      numpy.float32(0.3), zero], (1, 2))
    one('QuantizeByAxis', 'QuantizeLinear', [x, scales, numpy.arange(6).astype('u1')], (1, 2), axis=1)
    one('DequantizeByAxis', 'DequantizeLinear', [random.integers(-9, 9, (4, 6)).astype('i1'), scales,
                                                 numpy.zeros(6, 'i1')], (1, 2), axis=-1)
    one('DequantizeWithoutZero', 'DequantizeLinear', [random.integers(-9, 9, (4, 6)).astype('i1'), numpy.float32(2)], (1,))
    one('DequantizeWeights', 'DequantizeLinear', [random.integers(-9, 9, (48, 64)).astype('i1'), numpy.float32(0.1)], (0, 1))
    one('QuantizeWithoutZero', 'QuantizeLinear', [x, numpy.float32(2)], (1,))
    one('DynamicQuantize', 'DynamicQuantizeLinear', [floats(4, 6)], outputs=3)
    one('DynamicQuantizeAbove', 'DynamicQuantizeLinear', [numpy.abs(floats(4, 6)) + 1], outputs=3)


def resized():
    image, row = floats(1, 2, 5, 4), floats(1, 2, 7)
    sizes = ints(1, 2, 8, 3)
    for mode in ('nearest', 'linear', 'cubic'):
        for place in ('half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'):
            one(f'Resize_{mode}_{place}', 'Resize', [image, None, None, sizes], (3,), mode=mode,
                coordinate_transformation_mode=place)
    for rule in ('round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'):
        one(f'Resize_{rule}', 'Resize', [row, None, numpy.array([1, 1, 1.7], 'f4')], (2,), nearest_mode=rule)
    one('ResizeScaled', 'Resize', [image, None, numpy.array([1, 1, 1.5, 2.3], 'f4')], (2,), mode='linear')
    one('ResizeCubicWithin', 'Resize', [image, None, None, sizes], (3,), mode='cubic', exclude_outside=1,
        cubic_coeff_a=-0.5)
    one('ResizeAxes', 'Resize', [image, None, None, ints(9, 3)], (3,), mode='linear', axes=[2, 3])
    one('ResizeSame', 'Resize', [image, None, None, ints(1, 2, 5, 4)], (3,), mode='cubic')
    one('ResizeToOne', 'Resize', [row, None, None, ints(1, 2, 1)], (3,), mode='linear',
        coordinate_transformation_mode='pytorch_half_pixel')
    one('Pad', 'Pad', [floats(2, 3), ints(0, 1, 2, 0)], (1,))
    one('PadValue', 'Pad', [floats(2, 3), ints(1, 1, 0, 0), numpy.float32(2.5)], (1, 2))
    one('PadCuts', 'Pad', [floats(4, 5), ints(-1, 2, 0, -2)], (1,))
    one('PadAxes', 'Pad', [floats(2, 3), ints(1, 2), None, ints(-1)], (1, 3))


def info(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def graphs():
    number, truth = TensorProto.INT64, TensorProto.BOOL
    body = helper.make_graph(
        [helper.make_node('Identity', ['going'], ['on']), helper.make_node('Cast', ['round'], ['number'], to=1),
         helper.make_node('Add', ['sum', 'number'], ['next']), helper.make_node('Mul', ['next', 'outer'], ['row'])],
        'body', [info('round', number, []), info('going', truth, []), info('sum', shape=[2])],
        [info('on', truth, []), info('next', shape=[2]), info('row', shape=[2])])
    add('Loop', [helper.make_node('Loop', ['times', 'yes', 'x'], ['last', 'rows'], body=body)],
        {'x': floats(2), 'outer': floats(2)}, ['last', 'rows'], {'times': numpy.array(3), 'yes': numpy.array(True)})
    until = helper.make_graph(
        [helper.make_node('Less', ['round', 'most'], ['on']), helper.make_node('Add', ['sum', 'sum'], ['next'])],
        'until', [info('round', number, []), info('going', truth, []), info('sum', shape=[2])],
        [info('on', truth, []), info('next', shape=[2])])
    add('LoopWhile', [helper.make_node('Loop', ['', 'yes', 'x'], ['last'], body=until)], {'x': floats(2)}, ['last'],
        {'most': numpy.array(2), 'yes': numpy.array(True)})
    step = helper.make_graph(
        [helper.make_node('Add', ['state', 'row'], ['next']), helper.make_node('Identity', ['next'], ['out'])], 'step',
        [info('state', shape=[3]), info('row', shape=[3])], [info('next', shape=[3]), info('out', shape=[3])])
    add('Scan', [helper.make_node('Scan', ['x', 'rows'], ['last', 'sums'], body=step, num_scan_inputs=1)],
        {'x': floats(3), 'rows': floats(4, 3)}, ['last', 'sums'])
    add('ScanTurned', [helper.make_node('Scan', ['x', 'rows'], ['last', 'sums'], body=step, num_scan_inputs=1,
                                        scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[1],
                                        scan_output_directions=[1])],
        {'x': floats(3), 'rows': floats(3, 4)}, ['last', 'sums'])
    branches = {f'{word}_branch': helper.make_graph([helper.make_node(operator, ['x'], [f'of_{word}'])], word, [],
                                                    [info(f'of_{word}', shape=[3])])
                for word, operator in (('then', 'Neg'), ('else', 'Abs'))}
    for word, condition in (('IfTrue', True), ('IfFalse', False)):
        add(word, [helper.make_node('If', ['yes'], ['y'], **branches)], {'x': floats(3)}, ['y'],
            {'yes': numpy.array(condition)})


def packed_heads():
    whole, keys, bias = floats(2, 5, 4, 3, 8), floats(2, 5, 4, 2, 8), floats(96)
    apart = [whole[:, :, :, i].reshape(2, 5, 32) for i in range(3)]
    packed('MultiHeadPacked', [whole], apart, num_heads=4)
    packed('MultiHeadPackedBias', [whole, None, None, bias], [*apart, bias], num_heads=4)
    packed('MultiHeadPackedKeys', [apart[0], keys], [apart[0], *(keys[:, :, :, i].reshape(2, 5, 32) for i in range(2))],
           num_heads=4)


def sequences():
    """Lists of tensors: made, split, changed, joined, and carried by a loop."""
    node = helper.make_node
    x, y = floats(2, 3), floats(1, 3)
    places = {'last': numpy.array(-1), 'first': numpy.array(0), 'two': numpy.array(2), 'parts': ints(1, 4)}
    add('SequenceChanges', [
        node('SequenceConstruct', ['x', 'y'], ['a']), node('SequenceInsert', ['a', 'y', 'first'], ['b']),
        node('SequenceInsert', ['b', 'x'], ['c']), node('SequenceErase', ['c', 'last'], ['d']), node('SequenceErase', ['c'], ['e']),
        node('Identity', ['d'], ['f']), node('SequenceAt', ['f', 'first'], ['front']), node('SequenceAt', ['c', 'last'], ['back']),
        node('SequenceLength', ['c'], ['count']), node('ConcatFromSequence', ['f'], ['joined'], axis=0),
        node('ConcatFromSequence', ['e'], ['whole'], axis=-2), node('SequenceInsert', ['c', 'y', 'last'], ['g']),
        node('ConcatFromSequence', ['g'], ['between'], axis=0)], {'x': x, 'y': y},
        ['front', 'back', 'count', 'joined', 'whole', 'between'], places)
    rows = floats(5, 3)
    add('SequenceSplits', [
        node('SplitToSequence', ['r', 'two'], ['a']), node('SequenceAt', ['a', 'last'], ['rest']),
        node('SplitToSequence', ['r', 'parts'], ['b'], axis=0), node('SequenceAt', ['b', 'last'], ['four']),
        node('SplitToSequence', ['r'], ['c'], axis=1, keepdims=0), node('ConcatFromSequence', ['c'], ['turned'], axis=0, new_axis=1),
        node('SplitToSequence', ['r'], ['d'], axis=1), node('ConcatFromSequence', ['d'], ['same'], axis=1),
        node('SequenceLength', ['a'], ['count'])], {'r': rows}, ['rest', 'four', 'turned', 'same', 'count'], places)
    body = helper.make_graph(
        [node('Identity', ['going'], ['on']), node('Gather', ['r', 'round'], ['row'], axis=0),
         node('SequenceInsert', ['list', 'row', 'first'], ['longer'])], 'body',
        [info('round', TensorProto.INT64, []), info('going', TensorProto.BOOL, []),
         helper.make_tensor_sequence_value_info('list', TensorProto.FLOAT, None)],
        [info('on', TensorProto.BOOL, []), helper.make_tensor_sequence_value_info('longer', TensorProto.FLOAT, None)])
    add('SequenceLoop', [node('SequenceEmpty', [], ['none']), node('Loop', ['times', 'yes', 'none'], ['all'], body=body),
                         node('ConcatFromSequence', ['all'], ['rows'], axis=0, new_axis=1)],
        {'r': rows}, ['rows'], {**places, 'times': numpy.array(4), 'yes': numpy.array(True)})


def main():
    onnxruntime.set_default_logger_severity(4)
    for family in (elementwise, products, attention, norms, quantised, resized, graphs, packed_heads, sequences):
        family()
    numpy.savez_compressed(Path(__file__).with_name('operators.npz'), **arrays)
    print(sum(name.endswith('/model') for name in arrays), 'cases')


if __name__ == '__main__':
    main()
