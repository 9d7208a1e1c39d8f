// Floats of 8 bits, and their conversions; arithmetic happens in f32.
// SPDX-License-Identifier: Apache-2.0
// Formats differ in the exponent's bits and in the codes kept for values that are no numbers. Of the Open Compute
// Project's (NVIDIA, AMD's CDNA 4), e4m3fn has one NaN of each sign and no infinities, and e5m2 is as in IEEE 754. In
// those of AMD's CDNA 3, "fnuz", the code of -0 is the one NaN, there are no infinities, and the bias is one more.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rung {

enum class Float8Codes : uint8_t { finite_and_nan, ieee, one_nan };

// A float that rounds to nearest even and saturates: a value above the largest number, infinities included, becomes
// that number. A NaN stays one.
template <int mantissa_bits, int bias, Float8Codes codes>
struct Float8 {
  static constexpr uint8_t kMost = codes == Float8Codes::finite_and_nan ? 0x7e
                                   : codes == Float8Codes::ieee         ? 0x7b
                                                                        : 0x7f;
  static constexpr uint8_t kNan = codes == Float8Codes::one_nan ? 0x80 : 0x7f;
  uint8_t bits = 0;
  Float8() = default;
  explicit Float8(float value) : bits(round(value)) {}
  explicit operator float() const {
    const uint8_t magnitude = bits & 0x7f;
    const bool negative = bits & 0x80;
    if (codes == Float8Codes::one_nan ? bits == kNan : magnitude > kInfinity) return std::bit_cast<float>(0x7fc00000u);
    if (codes == Float8Codes::ieee && magnitude == kInfinity) return negative ? -HUGE_VALF : HUGE_VALF;
    return negative ? -value_of(magnitude) : value_of(magnitude);
  }

 private:
  static constexpr uint8_t kInfinity = codes == Float8Codes::ieee ? 0x7c : kMost;  // NaNs are above

  static float value_of(uint8_t magnitude) {
    const int exponent = magnitude >> mantissa_bits, one = 1 << mantissa_bits, mantissa = magnitude & (one - 1);
    return exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits)
                         : std::ldexp(static_cast<float>(one + mantissa), exponent - bias - mantissa_bits);
  }
  static uint8_t round(float value) {
    if (std::isnan(value)) return kNan;
    const float size = std::fabs(value);
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (size >= value_of(kMost)) return sign | kMost;
    // Units of the last place; below the least normal number they are that number's units.
    const int exponent = std::max(size == 0 ? 1 - bias : std::ilogb(size), 1 - bias);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, mantissa_bits - exponent)));
    const int magnitude = ((exponent + bias - 1) << mantissa_bits) + units;  // a carry into the exponent is correct
    return magnitude == 0 && codes == Float8Codes::one_nan ? 0 : static_cast<uint8_t>(sign | magnitude);
  }
};

using f8e4m3fn = Float8<3, 7, Float8Codes::finite_and_nan>;
using f8e5m2 = Float8<2, 15, Float8Codes::ieee>;
using f8e4m3fnuz = Float8<3, 8, Float8Codes::one_nan>;
using f8e5m2fnuz = Float8<2, 16, Float8Codes::one_nan>;

}  // namespace rung
