// Convolutions and poolings of exported graphs, whose channels stand before the other axes, and elements around an
// axis.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "import/exported/emit.hpp"
#include "ir/windows.hpp"

namespace rung::exported {
namespace {

constexpr int64_t kMostOfWindow = int64_t{1} << 30;  // the op's rule has the same limit

// One number for each axis, as an op has them: none where all are the ones that an op has without them.
Dims listed(const std::vector<int64_t>& given, int axes, int64_t left_out, const char* what) {
  const auto count = static_cast<size_t>(axes);
  if (given.size() > 1 && given.size() != count)
    refuse("windows with {} [{}], wanted {} numbers", what, fmt::join(given, ","), axes);
  if (std::ranges::any_of(given, [](int64_t number) { return number < 0 || number > kMostOfWindow; }))
    refuse("windows with {} [{}], wanted numbers from 0 to {}", what, fmt::join(given, ","), kMostOfWindow);
  if (std::ranges::all_of(given, [=](int64_t number) { return number == left_out; })) return {};
  return given.size() == 1 ? Dims::filled(axes, given[0]) : Dims(given);
}

int64_t at(const Dims& list, int axis, int64_t left_out) { return list.rank() == 0 ? left_out : list[axis]; }

Dims channels_last(int rank) {
  Dims order{0};
  for (int i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return order;
}
Dims channels_first(int rank) {
  Dims order{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) order.push_back(i);
  return order;
}

int axes_of(const Emit& emit, NodeId x) {
  const int axes = emit.rank(x) - 2;
  if (axes < 1 || axes > 3) refuse("windows over {}, wanted one to three axes behind the channels", emit.type(x));
  return axes;
}

// Turns weights [C,O/groups,K...], as transposed convolutions have them in files, into [O,K...,C/groups].
NodeId turned_weights(const Emit& emit, NodeId w, int64_t groups) {
  Shape apart = emit.shape(w), together{groups * apart[1]};
  if (groups < 1 || apart[0] % groups) refuse("a convolution with {} in {} groups", emit.type(w), groups);
  apart[0] /= groups;
  apart.insert(0, groups);
  Dims order{0, 2};
  for (int i = 3; i < apart.rank(); ++i) order.push_back(i), together.push_back(apart[i]);
  order.push_back(1), together.push_back(apart[1]);
  return emit.reshape(emit.transpose(emit.reshape(w, apart), order), together);
}

}  // namespace

NodeId Emit::padded(NodeId x, int64_t at, int64_t before, int64_t after, double value) const {
  const int i = axis(x, at);
  const auto copies = [&](int64_t count) {
    Shape ends = shape(x);
    ends[i] = count;
    return filled(ends, value, dtype(x));
  };
  if (std::max(before, after) > kMostMade || std::min(before, after) < -kMostMade)
    refuse("{} and {} elements around {}", before, after, type(x));
  if (before < 0) x = slice(x, i, -before, shape(x)[i]), before = 0;
  if (after < 0) x = slice(x, i, 0, std::max<int64_t>(0, shape(x)[i] + after)), after = 0;
  std::vector<NodeId> parts{x};
  if (before > 0) parts.insert(parts.begin(), copies(before));
  if (after > 0) parts.push_back(copies(after));
  return concat(parts, i);
}

NodeId Emit::convolution(const ConvolutionCall& call) const {
  const int axes = axes_of(*this, call.x);
  if (rank(call.w) != axes + 2) refuse("a convolution of {} with {}", type(call.x), type(call.w));
  Conv op{.stride = listed(call.windows.stride, axes, 1, "stride"),
          .dilation = listed(call.windows.dilation, axes, 1, "dilation"),
          .before = listed(call.windows.before, axes, 0, "padding"),
          .after = listed(call.windows.after, axes, 0, "padding"),
          .extra = listed(call.extra, axes, 0, "output padding"),
          .groups = call.groups,
          .transposed = call.transposed};
  if (!call.transposed) op.extra = {};
  const NodeId w =
      call.transposed ? turned_weights(*this, call.w, call.groups) : transpose(call.w, channels_last(axes + 2));
  std::vector<NodeId> operands{transpose(call.x, channels_last(axes + 2)), w};
  if (call.bias) op.slots.put(operands, ConvSlot::bias, *call.bias);
  return transpose(add(std::move(op), operands), channels_first(axes + 2));
}

namespace {

// The number of windows along an axis and the elements behind it that they reach: one more window may begin inside of x
// or before it, and end anywhere (`ceil`).
int64_t after_of(const Window& window, bool ceil) {
  if (!ceil) return window.after;
  const int64_t reach = window.dilation * (window.taps - 1) + 1;
  const int64_t spare = window.extent + window.before + window.after - reach;
  if (spare + window.stride - 1 < 0) return window.after;  // not even one that ends behind x begins inside
  int64_t results = (spare + window.stride - 1) / window.stride + 1;
  if ((results - 1) * window.stride >= window.extent + window.before) --results;
  return std::max<int64_t>(0, (results - 1) * window.stride + reach - window.extent - window.before);
}

// How many taps of each window stand inside of x or of the padding, of all axes together: [1,R...,1].
Tensor counts_of(const std::vector<Window>& windows, const Shape& results) {
  Shape shape = results;
  shape[0] = shape[shape.rank() - 1] = 1;
  Tensor counts({DType::f32, shape});
  const auto values = counts.as<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), count = 1;
    for (size_t axis = windows.size(); axis-- > 0;) {
      const Window& window = windows[axis];
      const int64_t extent = results[static_cast<int>(axis) + 1], begin = rest % extent * window.stride;
      const int64_t room = window.extent + window.before + window.after - begin;
      count *= std::min(window.taps, room < 1 ? 0 : (room - 1) / window.dilation + 1);
      rest /= extent;
    }
    values[i] = static_cast<float>(count);
  }
  return counts;
}

}  // namespace

