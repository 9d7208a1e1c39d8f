// Products, reductions and normalisations of exported graphs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/exported/emit.hpp"

namespace rung::exported {

NodeId Emit::matmul(NodeId a, NodeId b) const {
  const bool row = rank(a) == 1, column = rank(b) == 1;
  if (rank(a) == 0 || rank(b) == 0) refuse("a product of {} and {}, wanted at least one axis each", type(a), type(b));
  if (row) a = unsqueeze(a, 0);
  if (column) b = unsqueeze(b, 1);
  NodeId y = add(MatMul{}, {a, b});
  if (column) y = squeeze(y, {-1});
  if (row) y = squeeze(y, {column ? -1 : -2});
  return y;
}

NodeId Emit::linear(NodeId x, NodeId w, std::optional<NodeId> bias) const {
  if (rank(w) != 2) refuse("a weight of {}, wanted two axes", type(w));
  NodeId y = matmul(x, swap_axes(w, 0, 1));
  return bias ? binary(BinaryKind::add, y, *bias) : y;
}

NodeId Emit::reduce(ReduceKind kind, NodeId x, std::vector<int64_t> axes, bool keep) const {
  if (axes.empty())
    for (int i = 0; i < rank(x); ++i) axes.push_back(i);
  for (int64_t& at : axes) at = axis(x, at);
  std::ranges::sort(axes, std::greater<>());
  if (std::ranges::adjacent_find(axes) != axes.end())
    refuse("axis {} is given twice", *std::ranges::adjacent_find(axes));
  for (const int64_t at : axes) x = add(Reduce{kind, at, keep}, {x});
  return x;
}

// -x; of integers -1 - x or 255 - x, which stay within their type.
NodeId Emit::turned(NodeId x) const {
  const DType type = dtype(x);
  if (type == DType::boolean) refuse("the order of {}, wanted numbers", this->type(x));
  if (is_float(type)) return unary(UnaryKind::neg, x);
  return binary(BinaryKind::sub, scalar(type == DType::u8 ? 255 : -1, type), x);
}

NodeId Emit::arg_max(NodeId x, int64_t axis, bool keep) const {
  const int at = this->axis(x, axis);
  if (!is_float(dtype(x))) x = cast(binary(BinaryKind::eq, x, reduce(ReduceKind::max, x, {at}, true)), DType::f32);
  const bool is_last = at == rank(x) - 1;
  const NodeId rows = is_last ? x : swap_axes(x, at, -1);
  NodeId place = add(NthResult{}, {add(TopK{1}, {rows})});
  if (!is_last) place = swap_axes(place, at, -1);
  return keep ? place : squeeze(place, {at});
}

// (x - max) - log(sum(exp(x - max)))
NodeId Emit::log_softmax(NodeId x, int64_t axis) const {
  const NodeId below = binary(BinaryKind::sub, x, reduce(ReduceKind::max, x, {axis}, true));
  const NodeId sum = reduce(ReduceKind::sum, unary(UnaryKind::exp, below), {axis}, true);
  return binary(BinaryKind::sub, below, unary(UnaryKind::log, sum));
}

NodeId Emit::layer_norm(NodeId x, int axes, std::optional<NodeId> weight, std::optional<NodeId> bias,
                        double eps) const {
  if (axes < 1 || axes > rank(x)) refuse("a norm over {} axes of {}", axes, type(x));
  const Shape whole = shape(x);
  Shape rows;
  for (int i = 0; i < whole.rank() - axes; ++i) rows.push_back(whole[i]);
  const int64_t width = rows.product() == 0 ? 0 : whole.product() / rows.product();
  rows.push_back(width);
  const DType type = dtype(x);
  const auto vector = [&](std::optional<NodeId> given, double value) {
    return given ? reshape(*given, Shape{width}) : filled({width}, value, type);
  };
  const NodeId y = add(LayerNorm{.eps = static_cast<float>(eps), .out = type},
                       {reshape(x, rows), vector(weight, 1), vector(bias, 0)});
  return reshape(y, whole);
}

NodeId Emit::rms_norm(NodeId x, std::optional<NodeId> weight, double eps) const {
  if (rank(x) == 0) refuse("an RMS norm of {}, wanted at least one axis", type(x));
  const NodeId scale = weight ? *weight : filled({shape(x).back()}, 1, dtype(x));
  return add(RmsNorm{.eps = static_cast<float>(eps), .out = dtype(x)}, {x, scale});
}

}  // namespace rung::exported
