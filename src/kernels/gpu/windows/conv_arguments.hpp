// The arguments of conv, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

struct ConvArguments {
  uint64_t x, w;  // addresses
  ConvEnd end;
  WindowAxis axes[kWindowAxes];
  int64_t x_batch, x_channel, w_row, w_channel;   // strides in elements
  uint32_t channels, rows_of_group, rows, count;  // channels: of a group; count: elements of the result
  bool transposed;
  DType x_type, w_type;
};

}  // namespace rung::gpu
