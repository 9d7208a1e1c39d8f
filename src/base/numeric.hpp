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

// IEEE 754 binary16, by the compiler's own conversion (round to nearest even).
struct f16 {
  uint16_t bits = 0;
  f16() = default;
  explicit f16(float value) : bits(std::bit_cast<uint16_t>(static_cast<_Float16>(value))) {}
  explicit operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
};

}  // namespace rung
