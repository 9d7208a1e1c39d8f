// Reads the attributes of windows.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/windows.hpp"

#include <algorithm>

namespace rung::onnx {
namespace {

using exported::refuse;

constexpr int64_t kMost = int64_t{1} << 30;

void want_numbers(const std::vector<int64_t>& list, size_t wanted, int64_t least, const char* what) {
  if (list.size() != wanted) refuse("{}: got {} numbers, wanted {}", what, list.size(), wanted);
  for (int64_t number : list)
    if (number < least || number > kMost)
      refuse("{}: got {}, wanted a number from {} to {}", what, number, least, kMost);
}

}  // namespace

void WindowAttributes::pad(size_t axis, int64_t zeros) {
  before[axis] = auto_pad == "SAME_UPPER" ? zeros / 2 : zeros - zeros / 2;
  after[axis] = zeros - before[axis];
}

WindowAttributes window_attributes(const Call& call, NodeId x, std::vector<int64_t> window) {
  const auto axes = static_cast<size_t>(std::max(0, call.rank(x) - 2));
  WindowAttributes out{.window = std::move(window),
                       .stride = call.integers("strides", std::vector<int64_t>(axes, 1)),
                       .dilation = call.integers("dilations", std::vector<int64_t>(axes, 1)),
                       .before = {},
                       .after = {},
                       .auto_pad = call.text("auto_pad", "NOTSET")};
  const auto pads = call.integers("pads", std::vector<int64_t>(2 * axes, 0));
  want_numbers(out.window, axes, 1, "kernel_shape");
  want_numbers(out.stride, axes, 1, "strides");
  want_numbers(out.dilation, axes, 1, "dilations");
  want_numbers(pads, 2 * axes, 0, "pads");
  const bool is_known = out.is_same() || out.auto_pad == "VALID" || out.auto_pad == "NOTSET" || out.auto_pad.empty();
  if (!is_known) refuse("auto_pad: got '{}', wanted NOTSET, VALID, SAME_UPPER or SAME_LOWER", out.auto_pad);
  const bool is_given = !out.is_same() && out.auto_pad != "VALID";
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  out.before = is_given ? std::vector<int64_t>(pads.begin(), middle) : std::vector<int64_t>(axes, 0);
  out.after = is_given ? std::vector<int64_t>(middle, pads.end()) : std::vector<int64_t>(axes, 0);
  return out;
}

void pad_for_same(const Call& call, NodeId x, WindowAttributes& attributes) {
  if (!attributes.is_same()) return;
  for (size_t i = 0; i < attributes.axes(); ++i) {
    const int64_t extent = call.shape(x)[static_cast<int>(i) + 2], stride = attributes.stride[i];
    const int64_t results = (extent + stride - 1) / stride, reach = attributes.dilation[i] * (attributes.window[i] - 1);
    attributes.pad(i, std::max<int64_t>(0, (results - 1) * stride + reach + 1 - extent));
  }
}

std::vector<int64_t> taps_of(const Call& call, NodeId x, NodeId w) {
  if (call.rank(w) != call.rank(x) || call.rank(x) < 3)
    refuse("a convolution of {} with {}", call.type(x), call.type(w));
  std::vector<int64_t> taps(call.shape(w).begin() + 2, call.shape(w).end());
  if (const auto given = call.integers("kernel_shape", taps); given != taps)
    refuse("a convolution with {}, whose kernel_shape differs", call.type(w));
  return taps;
}

exported::Emit::ConvolutionCall described_convolution(const Call& call, NodeId x, NodeId w) {
  WindowAttributes windows = window_attributes(call, x, taps_of(call, x, w));
  pad_for_same(call, x, windows);
  return {.x = x, .w = w, .windows = windows.windows(), .groups = call.integer("group", 1)};
}

exported::Emit::PoolCall described_pool(const Call& call, NodeId x, ReduceKind kind) {
  WindowAttributes windows = window_attributes(call, x, call.integers("kernel_shape"));
  pad_for_same(call, x, windows);
  return {.x = x,
          .kind = kind,
          .window = windows.window,
          .windows = windows.windows(),
          .ceil = call.integer("ceil_mode", 0) != 0};
}

std::vector<int64_t> axes_of_places(const Call& call, NodeId x) {
  std::vector<int64_t> axes;
  for (int axis = 2; axis < call.rank(x); ++axis) axes.push_back(axis);
  if (axes.empty()) refuse("a pooling of {}", call.type(x));
  return axes;
}

}  // namespace rung::onnx
