// Products of fragments of 8-bit floats by CDNA's matrix instructions, 64 bytes of K at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/cdna/matrix.cuh"

namespace rung::gpu {

// c[16, 16] += a[16, 64] b[64, 16]; lanes hold a, b and c as for other types.
template <>
__device__ inline void multiply_add_deep<f8e4m3>(FragmentC& c, const uint4& a, const uint4& b) {
#ifdef __gfx90a__
  const uint32_t x[] = {a.x, a.y, a.z, a.w}, y[] = {b.x, b.y, b.z, b.w};  // bf16 has all of their values
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 from_x = unpack_4<f8e4m3>(x[i]), from_y = unpack_4<f8e4m3>(y[i]);
    multiply_add_16<bf16>(&c, {{pack<bf16>(from_x.x, from_x.y), pack<bf16>(from_x.z, from_x.w)}},
                          {{{pack<bf16>(from_y.x, from_y.y), pack<bf16>(from_y.z, from_y.w)}}});
  }
#else
  using Long2 = __attribute__((ext_vector_type(2))) long;
  const Long2 x = __builtin_bit_cast(Long2, a), y = __builtin_bit_cast(Long2, b);
  Float4 sum = __builtin_bit_cast(Float4, c.x);
#pragma unroll
  for (int i = 0; i < 2; ++i) sum = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(y[i], x[i], sum, 0, 0, 0);
  __builtin_memcpy(c.x, &sum, sizeof sum);
#endif
}

}  // namespace rung::gpu
