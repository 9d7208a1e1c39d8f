// Powers of two of vectors of scores, by AVX-512's instructions that take an exponent apart and put it back. Included
// by files compiled for an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/simd_math.hpp"

namespace rung::cpu::RUNG_ISA {

inline constexpr float kLog2E = 1.44269504f;

#if defined(__AVX512F__)
// Returns 2^t for t <= 0: full to 8e-8 relative, coarse to 8e-5. Below -115.4, where e^x ends in
// exp_negative() too, it is 0; NaN stays. In loops the full one takes 7 cycles a vector, and exp_negative() 9.
template <Accuracy accuracy = Accuracy::full>
RUNG_SIMD Vec power_of_two(Vec t) {
  const Vec r = _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // t - floor(t)
  Vec y;
  if constexpr (accuracy == Accuracy::coarse) {
    y = fma(set1(0.0780245185f), r, set1(0.226067156f));
    y = fma(y, r, set1(0.695833564f));
    y = fma(y, r, set1(0.999925196f));
  } else {
    y = fma(set1(0.00187757669f), r, set1(0.00898934063f));
    y = fma(y, r, set1(0.0558263175f));
    y = fma(y, r, set1(0.240153611f));
    y = fma(y, r, set1(0.693153083f));
    y = fma(y, r, set1(0.99999994f));
  }
  return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(t, set1(-115.4f), _CMP_NLT_UQ), y, t);  // y 2^floor(t)
}
#endif

}  // namespace rung::cpu::RUNG_ISA
