// Reductions of exported graphs that no op computes: products, sums of exponentials, the first of an order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/exported/emit.hpp"

namespace rung::exported {

NodeId Emit::reversed(NodeId x, int64_t at) const {
  const int i = axis(x, at);
  const int64_t extent = shape(x)[i];
  const NodeId last = scalar(static_cast<double>(extent - 1), DType::i64);
  return add(Gather{i}, {x, binary(BinaryKind::sub, last, counted(extent, 0, 1))});
}

NodeId Emit::shifted(NodeId x, int64_t at, int64_t places, double value) const {
  const int i = axis(x, at);
  const int64_t extent = shape(x)[i];
  Shape front = shape(x);
  front[i] = std::min(places, extent);
  const NodeId fill = filled(front, value, dtype(x));
  return places >= extent ? fill : concat({fill, slice(x, i, 0, extent - places)}, i);
}

// Pairs of halves, again and again: as many products as the extent has binary digits.
NodeId Emit::product(NodeId x, const std::vector<int64_t>& axes, bool keep) const {
  std::vector<int64_t> all = axes;
  if (all.empty())
    for (int i = 0; i < rank(x); ++i) all.push_back(i);
  for (int64_t& at : all) {
    at = axis(x, at);
    const int i = static_cast<int>(at);
    if (shape(x)[i] == 0) x = padded(x, i, 0, 1, 1);
    for (int64_t left = shape(x)[i]; left > 1; left = shape(x)[i]) {
      const int64_t half = left / 2;
      const NodeId pairs = binary(BinaryKind::mul, slice(x, i, 0, half), slice(x, i, half, 2 * half));
      x = left % 2 == 0 ? pairs : concat({pairs, slice(x, i, left - 1, left)}, i);
    }
  }
  return keep ? x : squeeze(x, all);
}

// Each times the one 1, 2, 4, ... places before it.
NodeId Emit::running_product(NodeId x, int64_t at) const {
  const int i = axis(x, at);
  for (int64_t step = 1; step < shape(x)[i]; step *= 2) x = binary(BinaryKind::mul, x, shifted(x, i, step, 1));
  return x;
}

NodeId Emit::log_sum_exp(NodeId x, const std::vector<int64_t>& axes, bool keep) const {
  NodeId most = reduce(ReduceKind::max, x, axes, true);
  const NodeId is_finite = binary(BinaryKind::lt, unary(UnaryKind::abs, most), scalar(INFINITY, dtype(x)));
  most = select(is_finite, most, scalar(0, dtype(x)));
  const NodeId powers = unary(UnaryKind::exp, binary(BinaryKind::sub, x, most));
  const NodeId y = binary(BinaryKind::add, most, unary(UnaryKind::log, reduce(ReduceKind::sum, powers, axes, true)));
  std::vector<int64_t> all = axes;
  if (all.empty())
    for (int i = 0; i < rank(x); ++i) all.push_back(i);
  return keep ? y : squeeze(y, all);
}

Emit::Top Emit::top(NodeId x, int64_t k, int64_t at, bool least) const {
  const int i = axis(x, at);
  if (k == 0) {
    const NodeId none = slice(x, i, 0, 0);
    return {none, cast(none, DType::i64)};
  }
  const NodeId rows = swap_axes(least ? turned(x) : x, i, -1);
  const NodeId values = add(TopK{k}, {rows}), places = add(NthResult{}, {values});
  return {swap_axes(least ? turned(values) : values, i, -1), swap_axes(places, i, -1)};
}

}  // namespace rung::exported
