// Corner table: vector instructions on f32 and f64, one or two in a lane.
// SPDX-License-Identifier: Apache-2.0
#include "corner_functions.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

// Of instructions that flush denormals whatever MODE says.
Number flushed(const In& x, int k) { return x.n(k).flushed(); }
Part flushed(Part part) {
  if (part.is_nan || part.is_any) return part;
  part.bits = Number{kSingle, part.bits}.flushed().bits;
  return part;
}
Part flushed_about(const In& x, double (*function)(double)) {
  return flushed(about(flushed(x, 0), function(host(flushed(x, 0))), 1));
}
// A product, then a sum, each rounded.
Out mad(const In& x, Part product) {
  if (product.is_nan) return product;
  return flushed(x.sum(Number{kSingle, flushed(product).bits}, flushed(x, 2)));
}
Part legacy(const In& x, const Number& a, const Number& b) {
  return a.is_zero() || b.is_zero() ? bits_part(0) : x.product(a, b);
}
// Products and their sum are exact up to a rounding of the largest of them.
Out dot(const In& x) {
  Quad sum = 0, most = 0;
  bool nan = false, up = false, down = false;
  const auto add = [&](Quad term, bool invalid) {
    nan |= invalid, up |= term - term != 0 && term > 0, down |= term - term != 0 && term < 0;
    sum += term, most = std::max(most, term < 0 ? -term : term);
  };
  for (const bool high : {false, true}) {
    const Number a = Number(x.n(0, high)).flushed(), b = Number(x.n(1, high)).flushed();
    const bool invalid =
        a.is_nan() || b.is_nan() || (a.is_infinite() && b.is_zero()) || (a.is_zero() && b.is_infinite());
    add(invalid ? 0 : a.value() * b.value(), invalid);
  }
  add(flushed(x, 2).is_nan() ? 0 : flushed(x, 2).value(), flushed(x, 2).is_nan());
  if (nan || (up && down)) return nan_part();
  if (up || down) return bits_part(kSingle.infinity() | (down ? kSingle.sign() : 0));
  Part part = sum == 0 ? bits_part(0) : bits_part(Number{kSingle, rounded({sum, 0}, kSingle, 0)}.flushed().bits);
  part.tolerance = most == 0 ? power_of_two(-1000) : most * power_of_two(-22);
  return part;
}

struct Face {
  int face;
  Number s, t, axis;
};
// The words of V_CUBEID_F32 and its siblings.
Face face_of(const In& x) {
  const Number a = x.n(0), b = x.n(1), c = x.n(2);
  const auto below = [](const Number& n) { return !n.is_nan() && n.value() < 0; };
  const auto reaches = [](const Number& p, const Number& q) {
    return !p.is_nan() && !q.is_nan() && p.absolute().value() >= q.absolute().value();
  };
  if (reaches(c, a) && reaches(c, b)) return {below(c) ? 5 : 4, below(c) ? a.negated() : a, b.negated(), c};
  if (reaches(b, a)) return {below(b) ? 3 : 2, a, below(b) ? c.negated() : c, b};
  return {below(a) ? 1 : 0, below(a) ? c : c.negated(), b.negated(), a};
}
Part moved(const In& x, const Number& n) {
  if (n.is_nan()) return any_part();  // whether it is made quiet is not said
  return bits_part(x.keeps_results(n.format) ? n.bits : n.flushed().bits);
}
template <class Rule>
Out both(Rule rule) {
  return {rule(false), rule(true)};
}

