// Reads a linear layer's prologue and epilogue from its op and operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr int64_t kSquares = 4;  // f32 squares that are read together, as 16 bytes

LinearPrologue prologue_of(const Call& call);
LinearEpilogue epilogue_of(const Call& call);

}  // namespace rung::gpu
