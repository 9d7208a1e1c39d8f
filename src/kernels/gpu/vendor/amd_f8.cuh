// Floats of 8 bits on CDNA: CDNA 3 converts FNUZ's formats, and CDNA 4 OCP's, two at a time; CDNA 2 converts none.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/vendor/software_f8.cuh"

namespace rung::gpu {

#ifdef __gfx90a__

inline constexpr bool kFnuz = false;
template <class F>
__device__ inline uint32_t pack_4(float4 x) {
  return software_pack_4<F>(x);
}
template <class F>
__device__ inline float4 unpack_4(uint32_t codes) {
  return software_unpack_4<F>(codes);
}

#else

#ifdef __gfx942__
inline constexpr bool kFnuz = true;
#else
inline constexpr bool kFnuz = false;
#endif

// Limits x to the format's range: the conversion gives NaN or infinity for larger values, unless a wave's mode is set.
template <class F>
__device__ inline float saturated(float x) {
  constexpr float kMost = __is_same(F, f8e5m2) ? 57344.0f : kFnuz ? 240.0f : 448.0f;
  return x != x ? x : __builtin_amdgcn_fmed3f(x, -kMost, kMost);
}
template <class F>
__device__ inline uint32_t pack_4(float4 x) {
  const float y[] = {saturated<F>(x.x), saturated<F>(x.y), saturated<F>(x.z), saturated<F>(x.w)};
  int word = 0;
  if constexpr (__is_same(F, f8e4m3)) {
    word = __builtin_amdgcn_cvt_pk_fp8_f32(y[0], y[1], word, false);
    return static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_fp8_f32(y[2], y[3], word, true));
  } else {
    word = __builtin_amdgcn_cvt_pk_bf8_f32(y[0], y[1], word, false);
    return static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_bf8_f32(y[2], y[3], word, true));
  }
}
template <class F>
__device__ inline float4 unpack_4(uint32_t codes) {
  const int word = static_cast<int>(codes);
  if constexpr (__is_same(F, f8e4m3)) {
    const auto low = __builtin_amdgcn_cvt_pk_f32_fp8(word, false), high = __builtin_amdgcn_cvt_pk_f32_fp8(word, true);
    return {low[0], low[1], high[0], high[1]};
  } else {
    const auto low = __builtin_amdgcn_cvt_pk_f32_bf8(word, false), high = __builtin_amdgcn_cvt_pk_f32_bf8(word, true);
    return {low[0], low[1], high[0], high[1]};
  }
}

#endif

}  // namespace rung::gpu
