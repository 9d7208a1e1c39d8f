// Reductions of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

// In f32 where PyTorch is asked to compute in it.
NodeId in_type(const Call& call, NodeId x) {
  return call.cast(x, call.dtype_argument("dtype").value_or(call.dtype(x)));
}

Values reduced(const Call& call, ReduceKind kind) {
  NodeId x = in_type(call, call.tensor("self"));
  if (kind == ReduceKind::sum && !is_float(call.dtype(x))) x = call.cast(x, DType::i64);
  return one(call.reduce(kind, x, call.integers("dim", {}), call.flag("keepdim")));
}

// The rows of a mean, less their mean, squared and summed, over their count less a correction.
NodeId variance(const Call& call, NodeId x, const std::vector<int64_t>& axes, double correction, bool keep) {
  const NodeId centred = call.binary(BinaryKind::sub, x, call.reduce(ReduceKind::mean, x, axes, true));
  const NodeId mean = call.reduce(ReduceKind::mean, call.unary(UnaryKind::square, centred), axes, keep);
  int64_t count = axes.empty() ? call.type(x).elements() : 1;
  for (const int64_t axis : axes) count *= call.shape(x)[call.axis(x, axis)];
  if (correction == 0) return mean;
  return call.scale(mean, static_cast<double>(count) / (static_cast<double>(count) - correction));
}

}  // namespace

Values log_softmax(const Call& call) {
  return one(call.log_softmax(in_type(call, call.tensor("self")), call.integer("dim")));
}
Values softmax(const Call& call) { return one(call.softmax(in_type(call, call.tensor("self")), call.integer("dim"))); }
Values mean(const Call& call) { return reduced(call, ReduceKind::mean); }
Values sum(const Call& call) { return reduced(call, ReduceKind::sum); }
Values amax(const Call& call) { return reduced(call, ReduceKind::max); }
Values amin(const Call& call) {
  return one(call.least(call.tensor("self"), call.integers("dim", {}), call.flag("keepdim")));
}
// The largest of a row, and its place.
Values max_with_place(const Call& call) {
  const NodeId x = call.tensor("self");
  const int64_t axis = call.integer("dim");
  const bool keep = call.flag("keepdim");
  return several({call.reduce(ReduceKind::max, x, {axis}, keep), call.arg_max(x, axis, keep)});
}
Values min_with_place(const Call& call) {
  const NodeId x = call.tensor("self");
  const int64_t axis = call.integer("dim");
  const bool keep = call.flag("keepdim");
  return several({call.least(x, {axis}, keep), call.arg_max(call.turned(x), axis, keep)});
}
// Whether one of the elements is true; all are where none is false.
Values any(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId truth =
      call.dtype(x) == DType::boolean ? x : call.binary(BinaryKind::ne, x, call.scalar(0, call.dtype(x)));
  const NodeId largest =
      call.reduce(ReduceKind::max, call.cast(truth, DType::f32), call.integers("dim", {}), call.flag("keepdim"));
  return one(call.cast(largest, DType::boolean));
}
Values all(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId is_false = call.binary(BinaryKind::eq, x, call.scalar(0, call.dtype(x)));
  const NodeId largest =
      call.reduce(ReduceKind::max, call.cast(is_false, DType::f32), call.integers("dim", {}), call.flag("keepdim"));
  return one(call.unary(UnaryKind::logical_not, call.cast(largest, DType::boolean)));
}

