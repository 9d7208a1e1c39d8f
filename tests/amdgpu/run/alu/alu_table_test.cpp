// Vector instructions that no other test takes apart: sources, and the result that AMD's documents give them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

uint64_t f(float x) { return bits(x); }
uint64_t d(double x) { return bits(x); }
uint64_t h(double x) { return nearest_half(x); }
uint64_t hh(double low, double high) { return h(low) | h(high) << 16; }

struct Line {
  Opcode opcode;
  std::vector<uint64_t> sources;
  uint64_t expected;
};
void expect_lines(const std::vector<Line>& lines) {
  for (const Line& line : lines) expect_lanes(line.opcode, {{line.sources, line.expected}});
}

TEST(AluTable, LogicAndSums) {
  constexpr uint64_t kA = 0xf0f01234, kB = 0x0ff0ffff, kC = 0x10;
  expect_lines({{v_not_b32, {kA}, 0x0f0fedcb},
                {v_and_b32, {kA, kB}, 0x00f01234},
                {v_or_b32, {kA, kB}, 0xfff0ffff},
                {v_xor_b32, {kA, kB}, 0xff00edcb},
                {v_xnor_b32, {kA, kB}, 0x00ff1234},
                {v_and_or_b32, {kA, kB, kC}, 0x00f01234},
                {v_or3_b32, {0x1, 0x20, 0x300}, 0x321},
                {v_add3_u32, {0xffffffff, 2, 5}, 6},
                {v_xad_u32, {0xff, 0x0f, 1}, 0xf1},
                {v_mov_b64, {0x123456789abcdef0}, 0x123456789abcdef0},
                {v_accvgpr_mov_b32, {kA}, kA},
                {v_prng_b32, {0x80000001}, 0xc7},
                {v_prng_b32, {0x40000001}, 0x80000002},
                {v_min_i32, {0xffffffff, 1}, 0xffffffff},
                {v_max_i32, {0xffffffff, 1}, 1},
                {v_min_u32, {0xffffffff, 1}, 1},
                {v_max3_i32, {0xffffffff, 1, 0xfffffffe}, 1},
                {v_min3_u32, {0xffffffff, 7, 9}, 7}});
}

TEST(AluTable, BorrowsGoToTheirMask) {
  OneWave wave;
  for (int l = 0; l < 2; ++l) wave.set(10, l, l == 0 ? 3 : 9), wave.set(12, l, 5);
  wave.run(instruction(v_sub_co_u32, v(2), {v(10), v(12)}));
  EXPECT_EQ(wave.get(2, 0), 0xfffffffeu);
  EXPECT_EQ(wave.get(2, 1), 4u);
  EXPECT_EQ(wave.pair(20), 1u);
  wave.run(instruction(v_subrev_co_u32, v(2), {v(10), v(12)}));
  EXPECT_EQ(wave.get(2, 0), 2u);
  EXPECT_EQ(wave.get(2, 1), 0xfffffffcu);
  EXPECT_EQ(wave.pair(20) & 3, 2u);
}

TEST(AluTable, SixteenBits) {
  expect_lines({{v_add_i16, {0x7fff, 1}, 0x8000},
                {v_sub_u16, {1, 2}, 0xffff},
                {v_subrev_u16, {1, 3}, 2},
                {v_mul_lo_u16, {0x101, 0x101}, 0x0201},
                {v_lshrrev_b16, {20, 0x8000}, 0x0800},  // the count modulo 16
                {v_min_u16, {0xffff, 1}, 1},
                {v_max_i16, {0xffff, 1}, 1},
                {v_min3_u16, {0xffff, 7, 9}, 7},
                {v_max3_u16, {0xffff, 7, 9}, 0xffff},
                {v_med3_u16, {0xffff, 7, 9}, 9},
                {v_min3_i16, {0xffff, 7, 9}, 0xffff},
                {v_max3_i16, {0xffff, 7, 9}, 9},
                {v_med3_i16, {0xffff, 7, 9}, 7},
                {v_mad_i16, {0xfffe, 3, 1}, 0xfffb},
                {v_mad_legacy_i16, {0xfffe, 3, 1}, 0xfffb},
                {v_mad_legacy_u16, {0x100, 0x100, 7}, 7},
                {v_pack_b32_f16, {0x1111, 0x2222}, 0x22221111},
                {v_sat_pk_u8_i16, {0xfffb012c}, 0x00ff},
                {v_sat_pk_u8_i16, {0x00070009}, 0x0709},
                {v_ashr_pk_i8_i32, {0x1000, 0xfffff000, 4}, 0x807f},
                {v_ashr_pk_u8_i32, {0x1000, 0xfffff000, 4}, 0x00ff},
                {v_pk_add_i16, {0x7fff0001, 0x00010002}, 0x80000003},
                {v_pk_sub_u16, {0x00050001, 0x00020002}, 0x0003ffff},
                {v_pk_lshrrev_b16, {0x00040001, 0x80008000}, 0x08004000},
                {v_pk_mad_i16, {0xffff0002, 0x00030003, 0x00010001}, 0xfffe0007},
                {v_pk_max_u16, {0xffff0001, 0x00010002}, 0xffff0002},
                {v_pk_min_u16, {0xffff0001, 0x00010002}, 0x00010001},
                {v_pk_min_i16, {0xffff0001, 0x00010002}, 0xffff0001}});
  Instruction table;
  table.immediate = 0xe8;  // the majority of three bits
  expect_lanes(v_bitop3_b16, {{{0xff00, 0xf0f0, 0xcccc}, 0xfcc0}}, table);
}

