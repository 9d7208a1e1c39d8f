// Values, as f32, of the floats of 8, 6 and 4 bits that matrix instructions take.
// SPDX-License-Identifier: Apache-2.0
// Sources: the Open Compute Project's "8-bit Floating Point" and "Microscaling Formats" specifications; the formats
// without negative zero and infinities (FNUZ) of AMD's CDNA 3 guide.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace rung::amdgpu {

enum class SmallFloat : uint8_t { fp8_fnuz, bf8_fnuz, fp8_ocp, bf8_ocp, fp6, bf6, fp4 };

struct SmallFloatForm {
  int bits, exponent_bits, mantissa_bits, bias;
};
inline constexpr SmallFloatForm kSmallFloats[] = {{8, 4, 3, 8}, {8, 5, 2, 16}, {8, 4, 3, 7}, {8, 5, 2, 15},
                                                  {6, 2, 3, 1}, {6, 3, 2, 3},  {4, 2, 1, 1}};

constexpr float power_of_two(int exponent) {  // -126 to 127
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

constexpr float small_float(SmallFloat kind, uint32_t code) {
  constexpr float kNan = std::bit_cast<float>(0x7fc00000u), kInfinity = std::bit_cast<float>(0x7f800000u);
  const auto [bits, exponent_bits, mantissa_bits, bias] = kSmallFloats[static_cast<int>(kind)];
  const bool negative = code >> (bits - 1) & 1;
  const auto magnitude = static_cast<int>(code & ((1u << (bits - 1)) - 1));
  const int exponent = magnitude >> mantissa_bits, mantissa = magnitude & ((1 << mantissa_bits) - 1);
  if (kind == SmallFloat::fp8_fnuz || kind == SmallFloat::bf8_fnuz) {
    if (negative && magnitude == 0) return kNan;
  } else if (kind == SmallFloat::fp8_ocp) {
    if (magnitude == 0x7f) return kNan;
  } else if (kind == SmallFloat::bf8_ocp && exponent == 31) {
    return mantissa != 0 ? kNan : negative ? -kInfinity : kInfinity;
  }
  const int whole = exponent == 0 ? mantissa : mantissa | 1 << mantissa_bits;
  const float value = static_cast<float>(whole) * power_of_two((exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  return negative ? -value : value;
}

template <SmallFloat kKind>
constexpr auto small_float_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t code = 0; code < 1u << kSmallFloats[static_cast<int>(kKind)].bits; ++code)
    table[code] = std::bit_cast<uint32_t>(small_float(kKind, code));
  return table;
}

// Returns the bits of the f32 that each code stands for.
inline const std::array<uint32_t, 256>& small_float_values(SmallFloat kind) {
  static constexpr std::array<std::array<uint32_t, 256>, 7> kTables{
      small_float_table<SmallFloat::fp8_fnuz>(), small_float_table<SmallFloat::bf8_fnuz>(),
      small_float_table<SmallFloat::fp8_ocp>(),  small_float_table<SmallFloat::bf8_ocp>(),
      small_float_table<SmallFloat::fp6>(),      small_float_table<SmallFloat::bf6>(),
      small_float_table<SmallFloat::fp4>()};
  return kTables[static_cast<size_t>(kind)];
}

}  // namespace rung::amdgpu
