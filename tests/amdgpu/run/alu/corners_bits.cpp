// Corner table: vector instructions on bits: logic, shifts, fields, counts, permutations of bytes.
// SPDX-License-Identifier: Apache-2.0
#include "corner_rows.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

Wide bit(Wide x, int n) { return x >> n & 1; }
// The numbers of bits from the end at which the search begins, and -1 where it finds nothing.
template <class Wanted>
Wide first_bit(Wanted wanted) {
  for (int n = 0; n < 32; ++n)
    if (wanted(n)) return n;
  return -1;
}
Wide count_of(Wide x) {
  Wide count = 0;
  for (int n = 0; n < 32; ++n) count += bit(x, n);
  return count;
}
Wide low5(Wide x) { return x & 31; }
Wide field(Wide x, Wide offset, Wide width) { return x >> offset & ((Wide{1} << width) - 1); }
Wide sign_from(Wide x, Wide width) {  // bit width - 1 is the sign; nothing of no width
  return width == 0 ? 0 : x - (bit(x, static_cast<int>(width) - 1) << width);
}
Wide pair_of(const In& x) { return x.u(0) << 32 | x.u(1); }
// BYTE_PERMUTE of the guide.
Wide permuted(Wide data, Wide select) {
  const int from = static_cast<int>(select);
  if (from >= 13) return 0xff;
  if (from == 12) return 0;
  if (from >= 8) return bit(data, 16 * (from - 8) + 15) * 0xff;
  return data >> (8 * from) & 0xff;
}
Wide lanes_below(const In& x, int first) {
  Wide count = 0;
  for (int n = 0; n < 32; ++n) count += n + first < x.lane ? bit(x.u(0), n) : 0;
  return count + x.u(1);
}

constexpr CornerRow kRows[] = {
    {v_mov_b32, "12.8", [](const In& x) -> Out { return x.u(0); }},
    {v_mov_b64, "12.8", [](const In& x) -> Out { return x.u(0); }},
    {v_cndmask_b32, "12.7", [](const In& x) -> Out { return x.vcc ? x.u(1) : x.u(0); }},
    {v_not_b32, "12.8", [](const In& x) -> Out { return ~x.u(0); }},
    {v_and_b32, "12.7", [](const In& x) -> Out { return x.u(0) & x.u(1); }},
    {v_or_b32, "12.7", [](const In& x) -> Out { return x.u(0) | x.u(1); }},
    {v_xor_b32, "12.7", [](const In& x) -> Out { return x.u(0) ^ x.u(1); }},
    {v_xnor_b32, "12.7", [](const In& x) -> Out { return ~(x.u(0) ^ x.u(1)); }},
    {v_and_or_b32, "12.11", [](const In& x) -> Out { return (x.u(0) & x.u(1)) | x.u(2); }},
    {v_or3_b32, "12.11", [](const In& x) -> Out { return x.u(0) | x.u(1) | x.u(2); }},
    {v_xad_u32, "12.11", [](const In& x) -> Out { return (x.u(0) ^ x.u(1)) + x.u(2); }},
    {v_bfi_b32, "12.11", [](const In& x) -> Out { return x.u(2) ^ ((x.u(1) ^ x.u(2)) & x.u(0)); }},
    {v_bfm_b32, "12.11", [](const In& x) -> Out { return ((Wide{1} << low5(x.u(0))) - 1) << low5(x.u(1)); }},
    {v_bfe_u32, "12.11", [](const In& x) -> Out { return field(x.u(0), low5(x.u(1)), low5(x.u(2))); }},
    {v_bfe_i32, "12.11",
     [](const In& x) -> Out { return sign_from(field(x.i(0), low5(x.u(1)), low5(x.u(2))), low5(x.u(2))); }},
    {v_bfrev_b32, "12.8",
     [](const In& x) -> Out {
       Wide all = 0;
       for (int n = 0; n < 32; ++n) all |= bit(x.u(0), n) << (31 - n);
       return all;
     }},
    {v_ffbh_u32, "12.8", [](const In& x) -> Out { return first_bit([&](int n) { return bit(x.u(0), 31 - n) == 1; }); }},
    {v_ffbl_b32, "12.8", [](const In& x) -> Out { return first_bit([&](int n) { return bit(x.u(0), n) == 1; }); }},
    {v_ffbh_i32, "12.8",
     [](const In& x) -> Out { return first_bit([&](int n) { return bit(x.u(0), 31 - n) != bit(x.u(0), 31); }); }},
    {v_bcnt_u32_b32, "12.11", [](const In& x) -> Out { return count_of(x.u(0)) + x.u(1); }},
    {v_mbcnt_lo_u32_b32, "12.11", [](const In& x) -> Out { return lanes_below(x, 0); }},
    {v_mbcnt_hi_u32_b32, "12.11", [](const In& x) -> Out { return lanes_below(x, 32); }},
    {v_alignbit_b32, "12.11", [](const In& x) -> Out { return pair_of(x) >> low5(x.u(2)); }},
    {v_alignbyte_b32, "12.11", [](const In& x) -> Out { return pair_of(x) >> (8 * (x.u(2) & 3)); }},
    {v_perm_b32, "12.11",
     [](const In& x) -> Out {
       Wide all = 0;
       for (int n = 0; n < 4; ++n) all |= permuted(pair_of(x), x.u(2) >> (8 * n) & 0xff) << (8 * n);
       return all;
     }},

    {v_lshlrev_b32, "12.7", [](const In& x) -> Out { return x.u(1) << low5(x.u(0)); }},
    {v_lshrrev_b32, "12.7", [](const In& x) -> Out { return x.u(1) >> low5(x.u(0)); }},
    {v_ashrrev_i32, "12.7", [](const In& x) -> Out { return x.i(1) >> low5(x.u(0)); }},
    {v_lshlrev_b64, "12.11", [](const In& x) -> Out { return x.u(1) << (x.u(0) & 63); }},
    {v_lshrrev_b64, "12.11", [](const In& x) -> Out { return x.u(1) >> (x.u(0) & 63); }},
    {v_ashrrev_i64, "12.11", [](const In& x) -> Out { return x.i(1) >> (x.u(0) & 63); }},
    {v_lshl_add_u32, "12.11", [](const In& x) -> Out { return (x.u(0) << low5(x.u(1))) + x.u(2); }},
    {v_add_lshl_u32, "12.11", [](const In& x) -> Out { return (x.u(0) + x.u(1)) << low5(x.u(2)); }},
    {v_lshl_or_b32, "12.11", [](const In& x) -> Out { return x.u(0) << low5(x.u(1)) | x.u(2); }},
    // "The design treats unsupported shift counts as a shift of zero": 5 to 7 of the three bits that count.
    {v_lshl_add_u64, "12.11",
     [](const In& x) -> Out { return x.u(0) * ((x.u(1) & 7) <= 4 ? Wide{1} << (x.u(1) & 7) : 1) + x.u(2); }},
};

}  // namespace

std::span<const CornerRow> bit_corners() { return kRows; }

}  // namespace rung::amdgpu::corner
