// Products of 16-bit fragments 32 deep by CDNA's matrix instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

constexpr uint32_t kDeep = 32;       // columns of K that one call takes
constexpr uint32_t kDeepOfLane = 8;  // neighbours that a lane has of them, 16 bytes

// c[16, 16] += a[16, 32] b[32, 16]: lane l has the 8 elements from k = 8 (l / 16) on of row l % 16 of a and of column
// l % 16 of b, and c as portable.cuh says. Where an instruction takes 16 of K, two share them: which element of K a
// lane holds may be anything that a and b agree on.
template <class T>
__device__ inline void multiply_add_deep(FragmentC& c, const uint4& a, const uint4& b) {
#ifdef __gfx950__
  using Short8 = __attribute__((ext_vector_type(8))) __bf16;
  using Half8 = __attribute__((ext_vector_type(8))) _Float16;
  Float4 sum = __builtin_bit_cast(Float4, c.x);
  if constexpr (__is_same(T, bf16))
    sum = __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(Short8, b), __builtin_bit_cast(Short8, a), sum, 0,
                                                  0, 0);
  else
    sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(Half8, b), __builtin_bit_cast(Half8, a), sum, 0, 0,
                                                 0);
  __builtin_memcpy(c.x, &sum, sizeof sum);
#else
  multiply_add_16<T>(&c, {{a.x, a.y}}, {{{b.x, b.y}}});
  multiply_add_16<T>(&c, {{a.z, a.w}}, {{{b.z, b.w}}});
#endif
}

}  // namespace rung::gpu
