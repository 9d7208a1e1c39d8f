// The arguments of conv2d, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

struct Conv2dArguments {
  uint64_t x, w, bias, out;
  int64_t x_strides[4], w_strides[4], bias_stride;
  uint32_t channels, height, width;                     // of a window
  uint32_t out_channels, out_height, out_width, count;  // count: elements of the result
  uint32_t stride;
  DType x_type, w_type, bias_type, out_type;
};

}  // namespace rung::gpu
