// A linear problem read out of its operands, as every linear row needs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

struct LinearShape {
  int64_t m = 0, n = 0, k = 0;         // n: columns of the result, as far as there is one value in each
  int64_t w_rows = 0;                  // n, or 2 n when gated
  int bias_at = -1, residual_at = -1;  // operand indices; -1: none
  int cos_at = -1, sin_at = -1, scale_at = -1, squares_at = -1;
  int64_t head = 0, rotated = 0;  // columns of a head, and of all heads that are turned; 0: none is
  explicit LinearShape(const Problem& problem);
};

// What all rows but the fallbacks want: rows of one stride for x, residual, angles and squares, dense w, bias and
// scale, float types that `known` accepts.
Verdict supports_linear_operands(const Problem& problem, bool (*known)(DType));
// The same for rows that know no extended form (Linear::is_extended).
Verdict supports_linear(const Problem& problem, bool (*known)(DType));
// What libraries want besides: rows of x and residual that do not overlap, and sizes that an int holds.
Verdict supports_library(const Problem& problem);
inline bool f32_or_bf16(DType type) { return type == DType::f32 || type == DType::bf16; }

}  // namespace rung
