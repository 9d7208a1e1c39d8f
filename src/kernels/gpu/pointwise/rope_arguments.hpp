// The arguments of the rotary embedding, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// Positions are single elements of the lower half of x's last axis, or runs of eight; in each operand, the partner in
// the upper half is `partner` elements on.
struct RopeArguments {
  uint64_t base[4];  // x, cos, sin, out
  DType type[4];
  int64_t step[4], partner[4];  // elements between columns, and from a column to its partner
  Nest<4> nest;
};

}  // namespace rung::gpu
