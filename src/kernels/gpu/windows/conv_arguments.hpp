// The arguments of conv, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/op_kinds.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

struct ConvArguments {
  uint64_t x, w, bias, residual, out;  // bias, residual: 0: none
  WindowAxis axes[kWindowAxes];
  int64_t x_batch, x_channel, w_row, w_channel, bias_stride;  // strides in elements; the residual is dense
  uint32_t channels, rows_of_group, rows, count;              // channels: of a group; count: elements of the result
  bool transposed;
  Activation activation, last;
  DType x_type, w_type, bias_type, residual_type, out_type;
};

}  // namespace rung::gpu
