# Writes a BERT sentence encoder as ONNX: static shapes, and the patterns that runtimes know how to fuse.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

OPSET = 17  # the first with LayerNormalization
MASKED = np.finfo(np.float32).min


class Builder:
    """Appends nodes; every method returns the name of its result."""

    def __init__(self, model):
        self.model, self.nodes, self.constants = model, [], {}

    def op(self, kind, *inputs, **attributes):
        name = f'{kind.lower()}_{len(self.nodes)}'
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value, dtype=np.float32):
        array = np.asarray(value, dtype)
        return self.keep(f'c_{array.dtype}_{array.shape}_{array.tobytes().hex()}', array)

    def weight(self, name):
        return self.keep(name, self.model.weights[name])

    def keep(self, name, array):
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def linear(self, x, name):
        kernel = self.keep(name + '.weight.T', self.model.weights[name + '.weight'].T)
        return self.op('Add', self.op('MatMul', x, kernel), self.weight(name + '.bias'))

    def layer_norm(self, x, name):
        return self.op('LayerNormalization', x, self.weight(name + '.weight'), self.weight(name + '.bias'),
                       axis=-1, epsilon=self.model.epsilon)

    def gelu(self, x):
        erf = self.op('Erf', self.op('Div', x, self.constant(np.sqrt(2.0))))
        return self.op('Mul', self.op('Mul', x, self.op('Add', erf, self.constant(1.0))), self.constant(0.5))


def build(model, tokens):
    b = Builder(model)
    mask = additive_mask(b)
    x = embed(b, tokens)
    for layer in range(model.layers):
        x = encoder_layer(b, x, mask, f'encoder.layer.{layer}.')
    b.nodes.append(helper.make_node('Identity', [x], ['last_hidden_state']))
    b.nodes.append(helper.make_node('Identity', [pool(b, x)], ['sentence_embedding']))
    return finish(b, tokens)


def additive_mask(b):
    """0 where a token counts and the lowest f32 where it does not, as [1, 1, 1, S]."""
    mask = b.op('Unsqueeze', b.op('Unsqueeze', 'attention_mask', b.constant([1], np.int64)), b.constant([2], np.int64))
    return b.op('Mul', b.op('Sub', b.constant(1.0), b.op('Cast', mask, to=TensorProto.FLOAT)), b.constant(MASKED))


def embed(b, tokens):
    words = b.op('Gather', b.weight('embeddings.word_embeddings.weight'), 'input_ids')
    types = b.op('Gather', b.weight('embeddings.token_type_embeddings.weight'), 'token_type_ids')
    positions = b.keep('positions', b.model.weights['embeddings.position_embeddings.weight'][None, :tokens])
    return b.layer_norm(b.op('Add', b.op('Add', words, types), positions), 'embeddings.LayerNorm')


def encoder_layer(b, x, mask, prefix):
    attended = b.linear(attention(b, x, mask, prefix), prefix + 'attention.output.dense')
    x = b.layer_norm(b.op('Add', attended, x), prefix + 'attention.output.LayerNorm')
    wide = b.gelu(b.linear(x, prefix + 'intermediate.dense'))
    return b.layer_norm(b.op('Add', b.linear(wide, prefix + 'output.dense'), x), prefix + 'output.LayerNorm')


def attention(b, x, mask, prefix):
    model = b.model
    split = b.constant([1, -1, model.heads, model.head_size], np.int64)

    def heads(name, order):
        projected = b.linear(x, f'{prefix}attention.self.{name}')
        return b.op('Transpose', b.op('Reshape', projected, split), perm=order)

    q, k, v = heads('query', [0, 2, 1, 3]), heads('key', [0, 2, 3, 1]), heads('value', [0, 2, 1, 3])
    scores = b.op('Div', b.op('MatMul', q, k), b.constant(np.sqrt(model.head_size)))
    weights = b.op('Softmax', b.op('Add', scores, mask), axis=-1)
    mixed = b.op('Transpose', b.op('MatMul', weights, v), perm=[0, 2, 1, 3])
    return b.op('Reshape', mixed, b.constant([1, -1, model.hidden], np.int64))


def pool(b, x):
    """Mean over the tokens that count, then unit length."""
    mask = b.op('Cast', b.op('Unsqueeze', 'attention_mask', b.constant([2], np.int64)), to=TensorProto.FLOAT)
    axis = b.constant([1], np.int64)
    total = b.op('ReduceSum', b.op('Mul', x, mask), axis, keepdims=0)
    count = b.op('Max', b.op('ReduceSum', mask, axis, keepdims=0), b.constant(1e-9))
    mean = b.op('Div', total, count)
    norm = b.op('ReduceL2', mean, axes=[1], keepdims=1)
    return b.op('Div', mean, b.op('Max', norm, b.constant(1e-12)))


def finish(b, tokens):
    names = ['input_ids', 'attention_mask', 'token_type_ids']
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, [1, tokens]) for n in names]
    hidden = b.model.hidden
    outputs = [helper.make_tensor_value_info('last_hidden_state', TensorProto.FLOAT, [1, tokens, hidden]),
               helper.make_tensor_value_info('sentence_embedding', TensorProto.FLOAT, [1, hidden])]
    graph = helper.make_graph(b.nodes, 'bert', inputs, outputs, list(b.constants.values()))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)])
    made.ir_version = 8
    checker.check_model(made)
    return made
