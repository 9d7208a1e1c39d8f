// Convolutions of exported graphs: patches as an op of their own, others as products with the windows side by side.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "import/exported/emit.hpp"

namespace rung::exported {
namespace {

constexpr int64_t kMostTaps = 1024;   // of a window along an axis
constexpr int64_t kMostNodes = 8192;  // that one convolution becomes

// One number for each of the convolution's axes.
std::vector<int64_t> each(const std::vector<int64_t>& given, size_t axes, int64_t left_out, const char* what) {
  if (given.empty()) return std::vector<int64_t>(axes, left_out);
  if (given.size() == 1) return std::vector<int64_t>(axes, given[0]);
  if (given.size() != axes) refuse("a convolution with {} [{}], wanted {} numbers", what, fmt::join(given, ","), axes);
  return given;
}

bool all(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [=](int64_t value) { return value == wanted; });
}

// A convolution whose numbers are checked and spelled out; x is padded already.
struct Windows {
  const Emit& emit;
  NodeId x, w;
  std::vector<int64_t> stride, dilation;
  int64_t groups;

  int axes() const { return emit.rank(x) - 2; }
  int64_t taps(int axis) const { return emit.shape(w)[axis + 2]; }
  int64_t results(int axis) const {
    const auto at = static_cast<size_t>(axis);
    return (emit.shape(x)[axis + 2] - dilation[at] * (taps(axis) - 1) - 1) / stride[at] + 1;
  }
  // The elements that a tap sees along an axis of the convolution, which stands at axis `at` of `from`.
  NodeId seen(NodeId from, int axis, int at, int64_t tap) const {
    const auto i = static_cast<size_t>(axis);
    const int64_t begin = tap * dilation[i];
    return emit.slice(from, at, begin, begin + (results(axis) - 1) * stride[i] + 1, stride[i]);
  }

  NodeId channels_last(NodeId of) const;
  NodeId channels_first(NodeId of) const;
  NodeId product(std::optional<NodeId> bias) const;
  NodeId each_channel() const;
  NodeId by_groups() const;
};

NodeId Windows::channels_last(NodeId of) const {
  Dims order{0};
  for (int i = 2; i < emit.rank(of); ++i) order.push_back(i);
  order.push_back(1);
  return emit.transpose(of, order);
}
NodeId Windows::channels_first(NodeId of) const {
  Dims order{0, emit.rank(of) - 1};
  for (int i = 1; i < emit.rank(of) - 1; ++i) order.push_back(i);
  return emit.transpose(of, order);
}

// Every window becomes a row, axis by axis: its channels, then the taps of the first axis, then those of the second.
NodeId Windows::product(std::optional<NodeId> bias) const {
  NodeId rows = channels_last(x);
  Dims order{0};
  for (int axis = 0; axis < axes(); ++axis) {
    std::vector<NodeId> parts;
    for (int64_t tap = 0; tap < taps(axis); ++tap) parts.push_back(seen(rows, axis, axis + 1, tap));
    rows = emit.concat(parts, -1);
    order.insert(1, axis + 2);
  }
  order.push_back(1);
  const NodeId matrix = emit.reshape(emit.transpose(w, order), std::vector<int64_t>{emit.shape(w)[0], -1});
  return channels_first(emit.linear(rows, matrix, bias));
}

// One kernel for each channel: the sum over its taps.
NodeId Windows::each_channel() const {
  const int64_t second = axes() == 2 ? taps(1) : 1;
  Shape factor{emit.shape(w)[0]};
  for (int axis = 0; axis < axes(); ++axis) factor.push_back(1);
  std::optional<NodeId> sum;
  for (int64_t tap = 0; tap < taps(0) * second; ++tap) {
    NodeId values = seen(x, 0, 2, tap / second), weight = emit.slice(w, 2, tap / second, tap / second + 1);
    if (axes() == 2) {
      values = seen(values, 1, 3, tap % second);
      weight = emit.slice(weight, 3, tap % second, tap % second + 1);
    }
    const NodeId term = emit.binary(BinaryKind::mul, values, emit.reshape(weight, factor));
    sum = sum ? emit.binary(BinaryKind::add, *sum, term) : term;
  }
  return *sum;
}

NodeId Windows::by_groups() const {
  const auto sources = emit.split_evenly(x, 1, emit.shape(x)[1] / groups);
  const auto kernels = emit.split_evenly(w, 0, emit.shape(w)[0] / groups);
  std::vector<NodeId> results;
  for (size_t i = 0; i < sources.size(); ++i)
    results.push_back(Windows{emit, sources[i], kernels[i], stride, dilation, 1}.product(std::nullopt));
  return emit.concat(results, 1);
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
  const Shape kernel = shape(call.w);
  const int axes = rank(call.x) - 2;
  if (axes < 1 || axes > 2 || kernel.rank() != axes + 2)
    refuse("a convolution of {} with {}, wanted one or two dimensions", type(call.x), type(call.w));
  const auto count = static_cast<size_t>(axes);
  const auto stride = each(call.stride, count, 1, "stride"), dilation = each(call.dilation, count, 1, "dilation");
  const auto before = each(call.before, count, 0, "padding"), after = each(call.after, count, 0, "padding");
  const int64_t channels = shape(call.x)[1], groups = call.groups;
  if (groups < 1 || channels % groups || kernel[0] % groups || kernel[1] * groups != channels)
    refuse("a convolution of {} with {} in {} groups", type(call.x), type(call.w), groups);
  NodeId x = call.x;
  int64_t all_taps = 1, sum_of_taps = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (stride[i] < 1 || dilation[i] < 1 || before[i] < 0 || after[i] < 0)
      refuse("a convolution with stride {}, dilation {} and padding {}, {}", stride[i], dilation[i], before[i],
             after[i]);
    x = padded(x, axis + 2, before[i], after[i], 0);
    const int64_t window = kernel[axis + 2], extent = shape(x)[axis + 2];
    if (window < 1 || window > kMostTaps || dilation[i] > extent || dilation[i] * (window - 1) >= extent)
      refuse("a window of {} over {} elements", window, extent);
    all_taps *= window;
    sum_of_taps += window;
  }
  const bool single = groups == channels && kernel[0] == channels && channels > 1;
  if (single ? all_taps > kMostNodes : groups > kMostNodes / sum_of_taps)
    refuse("a convolution with {} in {} groups, wanted smaller windows", type(call.w), groups);
  const bool patches = axes == 2 && groups == 1 && kernel[2] == kernel[3];
  if (patches && all(stride, kernel[2]) && all(dilation, 1)) {
    const NodeId bias = call.bias ? *call.bias : filled({kernel[0]}, 0, dtype(x));
    return add(Conv2d{.stride = kernel[2]}, {x, call.w, bias});
  }
  const Windows windows{*this, x, call.w, stride, dilation, groups};
  if (groups == 1) return windows.product(call.bias);
  const NodeId y = single ? windows.each_channel() : windows.by_groups();
  if (!call.bias) return y;
  Shape places{kernel[0]};
  for (int axis = 0; axis < axes; ++axis) places.push_back(1);
  return binary(BinaryKind::add, y, reshape(*call.bias, places));
}

}  // namespace rung::exported
