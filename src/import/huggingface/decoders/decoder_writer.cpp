// Writes embeddings, layers and the language head of a decoder.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_writer.hpp"

namespace rung::huggingface {

NodeId DecoderWriter::hidden() {
  NodeId x = embedded();
  for (size_t i = 0; i < c_.layers.size(); ++i) x = c_.is_parallel ? parallel_layer(i, x) : layer(i, x);
  return norm(frame_.encoder().child(names_.norm), x);
}

NodeId DecoderWriter::logits(NodeId hidden) {
  const Module m = Module::of(std::string(names_.head));
  const NodeId table =
      w_.weight(frame_.decoder_weight(m.tensor("weight"), c_.is_tied), {c_.vocabulary, c_.width}, frame_.dtype());
  std::vector<NodeId> operands{hidden, table};
  Linear linear{.out = DType::f32};  // scores that 16 bits would make equal stay apart
  if (c_.decoder_bias)
    linear.slots.put(operands, LinearSlot::bias, w_.weight(m.tensor("bias"), {c_.vocabulary}, frame_.dtype()));
  NodeId scores = w_.op(linear, std::move(operands), m.label);
  if (c_.logit_scale != 1) scores = w_.scale(scores, c_.logit_scale, m.label);
  if (c_.logit_cap == 0) return scores;
  scores = w_.unary(UnaryKind::tanh, w_.scale(scores, 1 / c_.logit_cap, m.label), m.label);
  return w_.scale(scores, c_.logit_cap, m.label);
}

NodeId DecoderWriter::embedded() {
  const Module m = frame_.encoder().child(names_.embedding);
  const DType dtype = frame_.dtype();
  const NodeId table = w_.weight(m.tensor("weight"), {c_.vocabulary, c_.width}, dtype);
  NodeId x = w_.op(Gather{.axis = 0}, {table, history_.tokens()}, m.label);
  if (c_.rounds_embedding_scale)
    x = w_.binary(BinaryKind::mul, x, w_.scalar(c_.embedding_scale, dtype), m.label);
  else if (c_.embedding_scale != 1)
    x = w_.scale(x, c_.embedding_scale, m.label);
  if (names_.positions.empty()) return x;
  const Module p = frame_.encoder().child(names_.positions);
  const NodeId rows = history_.rows_of(w_.weight(p.tensor("weight"), {c_.positions, c_.width}, dtype), p.label);
  return w_.binary(BinaryKind::add, x, rows, p.label);
}

NodeId DecoderWriter::layer(size_t index, NodeId x) {
  const Module m = layer_module(index);
  const NodeId attended = attention(index, norm_of(m, names_.attention_norm, x));
  x = sum(x, norm_of(m, names_.after_attention, attended), m.label);
  return sum(x, norm_of(m, names_.after_mlp, mlp(m, norm_of(m, names_.mlp_norm, x))), m.label);
}

// Attention and the MLP read one x. Where the MLP has no norm of its own, it reads what attention reads.
NodeId DecoderWriter::parallel_layer(size_t index, NodeId x) {
  const Module m = layer_module(index);
  const NodeId h = norm_of(m, names_.attention_norm, x);
  const NodeId fed = mlp(m, names_.mlp_norm.empty() ? h : norm_of(m, names_.mlp_norm, x));
  return sum(sum(x, attention(index, h), m.label), fed, m.label);
}

NodeId DecoderWriter::attention(size_t index, NodeId x) {
  const Module m = layer_module(index).child(names_.attention);
  Projections p = projections(m, x);
  if (c_.layers[index].rotates) {
    p.q = rotated(c_.layers[index], p.q, m.label);
    p.k = rotated(c_.layers[index], p.k, m.label);
  }
  const Shape rows = w_.graph.shape(x);
  const NodeId merged =
      w_.reshape(history_.attend(index, p, m.label), {rows[0], rows[1], c_.heads * c_.head_width}, m.label);
  return product({m.child(names_.out), c_.width, c_.out_bias}, merged);
}

Projections DecoderWriter::projections(const Module& m, NodeId x) {
  const int64_t q_size = c_.heads * c_.head_width, k_size = c_.key_heads * c_.head_width;
  Projections p;
  if (names_.qkv.empty()) {
    p = {product({m.child(names_.query), q_size, c_.qkv_bias}, x),
         product({m.child(names_.key), k_size, c_.qkv_bias}, x),
         product({m.child(names_.value), k_size, c_.qkv_bias}, x)};
  } else {
    const Module all = m.child(names_.qkv);
    const NodeId y = product({all, q_size + 2 * k_size, c_.qkv_bias, true}, x);
    p = {columns(y, 0, q_size, all.label), columns(y, q_size, q_size + k_size, all.label),
         columns(y, q_size + k_size, q_size + 2 * k_size, all.label)};
  }
  return {heads(m.child(names_.query_norm), p.q), heads(m.child(names_.key_norm), p.k), heads(Module{}, p.v)};
}

// [B,S,H*D] -> [B,S,H,D]. `norm`: of queries and keys; values have none.
NodeId DecoderWriter::heads(const Module& norm, NodeId x) {
  const bool is_normed = c_.head_norm != HeadNorm::none && !norm.tensors.empty();
  if (is_normed && c_.head_norm == HeadNorm::all_heads) x = this->norm(norm, x);
  const Shape rows = w_.graph.shape(x);
  x = w_.reshape(x, {rows[0], rows[1], rows[2] / c_.head_width, c_.head_width}, w_.graph[x].label);
  return is_normed && c_.head_norm == HeadNorm::each_head ? this->norm(norm, x) : x;
}

// Turns the first columns of each head, or all.
NodeId DecoderWriter::rotated(const DecoderLayer& layer, NodeId heads, const std::string& label) {
  const RotaryFrequencies& frequencies = layer.is_local ? c_.local_rotary : c_.rotary;
  const int64_t turned = frequencies.columns(), all = c_.head_width;
  if (turned == 0) return heads;
  const RotaryTables& tables = history_.tables(frequencies, layer.is_local ? "rotary_emb_local" : "rotary_emb");
  if (turned == all) return w_.op(Rope{}, {heads, tables.cos, tables.sin}, label);
  const NodeId first = w_.op(Rope{}, {columns(heads, 0, turned, label), tables.cos, tables.sin}, label);
  return w_.op(Concat{.axis = 3}, {first, columns(heads, turned, all, label)}, label);
}

NodeId DecoderWriter::mlp(const Module& layer, NodeId x) {
  const Module m = layer.child(names_.mlp);
  const std::string label = m.child(names_.activation).label;
  NodeId gate = kNoNode, up = kNoNode;
  if (!names_.gate_up.empty()) {
    const Module both = m.child(names_.gate_up);
    const NodeId y = product({both, 2 * c_.mlp, c_.mlp_bias}, x);
    gate = columns(y, 0, c_.mlp, both.label), up = columns(y, c_.mlp, 2 * c_.mlp, both.label);
  } else {
    if (!names_.gate.empty()) gate = product({m.child(names_.gate), c_.mlp, c_.mlp_bias}, x);
    up = product({m.child(names_.up), c_.mlp, c_.mlp_bias}, x);
  }
  const NodeId h = gate == kNoNode ? c_.activation.write(w_, up, label)
                                   : w_.binary(BinaryKind::mul, c_.activation.write(w_, gate, label), up, m.label);
  return product({m.child(names_.down), c_.width, c_.mlp_bias}, h);
}

NodeId DecoderWriter::norm_of(const Module& layer, std::string_view name, NodeId x) {
  return name.empty() ? x : norm(layer.child(name), x);
}

NodeId DecoderWriter::norm(const Module& m, NodeId x) {
  if (c_.norm == NormKind::layer) return w_.layer_norm(m, x, c_.eps);
  const DType dtype = w_.graph.type(x).dtype;
  const NodeId weight = w_.weight(m.tensor("weight"), {w_.graph.shape(x).back()}, dtype);
  const float offset = c_.norm == NormKind::rms_offset ? 1.0f : 0.0f;
  return w_.op(RmsNorm{.eps = c_.eps, .weight_offset = offset, .out = dtype}, {x, weight}, m.label);
}

NodeId DecoderWriter::sum(NodeId x, NodeId y, const std::string& label) {
  if (c_.residual_scale != 1) y = w_.scale(y, c_.residual_scale, label);
  return w_.binary(BinaryKind::add, x, y, label);
}

NodeId DecoderWriter::product(const Product& product, NodeId x) {
  const Module& m = product.module;
  const DType dtype = w_.graph.type(x).dtype;
  const int64_t in = w_.graph.shape(x).back();
  const bool by_head = product.fused && c_.fused_rows == FusedRows::by_head;
  const auto ordered = [&](NodeId rows) { return by_head ? rows_in_order(rows, m.label) : rows; };
  const NodeId weight = c_.stores_transposed
                            ? w_.swap_axes(w_.weight(m.tensor("weight"), {in, product.out}, dtype), 0, 1, m.label)
                            : w_.weight(m.tensor("weight"), {product.out, in}, dtype);
  std::vector<NodeId> operands{x, ordered(weight)};
  Linear linear{.out = dtype};
  if (product.bias)
    linear.slots.put(operands, LinearSlot::bias, ordered(w_.weight(m.tensor("bias"), {product.out}, dtype)));
  return w_.op(linear, std::move(operands), m.label);
}

// Puts the rows of all queries before those of all keys, and those of all values last.
NodeId DecoderWriter::rows_in_order(NodeId rows, const std::string& label) {
  const Shape shape = w_.graph.shape(rows);
  Shape apart{c_.heads, 3, c_.head_width};
  for (int axis = 1; axis < shape.rank(); ++axis) apart.push_back(shape[axis]);
  return w_.reshape(w_.swap_axes(w_.reshape(rows, apart, label), 0, 1, label), shape, label);
}

NodeId DecoderWriter::columns(NodeId x, int64_t begin, int64_t end, const std::string& label) {
  const int64_t last = w_.graph.shape(x).rank() - 1;
  return w_.op(Slice{.axis = last, .begin = begin, .end = end}, {x}, label);
}

}  // namespace rung::huggingface
