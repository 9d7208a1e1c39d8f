// Reductions of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

Values reduced(const Call& call, ReduceKind kind) {
  NodeId x = call.in_asked_type(call.tensor("self"));
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
  return one(call.log_softmax(call.in_asked_type(call.tensor("self")), call.integer("dim")));
}
Values softmax(const Call& call) {
  return one(call.softmax(call.in_asked_type(call.tensor("self")), call.integer("dim")));
}
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
  NodeId x = call.in_asked_type(call.tensor("self"));
  if (!is_float(call.dtype(x))) x = call.cast(x, DType::i64);
  return one(call.product(x, call.integers("dim", {}), call.flag("keepdim")));
}
Values cumprod(const Call& call) {
  NodeId x = call.in_asked_type(call.tensor("self"));
  if (!is_float(call.dtype(x))) x = call.cast(x, DType::i64);
  return one(call.running_product(x, call.integer("dim")));
}
Values log_sum_exp(const Call& call) {
  const NodeId x = call.in_asked_type(call.tensor("self"));
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
namespace {

double correction_of(const Call& call) {
  return call.has("unbiased") ? (call.flag("unbiased") ? 1 : 0) : call.number("correction", 1);
}

}  // namespace

Values var_mean(const Call& call) {
  const NodeId x = call.tensor("self");
  const std::vector<int64_t> axes = call.integers("dim", {});
  const bool keep = call.flag("keepdim");
  return several({variance(call, x, axes, correction_of(call), keep), call.reduce(ReduceKind::mean, x, axes, keep)});
}
Values std_mean(const Call& call) {
  const Values both = var_mean(call);
  return several({call.unary(UnaryKind::sqrt, both[0].node()->id), both[1].node()->id});
}
namespace {

// Returns how many of the bounds, which ascend, lie below each element; `right`: or at it.
Values places_among(const Call& call, NodeId bounds, NodeId x, bool right) {
  const DType type = exported::promoted(call.dtype(x), call.dtype(bounds));
  const NodeId lies = call.binary(right ? BinaryKind::le : BinaryKind::lt, call.cast(bounds, type),
                                  call.cast(call.unsqueeze(x, -1), type));
  const NodeId count = call.reduce(ReduceKind::sum, call.cast(lies, DType::i64), {-1}, false);
  return one(call.cast(count, call.flag("out_int32") ? DType::i32 : DType::i64));
}

}  // namespace

// Where bounds stand in rows, each row's elements are compared with its own.
Values searchsorted(const Call& call) {
  const NodeId bounds = call.tensor("sorted_sequence");
  if (call.has("sorter")) refuse("bounds in the order of a sorter");
  const bool right = call.flag("right") || call.text("side", "left") == "right";
  return places_among(call, call.rank(bounds) > 1 ? call.unsqueeze(bounds, -2) : bounds, call.tensor("self"), right);
}
Values bucketize(const Call& call) {
  return places_among(call, call.tensor("boundaries"), call.tensor("self"), call.flag("right"));
}
Values cumsum(const Call& call) {
  const NodeId x = call.in_asked_type(call.tensor("self"));
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

// How many elements are not 0.
Values count_nonzero(const Call& call) {
  const NodeId x = call.tensor("self");
  const NodeId counted = call.cast(call.binary(BinaryKind::ne, x, call.scalar(0, call.dtype(x))), DType::i64);
  return one(call.reduce(ReduceKind::sum, counted, call.integers("dim", {}), false));
}
// How many elements lie in each of equal parts of a range; the last part has its end.
Values histc(const Call& call) {
  const NodeId x = call.tensor("self");
  const int64_t bins = call.integer("bins", 100), count = call.type(x).elements();
  const double least = call.number("min", 0), most = call.number("max", 0);
  if (!(least < most)) refuse("a histogram from {} to {}: both ends, apart, are wanted", least, most);
  if (bins < 1 || bins > exported::kMostMade / std::max<int64_t>(count, 1)) refuse("{} parts", bins);
  const NodeId flat = call.reshape(x, Shape{count, 1});
  const auto number = [&](double value) { return call.scalar(value, call.dtype(x)); };
  const NodeId scaled = call.binary(
      BinaryKind::div, call.scale(call.binary(BinaryKind::sub, flat, number(least)), static_cast<double>(bins)),
      number(most - least));
  const NodeId last = call.binary(BinaryKind::eq, flat, number(most));
  const NodeId part =
      call.select(last, number(static_cast<double>(bins - 1)), call.rounded(scaled, exported::Rounding::down));
  const NodeId lies = call.binary(BinaryKind::eq, part, call.cast(call.counted(bins, 1, 2), call.dtype(x)));
  return one(call.reduce(ReduceKind::sum, call.cast(lies, call.dtype(x)), {0}, false));
}
Values aminmax(const Call& call) {
  const NodeId x = call.tensor("self");
  const std::vector<int64_t> axes = call.integers("dim", {});
  const bool keep = call.flag("keepdim");
  return several({call.least(x, axes, keep), call.reduce(ReduceKind::max, x, axes, keep)});
}
// The middle element in order, the lower one of two, and its place.
Values median_with_place(const Call& call) {
  const NodeId x = call.tensor("self");
  const int at = call.axis(x, call.integer("dim", -1));
  const int64_t middle = (call.shape(x)[at] - 1) / 2;
  const auto top = call.top(x, middle + 1, at, true);
  const auto last = [&](NodeId all) {
    const NodeId one_row = call.select_index(all, at, middle);
    return call.flag("keepdim") ? call.unsqueeze(one_row, at) : one_row;
  };
  return several({last(top.values), last(top.places)});
}
Values median(const Call& call) {
  const NodeId x = call.tensor("self"), flat = call.reshape(x, Shape{call.type(x).elements()});
  const int64_t middle = (call.type(x).elements() - 1) / 2;
  return one(call.select_index(call.top(flat, middle + 1, 0, true).values, 0, middle));
}
// NaN counts as nothing.
Values nansum(const Call& call) {
  const NodeId x = call.in_asked_type(call.tensor("self"));
  const NodeId known = call.select(call.binary(BinaryKind::ne, x, x), call.scalar(0, call.dtype(x)), x);
  return one(call.reduce(ReduceKind::sum, known, call.integers("dim", {}), call.flag("keepdim")));
}

}  // namespace rung::pt2::operators
