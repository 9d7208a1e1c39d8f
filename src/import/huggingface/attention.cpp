// Writes attention call by call, so that the passes see what the author wrote.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/attention.hpp"

#include <cmath>
#include <limits>

namespace rung::huggingface {
namespace {

double lowest(DType dtype) {
  if (dtype == DType::f16) return -65504.0;
  return dtype == DType::bf16 ? -0x1.fep127 : static_cast<double>(-std::numeric_limits<float>::max());
}

NodeId rotate_half(ModuleBuilder& w, NodeId x, const std::string& label) {
  const int64_t size = w.graph.shape(x).back();
  const NodeId upper = w.op(Slice{.axis = 3, .begin = size / 2, .end = size}, {x}, label);
  const NodeId lower = w.op(Slice{.axis = 3, .begin = 0, .end = size / 2}, {x}, label);
  return w.op(Concat{.axis = 3}, {w.unary(UnaryKind::neg, upper, label), lower}, label);
}

}  // namespace

NodeId attend(ModuleBuilder& w, const Heads& heads, NodeId mask, const std::string& label) {
  const double width = static_cast<double>(w.graph.shape(heads.q).back());
  NodeId scores = w.op(MatMul{}, {heads.q, w.swap_axes(heads.k, 2, 3, label)}, label);
  scores = w.scale(scores, 1.0 / std::sqrt(width), label);
  if (mask != kNoNode) scores = w.binary(BinaryKind::add, w.cast(scores, w.graph.type(mask).dtype, label), mask, label);
  const NodeId weights = w.cast(w.op(Softmax{}, {scores}, label), w.graph.type(heads.q).dtype, label);
  return w.merge_heads(w.op(MatMul{}, {weights, heads.v}, label), label);
}

NodeId padding_mask(ModuleBuilder& w, NodeId mask, DType dtype, const std::string& label) {
  const Shape rows = w.graph.shape(mask);
  NodeId x = w.cast(w.reshape(mask, {rows[0], 1, 1, rows[1]}, label), dtype, label);
  x = w.binary(BinaryKind::sub, w.scalar(1.0, dtype), x, label);
  return w.binary(BinaryKind::mul, x, w.scalar(lowest(dtype), dtype), label);
}

NodeId limited_mask(ModuleBuilder& w, NodeId mask, DType dtype,
                    const std::function<bool(int64_t i, int64_t j)>& reads) {
  const std::string label = "attention_mask";
  const Shape rows = w.graph.shape(mask);
  const int64_t length = rows[1];
  Tensor among({DType::boolean, {1, 1, length, length}});
  auto values = among.as<bool>();
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j) values[static_cast<size_t>(i * length + j)] = reads(i, j);
  NodeId keys = w.binary(BinaryKind::ne, mask, w.scalar(0, DType::i64), label);
  keys = w.reshape(keys, {rows[0], 1, 1, length}, label);
  const NodeId read = w.binary(BinaryKind::logical_and, keys, w.graph.literal(label, std::move(among)), label);
  return w.op(Select{}, {read, w.scalar(0.0, dtype), w.scalar(lowest(dtype), dtype)}, label);
}

Rotary rotary_tables(ModuleBuilder& w, NodeId positions, const RotaryConfig& config, const std::string& label) {
  const Shape rows = w.graph.shape(positions);
  const int64_t half = config.head_width / 2;
  Tensor inverse({DType::f32, {half}});
  for (int64_t i = 0; i < half; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(config.head_width);
    inverse.as<float>()[static_cast<size_t>(i)] = 1.0f / std::pow(static_cast<float>(config.base), exponent);
  }
  const NodeId column = w.reshape(w.cast(positions, DType::f32, label), {rows[0], rows[1], 1}, label);
  const NodeId frequencies = w.graph.literal(label + ".inverse_frequencies", std::move(inverse));
  const NodeId angles = w.binary(BinaryKind::mul, column, frequencies, label);
  NodeId both = w.op(Concat{.axis = 2}, {angles, angles}, label);
  both = w.reshape(both, {rows[0], 1, rows[1], 2 * half}, label);
  return {w.cast(w.unary(UnaryKind::cos, both, label), config.dtype, label),
          w.cast(w.unary(UnaryKind::sin, both, label), config.dtype, label)};
}

NodeId rotate(ModuleBuilder& w, NodeId x, const Rotary& rotary, const std::string& label) {
  const DType own = w.graph.type(x).dtype;
  x = w.cast(x, w.graph.type(rotary.cos).dtype, label);
  const NodeId straight = w.binary(BinaryKind::mul, x, rotary.cos, label);
  const NodeId turned = w.binary(BinaryKind::mul, rotate_half(w, x, label), rotary.sin, label);
  return w.cast(w.binary(BinaryKind::add, straight, turned, label), own, label);
}

}  // namespace rung::huggingface
