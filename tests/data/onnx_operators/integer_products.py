#!/usr/bin/env python3
# Makes integer_products.npz, in the form of operators.npz: products whose factors a quantiser wrote as bytes, with what stands
# around them in its files. Wants onnx and onnxruntime; what it was run with stands in README.md.
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import make
import numpy
import onnxruntime
from make import floats
from onnx import helper

node = helper.make_node
f4 = numpy.float32


def weights(word, rows, columns):
    least = -127 if word == 'i1' else 0
    return make.random.integers(least, 255 + least, (rows, columns)).astype(word)


def scales(count):
    return (0.002 * (1 + make.random.random(count))).astype('f4')


def quantised(name, zero):
    """QuantizeLinear and DequantizeLinear of a value."""
    return [node('QuantizeLinear', [name, 's', zero], [f'{name}_q']),
            node('DequantizeLinear', [f'{name}_q', 's', zero], [f'{name}_d'])]


def static(case, x, zero, w, w_zero, scale, gemm=False):
    """x w + b of dequantised factors, then an activation, quantised again; and the product itself."""
    bias = make.random.integers(-900, 900, scale.size if scale.ndim else w.shape[0 if gemm else 1]).astype('i4')
    per_axis = dict(axis=0 if gemm else 1) if scale.ndim else {}
    nodes = [*quantised('x', 'z'), node('DequantizeLinear', ['w', 't', 'wz'], ['w_d'], **per_axis),
             node('DequantizeLinear', ['b', 'bs'], ['b_d'], axis=0)]
    if gemm:
        nodes.append(node('Gemm', ['x_d', 'w_d', 'b_d'], ['y'], transB=1))
    else:
        nodes += [node('MatMul', ['x_d', 'w_d'], ['p']), node('Add', ['p', 'b_d'], ['y'])]
    nodes += [node('Relu', ['y'], ['r'])]
    constants = dict(s=f4(0.03), z=zero, w=w, t=scale, wz=w_zero, b=bias, bs=(f4(0.03) * scale).astype('f4'))
    make.add(case, nodes, {'x': x}, ['y', 'r'], constants)


def dynamic(case, x, w, w_zero, scale):
    """What quantize_dynamic() writes for a product with a bias."""
    nodes = [node('DynamicQuantizeLinear', ['x'], ['q', 's', 'z']), node('MatMulInteger', ['q', 'w', 'z', 'wz'], ['i']),
             node('Cast', ['i'], ['f'], to=1), node('Mul', ['s', 't'], ['u']), node('Mul', ['f', 'u'], ['p']),
             node('Add', ['p', 'b'], ['y'])]
    make.add(case, nodes, {'x': x}, ['y'], dict(w=w, wz=w_zero, t=scale, b=floats(w.shape[1])))


def main():
    onnxruntime.set_default_logger_severity(4)
    x = floats(2, 5, 48)
    i1, u1 = numpy.int8, numpy.uint8
    static('BytesStatic', x, u1(117), weights('i1', 48, 32), numpy.zeros(32, 'i1'), scales(32))
    static('BytesSymmetric', x, i1(0), weights('i1', 48, 32), i1(0), f4(0.003))
    static('BytesGemm', x[0], i1(-9), weights('i1', 24, 48), numpy.zeros(24, 'i1'), scales(24), gemm=True)
    static('BytesUnsigned', x, u1(128), weights('u1', 48, 40), u1(128), f4(0.003))
    dynamic('BytesDynamic', x, weights('i1', 48, 32), i1(0), f4(0.003))
    dynamic('BytesDynamicByColumn', x, weights('i1', 48, 32), numpy.zeros(32, 'i1'), scales(32))
    dynamic('BytesDynamicDeep', floats(3, 700), weights('i1', 700, 20), i1(0), f4(0.0003))
    make.one('BytesQLinear', 'QLinearMatMul', [weights('u1', 6, 300), f4(0.02), u1(131), weights('i1', 300, 24), f4(0.003), i1(0),
                                               f4(0.7), u1(120)], range(1, 8))
    for word in ('i1', 'u1'):  # by a scale of infinity, as of a mask of -inf; the logarithms are -inf, 0, NaN and numbers
        make.add(f'NanSteps{word.upper()}', [node('Log', ['x'], ['l']), node('QuantizeLinear', ['l', 's', 'z'], ['y'])],
                 {'x': numpy.array([0, 1, -1, 7, 0.5], 'f4')}, ['y'], dict(s=f4(numpy.inf), z=numpy.array(9, word)))
    for opset in (12, 13):  # 1 / 0.0031 is 322.6
        softmax = node('QLinearSoftmax', ['x', 's', 'z', 't', 'yz'], ['y'], domain=make.CONTRIB, axis=1, opset=opset)
        make.add(f'QLinearSoftmaxSteps{opset}', [softmax], {'x': weights('u1', 6, 40).reshape(2, 3, 40)}, ['y'],
                 dict(s=f4(0.05), z=u1(9), t=f4(0.0031), yz=u1(3)), contrib=make.CONTRIB)
    numpy.savez_compressed(Path(__file__).with_name('integer_products.npz'), **make.arrays)
    print(sum(name.endswith('/model') for name in make.arrays), 'cases')


if __name__ == '__main__':
    main()
