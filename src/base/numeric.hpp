// Storage types narrower than f32 (bf16, f16) and their conversions; arithmetic happens in f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace rung {

// bfloat16: the upper half of an f32. Rounds to nearest even; a NaN stays a quiet NaN.
struct bf16 {
  uint16_t bits = 0;
  bf16() = default;
  explicit bf16(float value) : bits(round(value)) {}
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

 private:
  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
    return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
};

// IEEE 754 binary16, converted by bit arithmetic (compilers differ in their half types). Rounds to nearest even; a NaN
// stays a quiet NaN.
struct f16 {
  uint16_t bits = 0;
  f16() = default;
  explicit f16(float value) : bits(round(value)) {}
  explicit operator float() const {
    uint32_t sign = uint32_t{bits & 0x8000u} << 16, magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u)  // infinity, or a NaN made quiet
      return std::bit_cast<float>(sign | 0x7f800000u | (magnitude << 13) | (magnitude > 0x7c00u ? 0x400000u : 0u));
    if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
    float subnormal = static_cast<float>(magnitude) * 0x1.0p-24f;
    return sign ? -subnormal : subnormal;
  }

 private:
  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value), sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
    uint32_t half = 0;
    if (magnitude > 0x7f800000u)
      half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    else if (magnitude >= 0x477ff000u)  // 65520 and up round to infinity
      half = 0x7c00u;
    else if (magnitude < 0x38800000u)  // below 2^-14: adding 0.5 rounds to multiples of 2^-24, the subnormals' step
      half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    else
      half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    return static_cast<uint16_t>(sign | half);
  }
};

}  // namespace rung
