// Pooling of exported programs, axis by axis.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;

constexpr int64_t kMostTaps = 256;

// One number for all axes, or one for each; none: `left_out`.
int64_t at_axis(const std::vector<int64_t>& values, int axis, int axes, int64_t left_out) {
  if (values.empty()) return left_out;
  if (values.size() == 1) return values[0];
  if (values.size() != static_cast<size_t>(axes)) refuse("got {} numbers for {} axes", values.size(), axes);
  return values[static_cast<size_t>(axis)];
}

// The largest of each window, or its sum.
NodeId pooled(const Call& call, int axes, BinaryKind kind, double outside) {
  NodeId x = call.tensor("self");
  const auto windows = call.integers("kernel_size"), steps = call.integers("stride", {});
  const auto widths = call.integers("padding", {}), dilations = call.integers("dilation", {});
  if (call.flag("ceil_mode")) refuse("windows that reach beyond the padding (ceil_mode)");
  if (call.rank(x) < axes) refuse("windows of {} axes over {}", axes, call.type(x));
  for (int i = 0; i < axes; ++i) {
    const int at = call.rank(x) - axes + i;
    const int64_t window = at_axis(windows, i, axes, 1), step = at_axis(steps, i, axes, window);
    const int64_t width = at_axis(widths, i, axes, 0), dilation = at_axis(dilations, i, axes, 1);
    if (window < 1 || window > kMostTaps || step < 1 || width < 0 || dilation < 1)
      refuse("a window of {} in steps of {} with padding {} and dilation {}", window, step, width, dilation);
    x = call.padded(x, at, width, width, outside);
    const int64_t results = (call.shape(x)[at] - dilation * (window - 1) - 1) / step + 1;
    if (dilation * (window - 1) >= call.shape(x)[at]) refuse("a window of {} over {}", window, call.type(x));
    std::optional<NodeId> all;
    for (int64_t tap = 0; tap < window; ++tap) {
      const int64_t begin = tap * dilation;
      const NodeId seen = call.Emit::slice(x, at, begin, begin + (results - 1) * step + 1, step);
      all = all ? call.binary(kind, *all, seen) : seen;
    }
    x = *all;
  }
  return x;
}

NodeId averaged(const Call& call, int axes) {
  const bool has_padding = std::ranges::any_of(call.integers("padding", {}), [](int64_t width) { return width != 0; });
  if (has_padding && !call.flag("count_include_pad", true)) refuse("averages without their padding");
  double count = 1;
  for (int i = 0; i < axes; ++i) count *= static_cast<double>(at_axis(call.integers("kernel_size"), i, axes, 1));
  if (call.has("divisor_override")) count = call.number("divisor_override");
  return call.scale(pooled(call, axes, BinaryKind::add, 0), 1 / count);
}

// Means of as many equal parts of an axis as results are wanted.
NodeId averaged_to(const Call& call, int axes) {
  NodeId x = call.tensor("self");
  const auto sizes = call.integers("output_size");
  for (int i = 0; i < axes; ++i) {
    const int at = call.rank(x) - axes + i;
    const int64_t extent = call.shape(x)[at], parts = at_axis(sizes, i, axes, extent);
    if (parts < 1 || extent % parts) refuse("means of {} parts of an axis of {}, wanted equal parts", parts, extent);
    Shape apart = call.shape(x);
    apart[at] = parts;
    apart.insert(at + 1, extent / parts);
    x = call.reduce(ReduceKind::mean, call.reshape(x, apart), {at + 1}, false);
  }
  return x;
}

}  // namespace

Values max_pool1d(const Call& call) { return one(pooled(call, 1, BinaryKind::max, -INFINITY)); }
Values max_pool2d(const Call& call) { return one(pooled(call, 2, BinaryKind::max, -INFINITY)); }
Values avg_pool1d(const Call& call) { return one(averaged(call, 1)); }
Values avg_pool2d(const Call& call) { return one(averaged(call, 2)); }
Values adaptive_avg_pool1d(const Call& call) { return one(averaged_to(call, 1)); }
Values adaptive_avg_pool2d(const Call& call) { return one(averaged_to(call, 2)); }

}  // namespace rung::pt2::operators
