// Numbers of IEEE formats as binary128, and rounding by hand: what corner tables expect, apart from the emulator's
// code.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>

namespace rung::amdgpu::corner {

__extension__ typedef __float128 Quad;             // NOLINT(modernize-use-using): only a typedef can be an extension
__extension__ typedef __int128 Wide;               // NOLINT(modernize-use-using)
__extension__ typedef unsigned __int128 WideBits;  // NOLINT(modernize-use-using)

struct Format {
  int bits = 0, mantissa = 0;
  int bias() const { return (1 << (bits - mantissa - 2)) - 1; }
  uint64_t sign() const { return uint64_t{1} << (bits - 1); }
  uint64_t infinity() const { return sign() - (uint64_t{1} << mantissa); }
  uint64_t quiet() const { return uint64_t{1} << (mantissa - 1); }
};
inline constexpr Format kHalf{16, 10}, kBrain{16, 7}, kSingle{32, 23}, kDouble{64, 52};

inline Quad power_of_two(int exponent) {  // of a normal binary128
  return std::bit_cast<Quad>(static_cast<WideBits>(exponent + 16383) << 112);
}

// A number as it stands in a register.
struct Number {
  Format format;
  uint64_t bits = 0;
  uint64_t magnitude() const { return bits & (format.sign() - 1); }
  bool negative() const { return (bits & format.sign()) != 0; }
  bool is_nan() const { return magnitude() > format.infinity(); }
  bool is_signalling() const { return is_nan() && !(bits & format.quiet()); }
  bool is_infinite() const { return magnitude() == format.infinity(); }
  bool is_zero() const { return magnitude() == 0; }
  bool is_denormal() const { return !is_zero() && exponent() == 0; }
  int exponent() const { return static_cast<int>(magnitude() >> format.mantissa); }  // as it is coded
  Quad value() const {
    if (is_infinite()) return (negative() ? -1 : 1) * static_cast<Quad>(__builtin_huge_val());
    const uint64_t one = uint64_t{1} << format.mantissa, fraction = bits & (one - 1);
    const int from = exponent() == 0 ? 1 : exponent();
    const Quad x = static_cast<Quad>(exponent() == 0 ? fraction : fraction | one) *
                   power_of_two(from - format.bias() - format.mantissa);
    return negative() ? -x : x;
  }
  Number flushed() const { return {format, is_denormal() ? bits & format.sign() : bits}; }
  Number quieted() const { return {format, is_nan() ? bits | format.quiet() : bits}; }
  Number negated() const { return {format, bits ^ format.sign()}; }
  Number absolute() const { return {format, magnitude()}; }
};

// An exact number: `value`, and the sign of what binary128 could not hold of it.
struct Exact {
  Quad value = 0;
  int rest = 0;
};
inline int sign_of(Quad x) { return x < 0 ? -1 : x > 0 ? 1 : 0; }
inline Exact exact_sum(Quad a, Quad b) {  // Knuth's
  const Quad sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
  return {sum, sign_of(lost)};
}

// To nearest even, up, down or toward zero, as MODE counts them. Not of zero.
inline uint64_t rounded(const Exact& x, const Format& to, unsigned rounding) {
  const auto code = std::bit_cast<WideBits>(x.value);
  const bool negative = code >> 127 != 0;
  const int exponent = static_cast<int>(code >> 112 & 0x7fff) - 16383;
  constexpr WideBits kOne = WideBits{1} << 112;
  WideBits whole = (code & (kOne - 1)) | kOne;  // times 2^(exponent - 112)
  if (const int rest = negative ? -x.rest : x.rest; rest != 0) whole = (rest < 0 ? whole - 1 : whole) | 1;
  const int top = whole >> 112 ? exponent : exponent - 1, least = 1 - to.bias(), at = top < least ? least : top;
  const int cut = at - to.mantissa - (exponent - 112);
  const WideBits kept = cut > 126 ? 0 : whole >> cut, lost = cut > 126 ? 1 : whole - (kept << cut);
  const WideBits half = cut > 126 ? 2 : WideBits{1} << (cut - 1);
  const bool up =
      rounding == 0 ? lost > half || (lost == half && (kept & 1)) : lost != 0 && (rounding == (negative ? 2u : 1u));
  const WideBits magnitude = (static_cast<WideBits>(at - least) << to.mantissa) + kept + (up ? 1 : 0);
  const bool to_infinity = rounding == 0 || rounding == (negative ? 2u : 1u);
  const uint64_t largest = to_infinity ? to.infinity() : to.infinity() - 1;
  return (magnitude >= to.infinity() ? largest : static_cast<uint64_t>(magnitude)) | (negative ? to.sign() : 0);
}

// The whole number next to x toward zero, and next below.
inline Quad whole_part(Quad x) {
  const auto code = std::bit_cast<WideBits>(x);
  const int exponent = static_cast<int>(code >> 112 & 0x7fff) - 16383;
  if (exponent < 0) return 0;
  if (exponent >= 112) return x;
  return std::bit_cast<Quad>(code >> (112 - exponent) << (112 - exponent));
}
inline Quad floor_of(Quad x) {
  const Quad whole = whole_part(x);
  return whole > x ? whole - 1 : whole;
}
inline Quad nearest_whole(Quad x) {  // even of two that are as near
  const Quad below = floor_of(x), above = x - below;
  const bool odd = below - 2 * floor_of(below / 2) != 0;
  return above > Quad{0.5} || (above == Quad{0.5} && odd) ? below + 1 : below;
}

}  // namespace rung::amdgpu::corner
