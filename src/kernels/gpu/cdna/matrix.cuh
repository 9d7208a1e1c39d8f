// Products of fragments by CDNA's matrix instructions, 64 bytes of K at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// c[16, 16] += a[16, K] b[K, 16], where K is 32 16-bit floats or 16 f32: lane l has the 16 bytes from byte 16 (l / 16)
// on of row l % 16 of a and of column l % 16 of b, and its part of c as in portable.cuh. Several instructions share
// these bytes if each takes less of K: a lane may hold any elements of K, as long as a and b agree on them.
template <class T>
__device__ inline void multiply_add_deep(FragmentC& c, const uint4& a, const uint4& b) {
  Float4 sum = __builtin_bit_cast(Float4, c.x);
  if constexpr (__is_same(T, float)) {
    const Float4 x = __builtin_bit_cast(Float4, a), y = __builtin_bit_cast(Float4, b);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum = __builtin_amdgcn_mfma_f32_16x16x4f32(y[i], x[i], sum, 0, 0, 0);
    __builtin_memcpy(c.x, &sum, sizeof sum);
  } else {
#ifdef __gfx950__
    using Short8 = __attribute__((ext_vector_type(8))) __bf16;
    using Half8 = __attribute__((ext_vector_type(8))) _Float16;
    if constexpr (__is_same(T, bf16))
      sum = __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(Short8, b), __builtin_bit_cast(Short8, a), sum,
                                                    0, 0, 0);
    else
      sum = __builtin_amdgcn_mfma_f32_16x16x32_f16(__builtin_bit_cast(Half8, b), __builtin_bit_cast(Half8, a), sum, 0,
                                                   0, 0);
    __builtin_memcpy(c.x, &sum, sizeof sum);
#else
    multiply_add_16<T>(&c, {{a.x, a.y}}, {{{b.x, b.y}}});
    multiply_add_16<T>(&c, {{a.z, a.w}}, {{{b.z, b.w}}});
#endif
  }
}

}  // namespace rung::gpu
