// Corner table: vector instructions on integers of 24, 32 and 64 bits, from exact whole numbers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "corner_rows.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

Wide apart(Wide a, Wide b) { return a > b ? a - b : b - a; }
Wide byte(Wide x, int n) { return x >> (8 * n) & 0xff; }
Wide field(Wide x, int bits, int n) { return x >> (bits * n) & ((Wide{1} << bits) - 1); }
Wide signed_field(Wide x, int bits, int n) {
  const Wide f = field(x, bits, n), sign = Wide{1} << (bits - 1);
  return f & sign ? f - 2 * sign : f;
}
Wide low24(Wide x) { return signed_field(x, 24, 0); }
// Sums of differences of bytes; `masked`: but where the second is zero.
Wide differences(Wide a, Wide b, bool masked) {
  Wide sum = 0;
  for (int n = 0; n < 4; ++n)
    if (!masked || byte(b, n) != 0) sum += apart(byte(a, n), byte(b, n));
  return sum;
}
Out four(const In& x, bool masked) {
  Out out(0);
  out.count = 4;
  for (int n = 0; n < 4; ++n)
    out.parts[n] = whole_part_of(differences(x.u(0) >> (8 * n), x.u(1), masked) + field(x.u(2), 16, n));
  return out;
}
Wide dot(const In& x, int bits, bool is_signed) {
  Wide sum = is_signed ? x.i(2) : x.u(2);
  for (int n = 0; n < 32 / bits; ++n)
    sum += is_signed ? signed_field(x.u(0), bits, n) * signed_field(x.u(1), bits, n)
                     : field(x.u(0), bits, n) * field(x.u(1), bits, n);
  return sum;
}
Wide middle(Wide a, Wide b, Wide c) { return a + b + c - std::max({a, b, c}) - std::min({a, b, c}); }
Out carried(Wide sum, bool carry) { return Out(whole_part_of(sum)).with_carry(carry); }
Out with_borrow(Wide difference) { return carried(difference, difference < 0); }

