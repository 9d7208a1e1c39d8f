// A linear problem with random operands, its result by a plain f64 loop, and one row's result, for the tests of all
// rows; and problems alone, for those that are asked about and not run.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kernels/cpu/kernel.hpp"

namespace rung::cpu {

struct LinearCase {
  int64_t m = 1, n = 1, k = 1;
  DType x = DType::f32, w = DType::f32, out = DType::f32;
  Activation activation = Activation::none;
  bool bias = false, residual = false, gated = false;
  int64_t x_gap = 0;         // elements between rows of x, and of the residual
  DType extra = DType::f32;  // of bias and residual
  // Operands of i8 have scales, and the products of two such are exact.
  int threads = 1;
  std::map<std::string, int64_t, std::less<>> params;
  std::string text() const;
};

// The operands as values; stored ones are rounded to their types first, so both sides compute from the same numbers.
struct LinearData {
  std::vector<float> x, w, bias, residual;  // x and residual without gaps
  std::vector<float> scale, x_scale;        // empty: there are none
  std::vector<double> expected;
  std::vector<double> magnitude;  // of each result, the scale of its rounding errors: sum of |x w|, or of i8 |sum|
};

Problem problem_of(const LinearCase& c);
LinearData make_data(const LinearCase& c);
// Runs the row `times` times on a team; each run's bytes of the output.
std::vector<std::vector<std::byte>> run_row(const Kernel& row, const LinearCase& c, const LinearData& data, int times);
// Element i of a run's bytes.
double value_at(const std::vector<std::byte>& bytes, DType type, size_t i);
// Whether every element is within what the types and the length of k explain; else says which is not.
std::string compare(const LinearCase& c, const LinearData& data, const std::vector<std::byte>& bytes, bool rounds_x);

}  // namespace rung::cpu

namespace rung::gpu {

// In bf16 with constant weights, as rows for few tokens and for many take it; a gated one has an activation.
Problem layer(int64_t m, int64_t n, int64_t k, bool gated = false);
// With its first heads rotated.
Problem rotated(Problem plain, int64_t heads, int64_t width);

}  // namespace rung::gpu
