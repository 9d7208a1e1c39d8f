// Checks that rows of 8-bit products share, of their operands and results, and the rows of bytes that they copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

// The most products of two integers of 8 bits that a sum of 32 bits holds, whatever they are.
constexpr int64_t kMostIntegerProducts = (int64_t{1} << 17) - 1;

// Checks the operands where x and w have 8-bit type `type`, with scales that are dense, w's constant; or no 8-bit type,
// without scales. `norms`: the slots of norms that the row takes.
Verdict supports_maybe_scaled(const Problem& problem, DType type, const LinearSlots& norms = {});
// Checks that the result has 8 bits, and a factor, only if x has them: of x's type, or a float where x has integers.
Verdict supports_8_bit_result(const Problem& problem);

// Returns whether x, w or the result is of 8 bits.
inline bool has_8_bits(const Problem& problem) {
  return is_quantised(problem.inputs[0].dtype) || is_quantised(problem.inputs[1].dtype) ||
         is_quantised(problem.output.dtype);
}
// Checks for rows that widen values of 8 bits one by one: of i8 or the machine's e4m3, scales dense; no norms.
Verdict supports_widened(const Problem& problem, const GpuInfo& gpu);

// Returns the bytes of a row of w.
inline int64_t row_bytes_of_w(const Problem& problem) {
  return problem.inputs[1].shape.back() * static_cast<int64_t>(size_of(problem.inputs[1].dtype));
}
// Returns whether rows of x and w, which have one type, begin at multiples of 16 bytes and end there.
bool has_box_rows(const Problem& problem);
// Returns x as boxes of that many rows of 128 bytes; 16 bits count as a column.
BoxedMatrix boxes_of_x(const Call& call, uint32_t box_rows);

}  // namespace rung::gpu
