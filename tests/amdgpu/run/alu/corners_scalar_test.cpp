// Corner table: scalar instructions, with what they leave in SCC.
// SPDX-License-Identifier: Apache-2.0
#include "alu_fixture.hpp"
#include "corner_rows.hpp"

namespace rung::amdgpu::corner {
namespace {

using enum Opcode;

struct ScalarIn {
  Wide a, b;  // unsigned
  bool scc;
  int bits;        // of the instruction's name: 32 or 64
  Wide exec, old;  // EXEC and the destination before
  static Wide as_signed(Wide x, int bits) { return x >> (bits - 1) & 1 ? x - (Wide{1} << bits) : x; }
  Wide sa() const { return as_signed(a, bits); }
  Wide sb() const { return as_signed(b, bits); }
};
struct ScalarOut {
  Wide value;
  int scc;               // 0, 1, or kKeeps
  bool to_exec = false;  // EXEC is what the destination is not: see `exec`
  Wide exec = 0;
};
constexpr int kKeeps = 2, kNone = 3;  // kNone: nothing but SCC is written

ScalarOut non_zero(const ScalarIn& x, Wide value) {
  const Wide cut = value & ((Wide{1} << x.bits) - 1);
  return {cut, cut != 0};
}
ScalarOut keeps(Wide value) { return {value, kKeeps}; }
Wide ones(Wide count) { return (Wide{1} << count) - 1; }
Wide bit(Wide x, Wide n) { return x >> n & 1; }
template <class Wanted>
Wide first_bit(int bits, Wanted wanted) {
  for (int n = 0; n < bits; ++n)
    if (wanted(n)) return n;
  return -1;
}
Wide count_of(Wide x, int bits) {
  Wide count = 0;
  for (int n = 0; n < bits; ++n) count += bit(x, n);
  return count;
}
bool fits(Wide x, int bits) { return x >= -(Wide{1} << (bits - 1)) && x < Wide{1} << (bits - 1); }
ScalarOut sum(Wide exact) { return {exact, exact >= Wide{1} << 32 || exact < 0}; }
ScalarOut signed_sum(Wide exact) { return {exact, !fits(exact, 32)}; }
// The guide's field of S1[22:16] bits at S1[4:0] or S1[5:0].
ScalarOut field(const ScalarIn& x, bool is_signed) {
  const Wide offset = x.b & (x.bits - 1), width = x.b >> 16 & 127;
  const Wide got = (is_signed ? x.sa() : x.a) >> offset & ones(width > 100 ? 100 : width);
  return non_zero(x, is_signed && width != 0 && width < 100 && bit(got, width - 1) ? got - (Wide{1} << width) : got);
}
Wide quads(const ScalarIn& x, bool whole) {
  Wide all = 0;
  for (int q = 0; q < x.bits / 4; ++q)
    if ((x.a >> (4 * q) & 15) != 0) all |= whole ? Wide{15} << (4 * q) : Wide{1} << q;
  return all;
}
Wide backwards(const ScalarIn& x) {
  Wide all = 0;
  for (int n = 0; n < x.bits; ++n) all |= bit(x.a, n) << (x.bits - 1 - n);
  return all;
}
Wide doubled(const ScalarIn& x) {
  Wide all = 0;
  for (int n = 0; n < 32; ++n) all |= bit(x.a, n) * 3 << (2 * n);
  return all;
}
ScalarOut difference_of(const ScalarIn& x) {
  const Wide wrapped = ScalarIn::as_signed((x.a - x.b) & ones(32), 32);
  return non_zero(x, wrapped < 0 ? -wrapped : wrapped);
}
ScalarOut shifted_sum(const ScalarIn& x, int by) { return sum((x.a << by) + x.b); }
ScalarOut saves(const ScalarIn& x, Wide exec) { return {x.exec, (exec & ones(64)) != 0, true, exec & ones(64)}; }
ScalarOut writes(Wide exec) { return {exec & ones(64), (exec & ones(64)) != 0, true, exec & ones(64)}; }
ScalarOut tells(bool is) { return {kNone, is}; }

struct ScalarRow {
  Opcode opcode;
  const char* section;
  ScalarOut (*expected)(const ScalarIn&);
};
constexpr ScalarRow kRows[] = {
    {s_add_u32, "12.1", [](const ScalarIn& x) { return sum(x.a + x.b); }},
    {s_sub_u32, "12.1", [](const ScalarIn& x) { return sum(x.a - x.b); }},
    {s_addc_u32, "12.1", [](const ScalarIn& x) { return sum(x.a + x.b + x.scc); }},
    {s_subb_u32, "12.1", [](const ScalarIn& x) { return sum(x.a - x.b - x.scc); }},
    {s_add_i32, "12.1", [](const ScalarIn& x) { return signed_sum(x.sa() + x.sb()); }},
    {s_sub_i32, "12.1", [](const ScalarIn& x) { return signed_sum(x.sa() - x.sb()); }},
    {s_absdiff_i32, "12.1", difference_of},
    {s_min_i32, "12.1",
     [](const ScalarIn& x) -> ScalarOut {
       return {x.sa() < x.sb() ? x.a : x.b, x.sa() < x.sb()};
     }},
    {s_min_u32, "12.1",
     [](const ScalarIn& x) -> ScalarOut {
       return {x.a < x.b ? x.a : x.b, x.a < x.b};
     }},
    {s_max_i32, "12.1",
     [](const ScalarIn& x) -> ScalarOut {
       return {x.sa() >= x.sb() ? x.a : x.b, x.sa() >= x.sb()};
     }},
    {s_max_u32, "12.1",
     [](const ScalarIn& x) -> ScalarOut {
       return {x.a >= x.b ? x.a : x.b, x.a >= x.b};
     }},
    {s_cselect_b32, "12.1", [](const ScalarIn& x) { return keeps(x.scc ? x.a : x.b); }},
    {s_cselect_b64, "12.1", [](const ScalarIn& x) { return keeps(x.scc ? x.a : x.b); }},
    {s_and_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a & x.b); }},
    {s_and_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a & x.b); }},
    {s_or_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a | x.b); }},
    {s_or_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a | x.b); }},
    {s_xor_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a ^ x.b); }},
    {s_xor_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a ^ x.b); }},
    {s_andn2_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a & ~x.b); }},
    {s_andn2_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a & ~x.b); }},
    {s_orn2_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a | ~x.b); }},
    {s_orn2_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a | ~x.b); }},
    {s_nand_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a & x.b)); }},
    {s_nand_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a & x.b)); }},
    {s_nor_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a | x.b)); }},
    {s_nor_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a | x.b)); }},
    {s_xnor_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a ^ x.b)); }},
    {s_xnor_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, ~(x.a ^ x.b)); }},
    {s_lshl_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a << (x.b & 31)); }},
    {s_lshl_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a << (x.b & 63)); }},
    {s_lshr_b32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a >> (x.b & 31)); }},
    {s_lshr_b64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.a >> (x.b & 63)); }},
    {s_ashr_i32, "12.1", [](const ScalarIn& x) { return non_zero(x, x.sa() >> (x.b & 31)); }},
    {s_ashr_i64, "12.1", [](const ScalarIn& x) { return non_zero(x, x.sa() >> (x.b & 63)); }},
    {s_bfm_b32, "12.1", [](const ScalarIn& x) { return keeps(ones(x.a & 31) << (x.b & 31)); }},
    {s_bfm_b64, "12.1", [](const ScalarIn& x) { return keeps(ones(x.a & 63) << (x.b & 63)); }},
    {s_bfe_u32, "12.1", [](const ScalarIn& x) { return field(x, false); }},
    {s_bfe_i32, "12.1", [](const ScalarIn& x) { return field(x, true); }},
    {s_bfe_u64, "12.1", [](const ScalarIn& x) { return field(x, false); }},
    {s_bfe_i64, "12.1", [](const ScalarIn& x) { return field(x, true); }},
    {s_mul_i32, "12.1", [](const ScalarIn& x) { return keeps(x.sa() * x.sb()); }},
    {s_mul_hi_u32, "12.1", [](const ScalarIn& x) { return keeps(x.a * x.b >> 32); }},
    {s_mul_hi_i32, "12.1", [](const ScalarIn& x) { return keeps(x.sa() * x.sb() >> 32); }},
    {s_lshl1_add_u32, "12.1", [](const ScalarIn& x) { return shifted_sum(x, 1); }},
    {s_lshl2_add_u32, "12.1", [](const ScalarIn& x) { return shifted_sum(x, 2); }},
    {s_lshl3_add_u32, "12.1", [](const ScalarIn& x) { return shifted_sum(x, 3); }},
    {s_lshl4_add_u32, "12.1", [](const ScalarIn& x) { return shifted_sum(x, 4); }},
    {s_pack_ll_b32_b16, "12.1", [](const ScalarIn& x) { return keeps((x.a & 0xffff) + (x.b << 16)); }},
    {s_pack_lh_b32_b16, "12.1", [](const ScalarIn& x) { return keeps((x.a & 0xffff) + (x.b >> 16 << 16)); }},
    {s_pack_hh_b32_b16, "12.1", [](const ScalarIn& x) { return keeps((x.a >> 16) + (x.b >> 16 << 16)); }},

    {s_mov_b32, "12.3", [](const ScalarIn& x) { return keeps(x.a); }},
    {s_mov_b64, "12.3", [](const ScalarIn& x) { return keeps(x.a); }},
    {s_cmov_b32, "12.3", [](const ScalarIn& x) { return keeps(x.scc ? x.a : x.old); }},
    {s_cmov_b64, "12.3", [](const ScalarIn& x) { return keeps(x.scc ? x.a : x.old); }},
    {s_not_b32, "12.3", [](const ScalarIn& x) { return non_zero(x, ~x.a); }},
    {s_not_b64, "12.3", [](const ScalarIn& x) { return non_zero(x, ~x.a); }},
    {s_wqm_b32, "12.3", [](const ScalarIn& x) { return non_zero(x, quads(x, true)); }},
    {s_wqm_b64, "12.3", [](const ScalarIn& x) { return non_zero(x, quads(x, true)); }},
    {s_quadmask_b32, "12.3", [](const ScalarIn& x) { return non_zero(x, quads(x, false)); }},
    {s_quadmask_b64, "12.3", [](const ScalarIn& x) { return non_zero(x, quads(x, false)); }},
    {s_brev_b32, "12.3", [](const ScalarIn& x) { return keeps(backwards(x)); }},
    {s_brev_b64, "12.3", [](const ScalarIn& x) { return keeps(backwards(x)); }},
    {s_bcnt0_i32_b32, "12.3", [](const ScalarIn& x) { return non_zero(x, 32 - count_of(x.a, 32)); }},
    {s_bcnt0_i32_b64, "12.3", [](const ScalarIn& x) { return non_zero(x, 64 - count_of(x.a, 64)); }},
    {s_bcnt1_i32_b32, "12.3", [](const ScalarIn& x) { return non_zero(x, count_of(x.a, 32)); }},
    {s_bcnt1_i32_b64, "12.3", [](const ScalarIn& x) { return non_zero(x, count_of(x.a, 64)); }},
    {s_ff0_i32_b32, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(32, [&](int n) { return !bit(x.a, n); })); }},
    {s_ff0_i32_b64, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(64, [&](int n) { return !bit(x.a, n); })); }},
    {s_ff1_i32_b32, "12.3", [](const ScalarIn& x) { return keeps(first_bit(32, [&](int n) { return bit(x.a, n); })); }},
    {s_ff1_i32_b64, "12.3", [](const ScalarIn& x) { return keeps(first_bit(64, [&](int n) { return bit(x.a, n); })); }},
    {s_flbit_i32_b32, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(32, [&](int n) { return bit(x.a, 31 - n); })); }},
    {s_flbit_i32_b64, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(64, [&](int n) { return bit(x.a, 63 - n); })); }},
    {s_flbit_i32, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(32, [&](int n) { return bit(x.a, 31 - n) != bit(x.a, 31); })); }},
    {s_flbit_i32_i64, "12.3",
     [](const ScalarIn& x) { return keeps(first_bit(64, [&](int n) { return bit(x.a, 63 - n) != bit(x.a, 63); })); }},
    {s_sext_i32_i8, "12.3", [](const ScalarIn& x) { return keeps(ScalarIn::as_signed(x.a & 0xff, 8)); }},
    {s_sext_i32_i16, "12.3", [](const ScalarIn& x) { return keeps(ScalarIn::as_signed(x.a & 0xffff, 16)); }},
    {s_abs_i32, "12.3", [](const ScalarIn& x) { return non_zero(x, x.sa() < 0 ? -x.sa() : x.sa()); }},
    {s_bitreplicate_b64_b32, "12.3", [](const ScalarIn& x) { return keeps(doubled(x)); }},
    {s_bitset0_b32, "12.3", [](const ScalarIn& x) { return keeps(x.old & ~(Wide{1} << (x.a & 31))); }},
    {s_bitset1_b32, "12.3", [](const ScalarIn& x) { return keeps(x.old | Wide{1} << (x.a & 31)); }},
    {s_bitset0_b64, "12.3", [](const ScalarIn& x) { return keeps(x.old & ~(Wide{1} << (x.a & 63))); }},
    {s_bitset1_b64, "12.3", [](const ScalarIn& x) { return keeps(x.old | Wide{1} << (x.a & 63)); }},

    {s_and_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, x.a & x.exec); }},
    {s_or_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, x.a | x.exec); }},
    {s_xor_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, x.a ^ x.exec); }},
    {s_andn2_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, x.a & ~x.exec); }},
    {s_orn2_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, x.a | ~x.exec); }},
    {s_nand_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, ~(x.a & x.exec)); }},
    {s_nor_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, ~(x.a | x.exec)); }},
    {s_xnor_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, ~(x.a ^ x.exec)); }},
    {s_andn1_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, ~x.a & x.exec); }},
    {s_orn1_saveexec_b64, "12.3", [](const ScalarIn& x) { return saves(x, ~x.a | x.exec); }},
    {s_andn1_wrexec_b64, "12.3", [](const ScalarIn& x) { return writes(~x.a & x.exec); }},
    {s_andn2_wrexec_b64, "12.3", [](const ScalarIn& x) { return writes(x.a & ~x.exec); }},

    {s_cmp_eq_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() == x.sb()); }},
    {s_cmp_lg_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() != x.sb()); }},
    {s_cmp_gt_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() > x.sb()); }},
    {s_cmp_ge_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() >= x.sb()); }},
    {s_cmp_lt_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() < x.sb()); }},
    {s_cmp_le_i32, "12.4", [](const ScalarIn& x) { return tells(x.sa() <= x.sb()); }},
    {s_cmp_eq_u32, "12.4", [](const ScalarIn& x) { return tells(x.a == x.b); }},
    {s_cmp_lg_u32, "12.4", [](const ScalarIn& x) { return tells(x.a != x.b); }},
    {s_cmp_gt_u32, "12.4", [](const ScalarIn& x) { return tells(x.a > x.b); }},
    {s_cmp_ge_u32, "12.4", [](const ScalarIn& x) { return tells(x.a >= x.b); }},
    {s_cmp_lt_u32, "12.4", [](const ScalarIn& x) { return tells(x.a < x.b); }},
    {s_cmp_le_u32, "12.4", [](const ScalarIn& x) { return tells(x.a <= x.b); }},
    {s_cmp_eq_u64, "12.4", [](const ScalarIn& x) { return tells(x.a == x.b); }},
    {s_cmp_lg_u64, "12.4", [](const ScalarIn& x) { return tells(x.a != x.b); }},
    {s_bitcmp0_b32, "12.4", [](const ScalarIn& x) { return tells(!bit(x.a, x.b & 31)); }},
    {s_bitcmp1_b32, "12.4", [](const ScalarIn& x) { return tells(bit(x.a, x.b & 31)); }},
    {s_bitcmp0_b64, "12.4", [](const ScalarIn& x) { return tells(!bit(x.a, x.b & 63)); }},
    {s_bitcmp1_b64, "12.4", [](const ScalarIn& x) { return tells(bit(x.a, x.b & 63)); }},
};

