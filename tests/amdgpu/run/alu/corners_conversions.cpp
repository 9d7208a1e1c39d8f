// Corner table: vector instructions that convert between integers and numbers of 16, 32 and 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include "corner_functions.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

// "Out-of-range floating point values (including infinity) saturate. NAN is converted to 0."
template <class Rule>
Wide to_integer(const Number& a, Wide least, Wide most, Rule rule) {
  if (a.is_nan()) return 0;
  if (a.is_infinite()) return a.negative() ? least : most;
  const Quad whole = rule(a.value());
  return whole <= static_cast<Quad>(least) ? least : whole >= static_cast<Quad>(most) ? most : static_cast<Wide>(whole);
}
constexpr Wide kMost32 = 0x7fffffff, kAll32 = 0xffffffff;
Wide to_i32(const Number& a) { return to_integer(a, -kMost32 - 1, kMost32, whole_part); }
Wide to_u32(const Number& a) { return to_integer(a, 0, kAll32, whole_part); }
// Normalised: 1 is the largest.
Part snorm(const Number& a) {
  const auto times = [](Quad x) { return nearest_whole(x * 32767); };
  return whole_part_of(to_integer(a, -32767, 32767, times));
}
Part unorm(const Number& a) {
  const auto times = [](Quad x) { return nearest_whole(x * 65535); };
  return whole_part_of(to_integer(a, 0, 65535, times));
}
Part number_of(const In& x, Wide whole, const Format& to) { return x.number({static_cast<Quad>(whole), 0}, false, to); }
Part converted(const In& x, const Number& a, const Format& to) {
  if (a.is_nan()) return nan_part();
  if (a.is_infinite()) return bits_part(to.infinity() | (a.negative() ? to.sign() : 0));
  return x.number({a.value(), 0}, a.negative(), to);
}
Part toward_zero(const Number& a) {
  if (a.is_nan()) return nan_part();
  if (a.is_infinite() || a.is_zero())
    return bits_part((a.is_zero() ? 0 : kHalf.infinity()) | (a.negative() ? 0x8000 : 0));
  return bits_part(rounded({a.value(), 0}, kHalf, 3));
}
Part brain(const In& x, const Number& a) {
  if (a.is_nan()) return nan_part();
  if (a.is_infinite() || a.is_zero()) return bits_part(a.bits >> 16);
  return bits_part(rounded({a.value(), 0}, kBrain, x.rounding(kSingle)));
}
Wide with_byte(Wide into, Wide at, Wide byte) { return (into & ~(Wide{0xff} << (8 * at))) | byte << (8 * at); }
Wide nearest_byte(const Number& a) { return to_integer(a, 0, 255, nearest_whole); }
Wide byte(const In& x, int n) { return x.u(0) >> (8 * n) & 0xff; }

