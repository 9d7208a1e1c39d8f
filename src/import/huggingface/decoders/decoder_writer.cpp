// Writes embeddings, layers and the language head of a decoder.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/decoder_writer.hpp"

namespace rung::huggingface {
namespace {

// Returns the columns of a head, of which the first `turned` rotate: in each half those that rotate come first.
Tensor order_in_pairs(int64_t turned, int64_t all) {
  Tensor order({DType::i64, {all}});
  for (int64_t half = 0, at = 0; half < 2; ++half)
    for (int64_t i = 0; i < all / 2; ++i, ++at)
      order.as<int64_t>()[static_cast<size_t>(at)] =
          i < turned / 2 ? half * turned / 2 + i : turned / 2 + half * (all - turned) / 2 + i;
  return order;
}

}  // namespace

NodeId DecoderWriter::hidden() {
  NodeId x = embedded();
  for (size_t i = 0; i < c_.layers.size(); ++i) x = c_.is_parallel ? parallel_layer(i, x) : layer(i, x);
  return norm(frame_.encoder().child(names_.norm), history_.asked(x));
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
  const int64_t q_rows = c_.heads * c_.head_width, k_rows = c_.key_heads * c_.head_width;
  const auto paired = [&](NodeId rows) { return rows_in_pairs(rows, m.label); };
  Projections p;
  if (names_.qkv.empty()) {
    p = {product({m.child(names_.query), q_rows, c_.qkv_bias, paired}, x),
         product({m.child(names_.key), k_rows, c_.qkv_bias, paired}, x),
         product({m.child(names_.value), k_rows, c_.qkv_bias}, x)};
  } else {
    const Module all = m.child(names_.qkv);
    const auto part = [&](int64_t begin, int64_t end, const Arrange& arrange) {
      const auto rows_of = [&](NodeId rows) {
        const NodeId chosen = w_.op(Slice{0, begin, end, 1}, {rows_by_part(rows, all.label)}, all.label);
        return arrange ? arrange(chosen) : chosen;
      };
      return product({all, q_rows + 2 * k_rows, c_.qkv_bias, rows_of}, x);
    };
    p = {part(0, q_rows, paired), part(q_rows, q_rows + k_rows, paired),
         part(q_rows + k_rows, q_rows + 2 * k_rows, {})};
  }
  return {heads(m.child(names_.query_norm), p.q), heads(m.child(names_.key_norm), p.k), heads(Module{}, p.v)};
}

// [B,S,H*D] -> [B,S,H,D]. `norm`: of queries and keys; values have none.
NodeId DecoderWriter::heads(const Module& norm, NodeId x) {
  const auto paired = [&](NodeId rows) { return rows_in_pairs(rows, norm.label); };
  const HeadNorm kind = norm.tensors.empty() ? HeadNorm::none : c_.head_norm;
  if (kind == HeadNorm::all_heads) x = this->norm(norm, x, paired);
  const Shape rows = w_.graph.shape(x);
  x = w_.reshape(x, {rows[0], rows[1], rows[2] / c_.head_width, c_.head_width}, w_.graph[x].label);
  if (kind == HeadNorm::own) return own_norms(norm, x);
  return kind == HeadNorm::each_head ? this->norm(norm, x, paired) : x;
}

// Returns a layer norm of each head of [B,S,H,D], whose weights are the tensors "norms.HEAD.weight".
NodeId DecoderWriter::own_norms(const Module& m, NodeId heads) {
  const Type type = w_.graph.type(heads);
  const Shape width{c_.head_width};
  std::vector<NodeId> weights;
  for (int64_t head = 0; head < type.shape[2]; ++head) {
    const NodeId weight = w_.weight(m.child(fmt::format("norms.{}", head)).tensor("weight"), width, type.dtype);
    weights.push_back(w_.reshape(rows_in_pairs(weight, m.label), {1, c_.head_width}, m.label));
  }
  const NodeId ones = w_.op(Broadcast{width}, {w_.scalar(1.0, type.dtype)}, "ones");
  const LayerNorm norm{.eps = c_.eps, .out = type.dtype};
  const NodeId normal = w_.op(norm, {heads, ones, w_.zeros(width, type.dtype)}, m.label);
  return w_.binary(BinaryKind::mul, normal, w_.op(Concat{.axis = 0}, std::move(weights), m.label), m.label);
}

NodeId DecoderWriter::rotated(const DecoderLayer& layer, NodeId heads, const std::string& label) {
  const RotaryFrequencies& frequencies = layer.is_local ? c_.local_rotary : c_.rotary;
  if (frequencies.columns() == 0) return heads;
  const RotaryTables& tables = history_.tables(frequencies, layer.is_local ? "rotary_emb_local" : "rotary_emb");
  return w_.op(Rope{}, {heads, tables.cos, tables.sin}, label);
}

// Puts the rows of all queries before those of all keys, and those of all values last.
NodeId DecoderWriter::rows_by_part(NodeId rows, const std::string& label) {
  if (c_.fused_rows == FusedRows::in_order) return rows;
  const Shape shape = w_.graph.shape(rows);
  Shape apart{c_.heads, 3, c_.head_width};
  for (int axis = 1; axis < shape.rank(); ++axis) apart.push_back(shape[axis]);
  return w_.reshape(w_.swap_axes(w_.reshape(rows, apart, label), 0, 1, label), shape, label);
}

// Orders the rows of each query or key head so that columns which rotate together stand half a head apart where only
// the first columns rotate; the others get an angle of 0. Scores do not depend on the order.
NodeId DecoderWriter::rows_in_pairs(NodeId rows, const std::string& label) {
  const int64_t turned = c_.rotary.columns(), all = c_.head_width;
  if (turned == 0 || turned == all) return rows;
  const NodeId order = w_.graph.literal(label + ".columns", order_in_pairs(turned, all));
  const Shape shape = w_.graph.shape(rows);
  Shape by_head{shape[0] / all, all};
  for (int axis = 1; axis < shape.rank(); ++axis) by_head.push_back(shape[axis]);
  return w_.reshape(w_.op(Gather{.axis = 1}, {w_.reshape(rows, by_head, label), order}, label), shape, label);
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

NodeId DecoderWriter::norm(const Module& m, NodeId x, const Arrange& arrange) {
  const DType dtype = w_.graph.type(x).dtype;
  const auto stored = [&](const char* name) {
    const NodeId rows = w_.weight(m.tensor(name), {w_.graph.shape(x).back()}, dtype);
    return arrange ? arrange(rows) : rows;
  };
  if (c_.norm == NormKind::layer)
    return w_.op(LayerNorm{.eps = c_.eps, .out = dtype}, {x, stored("weight"), stored("bias")}, m.label);
  const float offset = c_.norm == NormKind::rms_offset ? 1.0f : 0.0f;
  return w_.op(RmsNorm{.eps = c_.eps, .weight_offset = offset, .out = dtype}, {x, stored("weight")}, m.label);
}

NodeId DecoderWriter::sum(NodeId x, NodeId y, const std::string& label) {
  if (c_.residual_scale != 1) y = w_.scale(y, c_.residual_scale, label);
  return w_.binary(BinaryKind::add, x, y, label);
}

NodeId DecoderWriter::product(const Product& product, NodeId x) {
  const Module& m = product.module;
  const DType dtype = w_.graph.type(x).dtype;
  const int64_t in = w_.graph.shape(x).back();
  const auto arranged = [&](NodeId rows) { return product.arrange ? product.arrange(rows) : rows; };
  const NodeId weight = c_.stores_transposed
                            ? w_.swap_axes(w_.weight(m.tensor("weight"), {in, product.rows}, dtype), 0, 1, m.label)
                            : w_.weight(m.tensor("weight"), {product.rows, in}, dtype);
  std::vector<NodeId> operands{x, arranged(weight)};
  Linear linear{.out = dtype};
  if (product.bias)
    linear.slots.put(operands, LinearSlot::bias, arranged(w_.weight(m.tensor("bias"), {product.rows}, dtype)));
  return w_.op(linear, std::move(operands), m.label);
}

NodeId DecoderWriter::columns(NodeId x, int64_t begin, int64_t end, const std::string& label) {
  const int64_t last = w_.graph.shape(x).rank() - 1;
  return w_.op(Slice{.axis = last, .begin = begin, .end = end}, {x}, label);
}

}  // namespace rung::huggingface