TEST(AluTable, DotProducts) {
  expect_lines({{v_dot2_u32_u16, {0xffff0002, 0x00020004, 7}, 0x2000d},
                {v_dot2c_i32_i16, {0xffff0002, 0x00020004, 7}, 13},
                {v_dot8c_i32_i4, {0xf1111111, 0x22222222, 5}, 17},
                {v_dot2c_f32_bf16, {0x40003f80, 0x40003f80, f(0.5f)}, f(5.5f)}});
}

TEST(AluTable, SumsOfDifferencesOfBytes) {
  constexpr uint64_t kBytes = 0x0706050403020100;  // differences from 1, 1, 0, 9 with the third byte masked
  expect_lines({{v_qsad_pk_u16_u8, {kBytes, 0x03020100, 0x0004000300020001}, 0x0010000b00060001},
                {v_mqsad_pk_u16_u8, {kBytes, 0x03020100, 0x0004000300020001}, 0x000d000900050001}});
  OneWave wave;
  wave.set64(10, 0, kBytes), wave.set(12, 0, 0x03020100);
  for (int k = 0; k < 4; ++k) wave.set(14 + k, 0, static_cast<uint32_t>(1 + k));
  wave.run(instruction(v_mqsad_u32_u8, v(2, 4), {v(10, 2), v(12), v(14, 4)}));
  for (int k = 0; k < 4; ++k) EXPECT_EQ(wave.get(2 + k, 0), static_cast<uint32_t>(1 + k + 3 * k)) << k;
}

TEST(AluTable, Singles) {
  constexpr float kInfinity = HUGE_VALF;
  expect_lines({{v_sub_f32, {f(1), f(3)}, f(-2)},
                {v_subrev_f32, {f(1), f(3)}, f(2)},
                {v_mac_f32, {f(2), f(3), f(4)}, f(10)},
                {v_madak_f32, {f(2), f(3), f(4)}, f(10)},
                {v_madmk_f32, {f(2), f(3), f(4)}, f(10)},
                {v_fmaak_f32, {f(0x1.000002p0f), f(0x1.000002p0f), f(-1)}, f(0x1.000001p-22f)},  // one rounding
                {v_fmamk_f32, {f(0x1.000002p0f), f(0x1.000002p0f), f(-1)}, f(0x1.000001p-22f)},
                {v_mul_legacy_f32, {0, f(kInfinity)}, 0},
                {v_mad_legacy_f32, {0, f(kInfinity), f(3)}, f(3)},
                {v_min3_f32, {f(3), f(-1), f(2)}, f(-1)},
                {v_minimum3_f32, {f(3), f(-1), f(NAN)}, 0x7fc00000},
                {v_exp_legacy_f32, {f(3)}, f(8)},
                {v_log_legacy_f32, {f(8)}, f(3)},
                {v_rcp_iflag_f32, {f(-4)}, f(-0.25f)},
                {v_cvt_f32_ubyte0, {0xaabbccdd}, f(0xdd)},
                {v_cvt_f32_ubyte1, {0xaabbccdd}, f(0xcc)},
                {v_cvt_f32_ubyte3, {0xaabbccdd}, f(0xaa)},
                {v_cvt_pk_f16_f32, {f(1), f(-2)}, hh(1, -2)},
                {v_cvt_pkaccum_u8_f32, {f(7), 2, 0x11223344}, 0x11073344},
                {v_cubeid_f32, {f(1), f(2), f(-3)}, f(5)},
                {v_cubema_f32, {f(1), f(2), f(-3)}, f(-6)},
                {v_cubesc_f32, {f(1), f(2), f(-3)}, f(-1)},
                {v_cubetc_f32, {f(1), f(2), f(-3)}, f(-2)},
                {v_cubeid_f32, {f(-5), f(2), f(1)}, f(1)},
                {v_cubesc_f32, {f(-5), f(2), f(1)}, f(1)},
                {v_cubetc_f32, {f(1), f(4), f(2)}, f(2)}});
}

