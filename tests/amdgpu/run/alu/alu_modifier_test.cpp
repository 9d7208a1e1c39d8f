// What holds for all vector instructions: EXEC, DPP, SDWA, moves between lanes, and registers that may not be read.
// SPDX-License-Identifier: Apache-2.0
#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

TEST(AluModifiers, InactiveLanesKeepTheirValues) {
  OneWave wave;
  for (int l = 0; l < 64; ++l) wave.set(2, l, 1000), wave.set(10, l, static_cast<uint32_t>(l));
  const uint64_t exec = 0x8000000000f00001;
  wave.w.set_exec(exec);
  wave.run(instruction(v_add_u32, v(2), {v(10), constant(1)}));
  for (int l = 0; l < 64; ++l) EXPECT_EQ(wave.get(2, l), exec >> l & 1 ? static_cast<uint32_t>(l) + 1 : 1000u);
  wave.run(instruction(v_cmp_t_u32, s(30, 2), {v(10), v(10)}));
  EXPECT_EQ(wave.pair(30), exec);  // 0 for lanes that are off
}

TEST(AluModifiers, ResultsMayOverwriteSources) {
  OneWave wave;
  wave.set64(10, 5, 0x100000001);
  wave.run(instruction(v_lshlrev_b64, v(11, 2), {constant(4), v(10, 2)}));
  EXPECT_EQ(wave.get64(11, 5), 0x1000000010u);
}

TEST(AluModifiers, ScalarsAndAccumulatorsAreOperands) {
  OneWave wave;
  wave.w.s[7] = 40;
  wave.set(256 + 3, 9, 2);
  InstructionOperand accumulator = v(3);
  accumulator.kind = OperandKind::agpr;
  wave.run(instruction(v_accvgpr_read_b32, v(4), {accumulator}));
  wave.run(instruction(v_add_u32, v(2), {s(7), v(4)}));
  EXPECT_EQ(wave.get(2, 9), 42u);
  wave.run(instruction(v_accvgpr_write_b32, accumulator, {v(2)}));
  EXPECT_EQ(wave.get(256 + 3, 9), 42u);
  EXPECT_EQ(wave.get(3, 9), 0u);
}

TEST(AluModifiers, ChoosesByMask) {
  OneWave wave;
  wave.set_pair(30, 0x5555555555555555);
  wave.run(instruction(v_cndmask_b32, v(2), {constant(1), constant(2), s(30, 2)}));
  EXPECT_EQ(wave.get(2, 0), 2u);
  EXPECT_EQ(wave.get(2, 63), 1u);
}

// The lane that each lane got by this control, kKept where the destination was left alone, kZero where it became 0.
constexpr int kKept = -1, kZero = -2;
std::vector<int> moved(uint16_t control, bool bound_ctrl, uint64_t exec = ~uint64_t{0}, uint8_t rows = 15,
                       uint8_t banks = 15) {
  OneWave wave;
  for (int l = 0; l < 64; ++l) wave.set(10, l, static_cast<uint32_t>(l) + 1), wave.set(2, l, 0xffff);
  wave.w.set_exec(exec);
  Instruction i = instruction(v_mov_b32, v(2), {v(10)});
  i.is_dpp = true;
  i.dpp = {.control = control, .row_mask = rows, .bank_mask = banks, .bound_ctrl = bound_ctrl};
  wave.run(i);
  std::vector<int> lanes;
  for (int l = 0; l < 64; ++l) {
    const uint32_t got = wave.get(2, l);
    lanes.push_back(got == 0xffff ? kKept : got == 0 ? kZero : static_cast<int>(got) - 1);
  }
  return lanes;
}

TEST(AluModifiers, DppMovesLanes) {
  EXPECT_EQ(moved(0x1b, false)[0], 3);  // quad_perm:[3,2,1,0]
  EXPECT_EQ(moved(0x1b, false)[62], 61);
  EXPECT_EQ(moved(0x101, false)[0], 1);  // row_shl:1 reads the lane above
  EXPECT_EQ(moved(0x101, false)[15], kKept);
  EXPECT_EQ(moved(0x101, true)[15], kZero);
  EXPECT_EQ(moved(0x112, false)[18], 16);  // row_shr:2 reads two below, within the row
  EXPECT_EQ(moved(0x112, false)[17], kKept);
  EXPECT_EQ(moved(0x121, false)[16], 31);  // row_ror:1
  EXPECT_EQ(moved(0x140, false)[16], 31);  // row_mirror
  EXPECT_EQ(moved(0x141, false)[16], 23);  // row_half_mirror
  EXPECT_EQ(moved(0x130, false)[15], 16);  // wave_shl:1
  EXPECT_EQ(moved(0x130, false)[63], kKept);
  EXPECT_EQ(moved(0x134, false)[63], 0);     // wave_rol:1
  EXPECT_EQ(moved(0x138, false)[0], kKept);  // wave_shr:1
  EXPECT_EQ(moved(0x13c, false)[0], 63);     // wave_ror:1
  EXPECT_EQ(moved(0x153, false)[37], 35);    // row_newbcast:3
}