constexpr CornerRow kRows[] = {
    {v_cvt_i32_f32, "12.8", [](const In& x) -> Out { return to_i32(x.n(0)); }},
    {v_cvt_u32_f32, "12.8", [](const In& x) -> Out { return to_u32(x.n(0)); }},
    {v_cvt_i32_f64, "12.8", [](const In& x) -> Out { return to_i32(x.n(0)); }},
    {v_cvt_u32_f64, "12.8", [](const In& x) -> Out { return to_u32(x.n(0)); }},
    {v_cvt_flr_i32_f32, "12.8", [](const In& x) -> Out { return to_integer(x.n(0), -kMost32 - 1, kMost32, floor_of); }},
    {v_cvt_rpi_i32_f32, "12.8",
     [](const In& x) -> Out {
       return to_integer(x.n(0), -kMost32 - 1, kMost32, [](Quad a) { return floor_of(a + Quad{0.5}); });
     }},
    {v_cvt_i16_f16, "12.8", [](const In& x) -> Out { return to_integer(x.n(0), -32768, 32767, whole_part); }},
    {v_cvt_u16_f16, "12.8", [](const In& x) -> Out { return to_integer(x.n(0), 0, 65535, whole_part); }},
    {v_cvt_norm_i16_f16, "12.8", [](const In& x) -> Out { return snorm(x.n(0)); }},
    {v_cvt_norm_u16_f16, "12.8", [](const In& x) -> Out { return unorm(x.n(0)); }},
    {v_cvt_pknorm_i16_f32, "12.11",
     [](const In& x) -> Out {
       return {snorm(x.n(0)), snorm(x.n(1))};
     }},
    {v_cvt_pknorm_u16_f32, "12.11",
     [](const In& x) -> Out {
       return {unorm(x.n(0)), unorm(x.n(1))};
     }},
    {v_cvt_pknorm_i16_f16, "12.11",
     [](const In& x) -> Out {
       return {snorm(x.n(0)), snorm(x.n(1))};
     }},
    {v_cvt_pknorm_u16_f16, "12.11",
     [](const In& x) -> Out {
       return {unorm(x.n(0)), unorm(x.n(1))};
     }},
    {v_cvt_pk_u8_f32, "12.11", [](const In& x) -> Out { return with_byte(x.u(2), x.u(1) & 3, nearest_byte(x.n(0))); }},
    {v_cvt_pkaccum_u8_f32, "12.11",
     [](const In& x) -> Out { return with_byte(x.u(2), x.u(1) & 3, nearest_byte(x.n(0))); }},

    {v_cvt_f32_i32, "12.8", [](const In& x) -> Out { return number_of(x, x.i(0), kSingle); }},
    {v_cvt_f32_u32, "12.8", [](const In& x) -> Out { return number_of(x, x.u(0), kSingle); }},
    {v_cvt_f64_i32, "12.8", [](const In& x) -> Out { return number_of(x, x.i(0), kDouble); }},
    {v_cvt_f64_u32, "12.8", [](const In& x) -> Out { return number_of(x, x.u(0), kDouble); }},
    {v_cvt_f16_i16, "12.8", [](const In& x) -> Out { return number_of(x, x.i(0), kHalf); }},
    {v_cvt_f16_u16, "12.8", [](const In& x) -> Out { return number_of(x, x.u(0), kHalf); }},
    {v_cvt_f32_ubyte0, "12.8", [](const In& x) -> Out { return number_of(x, byte(x, 0), kSingle); }},
    {v_cvt_f32_ubyte1, "12.8", [](const In& x) -> Out { return number_of(x, byte(x, 1), kSingle); }},
    {v_cvt_f32_ubyte2, "12.8", [](const In& x) -> Out { return number_of(x, byte(x, 2), kSingle); }},
    {v_cvt_f32_ubyte3, "12.8", [](const In& x) -> Out { return number_of(x, byte(x, 3), kSingle); }},
    {v_cvt_off_f32_i4, "12.8",
     [](const In& x) -> Out {
       const Wide nibble = x.u(0) & 15;
       return x.number({static_cast<Quad>(nibble < 8 ? nibble : nibble - 16) / 16, 0}, false, kSingle);
     }},

    {v_cvt_f32_f16, "12.8", [](const In& x) -> Out { return converted(x, x.n(0), kSingle); }},
    {v_cvt_f32_bf16, "4: 12.8", [](const In& x) -> Out { return converted(x, x.n(0), kSingle); }, kUsualMode},
    {v_cvt_f32_f64, "12.8", [](const In& x) -> Out { return converted(x, x.n(0), kSingle); }},
    {v_cvt_f64_f32, "12.8", [](const In& x) -> Out { return converted(x, x.n(0), kDouble); }},
    {v_cvt_f16_f32, "12.8", [](const In& x) -> Out { return converted(x, x.n(0), kHalf); }},
    {v_cvt_pkrtz_f16_f32, "12.11",
     [](const In& x) -> Out {
       return {toward_zero(x.n(0)), toward_zero(x.n(1))};
     },
     kUsualMode},
    {v_cvt_pk_f16_f32, "4: 12.11",
     [](const In& x) -> Out {
       return {converted(x, x.n(0), kHalf), converted(x, x.n(1), kHalf)};
     }},
    {v_cvt_pk_bf16_f32, "4: 12.11",
     [](const In& x) -> Out {
       return {brain(x, x.n(0)), brain(x, x.n(1))};
     },
     kUsualMode},
};

}  // namespace

std::span<const CornerRow> conversion_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
