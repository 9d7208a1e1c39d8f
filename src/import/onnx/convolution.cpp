// Convolutions of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/windows.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// Pads so that a transposed convolution has the wanted number of results along an axis.
void pad_to(int64_t wanted, int64_t extent, size_t axis, WindowAttributes& windows, std::vector<int64_t>& extra) {
  const int64_t reach = windows.dilation[axis] * (windows.window[axis] - 1) + 1;
  const int64_t zeros = windows.stride[axis] * (extent - 1) + extra[axis] + reach - wanted;
  windows.pad(axis, std::max<int64_t>(0, zeros));
  if (zeros < 0) extra[axis] -= zeros;
}

}  // namespace

Outputs conv(const Call& call) {
  exported::Emit::ConvolutionCall described = described_convolution(call, call[0], call[1]);
  described.bias = call.optional(2);
  return {call.convolution(described)};
}

// Channels stand behind the other axes, also those of w.
Outputs nhwc_conv(const Call& call) {
  auto described = described_convolution(call, channels_first(call, call[0]), channels_first(call, call[1]));
  described.bias = call.optional(2);
  return {channels_last(call, call.convolution(described))};
}

Outputs conv_transpose(const Call& call) {
  const NodeId x = call[0], w = call[1];
  WindowAttributes windows = window_attributes(call, x, taps_of(call, x, w));
  const size_t axes = windows.axes();
  std::vector<int64_t> extra = call.integers("output_padding", std::vector<int64_t>(axes, 0));
  const auto sizes = call.integers("output_shape", {});
  if (extra.size() != axes || (!sizes.empty() && sizes.size() < axes))
    refuse("a transposed convolution of {} with {} paddings and {} sizes of results", call.type(x), extra.size(),
           sizes.size());
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = call.shape(x)[static_cast<int>(i) + 2];
    if (!sizes.empty())
      pad_to(sizes[sizes.size() - axes + i], extent, i, windows, extra);
    else if (windows.is_same())
      pad_to(extent * windows.stride[i], extent, i, windows, extra);
  }
  return {call.convolution({.x = x,
                            .w = w,
                            .bias = call.optional(2),
                            .windows = windows.windows(),
                            .groups = call.integer("group", 1),
                            .transposed = true,
                            .extra = extra})};
}

}  // namespace rung::onnx::operators
