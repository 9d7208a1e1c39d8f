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

  static constexpr int kDropped = 23 - mantissa_bits;                                // bits of an f32's mantissa
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - bias) << 23;       // of the exponents
  static constexpr uint32_t kLeastNormal = static_cast<uint32_t>(128 - bias) << 23;  // its f32's bits
  static constexpr float kStep = std::bit_cast<float>(kLeastNormal - (static_cast<uint32_t>(mantissa_bits) << 23));

  static float value_of(uint8_t magnitude) {
    if (magnitude < 1 << mantissa_bits) return static_cast<float>(magnitude) * kStep;
    return std::bit_cast<float>((uint32_t{magnitude} << kDropped) + kRebias);
  }
  static uint8_t round(float value) {
    const auto u = std::bit_cast<uint32_t>(value), size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return kNan;
    uint32_t magnitude = 0;
    if (size < kLeastNormal) {  // the sum's last place is kStep
      constexpr float kShift = std::bit_cast<float>(std::bit_cast<uint32_t>(kStep) + (uint32_t{23} << 23));
      magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + kShift) - std::bit_cast<uint32_t>(kShift);
    } else {  // a carry into the exponent is correct
      magnitude = (size - kRebias + (1u << (kDropped - 1)) - 1 + ((size >> kDropped) & 1u)) >> kDropped;
    }
    magnitude = std::min<uint32_t>(magnitude, kMost);
    if (magnitude == 0 && codes == Float8Codes::one_nan) return 0;
    return static_cast<uint8_t>(magnitude | ((u >> 24) & 0x80u));
  }
};

using f8e4m3fn = Float8<3, 7, Float8Codes::finite_and_nan>;
using f8e5m2 = Float8<2, 15, Float8Codes::ieee>;
using f8e4m3fnuz = Float8<3, 8, Float8Codes::one_nan>;
using f8e5m2fnuz = Float8<2, 16, Float8Codes::one_nan>;

}  // namespace rung
