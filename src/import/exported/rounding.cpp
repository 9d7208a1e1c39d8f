// Whole numbers of exported graphs: signs, floors and the like, of which the graph has no functions of its own.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/emit.hpp"

namespace rung::exported {

NodeId Emit::sign(NodeId x) const {
  const NodeId zero = scalar(0, dtype(x));
  const NodeId above = cast(binary(BinaryKind::gt, x, zero), dtype(x));
  return binary(BinaryKind::sub, above, cast(binary(BinaryKind::lt, x, zero), dtype(x)));
}

// By way of integers: floats from 2^23 on are whole, as are infinities, and stay as they are.
NodeId Emit::rounded(NodeId x, Rounding way) const {
  constexpr double kAllWhole = 8388608;
  if (!is_float(dtype(x))) return x;
  const NodeId wide = cast(x, DType::f32);
  const NodeId near = clamp(wide, -kAllWhole, kAllWhole);
  const NodeId whole = cast(near, DType::i64), back = cast(whole, DType::f32);
  const auto one_where = [&](NodeId condition) { return cast(condition, DType::f32); };
  NodeId result = back;
  if (way == Rounding::down) result = binary(BinaryKind::sub, back, one_where(binary(BinaryKind::gt, back, near)));
  if (way == Rounding::up) result = binary(BinaryKind::add, back, one_where(binary(BinaryKind::lt, back, near)));
  if (way == Rounding::nearest_even) {
    const NodeId rest = unary(UnaryKind::abs, binary(BinaryKind::sub, near, back)), half = scalar(0.5, DType::f32);
    const NodeId pairs = cast(cast(binary(BinaryKind::mul, back, half), DType::i64), DType::f32);
    const NodeId even = binary(BinaryKind::add, pairs, pairs);
    const NodeId tie =
        binary(BinaryKind::logical_and, binary(BinaryKind::eq, rest, half), binary(BinaryKind::ne, back, even));
    const NodeId moves = binary(BinaryKind::logical_or, binary(BinaryKind::gt, rest, half), tie);
    result = binary(BinaryKind::add, back, binary(BinaryKind::mul, one_where(moves), sign(near)));
  }
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
