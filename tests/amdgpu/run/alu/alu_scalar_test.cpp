// Scalar instructions: results and SCC, EXEC saved and set, MODE; and what the wave must not read.
// SPDX-License-Identifier: Apache-2.0
#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

struct ScalarCase {
  Opcode opcode;
  uint64_t a, b;
  uint64_t expected;
  bool scc;
  bool scc_before = false;
};

void expect_scalars(const std::vector<ScalarCase>& cases) {
  for (const ScalarCase& c : cases) {
    const Row& row = row_of(c.opcode);
    OneWave wave;
    wave.set_pair(10, c.a), wave.set_pair(12, c.b);
    wave.w.scc = c.scc_before;
    Instruction i = instruction(c.opcode, s(2, row.destination.registers), {});
    if (row.destination.registers == 0) i.destination = {};
    i.source_count = row.source_count;
    for (int k = 0; k < row.source_count; ++k)
      i.sources[k] = s(static_cast<uint16_t>(10 + 2 * k), row.sources[k].registers);
    wave.run(i);
    const uint64_t result[] = {c.expected, wave.w.s[2], wave.pair(2)};
    EXPECT_EQ(result[row.destination.registers], c.expected) << name_of(c.opcode) << std::hex << " " << c.a;
    EXPECT_EQ(wave.w.scc, c.scc) << name_of(c.opcode) << std::hex << " " << c.a << ", " << c.b;
  }
}

constexpr uint64_t kOnes = 0xffffffff, kAll = ~uint64_t{0}, kTop = 0x80000000, kTop64 = uint64_t{1} << 63;

TEST(AluScalar, SumsSetSccAsTheirKindOverflows) {
  expect_scalars({{s_add_u32, kOnes, 1, 0, true},
                  {s_add_u32, 1, 2, 3, false},
                  {s_add_i32, 0x7fffffff, 1, kTop, true},
                  {s_add_i32, kOnes, 1, 0, false},
                  {s_sub_u32, 1, 2, kOnes, true},
                  {s_sub_i32, kTop, 1, 0x7fffffff, true},
                  {s_sub_i32, 1, 2, kOnes, false},
                  {s_addc_u32, kOnes, 0, 0, true, true},
                  {s_addc_u32, 1, 1, 3, false, true},
                  {s_addc_u32, kOnes, kOnes, kOnes, true, true},
                  {s_subb_u32, 0, 0, kOnes, true, true},
                  {s_subb_u32, 5, 2, 2, false, true},
                  {s_subb_u32, 0, kOnes, 0, true, true},
                  {s_absdiff_i32, 3, 8, 5, true},
                  {s_abs_i32, kOnes, 0, 1, true},
                  {s_abs_i32, kTop, 0, kTop, true},
                  {s_lshl3_add_u32, 0x20000000, 5, 5, true},
                  {s_lshl1_add_u32, 3, 4, 10, false}});
}

TEST(AluScalar, LogicAndShiftsSetSccForNonzeroResults) {
  expect_scalars({{s_and_b32, 0xff00, 0x00ff, 0, false},
                  {s_and_b64, kAll, kTop64, kTop64, true},
                  {s_andn2_b64, kAll, kOnes, 0xffffffff00000000, true},
                  {s_orn2_b32, 1, 0xfffffffe, 1, true},
                  {s_nand_b64, kAll, kAll, 0, false},
                  {s_xnor_b32, 5, 5, kOnes, true},
                  {s_not_b64, kAll, 0, 0, false},
                  {s_lshl_b32, 3, 33, 6, true},
                  {s_lshl_b64, 3, 33, 0x600000000, true},
                  {s_lshr_b64, kTop64, 63, 1, true},
                  {s_ashr_i32, kTop, 31, kOnes, true},
                  {s_ashr_i64, kTop64, 63, kAll, true},
                  {s_bfe_u32, 0xabcd1234, 0x80004, 0x23, true},
                  {s_bfe_u32, kOnes, 0x200000, kOnes, true},
                  {s_bfe_i32, 0xf0, 0x40004, kOnes, true},
                  {s_bfe_i32, 0x70, 0, 0, false},
                  {s_bfe_u64, kTop64, 0x10003f, 1, true},
                  {s_bfe_i64, kTop64, 0x1003f, kAll, true},
                  {s_bfm_b32, 8, 4, 0xff0, false},
                  {s_bfm_b64, 8, 40, uint64_t{0xff} << 40, false}});
}