constexpr CornerRow kRows[] = {
    {v_add_f32, "12.7", [](const In& x) -> Out { return x.sum(x.n(0), x.n(1)); }},
    {v_sub_f32, "12.7", [](const In& x) -> Out { return x.sum(x.n(0), x.n(1).negated()); }},
    {v_subrev_f32, "12.7", [](const In& x) -> Out { return x.sum(x.n(1), x.n(0).negated()); }},
    {v_mul_f32, "12.7", [](const In& x) -> Out { return x.product(x.n(0), x.n(1)); }},
    {v_fma_f32, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_fmac_f32, "12.7", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_fmaak_f32, "12.7", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_fmamk_f32, "12.7", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_mul_legacy_f32, "12.11", [](const In& x) -> Out { return legacy(x, x.n(0), x.n(1)); }},
    {v_mad_f32, "2: 12.11", [](const In& x) { return mad(x, x.product(flushed(x, 0), flushed(x, 1))); }, kUsualMode},
    {v_mac_f32, "2: 12.7", [](const In& x) { return mad(x, x.product(flushed(x, 0), flushed(x, 1))); }, kUsualMode},
    {v_madak_f32, "2: 12.7", [](const In& x) { return mad(x, x.product(flushed(x, 0), flushed(x, 1))); }, kUsualMode},
    {v_madmk_f32, "2: 12.7", [](const In& x) { return mad(x, x.product(flushed(x, 0), flushed(x, 1))); }, kUsualMode},
    {v_mad_legacy_f32, "2: 12.11", [](const In& x) { return mad(x, legacy(x, flushed(x, 0), flushed(x, 1))); },
     kUsualMode},
    {v_min_f32, "12.7", [](const In& x) -> Out { return x.least(x.n(0), x.n(1)); }, kUsualMode},
    {v_max_f32, "12.7", [](const In& x) -> Out { return x.most(x.n(0), x.n(1)); }, kUsualMode},
    {v_min3_f32, "12.11", [](const In& x) -> Out { return x.least(x.extreme(x.n(0), x.n(1), false), x.n(2)); },
     kUsualMode},
    {v_max3_f32, "12.11", [](const In& x) -> Out { return x.most(x.extreme(x.n(0), x.n(1), true), x.n(2)); },
     kUsualMode},
    {v_med3_f32, "12.11", [](const In& x) -> Out { return median(x, x.n(0), x.n(1), x.n(2)); }, kUsualMode},
    {v_minimum3_f32, "4: 12.11",
     [](const In& x) -> Out {
       return extreme_or_nan(x, {x.n(0), x.n(1), x.n(2)}, false);
     },
     kUsualMode},
    {v_maximum3_f32, "4: 12.11",
     [](const In& x) -> Out {
       return extreme_or_nan(x, {x.n(0), x.n(1), x.n(2)}, true);
     },
     kUsualMode},

    {v_exp_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, std::exp2); }, kUsualMode},
    {v_exp_legacy_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, std::exp2); }, kUsualMode},
    {v_log_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, std::log2); }, kUsualMode},
    {v_log_legacy_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, std::log2); }, kUsualMode},
    {v_rcp_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, [](double a) { return 1 / a; }); },
     kUsualMode},
    {v_rcp_iflag_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, [](double a) { return 1 / a; }); },
     kUsualMode},
    {v_rsq_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, [](double a) { return 1 / std::sqrt(a); }); },
     kUsualMode},
    {v_sqrt_f32, "12.8", [](const In& x) -> Out { return flushed_about(x, std::sqrt); }, kUsualMode},
    {v_sin_f32, "12.8", [](const In& x) -> Out { return turned(x.n(0), std::sin); }, kUsualMode},
    {v_cos_f32, "12.8", [](const In& x) -> Out { return turned(x.n(0), std::cos); }, kUsualMode},
    {v_fract_f32, "12.8", [](const In& x) -> Out { return fraction(x, x.n(0)); }},
    {v_trunc_f32, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), whole_part); }},
    {v_ceil_f32, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), ceil_of); }},
    {v_floor_f32, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), floor_of); }},
    {v_rndne_f32, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), nearest_whole); }},
    {v_ldexp_f32, "12.11", [](const In& x) -> Out { return scaled(x, x.n(0), x.i(1)); }},
    {v_frexp_exp_i32_f32, "12.8", [](const In& x) -> Out { return power_of(x.n(0)); }},
    {v_frexp_mant_f32, "12.8", [](const In& x) -> Out { return significand(x, x.n(0)); }},
    {v_cubeid_f32, "12.11", [](const In& x) -> Out { return exactly(x, face_of(x).face, false, kSingle); }},
    {v_cubesc_f32, "12.11", [](const In& x) -> Out { return moved(x, face_of(x).s); }},
    {v_cubetc_f32, "12.11", [](const In& x) -> Out { return moved(x, face_of(x).t); }},
    {v_cubema_f32, "12.11",
     [](const In& x) -> Out {
       return x.product({kSingle, 0x40000000}, face_of(x).axis);
     }},
    {v_dot2_f32_f16, "6.4 and 12.10", dot},
    {v_dot2c_f32_f16, "6.4 and 12.7", dot},
    {v_dot2_f32_bf16, "4: 6.4 and 12.10", dot},
    {v_dot2c_f32_bf16, "4: 6.4 and 12.7", dot},
    {v_fma_mix_f32, "12.10", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }, kMixed},

    {v_pk_add_f32, "12.10", [](const In& x) { return both([&](bool h) { return x.sum(x.n(0, h), x.n(1, h)); }); }},
    {v_pk_mul_f32, "12.10", [](const In& x) { return both([&](bool h) { return x.product(x.n(0, h), x.n(1, h)); }); }},
    {v_pk_fma_f32, "12.10",
     [](const In& x) { return both([&](bool h) { return x.fused(x.n(0, h), x.n(1, h), x.n(2, h)); }); }},

    {v_add_f64, "12.11", [](const In& x) -> Out { return x.sum(x.n(0), x.n(1)); }},
    {v_mul_f64, "12.11", [](const In& x) -> Out { return x.product(x.n(0), x.n(1)); }},
    {v_fma_f64, "12.11", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_fmac_f64, "12.7", [](const In& x) -> Out { return x.fused(x.n(0), x.n(1), x.n(2)); }},
    {v_min_f64, "12.11", [](const In& x) -> Out { return x.least(x.n(0), x.n(1)); }, kUsualMode},
    {v_max_f64, "12.11", [](const In& x) -> Out { return x.most(x.n(0), x.n(1)); }, kUsualMode},
    {v_rcp_f64, "12.8", [](const In& x) -> Out { return about(x.n(0), 1 / host(x.n(0)), 1 << 29); }, kUsualMode},
    {v_rsq_f64, "12.8", [](const In& x) -> Out { return about(x.n(0), 1 / std::sqrt(host(x.n(0))), 1 << 29); },
     kUsualMode},
    {v_sqrt_f64, "12.8", [](const In& x) -> Out { return about(x.n(0), std::sqrt(host(x.n(0))), 1 << 29); },
     kUsualMode},
    {v_fract_f64, "12.8", [](const In& x) -> Out { return fraction(x, x.n(0)); }},
    {v_trunc_f64, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), whole_part); }},
    {v_ceil_f64, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), ceil_of); }},
    {v_floor_f64, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), floor_of); }},
    {v_rndne_f64, "12.8", [](const In& x) -> Out { return to_whole(x, x.n(0), nearest_whole); }},
    {v_ldexp_f64, "12.11", [](const In& x) -> Out { return scaled(x, x.n(0), x.i(1)); }},
    {v_frexp_exp_i32_f64, "12.8", [](const In& x) -> Out { return power_of(x.n(0)); }},
    {v_frexp_mant_f64, "12.8", [](const In& x) -> Out { return significand(x, x.n(0)); }},
};

}  // namespace

std::span<const CornerRow> float_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