TEST(AluTable, PairsOfSinglesAreChosen) {
  OneWave wave;
  const float a[] = {2, 3}, b[] = {5, 7}, c[] = {100, 200};
  for (int r = 0; r < 2; ++r)
    wave.set(10 + r, 9, bits(a[r])), wave.set(12 + r, 9, bits(b[r])), wave.set(14 + r, 9, bits(c[r]));
  const auto run = [&](Instruction i) {
    wave.run(i);
    return wave.get64(2, 9);
  };
  const auto pair = [](float low, float high) { return f(low) | f(high) << 32; };
  Instruction i = instruction(v_pk_fma_f32, v(2, 2), {packed(v(10, 2)), packed(v(12, 2)), packed(v(14, 2))});
  EXPECT_EQ(run(i), pair(110, 221));
  i.sources[0].op_sel_hi = false;
  EXPECT_EQ(run(i), pair(110, 214));
  i.sources[1].op_sel = true;
  EXPECT_EQ(run(i), pair(114, 214));
  i.sources[1].op_sel_hi = false;  // its registers change places
  EXPECT_EQ(run(i), pair(114, 210));
  i.sources[1].op_sel_hi = true;
  i.sources[2].neg = true, i.sources[2].neg_hi = true;
  EXPECT_EQ(run(i), pair(-86, -186));
  wave.w.set_exec(0);
  wave.set64(2, 9, 1);
  EXPECT_EQ(run(i), 1u);
}

TEST(AluTable, Doubles) {
  expect_lines({{v_ceil_f64, {d(-1.5)}, d(-1)},
                {v_floor_f64, {d(-1.5)}, d(-2)},
                {v_trunc_f64, {d(-1.5)}, d(-1)},
                {v_frexp_mant_f64, {d(-6)}, d(-0.75)},
                {v_min_f64, {d(-0.0), d(0.0)}, d(-0.0)},
                {v_rsq_f64, {d(0.0625)}, d(4)},
                {v_sqrt_f64, {d(2)}, d(std::sqrt(2.0))},
                {v_cvt_f64_f32, {f(-1.25f)}, d(-1.25)},
                {v_fmac_f64, {d(1 + 0x1p-52), d(1 + 0x1p-52), d(-1)}, d(0x1p-51 + 0x1p-104)}});
}

// Bits of 2 / pi = 0.a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe51... in hexadecimal, 53 at a time.
TEST(AluTable, PartsOfTwoOverPi) {
  expect_lines({{v_trig_preop_f64, {d(1), 0}, d(0x1.45f306dc9c882p-1)},
                {v_trig_preop_f64, {d(-1), 1}, d(0x1.4a7f09d5f47d4p-54)},
                {v_trig_preop_f64, {d(-1e300), 34}, d(0x1.ef14a525d4d7fp-921)},   // segment 2, 942 bits on; times 2^128
                {v_trig_preop_f64, {d(0x1p1000), 1}, d(0x1.e5f17b3d0739fp-872)},  // times 2^128
                {v_trig_preop_f64, {d(1), 23}, 0}});
}

TEST(AluTable, ConversionsOfBytes) {
  OneWave wave;
  wave.set(10, 0, 0xffff4840);  // FNUZ: 1 and 2
  wave.run(instruction(v_cvt_pk_f32_fp8, v(2, 2), {v(10)}));
  EXPECT_EQ(wave.get64(2, 0), f(1) | f(2) << 32);
  wave.set(10, 0, 0xffff4440);
  wave.run(instruction(v_cvt_pk_f32_bf8, v(2, 2), {v(10)}));
  EXPECT_EQ(wave.get64(2, 0), f(1) | f(2) << 32);
  wave.set(4, 0, 0x11223344), wave.set(10, 0, bits(2.f)), wave.set(12, 0, 0);
  wave.run(instruction(v_cvt_sr_bf8_f32, v(4), {v(10), v(12)}));
  EXPECT_EQ(wave.get(4, 0), 0x11223344u - 0x44 + 0x44);
}

