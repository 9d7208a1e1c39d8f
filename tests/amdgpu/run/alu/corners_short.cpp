// Corner table: vector instructions on integers of 16 bits, one or two in a register.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "corner_rows.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

Wide middle(Wide a, Wide b, Wide c) { return a + b + c - std::max({a, b, c}) - std::min({a, b, c}); }
Wide within(Wide x, Wide least, Wide most) { return std::clamp(x, least, most); }
// Both halves by the same rule.
template <class Rule>
Out both(Rule rule) {
  return {whole_part_of(rule(false)), whole_part_of(rule(true))};
}
Out two(Wide low, Wide high) { return {bits_part(static_cast<uint64_t>(low)), bits_part(static_cast<uint64_t>(high))}; }

constexpr CornerRow kRows[] = {
    {v_add_u16, "12.7", [](const In& x) -> Out { return x.u(0) + x.u(1); }},
    {v_sub_u16, "12.7", [](const In& x) -> Out { return x.u(0) - x.u(1); }},
    {v_subrev_u16, "12.7", [](const In& x) -> Out { return x.u(1) - x.u(0); }},
    {v_mul_lo_u16, "12.7", [](const In& x) -> Out { return x.u(0) * x.u(1); }},
    {v_lshlrev_b16, "12.7", [](const In& x) -> Out { return x.u(1) << (x.u(0) & 15); }},
    {v_lshrrev_b16, "12.7", [](const In& x) -> Out { return x.u(1) >> (x.u(0) & 15); }},
    {v_ashrrev_i16, "12.7", [](const In& x) -> Out { return x.i(1) >> (x.u(0) & 15); }},
    {v_min_u16, "12.7", [](const In& x) -> Out { return std::min(x.u(0), x.u(1)); }},
    {v_max_u16, "12.7", [](const In& x) -> Out { return std::max(x.u(0), x.u(1)); }},
    {v_min_i16, "12.7", [](const In& x) -> Out { return std::min(x.i(0), x.i(1)); }},
    {v_max_i16, "12.7", [](const In& x) -> Out { return std::max(x.i(0), x.i(1)); }},
    {v_add_i16, "12.11", [](const In& x) -> Out { return x.i(0) + x.i(1); }},
    {v_sub_i16, "12.11", [](const In& x) -> Out { return x.i(0) - x.i(1); }},
    {v_min3_u16, "12.11",
     [](const In& x) -> Out {
       return std::min({x.u(0), x.u(1), x.u(2)});
     }},
    {v_max3_u16, "12.11",
     [](const In& x) -> Out {
       return std::max({x.u(0), x.u(1), x.u(2)});
     }},
    {v_med3_u16, "12.11", [](const In& x) -> Out { return middle(x.u(0), x.u(1), x.u(2)); }},
    {v_min3_i16, "12.11",
     [](const In& x) -> Out {
       return std::min({x.i(0), x.i(1), x.i(2)});
     }},
    {v_max3_i16, "12.11",
     [](const In& x) -> Out {
       return std::max({x.i(0), x.i(1), x.i(2)});
     }},
    {v_med3_i16, "12.11", [](const In& x) -> Out { return middle(x.i(0), x.i(1), x.i(2)); }},
    {v_mad_u16, "12.11", [](const In& x) -> Out { return x.u(0) * x.u(1) + x.u(2); }, kUpperKept},
    {v_mad_i16, "12.11", [](const In& x) -> Out { return x.i(0) * x.i(1) + x.i(2); }, kUpperKept},
    {v_mad_legacy_u16, "12.11", [](const In& x) -> Out { return x.u(0) * x.u(1) + x.u(2); }, kUpperZero},
    {v_mad_legacy_i16, "12.11", [](const In& x) -> Out { return x.i(0) * x.i(1) + x.i(2); }, kUpperZero},
    {v_mad_u32_u16, "12.11", [](const In& x) -> Out { return x.u(0) * x.u(1) + x.u(2); }},
    {v_mad_i32_i16, "12.11", [](const In& x) -> Out { return x.i(0) * x.i(1) + x.i(2); }},
    {v_pack_b32_f16, "12.11", [](const In& x) { return two(x.u(0), x.u(1)); }, kUsualMode},
    {v_sat_pk_u8_i16, "12.8",
     [](const In& x) -> Out { return within(x.i(0, false), 0, 255) | within(x.i(0, true), 0, 255) << 8; }},
    {v_cvt_pk_u16_u32, "12.11", [](const In& x) { return two(within(x.u(0), 0, 65535), within(x.u(1), 0, 65535)); }},
    {v_cvt_pk_i16_i32, "12.11",
     [](const In& x) { return two(within(x.i(0), -32768, 32767), within(x.i(1), -32768, 32767)); }},
    {v_ashr_pk_i8_i32, "4: 12.11",
     [](const In& x) -> Out {
       const Wide by = x.u(2) & 31;
       return (within(x.i(0) >> by, -128, 127) & 0xff) | (within(x.i(1) >> by, -128, 127) & 0xff) << 8;
     },
     kUpperKept},
    {v_ashr_pk_u8_i32, "4: 12.11",
     [](const In& x) -> Out {
       const Wide by = x.u(2) & 31;
       return within(x.i(0) >> by, 0, 255) | within(x.i(1) >> by, 0, 255) << 8;
     },
     kUpperKept},

    {v_pk_add_u16, "12.10", [](const In& x) { return both([&](bool h) { return x.u(0, h) + x.u(1, h); }); }},
    {v_pk_sub_u16, "12.10", [](const In& x) { return both([&](bool h) { return x.u(0, h) - x.u(1, h); }); }},
    {v_pk_add_i16, "12.10", [](const In& x) { return both([&](bool h) { return x.i(0, h) + x.i(1, h); }); }},
    {v_pk_sub_i16, "12.10", [](const In& x) { return both([&](bool h) { return x.i(0, h) - x.i(1, h); }); }},
    {v_pk_mad_u16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.u(0, h) * x.u(1, h) + x.u(2, h); }); }},
    {v_pk_mad_i16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.i(0, h) * x.i(1, h) + x.i(2, h); }); }},
    {v_pk_mul_lo_u16, "12.10", [](const In& x) { return both([&](bool h) { return x.u(0, h) * x.u(1, h); }); }},
    {v_pk_lshlrev_b16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.u(1, h) << (x.u(0, h) & 15); }); }},
    {v_pk_lshrrev_b16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.u(1, h) >> (x.u(0, h) & 15); }); }},
    {v_pk_ashrrev_i16, "12.10",
     [](const In& x) { return both([&](bool h) { return x.i(1, h) >> (x.u(0, h) & 15); }); }},
    {v_pk_min_u16, "12.10", [](const In& x) { return both([&](bool h) { return std::min(x.u(0, h), x.u(1, h)); }); }},
    {v_pk_max_u16, "12.10", [](const In& x) { return both([&](bool h) { return std::max(x.u(0, h), x.u(1, h)); }); }},
    {v_pk_min_i16, "12.10", [](const In& x) { return both([&](bool h) { return std::min(x.i(0, h), x.i(1, h)); }); }},
    {v_pk_max_i16, "12.10", [](const In& x) { return both([&](bool h) { return std::max(x.i(0, h), x.i(1, h)); }); }},
};

}  // namespace

std::span<const CornerRow> short_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
