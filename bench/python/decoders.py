# Decoder language models of known shapes with random weights, as checkpoint directories and as GGUF files.
# SPDX-License-Identifier: Apache-2.0
"""Weights are bf16, normal with a deviation of 0.02, norms are ones; equal seeds make equal files."""
import json
import zlib
from pathlib import Path

import numpy

COMMON = dict(attention_bias=False, bos_token_id=0, dtype='bfloat16', hidden_act='silu', rms_norm_eps=1e-6,
              tie_word_embeddings=True, use_cache=True)
SHAPES = {
    'qwen3-0.6b': dict(COMMON, architectures=['Qwen3ForCausalLM'], model_type='qwen3', hidden_size=1024,
                       intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
                       head_dim=128, vocab_size=151936, max_position_embeddings=40960, rope_theta=1e6),
    'llama-3.2-1b': dict(COMMON, architectures=['LlamaForCausalLM'], model_type='llama', hidden_size=2048,
                         intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8,
                         head_dim=64, vocab_size=128256, max_position_embeddings=131072, rope_theta=5e5),
}
DEVIATION = 0.02


def tensors_of(shape):
    """The checkpoint's tensors: name -> shape, in the order of the layers."""
    width, head = shape['hidden_size'], shape['head_dim']
    q, kv, inner = shape['num_attention_heads'] * head, shape['num_key_value_heads'] * head, shape['intermediate_size']
    found = {'model.embed_tokens.weight': (shape['vocab_size'], width)}
    for layer in range(shape['num_hidden_layers']):
        at = f'model.layers.{layer}.'
        found |= {at + 'input_layernorm.weight': (width,), at + 'self_attn.q_proj.weight': (q, width),
                  at + 'self_attn.k_proj.weight': (kv, width), at + 'self_attn.v_proj.weight': (kv, width),
                  at + 'self_attn.o_proj.weight': (width, q), at + 'post_attention_layernorm.weight': (width,),
                  at + 'mlp.gate_proj.weight': (inner, width), at + 'mlp.up_proj.weight': (inner, width),
                  at + 'mlp.down_proj.weight': (width, inner)}
        if shape['model_type'] == 'qwen3':
            found |= {at + 'self_attn.q_norm.weight': (head,), at + 'self_attn.k_norm.weight': (head,)}
    return found | {'model.norm.weight': (width,)}


def values(name, shape, seed):
    """The tensor's values as bits of bf16, rounded to the nearest."""
    if len(shape) == 1:
        return numpy.full(shape, 0x3f80, numpy.uint16)
    random = numpy.random.default_rng([seed, zlib.crc32(name.encode())])
    bits = (random.standard_normal(shape, numpy.float32) * numpy.float32(DEVIATION)).view(numpy.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def make_checkpoint(name, folder, seed):
    """Writes config.json and model.safetensors into `folder`, unless they are there. Returns the bytes of all weights."""
    shape, folder = SHAPES[name], Path(folder)
    tensors, header, end = tensors_of(shape), {}, 0
    for key, size in tensors.items():
        begin, end = end, end + 2 * int(numpy.prod(size))
        header[key] = {'dtype': 'BF16', 'shape': list(size), 'data_offsets': [begin, end]}
    if (folder / 'config.json').exists():
        return end
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(folder / 'model.safetensors', 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text)
        for key, size in tensors.items():
            file.write(values(key, size, seed).data)
    (folder / 'config.json').write_text(json.dumps(shape, indent=1))
    return end


GGUF_NAMES = {'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k',
              'self_attn.v_proj': 'attn_v', 'self_attn.o_proj': 'attn_output', 'self_attn.q_norm': 'attn_q_norm',
              'self_attn.k_norm': 'attn_k_norm', 'post_attention_layernorm': 'ffn_norm', 'mlp.gate_proj': 'ffn_gate',
              'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down'}


def gguf_name(name):
    parts = name.removesuffix('.weight').split('.', 3)
    if parts[1] == 'layers':
        return f'blk.{parts[2]}.{GGUF_NAMES[parts[3]]}.weight'
    return {'embed_tokens': 'token_embd.weight', 'norm': 'output_norm.weight'}[parts[1]]


def in_pairs(rows, heads):
    """Rows of queries or keys whose halves rotate together, as GGUF's llama has them: pairs side by side."""
    half = rows.shape[0] // heads // 2
    return numpy.ascontiguousarray(rows.reshape(heads, 2, half, -1).swapaxes(1, 2).reshape(rows.shape))


def gguf_values(name, size, shape, seed):
    value = values(name, size, seed)
    if len(size) == 1:
        return numpy.ones(size, numpy.float32)
    if shape['model_type'] == 'llama' and name.endswith(('q_proj.weight', 'k_proj.weight')):
        return in_pairs(value, size[0] // shape['head_dim'])
    return value


def make_gguf(name, path, seed):
    """Writes the checkpoint's weights to a GGUF file without a vocabulary, unless it is there; wants the package gguf."""
    import gguf

    shape, path = SHAPES[name], Path(path)
    if path.exists():
        return
    part = path.with_suffix('.part')
    writer = gguf.GGUFWriter(part, shape['model_type'])
    writer.add_context_length(shape['max_position_embeddings'])
    writer.add_embedding_length(shape['hidden_size'])
    writer.add_block_count(shape['num_hidden_layers'])
    writer.add_feed_forward_length(shape['intermediate_size'])
    writer.add_head_count(shape['num_attention_heads'])
    writer.add_head_count_kv(shape['num_key_value_heads'])
    writer.add_key_length(shape['head_dim'])
    writer.add_value_length(shape['head_dim'])
    writer.add_rope_dimension_count(shape['head_dim'])
    writer.add_rope_freq_base(shape['rope_theta'])
    writer.add_layer_norm_rms_eps(shape['rms_norm_eps'])
    writer.add_vocab_size(shape['vocab_size'])
    writer.add_tokenizer_model('no_vocab')
    for key, size in tensors_of(shape).items():
        value = gguf_values(key, size, shape, seed)
        raw = None if value.dtype == numpy.float32 else gguf.GGMLQuantizationType.BF16
        writer.add_tensor(gguf_name(key), value if raw is None else value.view(numpy.uint8), raw_dtype=raw)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.rename(path)