Values argmax(const Call& call) {
  const NodeId x = call.tensor("self");
  if (call.has("dim")) return one(call.arg_max(x, call.integer("dim"), call.flag("keepdim")));
  return one(call.arg_max(call.reshape(x, Shape{call.type(x).elements()}), 0, false));
}
Values argmin(const Call& call) {
  const NodeId x = call.turned(call.tensor("self"));
  if (call.has("dim")) return one(call.arg_max(x, call.integer("dim"), call.flag("keepdim")));
  return one(call.arg_max(call.reshape(x, Shape{call.type(x).elements()}), 0, false));
}
Values topk(const Call& call) {
  const auto top =
      call.top(call.tensor("self"), call.integer("k"), call.integer("dim", -1), !call.flag("largest", true));
  return several({top.values, top.places});
}
// Integers are multiplied as i64.
Values prod(const Call& call) {
  NodeId x = in_type(call, call.tensor("self"));
  if (!is_float(call.dtype(x))) x = call.cast(x, DType::i64);
  return one(call.product(x, call.integers("dim", {}), call.flag("keepdim")));
}
Values cumprod(const Call& call) {
  NodeId x = in_type(call, call.tensor("self"));
  if (!is_float(call.dtype(x))) x = call.cast(x, DType::i64);
  return one(call.running_product(x, call.integer("dim")));
}
Values log_sum_exp(const Call& call) {
  const NodeId x = in_type(call, call.tensor("self"));
  return one(call.log_sum_exp(x, call.integers("dim", {}), call.flag("keepdim")));
}
Values var(const Call& call) {
  return one(variance(call, call.tensor("self"), call.integers("dim", {}), call.number("correction", 1),
                      call.flag("keepdim")));
}
Values var_of_axes(const Call& call) {
  return one(variance(call, call.tensor("self"), call.integers("dim", {}), call.flag("unbiased", true) ? 1 : 0,
                      call.flag("keepdim")));
}
Values std_of_axes(const Call& call) {
  const double correction = call.find("unbiased") ? (call.flag("unbiased") ? 1 : 0) : call.number("correction", 1);
  return one(call.unary(UnaryKind::sqrt, variance(call, call.tensor("self"), call.integers("dim", {}), correction,
                                                  call.flag("keepdim"))));
}
// How many of the bounds, which ascend, lie below each element; `right`: or at it.
Values bucketize(const Call& call) {
  const NodeId x = call.unsqueeze(call.tensor("self"), -1), bounds = call.tensor("boundaries");
  const DType type = exported::promoted(call.dtype(x), call.dtype(bounds));
  const NodeId lies =
      call.binary(call.flag("right") ? BinaryKind::le : BinaryKind::lt, call.cast(bounds, type), call.cast(x, type));
  const NodeId count = call.reduce(ReduceKind::sum, call.cast(lies, DType::i64), {-1}, false);
  return one(call.cast(count, call.flag("out_int32") ? DType::i32 : DType::i64));
}
Values cumsum(const Call& call) {
  const NodeId x = in_type(call, call.tensor("self"));
  return one(call.add(CumSum{call.axis(x, call.integer("dim"))}, {x}));
}

// Differences of neighbours, n times; `prepend` and `append` stand at the ends.
Values diff(const Call& call) {
  NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", -1));
  std::vector<NodeId> parts{x};
  if (const auto ahead = call.optional_tensor("prepend")) parts.insert(parts.begin(), *ahead);
  if (const auto behind = call.optional_tensor("append")) parts.push_back(*behind);
  x = call.concat(parts, at);
  for (int64_t i = 0; i < call.integer("n", 1); ++i) {
    const int64_t extent = call.shape(x)[at];
    x = call.binary(BinaryKind::sub, call.slice(x, at, 1, extent),
                    call.slice(x, at, 0, std::max<int64_t>(0, extent - 1)));
  }
  return one(x);
}

Values vector_norm(const Call& call) {
  if (call.number("ord", 2) != 2) refuse("a norm of order {}, wanted 2", call.number("ord"));
  const NodeId squares = call.unary(UnaryKind::square, in_type(call, call.tensor("self")));
  return one(call.unary(UnaryKind::sqrt,
                        call.reduce(ReduceKind::sum, squares, call.integers("dim", {}), call.flag("keepdim"))));
}

}  // namespace rung::pt2::operators