// With a constant of 16 bits, extended as its name says, and the register as source and destination.
constexpr ScalarRow kConstantRows[] = {
    {s_movk_i32, "12.2", [](const ScalarIn& x) { return keeps(x.b); }},
    {s_cmovk_i32, "12.2", [](const ScalarIn& x) { return keeps(x.scc ? x.b : x.a); }},
    {s_addk_i32, "12.2", [](const ScalarIn& x) { return signed_sum(x.sa() + x.sb()); }},
    {s_mulk_i32, "12.2", [](const ScalarIn& x) { return keeps(x.sa() * x.sb()); }},
};

uint64_t mask_of(const Spec& spec) { return spec.registers == 2 ? ~uint64_t{0} : 0xffffffff; }
// Fields of all offsets and widths, beside the corners that others have.
std::vector<uint64_t> corners_for(const Row& row, int k) {
  const bool wide = row.sources[k].registers == 2;
  std::vector<uint64_t> all = corners_of(wide ? Type::u64 : Type::u32);
  if (k == 1 && name_of(row.opcode).find("_bfe_") != std::string_view::npos)
    for (const uint64_t width : {0, 1, 8, 31, 32, 33, 63, 64, 127})
      for (const uint64_t offset : {0, 1, 5, 31, 32, 63}) all.push_back(width << 16 | offset);
  return all;
}