TEST(AluModifiers, BroadcastTheLastLaneOfTheRowBefore) {
  const std::vector<int> of15 = moved(0x142, false), of31 = moved(0x143, false);
  for (int l = 0; l < 64; ++l) {
    EXPECT_EQ(of15[l], l < 16 ? kKept : l / 16 * 16 - 1) << l;
    EXPECT_EQ(of31[l], l < 32 ? kKept : 31) << l;
  }
}

TEST(AluModifiers, DppLeavesMaskedLanesAlone) {
  const std::vector<int> lanes = moved(0xe4, true, ~uint64_t{0}, 0b0101, 0b0010);
  for (int l = 0; l < 64; ++l) EXPECT_EQ(lanes[l], (l / 16) % 2 == 0 && l / 4 % 4 == 1 ? l : kKept) << l;
}

TEST(AluModifiers, DppDoesNotReadInactiveLanes) {
  const uint64_t exec = ~uint64_t{0b10};  // lane 1 is off
  EXPECT_EQ(moved(0x101, false, exec)[0], kKept);
  OneWave wave;
  for (int l = 0; l < 64; ++l) wave.set(10, l, 7), wave.set(2, l, 0xffff);
  wave.w.set_exec(exec);
  wave.w.written[10] = exec;
  Instruction i = instruction(v_add_u32, v(2), {v(10), constant(5)});
  i.is_dpp = true;
  i.dpp = {.control = 0x101, .bound_ctrl = true};
  wave.run(i);
  EXPECT_EQ(wave.w.pause, Pause::none);
  EXPECT_EQ(wave.get(2, 0), 5u);  // 0 + 5
  EXPECT_EQ(wave.get(2, 2), 12u);
  EXPECT_EQ(wave.get(2, 15), 5u);  // beyond the row
  EXPECT_EQ(wave.get(2, 1), 0xffffu);
}

TEST(AluModifiers, SdwaPicksAndPlacesParts) {
  OneWave wave;
  wave.set(10, 0, 0x80ff2233), wave.set(12, 0, 0x00010002), wave.set(2, 0, 0xaabbccdd);
  Instruction i = instruction(v_add_u32, v(2), {v(10), v(12)});
  i.is_sdwa = true;
  i.sdwa.source[0] = Select::byte2, i.sdwa.source[1] = Select::word1;
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0x100u);
  i.sdwa.sext[0] = true;
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0u);
  wave.set(2, 0, 0xaabbccdd);
  i.sdwa.sext[0] = false;
  i.sdwa.source[0] = Select::byte3;  // 0x80 + 1
  i.sdwa.destination = Select::byte1, i.sdwa.unused = Unused::preserve;
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0xaabb81ddu);
  i.sdwa.unused = Unused::pad;
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0x8100u);
  i.sdwa.unused = Unused::sext;
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0xffff8100u);
  Instruction half = instruction(v_mul_f16, v(2), {v(14), v(14)});
  half.is_sdwa = true;
  half.sdwa.source[0] = Select::word1, half.sdwa.source[1] = Select::word0;
  half.sources[0].neg = true;
  wave.set(14, 0, 0x40004200);  // 2 and 3
  wave.run(half);
  EXPECT_EQ(wave.get(2, 0), 0xc600u);
}

TEST(AluModifiers, SdwaWithACarry) {
  OneWave wave;
  wave.set(10, 0, 0xff000000), wave.set(12, 0, 0xffffff01);
  Instruction i = instruction(v_add_co_u32, v(2), {v(10), v(12)});
  i.is_sdwa = true;
  i.sdwa.source[0] = Select::byte3;
  i.carry_out = s(kVcc, 2);
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0u);
  EXPECT_EQ(wave.w.vcc() & 1, 1u);
}