constexpr CornerRow kRows[] = {
    {v_add_u32, "12.7", [](const In& x) -> Out { return x.u(0) + x.u(1); }},
    {v_sub_u32, "12.7", [](const In& x) -> Out { return x.u(0) - x.u(1); }},
    {v_subrev_u32, "12.7", [](const In& x) -> Out { return x.u(1) - x.u(0); }},
    {v_add_i32, "12.11", [](const In& x) -> Out { return x.i(0) + x.i(1); }},
    {v_sub_i32, "12.11", [](const In& x) -> Out { return x.i(0) - x.i(1); }},
    {v_add3_u32, "12.11", [](const In& x) -> Out { return x.u(0) + x.u(1) + x.u(2); }},
    {v_add_co_u32, "12.7", [](const In& x) { return carried(x.u(0) + x.u(1), x.u(0) + x.u(1) >= Wide{1} << 32); }},
    {v_sub_co_u32, "12.7", [](const In& x) { return with_borrow(x.u(0) - x.u(1)); }},
    {v_subrev_co_u32, "12.7", [](const In& x) { return with_borrow(x.u(1) - x.u(0)); }},
    {v_addc_co_u32, "12.7",
     [](const In& x) { return carried(x.u(0) + x.u(1) + x.vcc, x.u(0) + x.u(1) + x.vcc >= Wide{1} << 32); }},
    {v_subb_co_u32, "12.7", [](const In& x) { return with_borrow(x.u(0) - x.u(1) - x.vcc); }},
    {v_subbrev_co_u32, "12.7", [](const In& x) { return with_borrow(x.u(1) - x.u(0) - x.vcc); }},

    {v_min_i32, "12.7", [](const In& x) -> Out { return std::min(x.i(0), x.i(1)); }},
    {v_max_i32, "12.7", [](const In& x) -> Out { return std::max(x.i(0), x.i(1)); }},
    {v_min_u32, "12.7", [](const In& x) -> Out { return std::min(x.u(0), x.u(1)); }},
    {v_max_u32, "12.7", [](const In& x) -> Out { return std::max(x.u(0), x.u(1)); }},
    {v_min3_i32, "12.11",
     [](const In& x) -> Out {
       return std::min({x.i(0), x.i(1), x.i(2)});
     }},
    {v_max3_i32, "12.11",
     [](const In& x) -> Out {
       return std::max({x.i(0), x.i(1), x.i(2)});
     }},
    {v_med3_i32, "12.11", [](const In& x) -> Out { return middle(x.i(0), x.i(1), x.i(2)); }},
    {v_min3_u32, "12.11",
     [](const In& x) -> Out {
       return std::min({x.u(0), x.u(1), x.u(2)});
     }},
    {v_max3_u32, "12.11",
     [](const In& x) -> Out {
       return std::max({x.u(0), x.u(1), x.u(2)});
     }},
    {v_med3_u32, "12.11", [](const In& x) -> Out { return middle(x.u(0), x.u(1), x.u(2)); }},

    {v_mul_lo_u32, "12.11", [](const In& x) -> Out { return x.u(0) * x.u(1); }},
    {v_mul_hi_u32, "12.11", [](const In& x) -> Out { return x.u(0) * x.u(1) >> 32; }},
    {v_mul_hi_i32, "12.11", [](const In& x) -> Out { return x.i(0) * x.i(1) >> 32; }},
    {v_mul_i32_i24, "12.7", [](const In& x) -> Out { return low24(x.u(0)) * low24(x.u(1)); }},
    {v_mul_hi_i32_i24, "12.7", [](const In& x) -> Out { return low24(x.u(0)) * low24(x.u(1)) >> 32; }},
    {v_mul_u32_u24, "12.7", [](const In& x) -> Out { return field(x.u(0), 24, 0) * field(x.u(1), 24, 0); }},
    {v_mul_hi_u32_u24, "12.7", [](const In& x) -> Out { return field(x.u(0), 24, 0) * field(x.u(1), 24, 0) >> 32; }},
    {v_mad_i32_i24, "12.11", [](const In& x) -> Out { return low24(x.u(0)) * low24(x.u(1)) + x.i(2); }},
    {v_mad_u32_u24, "12.11", [](const In& x) -> Out { return field(x.u(0), 24, 0) * field(x.u(1), 24, 0) + x.u(2); }},
    {v_mad_u64_u32, "12.11",
     [](const In& x) { return carried(x.u(0) * x.u(1) + x.u(2), (x.u(0) * x.u(1) + x.u(2)) >> 64 & 1); }},
    {v_mad_i64_i32, "12.11",
     [](const In& x) { return carried(x.i(0) * x.i(1) + x.i(2), (x.i(0) * x.i(1) + x.i(2)) >> 64 & 1); }},

    {v_sad_u8, "12.11", [](const In& x) -> Out { return differences(x.u(0), x.u(1), false) + x.u(2); }},
    {v_msad_u8, "12.11", [](const In& x) -> Out { return differences(x.u(0), x.u(1), true) + x.u(2); }},
    {v_sad_hi_u8, "12.11", [](const In& x) -> Out { return (differences(x.u(0), x.u(1), false) << 16) + x.u(2); }},
    {v_sad_u16, "12.11",
     [](const In& x) -> Out {
       return apart(x.u(0, false), x.u(1, false)) + apart(x.u(0, true), x.u(1, true)) + x.u(2);
     }},
    {v_sad_u32, "12.11", [](const In& x) -> Out { return apart(x.u(0), x.u(1)) + x.u(2); }},
    {v_qsad_pk_u16_u8, "12.11", [](const In& x) { return four(x, false); }},
    {v_mqsad_pk_u16_u8, "12.11", [](const In& x) { return four(x, true); }},
    {v_lerp_u8, "12.11",
     [](const In& x) -> Out {
       Wide all = 0;
       for (int n = 0; n < 4; ++n) all |= ((byte(x.u(0), n) + byte(x.u(1), n) + (byte(x.u(2), n) & 1)) >> 1) << (8 * n);
       return all;
     }},

    {v_dot4_i32_i8, "12.10", [](const In& x) -> Out { return dot(x, 8, true); }},
    {v_dot8_i32_i4, "12.10", [](const In& x) -> Out { return dot(x, 4, true); }},
    {v_dot4_u32_u8, "12.10", [](const In& x) -> Out { return dot(x, 8, false); }},
    {v_dot8_u32_u4, "12.10", [](const In& x) -> Out { return dot(x, 4, false); }},
    {v_dot2_i32_i16, "12.10", [](const In& x) -> Out { return dot(x, 16, true); }},
    {v_dot2_u32_u16, "12.10", [](const In& x) -> Out { return dot(x, 16, false); }},
    {v_dot4c_i32_i8, "12.7", [](const In& x) -> Out { return dot(x, 8, true); }},
    {v_dot8c_i32_i4, "12.7", [](const In& x) -> Out { return dot(x, 4, true); }},
    {v_dot2c_i32_i16, "12.7", [](const In& x) -> Out { return dot(x, 16, true); }},
};

}  // namespace

std::span<const CornerRow> whole_number_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
