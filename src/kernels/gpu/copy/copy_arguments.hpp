// The arguments of the strided copy, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// The nest's positions and strides count units of 1, 2, 4, 8 or 16 bytes: operand 0 is read, operand 1 is written.
struct CopyArguments {
  uint64_t from, to;
  Nest<2> nest;
};

}  // namespace rung::gpu
