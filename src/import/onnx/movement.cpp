// Operators of ONNX graphs that move elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

struct Backwards {
  int axis;
  int64_t begin, end, step;
};

// Elements from `begin` down to the one before `end`, both cut to the axis.
NodeId sliced_backwards(const Call& call, NodeId x, const Backwards& way) {
  const int64_t extent = call.shape(x)[way.axis];
  const auto place = [extent](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, -1, extent - 1); };
  const int64_t step = std::max(way.step, -exported::kMostMade);
  std::vector<int64_t> places;
  const int64_t last = way.end < -extent ? -1 : place(way.end);
  for (int64_t i = place(way.begin); i > last; i += step) places.push_back(i);
  const Tensor list = Tensor::of<int64_t>({static_cast<int64_t>(places.size())}, places);
  return call.add(Gather{way.axis}, {x, call.literal(list)});
}

}  // namespace

// A 0 keeps the operand's extent, unless allowzero says otherwise.
Outputs reshape(const Call& call) {
  const NodeId x = call[0];
  std::vector<int64_t> to = call.integers_of(1);
  if (call.integer("allowzero", 0) == 0)
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] != 0) continue;
      if (i >= static_cast<size_t>(call.rank(x))) refuse("a 0 at axis {} of {}", i, call.type(x));
      to[i] = call.shape(x)[static_cast<int>(i)];
    }
  return {call.reshape(x, to)};
}

Outputs flatten(const Call& call) {
  const NodeId x = call[0];
  const int64_t axis = call.integer("axis", 1);
  const int first = axis == call.rank(x) ? call.rank(x) : call.axis(x, axis);
  int64_t rows = 1;
  for (int i = 0; i < first; ++i) rows *= call.shape(x)[i];
  return {call.reshape(x, Shape{rows, rows == 0 ? 0 : call.type(x).elements() / rows})};
}

Outputs transpose(const Call& call) {
  const NodeId x = call[0];
  std::vector<int64_t> order = call.integers("perm");
  if (order.empty())
    for (int i = call.rank(x) - 1; i >= 0; --i) order.push_back(i);
  return {call.transpose(x, call.dims(order))};
}

Outputs squeeze(const Call& call) {
  const NodeId x = call[0];
  std::vector<int64_t> axes = call.axes(1);
  for (int64_t axis : axes)
    if (call.shape(x)[call.axis(x, axis)] != 1) refuse("axis {} of {}, wanted one of 1", axis, call.type(x));
  if (axes.empty())
    for (int i = 0; i < call.rank(x); ++i) axes.push_back(i);
  return {call.squeeze(x, axes)};
}

Outputs unsqueeze(const Call& call) {
  NodeId x = call[0];
  std::vector<int64_t> axes = call.axes(1);
  const int rank = call.rank(x) + static_cast<int>(axes.size());
  for (int64_t& axis : axes) axis = value_or_throw(normalize_axis(axis, rank));
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end())
    refuse("axis {} is given twice", *std::ranges::adjacent_find(axes));
  for (int64_t axis : axes) x = call.unsqueeze(x, axis);
  return {x};
}

// Broadcast of both, as an extent of 1 takes the operand's.
Outputs expand(const Call& call) {
  const std::vector<int64_t> to = call.integers_of(1);
  return {call.broadcast(call[0], value_or_throw(broadcast(call.shape(call[0]), call.dims(to))))};
}

Outputs tile(const Call& call) {
  NodeId x = call[0];
  const std::vector<int64_t> repeats = call.integers_of(1);
  if (repeats.size() != static_cast<size_t>(call.rank(x))) refuse("got {} repeats of {}", repeats.size(), call.type(x));
  for (int i = 0; i < call.rank(x); ++i)
    if (const int64_t times = repeats[static_cast<size_t>(i)]; times != 1) x = call.repeat(x, i, times);
  return {x};
}

Outputs concat(const Call& call) {
  std::vector<NodeId> parts;
  for (size_t i = 0; i < call.count(); ++i) parts.push_back(call[i]);
  return {call.concat(parts, call.integer("axis"))};
}

Outputs slice(const Call& call) {
  NodeId x = call[0];
  const bool as_inputs = call.has(1);
  const auto starts = as_inputs ? call.integers_of(1) : call.integers("starts");
  const auto ends = as_inputs ? call.integers_of(2) : call.integers("ends");
  auto axes = as_inputs ? (call.has(3) ? call.integers_of(3) : std::vector<int64_t>()) : call.integers("axes");
  const auto steps = call.has(4) ? call.integers_of(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    refuse("got {} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(), axes.size(), steps.size());
  for (size_t i = 0; i < starts.size(); ++i)
    x = steps[i] < 0 ? sliced_backwards(call, x, {call.axis(x, axes[i]), starts[i], ends[i], steps[i]})
                     : call.slice(x, axes[i], starts[i], ends[i], steps[i]);
  return {x};
}

Outputs split(const Call& call) {
  const NodeId x = call[0];
  const int axis = call.axis(x, call.integer("axis", 0));
  std::vector<int64_t> sizes = call.has(1) ? call.integers_of(1) : call.integers("split");
  if (sizes.empty()) {
    const auto parts = call.integer("num_outputs", static_cast<int64_t>(call.node().outputs.size()));
    const int64_t extent = call.shape(x)[axis];
    if (parts < 1 || parts > std::max<int64_t>(1, extent)) refuse("got {} parts of {}", parts, extent);
    const int64_t size = (extent + parts - 1) / parts;
    for (int64_t begin = 0, i = 0; i < parts; ++i, begin += size)
      sizes.push_back(std::max<int64_t>(0, std::min(size, extent - begin)));
  }
  return call.split(x, axis, sizes);
}

// Indices count from the front unless they are constants: one that an input gives and that is negative is an error of
// the run.
Outputs gather(const Call& call) { return {call.gather(call[0], call[1], call.integer("axis", 0))}; }

Outputs gather_elements(const Call& call) { return {call.gather_elements(call[0], call[1], call.integer("axis", 0))}; }

// The last axis of the indices says the place along the first axes of x, which become one.
Outputs gather_nd(const Call& call) {
  const NodeId x = call[0], indices = call[1];
  const int64_t batches = call.integer("batch_dims", 0);
  const int64_t count = call.rank(indices) == 0 ? 0 : call.shape(indices).back();
  if (batches < 0 || batches >= std::min(call.rank(x), call.rank(indices)) || count < 1 ||
      count > call.rank(x) - batches)
    refuse("places along {} axes of {} behind {} of batches", count, call.type(x), batches);
  std::vector<std::optional<NodeId>> places;
  for (int i = 0; i < batches; ++i) places.emplace_back(call.counted(call.shape(x)[i], i, call.rank(indices) - 1));
  for (int64_t i = 0; i < count; ++i) places.emplace_back(call.cast(call.select_index(indices, -1, i), DType::i64));
  return {call.index(x, places)};
}

Outputs trilu(const Call& call) {
  const int64_t diagonal = call.has(1) ? call.integer_of(1) : 0;
  return {call.triangle(call[0], call.integer("upper", 1) == 0, diagonal)};
}

}  // namespace rung::onnx::operators
