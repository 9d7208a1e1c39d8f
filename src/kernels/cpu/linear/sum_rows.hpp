// Sums and sizes of runs of f32, for products of halves (strassen.hpp). Included by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

inline void sum_runs(const gemm::RunSum& s) {
  const Vec of_a = set1(s.a_factor), of_b = set1(s.b_factor);
  int64_t i = 0;
  for (; i + kLanes <= s.count; i += kLanes) store(s.to + i, fma(of_b, load(s.b + i), of_a * load(s.a + i)));
  if (i == s.count) return;
  const int rest = static_cast<int>(s.count - i);
  store(s.to + i, fma(of_b, load(s.b + i, rest), of_a * load(s.a + i, rest)), rest);
}

inline void scale_run(float* to, const float* from, float factor, int64_t count) {
  const Vec of_all = set1(factor);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, of_all * load(from + i));
  if (i == count) return;
  const int rest = static_cast<int>(count - i);
  store(to + i, of_all * load(from + i, rest), rest);
}

inline float largest_of_run(const float* x, int64_t count) {
  Ints largest = no_size();
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) largest = larger_size(largest, load(x + i));
  if (i < count) largest = larger_size(largest, load(x + i, static_cast<int>(count - i)));
  return maximum_size(largest);
}

}  // namespace rung::cpu::RUNG_ISA
