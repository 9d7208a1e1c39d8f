// Whole numbers of exported graphs: signs, floors and the like, of which the graph has no functions of its own.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/emit.hpp"

namespace rung::exported {

NodeId Emit::sign(NodeId x) const {
  const NodeId zero = scalar(0, dtype(x));
  const NodeId above = cast(binary(BinaryKind::gt, x, zero), dtype(x));
  return binary(BinaryKind::sub, above, cast(binary(BinaryKind::lt, x, zero), dtype(x)));
}

constexpr double kAllWhole = 8388608;  // floats from 2^23 on are whole, as are infinities, and stay as they are

// Beside 2^23 a float has no place for a fraction, so a sum with it is rounded to a whole number, ties to even.
NodeId Emit::rounded_to_even(NodeId x) const {
  const NodeId size = unary(UnaryKind::abs, x), all_whole = scalar(kAllWhole, DType::f32);
  const NodeId whole = binary(BinaryKind::sub, binary(BinaryKind::add, size, all_whole), all_whole);
  const NodeId below = binary(BinaryKind::lt, x, scalar(0, DType::f32));
  const NodeId result = select(below, unary(UnaryKind::neg, whole), whole);
  return select(binary(BinaryKind::lt, size, all_whole), result, x);
}

// With 1.5 2^23 the same holds of numbers of either sign, up to 2^22.
NodeId Emit::rounded_if_small(NodeId x) const {
  const NodeId beside = scalar(1.5 * kAllWhole, DType::f32);
  return binary(BinaryKind::sub, binary(BinaryKind::add, x, beside), beside);
}

// Directions go by way of integers.
NodeId Emit::rounded(NodeId x, Rounding way) const {
  if (!is_float(dtype(x))) return x;
  const NodeId wide = cast(x, DType::f32);
  if (way == Rounding::nearest_even) return cast(rounded_to_even(wide), dtype(x));
  const NodeId near = clamp(wide, -kAllWhole, kAllWhole);
  const NodeId whole = cast(near, DType::i64), back = cast(whole, DType::f32);
  const auto one_where = [&](NodeId condition) { return cast(condition, DType::f32); };
  NodeId result = back;
  if (way == Rounding::down) result = binary(BinaryKind::sub, back, one_where(binary(BinaryKind::gt, back, near)));
  if (way == Rounding::up) result = binary(BinaryKind::add, back, one_where(binary(BinaryKind::lt, back, near)));
  const NodeId within = binary(BinaryKind::lt, unary(UnaryKind::abs, wide), scalar(kAllWhole, DType::f32));
  return cast(select(within, result, wide), dtype(x));
}

NodeId Emit::rounded_quotient(NodeId a, NodeId b, Rounding way) const {
  const NodeId q = binary(BinaryKind::div, a, b);
  if (is_float(dtype(a))) return rounded(q, way);
  if (way == Rounding::to_zero) return q;
  const NodeId zero = scalar(0, dtype(a));
  const NodeId rest = binary(BinaryKind::sub, a, binary(BinaryKind::mul, q, b));
  const NodeId below = binary(BinaryKind::lt, binary(BinaryKind::mul, rest, sign(b)), zero);
  return select(below, binary(BinaryKind::sub, q, scalar(1, dtype(a))), q);
}

}  // namespace rung::exported