TEST(AluScalar, CountsAndPatterns) {
  expect_scalars({{s_bcnt1_i32_b64, kAll, 0, 64, true},
                  {s_bcnt0_i32_b32, kOnes, 0, 0, false},
                  {s_ff1_i32_b64, kTop64, 0, 63, false},
                  {s_ff1_i32_b32, 0, 0, kOnes, false},
                  {s_ff0_i32_b32, 7, 0, 3, false},
                  {s_flbit_i32_b32, 1, 0, 31, false},
                  {s_flbit_i32_b64, 0, 0, kOnes, false},
                  {s_flbit_i32, kOnes, 0, kOnes, false},
                  {s_flbit_i32, 0xfff00000, 0, 12, false},
                  {s_flbit_i32_i64, 1, 0, 63, false},
                  {s_brev_b32, 1, 0, kTop, false},
                  {s_brev_b64, 2, 0, uint64_t{1} << 62, false},
                  {s_sext_i32_i8, 0x80, 0, 0xffffff80, false},
                  {s_sext_i32_i16, 0x8000, 0, 0xffff8000, false},
                  {s_bitreplicate_b64_b32, 0x80000005, 0, 0xc000000000000033, false},
                  {s_quadmask_b32, 0x00f00010, 0, 0x22, true},
                  {s_wqm_b64, 0x1000000000000100, 0, 0xf000000000000f00, true},
                  {s_pack_ll_b32_b16, 0x11112222, 0x33334444, 0x44442222, false},
                  {s_pack_lh_b32_b16, 0x11112222, 0x33334444, 0x33332222, false},
                  {s_pack_hh_b32_b16, 0x11112222, 0x33334444, 0x33331111, false}});
}

TEST(AluScalar, ChoosesAndCompares) {
  expect_scalars({{s_min_i32, kOnes, 1, kOnes, true},
                  {s_min_u32, kOnes, 1, 1, false},
                  {s_max_i32, kOnes, 1, 1, false},
                  {s_max_u32, kOnes, 1, kOnes, true},
                  {s_cselect_b32, 1, 2, 1, true, true},
                  {s_cselect_b64, 1, kAll, kAll, false, false},
                  {s_cmp_lt_i32, kOnes, 1, 0, true},
                  {s_cmp_lt_u32, kOnes, 1, 0, false},
                  {s_cmp_eq_u64, kAll, kAll, 0, true},
                  {s_cmp_lg_u64, kAll, kOnes, 0, true},
                  {s_bitcmp1_b64, kTop64, 63, 0, true},
                  {s_bitcmp0_b32, 1, 32, 0, false},
                  {s_mul_i32, 0x10001, 0x10001, 0x20001, true, true},
                  {s_mul_hi_u32, kOnes, kOnes, 0xfffffffe, false},
                  {s_mul_hi_i32, kOnes, 2, kOnes, false}});
}