TEST(AluTable, Halves) {
  const auto turns = [](double x) { return 6.283185307179586 * x; };
  for (const double x : {0.375, 1.5, 2.25, 100.5, 0.0999755859375}) {
    expect_lines({{v_ceil_f16, {h(x)}, h(std::ceil(x))},
                  {v_floor_f16, {h(-x)}, h(std::floor(-x))},
                  {v_trunc_f16, {h(-x)}, h(std::trunc(-x))},
                  {v_rndne_f16, {h(x)}, h(std::nearbyint(x))},
                  {v_fract_f16, {h(-x)}, h(-x - std::floor(-x))},
                  {v_sqrt_f16, {h(x)}, h(std::sqrt(x))},
                  {v_rcp_f16, {h(x)}, h(1 / x)},
                  {v_rsq_f16, {h(x)}, h(1 / std::sqrt(x))},
                  {v_log_f16, {h(x)}, h(std::log2(x))},
                  {v_exp_f16, {h(-x / 16)}, h(std::exp2(half_value(static_cast<uint32_t>(h(-x / 16)))))},
                  {v_sin_f16, {h(x / 8)}, h(std::sin(turns(half_value(static_cast<uint32_t>(h(x / 8))))))},
                  {v_cos_f16, {h(x / 8)}, h(std::cos(turns(half_value(static_cast<uint32_t>(h(x / 8))))))}});
  }
  expect_lines({{v_frexp_exp_i16_f16, {h(6)}, 3},
                {v_frexp_exp_i16_f16, {h(-0.125)}, 0xfffe},
                {v_frexp_mant_f16, {h(-6)}, h(-0.75)},
                {v_cvt_norm_i16_f16, {h(0.25)}, 8192},
                {v_cvt_norm_i16_f16, {h(-3)}, 0x8001},
                {v_cvt_norm_u16_f16, {h(0.25)}, 16384},
                {v_cvt_norm_u16_f16, {h(-3)}, 0},
                {v_cvt_pknorm_i16_f16, {h(1), h(-1)}, 0x80017fff},
                {v_cvt_pknorm_u16_f16, {h(1), h(0.25)}, 0x4000ffff}});
}

TEST(AluTable, SumsAndProductsOfHalves) {
  expect_lines({{v_sub_f16, {h(1), h(3)}, h(-2)},
                {v_subrev_f16, {h(1), h(3)}, h(2)},
                {v_min_f16, {h(1), h(-3)}, h(-3)},
                {v_max_f16, {h(1), 0x7e00}, h(1)},
                {v_min3_f16, {h(1), h(-3), h(2)}, h(-3)},
                {v_max3_f16, {h(1), h(-3), h(2)}, h(2)},
                {v_med3_f16, {h(1), h(-3), h(2)}, h(1)},
                // 1 + 2^-10 squared is rounded to 1 + 2^-9 first, or not
                {v_mad_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9)},
                {v_mad_legacy_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9)},
                {v_mac_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9)},
                {v_madak_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9)},
                {v_madmk_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9)},
                {v_fma_legacy_f16, {0x3c01, 0x3c01, h(-1)}, h(0x1p-9 + 0x1p-20)},
                {v_div_fixup_f16, {h(0.5), h(2), h(1)}, h(0.5)},
                {v_div_fixup_f16, {h(0.5), 0, h(-1)}, 0xfc00},
                {v_div_fixup_legacy_f16, {h(0.5), 0x7c00, h(-1)}, 0x8000},
                {v_pk_mul_f16, {hh(2, -3), hh(5, 7)}, hh(10, -21)},
                {v_pk_min_f16, {hh(2, -3), hh(5, -7)}, hh(2, -7)},
                {v_pk_maximum3_f16, {hh(2, -3), hh(5, -7), 0x7e003c00}, h(5) | 0x7e000000},
                {v_pk_minimum3_f16, {hh(2, -3), hh(5, -7), hh(1, 9)}, hh(1, -7)}});
}

}  // namespace
}  // namespace rung::amdgpu
