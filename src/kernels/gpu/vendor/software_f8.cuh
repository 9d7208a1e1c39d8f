// Floats of 8 bits for machines that do not convert them: OCP's e4m3 and e5m2, by bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rung::gpu {

// A format has the bits of its mantissa, the bias of its exponent, and the codes of its largest number and of infinity
// (0: it has none). All codes above these are NaN.
struct f8e4m3 {
  static constexpr int kMantissaBits = 3, kBias = 7;
  static constexpr uint32_t kMost = 0x7e, kInfinity = 0;
};
struct f8e5m2 {
  static constexpr int kMantissaBits = 2, kBias = 15;
  static constexpr uint32_t kMost = 0x7b, kInfinity = 0x7c;
};

// Returns the bits of the f32 that a normal code without its sign stands for.
template <class F>
__device__ constexpr uint32_t f32_bits_of(uint32_t normal) {
  return (normal << (23 - F::kMantissaBits)) + (uint32_t{127 - F::kBias} << 23);
}

template <class F>
__device__ inline uint32_t f8_from_float(float x) {
  constexpr int kDropped = 23 - F::kMantissaBits;
  constexpr uint32_t kLeastNormal = f32_bits_of<F>(1u << F::kMantissaBits);
  constexpr uint32_t kCarrier = uint32_t{127 + kDropped + 1 - F::kBias} << 23;  // its last place is the least number
  const uint32_t bits = as_bits(x), magnitude = bits & 0x7fffffffu;
  uint32_t code = (magnitude + ((1u << (kDropped - 1)) - 1) + (magnitude >> kDropped & 1)) >> kDropped;
  code -= uint32_t{127 - F::kBias} << F::kMantissaBits;
  if (magnitude < kLeastNormal) code = as_bits(as_float(magnitude) + as_float(kCarrier)) - kCarrier;
  if (magnitude >= f32_bits_of<F>(F::kMost)) code = magnitude > 0x7f800000u ? 0x7fu : F::kMost;
  return code | (bits >> 24 & 0x80u);
}

template <class F>
__device__ inline float f8_to_float(uint32_t code) {
  const uint32_t magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
  // Subnormal and normal codes are scaled alike; the product is exact.
  float x = as_float(magnitude << (23 - F::kMantissaBits)) * as_float(uint32_t{254 - F::kBias} << 23);
  if (magnitude > F::kMost) x = as_float(magnitude == F::kInfinity ? 0x7f800000u : 0x7fc00000u);
  return as_float(as_bits(x) | sign);
}

template <class F>
__device__ inline uint32_t software_pack_4(float4 x) {
  return f8_from_float<F>(x.x) | f8_from_float<F>(x.y) << 8 | f8_from_float<F>(x.z) << 16 |
         f8_from_float<F>(x.w) << 24;
}
template <class F>
__device__ inline float4 software_unpack_4(uint32_t codes) {
  return make_float4(f8_to_float<F>(codes & 0xffu), f8_to_float<F>(codes >> 8 & 0xffu),
                     f8_to_float<F>(codes >> 16 & 0xffu), f8_to_float<F>(codes >> 24));
}

}  // namespace rung::gpu