TEST(AluScalar, FormsOf32And64Bits) {
  constexpr uint64_t kA = 0xf0f0f0f012345678, kB = 0xff00ff0000ffff00;
  constexpr uint64_t kA32 = kA & kOnes, kB32 = kB & kOnes;
  expect_scalars({{s_not_b32, kA, 0, ~kA & kOnes, true},
                  {s_or_b32, kA, kB, kA32 | kB32, true},
                  {s_xor_b32, kA, kA, 0, false},
                  {s_xor_b64, kA, kB, kA ^ kB, true},
                  {s_andn2_b32, kA, kB, kA32 & ~kB32, true},
                  {s_orn2_b64, kA, kB, kA | ~kB, true},
                  {s_nand_b32, kOnes, kOnes, 0, false},
                  {s_nor_b32, kA, kB, ~(kA | kB) & kOnes, true},
                  {s_nor_b64, kA, kB, ~(kA | kB), true},
                  {s_xnor_b64, kA, ~kA, 0, false},
                  {s_lshr_b32, kTop, 33, kTop >> 1, true},
                  {s_lshl2_add_u32, 0x40000001, 5, 9, true},
                  {s_lshl4_add_u32, 3, 5, 53, false},
                  {s_bcnt0_i32_b64, kTop64, 0, 63, true},
                  {s_bcnt1_i32_b32, 0xf01, 0, 5, true},
                  {s_ff0_i32_b64, 0xffffffffff, 0, 40, true, true},
                  {s_quadmask_b64, 0x1000000000000010, 0, 0x8002, true},
                  {s_wqm_b32, 0x10, 0, 0xf0, true},
                  {s_bitcmp1_b32, 0x10, 36, 0, true},
                  {s_bitcmp0_b64, kTop64, 63, 0, false}});
  OneWave wave;
  wave.w.set_exec(0b0011);
  wave.set_pair(10, 0b0101);
  wave.run(instruction(s_andn2_wrexec_b64, s(2, 2), {s(10, 2)}));
  EXPECT_EQ(wave.pair(2), 0b0100u);
  EXPECT_EQ(wave.w.exec(), 0b0100u);
}

TEST(AluScalar, SetsBitsAndMovesConditionallyOnScc) {
  OneWave wave;
  wave.set_pair(4, 0x0f0f0f0f0f0f0f0f), wave.set_pair(10, 36), wave.set_pair(12, 0x123456789);
  wave.run(instruction(s_bitset1_b32, s(4), {s(10)}));
  EXPECT_EQ(wave.pair(4), 0x0f0f0f0f0f0f0f1fu);
  wave.run(instruction(s_bitset0_b32, s(4), {s(10)}));
  EXPECT_EQ(wave.pair(4), 0x0f0f0f0f0f0f0f0fu);
  wave.run(instruction(s_bitset1_b64, s(4, 2), {s(10)}));
  EXPECT_EQ(wave.pair(4), 0x0f0f0f1f0f0f0f0fu);
  wave.run(instruction(s_bitset0_b64, s(4, 2), {s(10)}));
  EXPECT_EQ(wave.pair(4), 0x0f0f0f0f0f0f0f0fu);
  for (const bool scc : {false, true}) {
    wave.w.scc = scc;
    wave.run(instruction(s_cmov_b32, s(6), {s(12)}));
    wave.run(instruction(s_cmov_b64, s(8, 2), {s(12, 2)}));
    EXPECT_EQ(wave.w.s[6], scc ? 0x23456789u : 0u);
    EXPECT_EQ(wave.pair(8), scc ? 0x123456789u : 0u);
  }
}

TEST(AluScalar, M0MovesScalarRegisters) {
  OneWave wave;
  wave.w.s[kM0] = 4;
  for (uint32_t n = 10; n < 20; ++n) wave.w.s[n] = 100 + n;
  wave.run(instruction(s_movrels_b32, s(2), {s(10)}));
  EXPECT_EQ(wave.w.s[2], 114u);
  wave.run(instruction(s_movrels_b64, s(2, 2), {s(10, 2)}));
  EXPECT_EQ(wave.pair(2), 114u | uint64_t{115} << 32);
  wave.run(instruction(s_movreld_b32, s(20), {s(10)}));
  EXPECT_EQ(wave.w.s[24], 110u);
  wave.run(instruction(s_movreld_b64, s(20, 2), {s(12, 2)}));
  EXPECT_EQ(wave.pair(24), 112u | uint64_t{113} << 32);
  wave.w.s[kM0] = 100;
  wave.run(instruction(s_movrels_b32, s(2), {s(10)}));
  EXPECT_EQ(wave.w.defect.detail, "M0 leads beyond the scalar registers");
}

