// Reads how a linear layer begins and ends from its op and operands.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_ends.hpp"

namespace rung::gpu {

constexpr int64_t kSquares = 4;                   // f32 in 16 bytes: that many squares are read together
constexpr int64_t kNormed = kSquares * kNormRun;  // and stand for that many columns

LinearPrologue prologue_of(const Call& call);
LinearEpilogue epilogue_of(const Call& call);

}  // namespace rung::gpu
