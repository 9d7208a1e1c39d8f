// A linear problem read out of its operands, as every linear row needs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

struct LinearShape {
  int64_t m = 0, n = 0, k = 0;         // n: columns of the result
  int64_t w_rows = 0;                  // n, or 2 n when gated
  int bias_at = -1, residual_at = -1;  // operand indices; -1: none
  explicit LinearShape(const Problem& problem);
};

// What all rows but the reference want: rows of one stride for x and residual, dense w and bias, float types that
// `known` accepts.
Verdict supports_linear(const Problem& problem, bool (*known)(DType));
inline bool f32_or_bf16(DType type) { return type == DType::f32 || type == DType::bf16; }

}  // namespace rung