TEST(AluScalar, HintsChangeNothing) {
  for (const Opcode opcode : {s_nop, s_sleep, s_setprio, s_sethalt, s_wakeup, s_sendmsg, s_icache_inv, s_incperflevel,
                              s_decperflevel, s_ttracedata, s_setkill, v_nop, v_clrexcp, s_cbranch_cdbgsys,
                              s_cbranch_cdbguser, s_cbranch_cdbgsys_or_user, s_cbranch_cdbgsys_and_user}) {
    OneWave wave;
    wave.w.s[2] = 77, wave.w.scc = true;
    Instruction i = instruction(opcode, {}, {});
    i.immediate = 5;
    wave.run(i);
    EXPECT_EQ(wave.w.pause, Pause::none) << name_of(opcode);
    EXPECT_EQ(wave.w.next, 0u);
    EXPECT_EQ(wave.w.s[2], 77u);
    EXPECT_EQ(wave.w.mode, Mode::kUsual);
    EXPECT_TRUE(wave.w.scc);
  }
  for (const Opcode opcode : {s_endpgm, s_endpgm_saved}) {
    OneWave wave;
    wave.run(instruction(opcode, {}, {}));
    EXPECT_EQ(wave.w.pause, Pause::ended);
  }
}

TEST(AluScalar, ExecIsSavedAndSet) {
  const struct {
    Opcode opcode;
    uint64_t exec;
  } cases[] = {{s_and_saveexec_b64, 0b0001},        {s_or_saveexec_b64, 0b0111},
               {s_xor_saveexec_b64, 0b0110},        {s_andn2_saveexec_b64, 0b0100},
               {s_andn1_saveexec_b64, 0b0010},      {s_orn2_saveexec_b64, ~uint64_t{0b0010}},
               {s_nand_saveexec_b64, ~uint64_t{1}}, {s_nor_saveexec_b64, ~uint64_t{0b0111}},
               {s_xnor_saveexec_b64, ~uint64_t{6}}, {s_orn1_saveexec_b64, ~uint64_t{0b0100}}};
  for (const auto& c : cases) {
    OneWave wave;
    wave.w.set_exec(0b0011);
    wave.set_pair(10, 0b0101);
    wave.run(instruction(c.opcode, s(2, 2), {s(10, 2)}));
    EXPECT_EQ(wave.pair(2), 0b0011u) << name_of(c.opcode);
    EXPECT_EQ(wave.w.exec(), c.exec) << name_of(c.opcode);
    EXPECT_EQ(wave.w.scc, c.exec != 0);
  }
  OneWave wave;
  wave.w.set_exec(0b0011);
  wave.set_pair(10, 0b0101);
  wave.run(instruction(s_andn1_wrexec_b64, s(2, 2), {s(10, 2)}));
  EXPECT_EQ(wave.pair(2), 0b0010u);
  EXPECT_EQ(wave.w.exec(), 0b0010u);
}

TEST(AluScalar, ConstantsOf16Bits) {
  OneWave wave;
  wave.w.s[5] = 0xffff8000;
  const auto run = [&](Opcode opcode, int immediate) {
    Instruction i = instruction(opcode, row_of(opcode).destination.registers ? s(5) : InstructionOperand{}, {});
    if (i.destination.kind == OperandKind::none) i.sources[0] = s(5), i.source_count = 1;
    i.immediate = immediate;
    wave.run(i);
  };
  run(s_cmpk_eq_i32, -0x8000);
  EXPECT_TRUE(wave.w.scc);
  run(s_cmpk_eq_u32, -0x8000);  // 0x8000: unsigned ones are not extended
  EXPECT_FALSE(wave.w.scc);
  run(s_addk_i32, -1);
  EXPECT_EQ(wave.w.s[5], 0xffff7fffu);
  run(s_mulk_i32, -1);
  EXPECT_EQ(wave.w.s[5], 0x8001u);
  run(s_movk_i32, -2);
  EXPECT_EQ(wave.w.s[5], 0xfffffffeu);
  wave.w.scc = false;
  run(s_cmovk_i32, 7);
  EXPECT_EQ(wave.w.s[5], 0xfffffffeu);
  wave.w.scc = true;
  run(s_cmovk_i32, 7);
  EXPECT_EQ(wave.w.s[5], 7u);
}