constexpr uint64_t kExec = 0xff0000000000f00f, kOld = 0x5aa5a55a0ff01234;

struct Scalar {
  const ScalarRow& row;
  const Row& decoded;
  OneWave& wave;
  bool constant;

  void expect(uint64_t a, uint64_t b, bool scc) const {
    const bool wide = name_of(row.opcode).find("64") != std::string_view::npos;
    const uint64_t old = constant ? a : kOld & mask_of(decoded.destination);
    const ScalarIn in{a,  constant ? static_cast<uint32_t>(static_cast<int16_t>(b)) : b, scc, wide ? 64 : 32, kExec,
                      old};
    wave.w.scc = scc;
    wave.w.set_exec(kExec);
    wave.set_pair(10, a), wave.set_pair(12, b), wave.set_pair(14, constant ? a : kOld);
    Instruction i = instruction(row.opcode, s(14, decoded.destination.registers), {});
    if (decoded.destination.registers == 0) i.destination = {};
    if (constant) i.immediate = static_cast<int16_t>(b);
    for (int k = 0; k < decoded.source_count && !constant; ++k)
      i.sources[i.source_count++] = s(static_cast<uint16_t>(10 + 2 * k), decoded.sources[k].registers);
    wave.run(i);
    compare(row.expected(in), in);
  }
  void compare(const ScalarOut& out, const ScalarIn& in) const {
    const auto text = [&] {
      return std::string(name_of(row.opcode)) + " (" + row.section + ") of " +
             ::testing::PrintToString(static_cast<uint64_t>(in.a)) + ", " +
             ::testing::PrintToString(static_cast<uint64_t>(in.b));
    };
    const uint64_t mask = mask_of(decoded.destination);
    if (decoded.destination.registers != 0) {
      ASSERT_EQ(wave.pair(14) & mask, static_cast<uint64_t>(out.value) & mask) << std::hex << text();
    }
    ASSERT_EQ(wave.w.scc, out.scc == kKeeps ? in.scc : out.scc == 1) << text();
    ASSERT_EQ(wave.w.exec(), out.to_exec ? static_cast<uint64_t>(out.exec) : kExec) << std::hex << text();
  }
};

