// The arguments of the strided copy, on host and device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// Positions of the nest are units of 1, 2, 4, 8 or 16 bytes, and so are its strides: operand 0 is read, 1 written.
struct CopyArguments {
  uint64_t from, to;
  Nest<2> nest;
};

}  // namespace rung::gpu
