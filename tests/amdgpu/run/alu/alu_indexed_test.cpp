// Vector registers that M0 moves, and jumps through registers.
// SPDX-License-Identifier: Apache-2.0
#include "alu_fixture.hpp"
#include "support/amd_kernel.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

// An index that is in a scalar register, between s_set_gpr_idx_on and s_set_gpr_idx_off.
struct Indexed : OneWave {
  Indexed() {
    for (int r = 10; r < 40; ++r) set(r, 3, static_cast<uint32_t>(1000 + r));
  }
  void begin(uint32_t index, int ways) {
    w.s[8] = index;
    Instruction on = instruction(s_set_gpr_idx_on, {}, {s(8)});
    on.immediate = ways;
    run(on);
  }
};

TEST(AluIndexed, MovesTheRegistersThatItsBitsName) {
  Indexed wave;
  wave.w.s[kM0] = 0xabcd0fff;
  wave.begin(0x104, 1);
  EXPECT_EQ(wave.w.s[kM0], 0xabcd1f04u);  // 7:0 and 15:12 change
  EXPECT_EQ(wave.w.mode, Mode::kUsual | Mode::kIndexed);
  wave.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(wave.get(2, 3), 1014u);
  wave.run(instruction(v_add_u32, v(2), {v(10), v(11)}));  // the first source alone
  EXPECT_EQ(wave.get(2, 3), 1014u + 1011u);
  Instruction ways = instruction(s_set_gpr_idx_mode, {}, {});
  ways.immediate = 8;
  wave.run(ways);
  wave.run(instruction(v_mov_b32, v(20), {v(10)}));
  EXPECT_EQ(wave.get(24, 3), 1010u);
  EXPECT_EQ(wave.get(20, 3), 1020u);
  wave.w.s[9] = 6;
  wave.run(instruction(s_set_gpr_idx_idx, {}, {s(9)}));
  wave.run(instruction(v_mov_b32, v(20), {s(9)}));  // a scalar source stays where it is
  EXPECT_EQ(wave.get(26, 3), 6u);
  ways.immediate = 6;
  wave.run(ways);
  wave.run(instruction(v_mad_u32_u24, v(2), {v(10), v(11), v(12)}));
  EXPECT_EQ(wave.get(2, 3), 1010u * 1017 + 1018);
  wave.run(instruction(s_set_gpr_idx_off, {}, {}));
  EXPECT_EQ(wave.w.mode, Mode::kUsual);
  wave.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(wave.get(2, 3), 1010u);
}

TEST(AluIndexed, WhatCannotBeMovedIsFound) {
  Indexed beyond;
  beyond.begin(250, 1);
  beyond.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(beyond.w.defect.kind, DefectKind::out_of_bounds);
  Indexed lane;
  lane.begin(1, 1);
  lane.run(instruction(v_readfirstlane_b32, s(2), {v(10)}));
  EXPECT_EQ(lane.w.defect.kind, DefectKind::bad_instruction);
  Indexed unwritten;
  unwritten.w.written[14] = 0;
  unwritten.begin(4, 1);
  unwritten.run(instruction(v_mov_b32, v(2), {v(10)}));
  EXPECT_EQ(unwritten.w.written[2], 0u);
}

TEST(AluIndexed, AnArrayInRegistersTakesAnyElement) {
  RUNG_NEEDS_CLANG();
  testing::AmdKernel kernel(R"~(KERNEL(64) kernel(const float* in, float* out, int n) {
    typedef float Array __attribute__((ext_vector_type(16)));
    Array x;
    for (int i = 0; i < 16; ++i) x[i] = in[i * 64 + thread()];
    x[n & 15] = 7;
    for (int i = 0; i < 16; ++i) out[i * 64 + thread()] = x[i] + x[(n + i) & 15];
  })~",
                            "kernel", Isa::gfx942);
  std::vector<float> in(1024);
  for (size_t k = 0; k < in.size(); ++k) in[k] = static_cast<float>(3 * k);
  auto* out = kernel.make<float>(1024);
  const Counts counts = kernel.run({.threads = {64}}, kernel.make(in), out, 5);
  EXPECT_GT(counts.by_opcode.at(s_set_gpr_idx_on), 0u);
  for (size_t t = 0; t < 64; ++t) in[5 * 64 + t] = 7;
  for (size_t i = 0; i < 16; ++i)
    for (size_t t = 0; t < 64; ++t) ASSERT_EQ(out[i * 64 + t], in[i * 64 + t] + in[(5 + i) % 16 * 64 + t]);
}

// Each way to jump that is taken adds a bit of its own; those that are not skip an addition that would show.
TEST(AluIndexed, JumpsOfEveryKind) {
  RUNG_NEEDS_CLANG();
  testing::AmdKernel kernel(R"~(KERNEL(64) kernel(unsigned* out) {
    unsigned taken = 0;
    asm volatile(
        "s_mov_b32 %0, 0\n s_cmp_eq_u32 %0, 0\n"
        "s_cbranch_scc0 wrong\n s_cbranch_scc1 a\n s_branch wrong\n"
        "a: s_or_b32 %0, %0, 1\n s_cmp_eq_u32 %0, 0\n s_cbranch_scc1 wrong\n s_cbranch_scc0 b\n s_branch wrong\n"
        "b: s_or_b32 %0, %0, 2\n s_mov_b64 vcc, 0\n s_cbranch_vccnz wrong\n s_cbranch_vccz c\n s_branch wrong\n"
        "c: s_or_b32 %0, %0, 4\n s_mov_b64 vcc, -1\n s_cbranch_vccz wrong\n s_cbranch_vccnz d\n s_branch wrong\n"
        "d: s_or_b32 %0, %0, 8\n s_mov_b64 s[20:21], exec\n s_cbranch_execz wrong\n s_cbranch_execnz e\n"
        "s_branch wrong\n"
        "e: s_or_b32 %0, %0, 16\n s_mov_b64 exec, 0\n s_cbranch_execnz wrong\n s_cbranch_execz f\n s_branch wrong\n"
        "f: s_mov_b64 exec, s[20:21]\n s_or_b32 %0, %0, 32\n"
        "s_getpc_b64 s[22:23]\n here: s_add_u32 s22, s22, g-here\n s_addc_u32 s23, s23, 0\n s_setpc_b64 s[22:23]\n"
        "s_branch wrong\n"
        "g: s_or_b32 %0, %0, 64\n s_call_b64 s[24:25], routine\n s_or_b32 %0, %0, 256\n"
        "s_getpc_b64 s[22:23]\n there: s_add_u32 s22, s22, routine-there\n s_addc_u32 s23, s23, 0\n"
        "s_swappc_b64 s[24:25], s[22:23]\n s_or_b32 %0, %0, 512\n s_branch done\n"
        "routine: s_add_u32 %0, %0, 0x1000\n s_setpc_b64 s[24:25]\n"
        "wrong: s_mov_b32 %0, -1\n"
        "done: s_nop 0\n"
        : "=&s"(taken) : : "s20", "s21", "s22", "s23", "s24", "s25", "vcc", "scc");
    out[thread()] = taken;
  })~",
                            "kernel", Isa::gfx942);
  auto* out = kernel.make<uint32_t>(64);
  kernel.run({.threads = {64}}, out);
  EXPECT_EQ(out[7], 0x2000u + 1 + 2 + 4 + 8 + 16 + 32 + 64 + 256 + 512);
}

}  // namespace
}  // namespace rung::amdgpu
