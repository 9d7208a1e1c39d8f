// Casts of dense elements from and to the machine's e4m3, four neighbours at a time.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/quads.cuh"
#include "kernels/gpu/quantize/cast_f8_arguments.hpp"

namespace rung::gpu {
namespace {

template <CastF8Config config>
__device__ void cast_f8(const CastF8Arguments& a) {
  using T = Element<config.other>;
  allow_dependents();
  wait_for_producers();
  const int64_t at = (int64_t{blockIdx.x} * kCastF8Threads + threadIdx.x) * 4;
  if (at >= a.count) return;
  if constexpr (config.to_f8) {
    const T* from = in_memory<const T>(a.x) + at;
    float x[4] = {};
    if (at + 4 <= a.count) {
      const float4 all = load4(from);
      in_memory<uint32_t>(a.out)[at / 4] = pack_4<f8e4m3>(all);
      return;
    }
    for (int i = 0; i < a.count - at; ++i) x[i] = to_float(from[i]);
    const uint32_t word = pack_4<f8e4m3>(make_float4(x[0], x[1], x[2], x[3]));
    for (int i = 0; i < a.count - at; ++i) in_memory<uint8_t>(a.out)[at + i] = static_cast<uint8_t>(word >> 8 * i);
  } else {
    T* to = in_memory<T>(a.out) + at;
    if (at + 4 <= a.count) return store4(to, unpack_4<f8e4m3>(in_memory<const uint32_t>(a.x)[at / 4]));
    uint32_t word = 0;
    for (int i = 0; i < a.count - at; ++i)
      word |= static_cast<uint32_t>(in_memory<const uint8_t>(a.x)[at + i]) << 8 * i;
    const float4 x = unpack_4<f8e4m3>(word);
    const float all[] = {x.x, x.y, x.z};
    for (int i = 0; i < a.count - at; ++i) to[i] = from_float<T>(all[i]);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kCastF8Threads) \
      entry(const __grid_constant__ CastF8Arguments a) { cast_f8<CastF8Config{__VA_ARGS__}>(a); }
#include "kernels/gpu/quantize/cast_f8.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
