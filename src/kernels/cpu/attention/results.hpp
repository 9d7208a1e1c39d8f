// The range of an attention's results as they are stored. Included by files compiled for an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::RUNG_ISA {

// Limits results that become i8; a NaN stays one, of which the store makes 0. Other results are as they are.
RUNG_SIMD Vec in_range(const int8_t*, Vec v) { return max(set1(-127.0f), min(set1(127.0f), v)); }
template <class To>
RUNG_SIMD Vec in_range(const To*, Vec v) {
  return v;
}

}  // namespace rung::cpu::RUNG_ISA
