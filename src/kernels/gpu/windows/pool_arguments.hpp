// The arguments of pool, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/op_kinds.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

constexpr int kPoolThreads = 128;

struct PoolArguments {
  uint64_t x, out, places;  // places: 0: none
  WindowAxis axes[kWindowAxes];
  int64_t x_batch, x_channel;  // strides in elements
  uint32_t channels, count;    // count: elements of the result
  ReduceKind kind;
  DType x_type, out_type;
};

}  // namespace rung::gpu
