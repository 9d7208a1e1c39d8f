// The arguments of strided copies, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// The nest's positions and strides count units of 1, 2, 4, 8 or 16 bytes: operand 0 is read, operand 1 is written.
struct CopyArguments {
  uint64_t from, to;
  Nest<2> nest;
};

// Copies that one launch makes, each by blocks of its own.
constexpr size_t kCopiesTogether = 4;
struct CopiesArguments {
  CopyArguments copies[kCopiesTogether];
};

}  // namespace rung::gpu