TEST(AluModifiers, LanesToScalarsAndBack) {
  OneWave wave;
  for (int l = 0; l < 64; ++l) wave.set(10, l, static_cast<uint32_t>(100 + l));
  wave.w.set_exec(0xf0);
  wave.run(instruction(v_readfirstlane_b32, s(4), {v(10)}));
  EXPECT_EQ(wave.w.s[4], 104u);
  wave.w.s[5] = 64 + 63;  // modulo 64; not active, and read all the same
  wave.run(instruction(v_readlane_b32, s(4), {v(10), s(5)}));
  EXPECT_EQ(wave.w.s[4], 163u);
  wave.w.written[11] = 0;
  wave.run(instruction(v_writelane_b32, v(11), {s(4), constant(2)}));
  EXPECT_EQ(wave.get(11, 2), 163u);
  EXPECT_EQ(wave.w.written[11], 4u);
  wave.w.set_exec(0);
  wave.run(instruction(v_readfirstlane_b32, s(4), {v(10)}));
  EXPECT_EQ(wave.w.s[4], 100u);
}

TEST(AluModifiers, RowsAndHalvesChangePlaces) {
  const auto lane_after = [](Opcode opcode, int number, int lane) {
    OneWave wave;
    for (int l = 0; l < 64; ++l)
      wave.set(10, l, static_cast<uint32_t>(l)), wave.set(11, l, static_cast<uint32_t>(100 + l));
    wave.run(instruction(opcode, v(10), {v(11)}));
    return wave.get(number, lane);
  };
  EXPECT_EQ(lane_after(v_swap_b32, 10, 5), 105u);
  EXPECT_EQ(lane_after(v_swap_b32, 11, 5), 5u);
  EXPECT_EQ(lane_after(v_permlane32_swap_b32, 10, 5), 5u);
  EXPECT_EQ(lane_after(v_permlane32_swap_b32, 10, 37), 105u);
  EXPECT_EQ(lane_after(v_permlane32_swap_b32, 11, 5), 37u);
  EXPECT_EQ(lane_after(v_permlane32_swap_b32, 11, 37), 137u);
  EXPECT_EQ(lane_after(v_permlane16_swap_b32, 10, 17), 101u);
  EXPECT_EQ(lane_after(v_permlane16_swap_b32, 11, 1), 17u);
  EXPECT_EQ(lane_after(v_permlane16_swap_b32, 10, 50), 134u);
  EXPECT_EQ(lane_after(v_permlane16_swap_b32, 11, 16), 116u);
}

TEST(AluModifiers, UnwrittenLanesAreFoundWhereTheyCount) {
  OneWave wave;
  wave.w.written[10] = ~uint64_t{0x30};
  wave.run(instruction(v_mov_b32, v(3), {v(10)}));  // a copy may move them
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_EQ(wave.w.written[3], ~uint64_t{0x30});
  wave.w.set_exec(0xf);
  wave.run(instruction(v_add_u32, v(4), {v(3), v(3)}));
  ASSERT_EQ(wave.w.pause, Pause::none);
  wave.w.set_exec(0x2f);
  wave.run(instruction(v_add_u32, v(4), {v(12), v(3)}));  // what is made of them is unwritten, too
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_EQ(wave.w.written[4], ~uint64_t{0x20});
  wave.run(instruction(v_cmp_lt_u32, s(8, 2), {v(12), v(4)}));  // and decides nothing
  EXPECT_EQ(wave.w.pause, Pause::failed);
  EXPECT_EQ(wave.w.defect.kind, DefectKind::uninitialised);
  EXPECT_EQ(wave.w.defect.lane, 5);
  EXPECT_EQ(wave.w.defect.detail, "nobody wrote v4");
}

TEST(AluModifiers, UnwrittenHalvesCountWhereModifiersChooseThem) {
  OneWave wave;
  wave.w.written[11] = 0;
  Instruction product = instruction(v_pk_mul_f32, v(2, 2), {v(10, 2), v(12, 2)});
  product.encoding = Encoding::vop3p;
  product.sources[0].op_sel_hi = false, product.sources[1].op_sel_hi = true;  // the low register for both results
  wave.run(product);
  EXPECT_EQ(wave.w.written[2], ~uint64_t{0});
  EXPECT_EQ(wave.w.written[3], ~uint64_t{0});
  product.sources[0].op_sel_hi = true;
  wave.run(product);
  EXPECT_EQ(wave.w.written[2], ~uint64_t{0});
  EXPECT_EQ(wave.w.written[3], 0u);
}

