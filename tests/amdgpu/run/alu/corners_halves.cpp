// Corner table: vector instructions on f16, one or two in a register.
// SPDX-License-Identifier: Apache-2.0
#include "corner_functions.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

// V_MAD_F16: a product, then a sum, each rounded; denormals are flushed.
Out mad(const In& x) {
  const Part product = x.product(x.n(0).flushed(), x.n(1).flushed());
  if (product.is_nan) return product;
  const Part sum = x.sum(Number{kHalf, product.bits}.flushed(), x.n(2).flushed());
  return sum.is_nan ? sum : bits_part(Number{kHalf, sum.bits}.flushed().bits);
}
template <class Rule>
Out both(Rule rule) {
  return {rule(false), rule(true)};
}
// f32 first, then f16.
Out mixed(const In& x) {
  const Part sum = x.fused(x.n(0), x.n(1), x.n(2));
  if (sum.is_nan) return sum;
  const Number exact{kSingle, sum.bits};
  return x.number({exact.value(), 0}, exact.negative(), kHalf);
}
Part in_f16(const In& x, double (*function)(double)) { return about(x.n(0), function(host(x.n(0))), 1); }

constexpr CornerRow kRows[] = {
    {v_add_f16, "12.7", [](const In& x) -> Out { return x.sum(x.n(0), x.n(1)); }},
    {v_sub_f16, "12.7", [](const In& x) -> Out { return x.sum(x.n(0), x.n(1).negated()); }},
    {v_subrev_f16, "12.7", [](const In& x) -> Out { return x.sum(x.n(1), x.n(0).negated()); }},
    {v_mul_f16, "12.7", [](const In& x) -> Out { return x.product(x.n(0), x.n(1)); }},
    {v_fma_f16, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }, kUpperKept},
    {v_fma_legacy_f16, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }, kUpperZero},
    {v_mad_f16, "12.11", mad, kUsualMode | kUpperKept},
    {v_mad_legacy_f16, "12.11", mad, kUsualMode | kUpperZero},
    {v_mac_f16, "12.7", mad, kUsualMode | kUpperZero},
    {v_madak_f16, "12.7", mad, kUsualMode | kUpperZero},
    {v_madmk_f16, "12.7", mad, kUsualMode | kUpperZero},
    {v_min_f16, "12.7", [](const In& x) -> Out { return x.least(x.n(0), x.n(1)); }, kUsualMode},
    {v_max_f16, "12.7", [](const In& x) -> Out { return x.most(x.n(0), x.n(1)); }, kUsualMode},
    {v_min3_f16, "12.11", [](const In& x) -> Out { return x.least(x.extreme(x.n(0), x.n(1), false), x.n(2)); },
     kUsualMode},
    {v_max3_f16, "12.11", [](const In& x) -> Out { return x.most(x.extreme(x.n(0), x.n(1), true), x.n(2)); },
     kUsualMode},
    {v_med3_f16, "12.11", [](const In& x) -> Out { return median(x, x.n(0), x.n(1), x.n(2)); }, kUsualMode},
    {v_exp_f16, "12.8", [](const In& x) -> Out { return in_f16(x, std::exp2); }, kUsualMode},
    {v_log_f16, "12.8", [](const In& x) -> Out { return in_f16(x, std::log2); }, kUsualMode},
    {v_rcp_f16, "12.8", [](const In& x) -> Out { return in_f16(x, [](double a) { return 1 / a; }); }, kUsualMode},
    {v_rsq_f16, "12.8", [](const In& x) -> Out { return in_f16(x, [](double a) { return 1 / std::sqrt(a); }); },
     kUsualMode},
    {v_sqrt_f16, "12.8", [](const In& x) -> Out { return in_f16(x, std::sqrt); }, kUsualMode},
    {v_sin_f16, "12.8", [](const In& x) -> Out { return turned(x.n(0), std::sin); }, kUsualMode},
    {v_cos_f16, "12.8", [](const In& x) -> Out { return turned(x.n(0), std::cos); }, kUsualMode},
    {v_fract_f16, "12.8", [](const In& x) -> Out { return fraction(x, x.n(0)); }, kUsualMode},
    {v_trunc_f16, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), whole_part); }},
    {v_ceil_f16, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), ceil_of); }},
    {v_floor_f16, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), floor_of); }},
    {v_rndne_f16, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), nearest_whole); }},
    {v_ldexp_f16, "12.7", [](const In& x) -> Out { return scaled(x, x.n(0), x.i(1)); }},
    {v_frexp_exp_i16_f16, "12.8", [](const In& x) -> Out { return power_of(x.n(0)); }},
    {v_frexp_mant_f16, "12.8", [](const In& x) -> Out { return significand(x, x.n(0)); }},
    {v_fma_mixlo_f16, "12.10", mixed, kMixed | kUpperKept},
    {v_fma_mixhi_f16, "12.10", mixed, kMixed | kUpperKept | kHalvesInHigh},

    {v_pk_add_f16, "12.10", [](const In& x) { return both([&](bool h) { return x.sum(x.n(0, h), x.n(1, h)); }); }},
    {v_pk_mul_f16, "12.10", [](const In& x) { return both([&](bool h) { return x.product(x.n(0, h), x.n(1, h)); }); }},
    {v_pk_fma_f16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.fused(x.n(0, h), x.n(1, h), x.n(2, h)); }); }},
    {v_pk_fmac_f16, "12.7",
     [](const In& x) { return both([&](bool h) { return x.fused(x.n(0, h), x.n(1, h), x.n(2, h)); }); }},
    {v_pk_min_f16, "12.10", [](const In& x) { return both([&](bool h) { return x.least(x.n(0, h), x.n(1, h)); }); },
     kUsualMode},
    {v_pk_max_f16, "12.10", [](const In& x) { return both([&](bool h) { return x.most(x.n(0, h), x.n(1, h)); }); },
     kUsualMode},
    {v_pk_minimum3_f16, "4: 12.10",
     [](const In& x) {
       return both([&](bool h) { return extreme_or_nan(x, {x.n(0, h), x.n(1, h), x.n(2, h)}, false); });
     },
     kUsualMode},
    {v_pk_maximum3_f16, "4: 12.10",
     [](const In& x) {
       return both([&](bool h) { return extreme_or_nan(x, {x.n(0, h), x.n(1, h), x.n(2, h)}, true); });
     },
     kUsualMode},
};

}  // namespace

std::span<const CornerRow> half_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
