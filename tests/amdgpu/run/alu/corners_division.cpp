// Corner table: the steps of a division, and what a product of it becomes.
// SPDX-License-Identifier: Apache-2.0
#include "corner_functions.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

// The words of V_DIV_FIXUP: quotient, denominator, numerator. What an underflow gives is not said, nor what becomes of
// a quotient that is NaN though neither of the others is.
Part fixed(const Number& quotient, const Number& below, const Number& above, int least) {
  const uint64_t sign = below.negative() != above.negative() ? below.format.sign() : 0;
  const uint64_t invalid = below.format.sign() | below.format.infinity() | below.format.quiet();
  if (above.is_nan()) return bits_part(above.quieted().bits);
  if (below.is_nan()) return bits_part(below.quieted().bits);
  if (below.is_zero() && above.is_zero()) return bits_part(invalid);
  if (below.is_infinite() && above.is_infinite()) return bits_part(invalid);
  if (below.is_zero() || above.is_infinite()) return bits_part(below.format.infinity() | sign);
  if (below.is_infinite() || above.is_zero()) return bits_part(sign);
  if (quotient.is_nan() || above.exponent() - below.exponent() < -least) return any_part();
  return bits_part(quotient.magnitude() | sign);
}

// The words of V_DIV_SCALE, where they are the same for f32 as for f64 and say what comes out: what is scaled, the
// denominator, the numerator.
struct Scaling {
  int far, tiny, power;
};
Out scaled_for(const In& x, const Scaling& by) {
  const Number value = x.n(0), below = x.n(1), above = x.n(2);
  if (value.is_nan() || below.is_nan() || above.is_nan()) return any_part();
  if (value.is_infinite() || below.is_infinite() || above.is_infinite()) return any_part();
  if (below.is_zero() || above.is_zero()) return Out(nan_part()).with_carry(false);
  if (above.exponent() - below.exponent() >= by.far)
    return Out(value.bits == below.bits ? scaled(x, value, by.power) : bits_part(value.bits)).with_carry(true);
  if (below.is_denormal()) return Out(scaled(x, value, by.power)).with_carry(false);
  const Quad least = power_of_two(1 - value.format.bias());
  const Quad quotient = above.absolute().value() / below.absolute().value();
  if (1 / below.absolute().value() < least) return any_part();  // of f32, the guide has it in f64
  if (quotient < least * power_of_two(-value.format.mantissa - 1)) return any_part();  // whether 0 is a denormal
  if (quotient < least)
    return Out(value.bits == above.bits ? scaled(x, value, by.power) : bits_part(value.bits)).with_carry(true);
  return Out(above.exponent() <= by.tiny ? scaled(x, value, by.power) : bits_part(value.bits)).with_carry(false);
}

constexpr CornerRow kRows[] = {
    {v_div_fixup_f32, "12.11", [](const In& x) -> Out { return fixed(x.n(0), x.n(1), x.n(2), 150); }, kUsualMode},
    {v_div_fixup_f64, "12.11", [](const In& x) -> Out { return fixed(x.n(0), x.n(1), x.n(2), 1075); }, kUsualMode},
    {v_div_fixup_f16, "12.11", [](const In& x) -> Out { return fixed(x.n(0), x.n(1), x.n(2), 64); },
     kUsualMode | kUpperKept},
    {v_div_fixup_legacy_f16, "12.11", [](const In& x) -> Out { return fixed(x.n(0), x.n(1), x.n(2), 64); },
     kUsualMode | kUpperZero},
    {v_div_scale_f32, "12.11",
     [](const In& x) {
       return scaled_for(x, {96, 23, 64});
     },
     kUsualMode},
    {v_div_scale_f64, "12.11",
     [](const In& x) {
       return scaled_for(x, {768, 53, 128});
     },
     kUsualMode},
    // With VCC it scales back what was scaled, which whole divisions test.
    {v_div_fmas_f32, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }, kUsualMode},
    {v_div_fmas_f64, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }, kUsualMode},
};

}  // namespace

std::span<const CornerRow> division_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
