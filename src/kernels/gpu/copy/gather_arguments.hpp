// The arguments of gather, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/fault.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// Positions are units of 1, 2, 4, 8 or 16 bytes of the result, which is dense.
struct GatherArguments {
  uint64_t x, indices, out, fault;
  Nest<2> nest;        // locates x, in units, and the indices, in elements
  int64_t index_step;  // units of x from one index to the next
  int64_t length;      // indices lie in [0, length)
  DType index_type;
};

}  // namespace rung::gpu
