// The operands that the skinny linear rows of all architectures take.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

constexpr int64_t kSkinnyMostTokens = 64;

// Accepts x and w of one type that the row `takes`, a constant w, and operands that are read several elements at once.
Verdict supports_streamed(const Problem& problem, bool (*takes)(DType) = is_narrow);
// Accepts the same for at most `most_tokens`, and checks a norm's operands and results.
Verdict supports_skinny(const Problem& problem, bool (*takes)(DType) = is_narrow,
                        int64_t most_tokens = kSkinnyMostTokens);

// Checks the operands and results of norms whose squares are means of `run` columns, in f32.
Verdict supports_norms(const Problem& problem, int64_t run);

}  // namespace rung::gpu
