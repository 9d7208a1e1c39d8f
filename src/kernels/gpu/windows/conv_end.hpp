// The end of a convolution, behind its products, in the arguments of all its kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/op_kinds.hpp"
#include "kernels/clipped_line.hpp"

namespace rung::gpu {

// out = tail(last(activation(products * factors + bias) + residual)); the residual and out are dense, and the factors
// stand as the bias does.
struct ConvEnd {
  uint64_t factors = 0, bias = 0, residual = 0, out = 0;  // addresses; but for out, 0: none
  int64_t bias_stride = 0;                                // elements
  DType bias_type{}, residual_type{}, out_type{};
  Activation activation = Activation::none, last = Activation::none;
  bool has_tail = false;
  ClippedLine tail;
};

}  // namespace rung::gpu