NodeId Emit::divided_by_counts(NodeId sums, const std::vector<Window>& windows) const {
  Shape places = shape(sums);
  places[0] = 1;
  if (places.product() > kMostMade) refuse("averages of {} windows", type(sums));
  const Tensor counts = counts_of(windows, shape(sums));
  const auto values = counts.as<float>();
  if (std::ranges::all_of(values, [&](float value) { return value == values[0]; }))
    return scale(sums, 1 / static_cast<double>(values[0]));
  return binary(BinaryKind::div, sums, cast(literal(counts), dtype(sums)));
}

Emit::Pooled Emit::pool(const PoolCall& call) const {
  const int axes = axes_of(*this, call.x);
  const Dims taps = listed(call.window, axes, 0, "a size");
  if (taps.rank() != axes) refuse("windows of [{}] over {}", fmt::join(call.window, ","), type(call.x));
  Pool op{.kind = call.kind,
          .window = taps,
          .stride = listed(call.windows.stride, axes, 1, "stride"),
          .dilation = listed(call.windows.dilation, axes, 1, "dilation"),
          .before = listed(call.windows.before, axes, 0, "padding"),
          .after = listed(call.windows.after, axes, 0, "padding"),
          .places = call.places};
  const bool counts_padding =
      call.kind == ReduceKind::mean && call.counts_padding && (op.before.rank() > 0 || op.after.rank() > 0);
  std::vector<Window> windows;
  std::vector<int64_t> after;
  for (int axis = 0; axis < axes; ++axis) {
    windows.push_back({.extent = shape(call.x)[axis + 2],
                       .taps = taps[axis],
                       .stride = std::max<int64_t>(1, at(op.stride, axis, 1)),
                       .dilation = std::max<int64_t>(1, at(op.dilation, axis, 1)),
                       .before = at(op.before, axis, 0),
                       .after = at(op.after, axis, 0)});
    after.push_back(after_of(windows.back(), call.ceil));
  }
  op.after = listed(after, axes, 0, "padding");
  if (counts_padding) op.kind = ReduceKind::sum;
  NodeId y = add(std::move(op), {transpose(call.x, channels_last(axes + 2))});
  Pooled pooled;
  if (call.places) pooled.places = transpose(add(NthResult{}, {y}), channels_first(axes + 2));
  if (counts_padding) y = divided_by_counts(y, windows);
  pooled.values = transpose(y, channels_first(axes + 2));
  return pooled;
}

}  // namespace rung::exported
