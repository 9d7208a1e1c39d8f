// Operands that the skinny linear rows of all architectures take.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

constexpr int64_t kSkinnyMostTokens = 64;

// x and w of one type that the row `takes`, w constant, operands that can be read several elements together.
Verdict supports_streamed(const Problem& problem, bool (*takes)(DType) = is_narrow);
// The same for few tokens, with what a norm takes and gives.
Verdict supports_skinny(const Problem& problem, bool (*takes)(DType) = is_narrow);

}  // namespace rung::gpu