TEST(AluScalar, ModeIsReadAndSetByFields) {
  OneWave wave;
  Instruction set = instruction(s_setreg_imm32_b32, {}, {constant(3)});
  set.immediate = 1 | 0 << 6 | 1 << 11;  // hwreg(MODE, 0, 2): rounding of f32
  wave.run(set);
  EXPECT_EQ(wave.w.mode, Mode::kUsual | 3);
  Instruction get = instruction(s_getreg_b32, s(4), {});
  get.immediate = 1 | 4 << 6 | 3 << 11;
  wave.run(get);
  EXPECT_EQ(wave.w.s[4], 0xfu);
  wave.w.s[6] = 0;
  set = instruction(s_setreg_b32, {}, {s(6)});
  set.immediate = 1 | 4 << 6 | 3 << 11;  // denormals
  wave.run(set);
  EXPECT_EQ(wave.w.mode, (Mode::kUsual | 3) & ~0xf0u);
}

TEST(AluScalar, UnwrittenAndPendingRegistersAreFound) {
  OneWave wave;
  wave.w.scalar_written[11] = false;
  wave.run(instruction(s_mov_b64, s(2, 2), {s(10, 2)}));  // a copy may move it
  EXPECT_EQ(wave.w.pause, Pause::none);
  EXPECT_TRUE(wave.w.scalar_written[2]);
  EXPECT_FALSE(wave.w.scalar_written[3]);
  wave.run(instruction(s_add_u32, s(4), {s(2), s(3)}));
  EXPECT_EQ(wave.w.pause, Pause::failed);
  EXPECT_EQ(wave.w.defect.kind, DefectKind::uninitialised);
  EXPECT_EQ(wave.w.defect.detail, "nobody wrote s3");

  OneWave loading;
  loading.w.scalar_pending[10] = 1;
  loading.run(instruction(s_mov_b32, s(2), {s(10)}));
  EXPECT_EQ(loading.w.defect.kind, DefectKind::missing_wait);
  EXPECT_EQ(loading.w.defect.detail, "s10 is still to be written by a load");

  OneWave overwriting;  // the load would come later, and win
  overwriting.w.scalar_pending[2] = 1;
  overwriting.run(instruction(s_mov_b32, s(2), {s(10)}));
  EXPECT_EQ(overwriting.w.defect.kind, DefectKind::missing_wait);
}

TEST(AluScalar, SpecialOperands) {
  OneWave wave;
  wave.w.apertures = {uint64_t{5} << 32, 0, uint64_t{7} << 32, 0};
  wave.run(instruction(s_mov_b64, s(2, 2), {s(kSharedBase, 2)}));
  EXPECT_EQ(wave.pair(2), uint64_t{5} << 32);
  wave.run(instruction(s_mov_b64, s(2, 2), {s(kPrivateBase, 2)}));
  EXPECT_EQ(wave.pair(2), uint64_t{7} << 32);
  wave.w.scc = true;
  wave.run(instruction(s_mov_b32, s(2), {s(kScc)}));
  EXPECT_EQ(wave.w.s[2], 1u);
  wave.run(instruction(s_mov_b32, s(2), {s(kExecZ)}));
  EXPECT_EQ(wave.w.s[2], 0u);
}

}  // namespace
}  // namespace rung::amdgpu
