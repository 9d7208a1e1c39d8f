// The attributes by which ONNX's convolutions and poolings place their windows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// One number for each axis behind the channels.
struct WindowAttributes {
  std::vector<int64_t> window, stride, dilation, before, after;
  std::string auto_pad;  // NOTSET, VALID, SAME_UPPER or SAME_LOWER
  size_t axes() const { return window.size(); }
  bool is_same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
  // Puts `zeros` around an axis, half at each end, an odd one by auto_pad.
  void pad(size_t axis, int64_t zeros);
  exported::Emit::WindowCall windows() const {
    return {.stride = stride, .dilation = dilation, .before = before, .after = after};
  }
};

// Throws where lists are not one number for each axis of x [B,C,...], or numbers make no sense.
WindowAttributes window_attributes(const Call& call, NodeId x, std::vector<int64_t> window);
// Sets the zeros of auto_pad: as many results as strides fit into the axis.
void pad_for_same(const Call& call, NodeId x, WindowAttributes& attributes);

// The sizes of the windows of weights [O,C/groups,...] over x [B,C,...].
std::vector<int64_t> taps_of(const Call& call, NodeId x, NodeId w);
// A convolution of x with w, without a bias, by the call's attributes.
exported::Emit::ConvolutionCall described_convolution(const Call& call, NodeId x, NodeId w);
// A pooling of x by the call's attributes.
exported::Emit::PoolCall described_pool(const Call& call, NodeId x, ReduceKind kind);
// All axes behind the channels.
std::vector<int64_t> axes_of_places(const Call& call, NodeId x);

}  // namespace rung::onnx
