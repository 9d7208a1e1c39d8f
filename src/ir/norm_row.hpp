// The row that a linear with norm weights leaves: all that the linears behind an RMS norm of it and the next residual
// sum read, for host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

// Of a row y of n columns, n a multiple of kNormRun, in this order:
//   scaled  n           y in the scale of the norm's weights, which products read
//   high    n           y, rounded to bf16
//   low     n           y - high
//   squares n / 16      means of y^2 over runs of kNormRun columns: their high parts, then their low parts
constexpr int64_t kNormRun = 32;
constexpr int64_t norm_squares(int64_t n) { return n / kNormRun * 2; }
constexpr int64_t norm_row(int64_t n) { return 3 * n + norm_squares(n); }

}  // namespace rung
