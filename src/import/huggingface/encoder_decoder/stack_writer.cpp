// Writes a layer in the ops that kernels have.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/encoder_decoder/stack_writer.hpp"

namespace rung::huggingface {

NodeId StackWriter::layer(size_t index, NodeId x, const Attend& attend, const Cross& cross) const {
  const Module m = layer_module(index);
  const auto add = [&](std::string_view norm_name, const auto& part) {
    const Module norms = m.child(norm_name);
    x = all_.norms_sums ? norm(norms, sum(x, part(x), m)) : sum(x, part(norm(norms, x)), m);
  };
  add(names_.attention_norm, [&](NodeId y) { return self_attention(index, y, attend); });
  if (cross) add(names_.cross_norm, [&](NodeId y) { return cross_attention(index, y, cross); });
  add(names_.mlp_norm, [&](NodeId y) { return mlp(m, y); });
  return x;
}

SourceHeads StackWriter::source_heads(size_t index, NodeId source) const {
  const Module m = layer_module(index).child(names_.cross);
  return {heads(m.child(names_.key), source, all_.key_bias), heads(m.child(names_.value), source, c_.qkv_bias)};
}

NodeId StackWriter::self_attention(size_t index, NodeId x, const Attend& attend) const {
  const Module m = layer_module(index).child(names_.attention);
  const Projections all{heads(m.child(names_.query), x, c_.qkv_bias), heads(m.child(names_.key), x, all_.key_bias),
                        heads(m.child(names_.value), x, c_.qkv_bias)};
  return merged(m, attend(index, all, m.label));
}

NodeId StackWriter::cross_attention(size_t index, NodeId x, const Cross& cross) const {
  const Module m = layer_module(index).child(names_.cross);
  return merged(m, cross(index, heads(m.child(names_.query), x, c_.qkv_bias), m.label));
}

NodeId StackWriter::mlp(const Module& layer, NodeId x) const {
  const std::string label = layer.child(names_.activation).label;
  const NodeId up = w_.linear(layer.child(names_.up), x, c_.mlp, c_.mlp_bias);
  NodeId h = kNoNode;
  if (all_.is_gated) {
    const NodeId gate = w_.linear(layer.child(names_.gate), x, c_.mlp, c_.mlp_bias);
    h = w_.binary(BinaryKind::mul, c_.activation.write(w_, gate, label), up, layer.label);
  } else {
    h = c_.activation.write(w_, up, label);
  }
  return w_.linear(layer.child(names_.down), h, c_.width, c_.mlp_bias);
}

NodeId StackWriter::norm(const Module& m, NodeId x) const {
  if (c_.norm == NormKind::layer) return w_.layer_norm(m, x, c_.eps);
  const DType dtype = w_.graph.type(x).dtype;
  return w_.op(RmsNorm{.eps = c_.eps, .out = dtype}, {x, w_.weight(m.tensor("weight"), {c_.width}, dtype)}, m.label);
}

// [B,S,width] -> [B,S,H,D]
NodeId StackWriter::heads(const Module& m, NodeId x, bool bias) const {
  const Shape rows = w_.graph.shape(x);
  const NodeId all = w_.linear(m, x, c_.heads * c_.head_width, bias);
  return w_.reshape(all, {rows[0], rows[1], c_.heads, c_.head_width}, m.label);
}

// [B,S,H,D] -> [B,S,width]
NodeId StackWriter::merged(const Module& attention, NodeId heads) const {
  const Shape rows = w_.graph.shape(heads);
  const NodeId all = w_.reshape(heads, {rows[0], rows[1], rows[2] * rows[3]}, attention.label);
  return w_.linear(attention.child(names_.out), all, c_.width, c_.out_bias);
}

}  // namespace rung::huggingface