void expect_all(const ScalarRow& row, bool constant) {
  const Row& decoded = row_of(row.opcode);
  OneWave wave;
  const Scalar scalar{row, decoded, wave, constant};
  const std::vector<uint64_t> second = constant                   ? corners_of(Type::u16)
                                       : decoded.source_count > 1 ? corners_for(decoded, 1)
                                                                  : std::vector<uint64_t>{0};
  for (const uint64_t a : constant ? corners_of(Type::u32) : corners_for(decoded, 0))
    for (const uint64_t b : second)
      for (const bool scc : {false, true}) {
        scalar.expect(a, b, scc);
        if (::testing::Test::HasFailure()) return;
      }
}

TEST(ScalarCorners, AreWhatTheGuideSays) {
  for (const ScalarRow& row : kRows) expect_all(row, false);
  for (const ScalarRow& row : kConstantRows) expect_all(row, true);
}

// The guide's own list.
TEST(ScalarCorners, DifferencesThatOverflowAreTakenAsTheyWrap) {
  OneWave wave;
  const uint32_t examples[][3] = {{2, 5, 3},
                                  {0xffffffff, 0, 1},
                                  {0x80000000, 0, 0x80000000},
                                  {0x80000000, 1, 0x7fffffff},
                                  {0x80000000, 0xffffffff, 0x7fffffff},
                                  {0x80000000, 0xfffffffe, 0x7ffffffe}};
  for (const auto& [a, b, wanted] : examples) {
    wave.w.s[10] = a, wave.w.s[12] = b;
    wave.run(instruction(s_absdiff_i32, s(14), {s(10), s(12)}));
    EXPECT_EQ(wave.w.s[14], wanted);
  }
}

}  // namespace

std::vector<Opcode> scalar_corner_opcodes() {
  std::vector<Opcode> all;
  for (const ScalarRow& row : kRows) all.push_back(row.opcode);
  for (const ScalarRow& row : kConstantRows) all.push_back(row.opcode);
  return all;
}

}  // namespace rung::amdgpu::corner