TEST(AluModifiers, AScalarPairIsReadWhereModifiersChoose) {
  for (const bool high : {false, true}) {
    OneWave wave;
    wave.w.s[30] = bits(3.0f), wave.w.s[31] = bits(5.0f);
    wave.w.scalar_written[high ? 30 : 31] = false;
    wave.set(12, 7, bits(2.0f)), wave.set(13, 7, bits(4.0f));
    Instruction product = instruction(v_pk_mul_f32, v(2, 2), {s(30, 2), v(12, 2)});
    product.encoding = Encoding::vop3p;
    product.sources[0].op_sel = product.sources[0].op_sel_hi = high, product.sources[1].op_sel_hi = true;
    wave.run(product);
    ASSERT_EQ(wave.w.pause, Pause::none);
    EXPECT_EQ(wave.get(2, 7), bits(high ? 10.0f : 6.0f));
    EXPECT_EQ(wave.get(3, 7), bits(high ? 20.0f : 12.0f));
    product.sources[0].op_sel = false, product.sources[0].op_sel_hi = true;
    wave.run(product);
    EXPECT_EQ(wave.w.defect.detail, high ? "nobody wrote s30" : "nobody wrote s31");
  }
}

TEST(AluModifiers, UnwrittenMasksCountWhereTheyDecide) {
  OneWave wave;
  wave.w.scalar_written[30] = wave.w.scalar_written[31] = false;
  wave.run(instruction(s_or_b64, s(32, 2), {s(30, 2), s(8, 2)}));
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_TRUE(wave.w.scalar_written[32] && wave.w.scalar_written[8]);
  wave.run(instruction(s_or_b64, s(32, 2), {s(30, 2), s(30, 2)}));
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_FALSE(wave.w.scalar_written[32] || wave.w.scalar_written[33] || wave.w.scalar_written[30]);
  wave.run(instruction(s_and_b64, s(kExec, 2), {s(30, 2), s(8, 2)}));
  EXPECT_EQ(wave.w.defect.kind, DefectKind::uninitialised);
  EXPECT_EQ(wave.w.defect.detail, "nobody wrote s30");
}

// A compiler copies a scalar of a branch that was not taken, and lanes overwrite the copy.
TEST(AluModifiers, UnwrittenScalarsAreCopiedToLanes) {
  OneWave wave;
  wave.w.scalar_written[30] = false;
  wave.w.set_exec(0xff);
  wave.run(instruction(v_mov_b32, v(3), {s(30)}));
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_EQ(wave.w.written[3], ~uint64_t{0xff});
  EXPECT_FALSE(wave.w.scalar_written[30]);
  wave.run(instruction(v_mov_b64, v(4, 2), {s(30, 2)}));
  EXPECT_EQ(wave.w.written[4], ~uint64_t{0xff});
  EXPECT_EQ(wave.w.written[5], ~uint64_t{0});
  wave.run(instruction(v_mov_b32, v(3), {s(8)}));
  EXPECT_EQ(wave.w.written[3], ~uint64_t{0});
  wave.run(instruction(v_add_u32, v(3), {s(30), v(12)}));  // no copy
  EXPECT_EQ(wave.w.defect.detail, "nobody wrote s30");
}

TEST(AluModifiers, WrittenLanesAreRemembered) {
  OneWave wave;
  wave.w.written[2] = 0;
  wave.w.set_exec(0xff);
  wave.run(instruction(v_add_u32, v(2), {v(10), v(12)}));
  EXPECT_EQ(wave.w.written[2], 0xffu);
  wave.w.written[6] = wave.w.written[7] = 0;
  wave.run(instruction(v_lshlrev_b64, v(6, 2), {constant(1), v(10, 2)}));
  EXPECT_EQ(wave.w.written[7], 0xffu);
}

TEST(AluModifiers, CountHighHalvesWhereTheResultNeedsThem) {
  OneWave wave;
  wave.w.written[11] = 0;  // a compiler widens an index whose upper half it will not use
  wave.run(instruction(v_lshlrev_b64, v(2, 2), {constant(2), v(10, 2)}));
  ASSERT_EQ(wave.w.pause, Pause::none);
  EXPECT_EQ(wave.w.written[2], ~uint64_t{0});
  EXPECT_EQ(wave.w.written[3], 0u);
  wave.run(instruction(v_lshrrev_b64, v(4, 2), {constant(2), v(10, 2)}));
  EXPECT_EQ(wave.w.written[4], 0u);
}

TEST(AluModifiers, PendingRegistersAreNeitherReadNorWritten) {
  OneWave reading;
  reading.w.pending[11] = 1;
  reading.run(instruction(v_add_f64, v(2, 2), {v(10, 2), v(12, 2)}));
  EXPECT_EQ(reading.w.defect.kind, DefectKind::missing_wait);
  EXPECT_EQ(reading.w.defect.detail, "v11 is still to be written by a load");
  OneWave copying;
  copying.w.pending[10] = 1;
  copying.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(copying.w.defect.kind, DefectKind::missing_wait);
  OneWave writing;
  writing.w.pending[2] = 1;
  writing.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(writing.w.defect.kind, DefectKind::missing_wait);
}

}  // namespace
}  // namespace rung::amdgpu
