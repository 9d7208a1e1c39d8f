// f16, bf16 and conversions between all number types, against the compiler's own f16 and integer arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

bool is_half_nan(uint32_t h) { return (h & 0x7fff) > 0x7c00; }

TEST(AluHalf, EveryF16BecomesItsF32) {
  for (uint32_t first = 0; first < 0x10000; first += 64) {
    OneWave wave;
    for (int l = 0; l < 64; ++l) wave.set(10, l, first + static_cast<uint32_t>(l) + 0xabcd0000);
    wave.run(instruction(v_cvt_f32_f16, v(2), {v(10)}));
    wave.run(instruction(v_cvt_f16_f32, v(3), {v(2)}));
    for (int l = 0; l < 64; ++l) {
      const uint32_t h = first + static_cast<uint32_t>(l);
      if (is_half_nan(h)) {
        ASSERT_TRUE(std::isnan(as_float(wave.get(2, l))));
        ASSERT_EQ(wave.get(3, l), h | 0x200);  // quiet, the payload kept
      } else {
        ASSERT_EQ(as_float(wave.get(2, l)), static_cast<float>(half_value(h))) << std::hex << h;
        ASSERT_EQ(wave.get(3, l), h);
      }
    }
  }
}

TEST(AluHalf, F32RoundsToNearestEven) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    OneWave wave;
    for (int l = 0; l < 64; ++l) {  // around what f16 can hold, with all bits below
      const uint32_t exponent = 98 + static_cast<uint32_t>(random()) % 48;
      wave.set(10, l, (random() & 0x807fffff) | exponent << 23);
      if (l % 4 == 0) wave.set(10, l, wave.get(10, l) & 0xfffff000);  // ties
    }
    wave.run(instruction(v_cvt_f16_f32, v(2), {v(10)}));
    for (int l = 0; l < 64; ++l)
      ASSERT_EQ(wave.get(2, l), nearest_half(as_float(wave.get(10, l)))) << as_float(wave.get(10, l));
  }
}

TEST(AluHalf, ArithmeticRoundsOnce) {
  std::mt19937 random(4);
  for (int round = 0; round < 800; ++round) {
    OneWave wave;
    for (int l = 0; l < 64; ++l)
      for (const int r : {10, 12, 14}) wave.set(r, l, random() & 0xffff);
    wave.run(instruction(v_add_f16, v(2), {v(10), v(12)}));
    wave.run(instruction(v_mul_f16, v(3), {v(10), v(12)}));
    wave.run(instruction(v_fma_f16, v(4), {v(10), v(12), v(14)}));
    for (int l = 0; l < 64; ++l) {
      const long double a = half_value(wave.get(10, l)), b = half_value(wave.get(12, l)),
                        c = half_value(wave.get(14, l));
      const long double exact[] = {a + b, a * b,
                                   a * b + c};  // the last has at most 64 bits but where c decides nothing
      for (int k = 0; k < 3; ++k) {
        const uint32_t got = wave.get(2 + k, l) & 0xffff;
        if (exact[k] == 0) continue;  // of either sign
        if (std::isnan(exact[k])) {
          ASSERT_TRUE(is_half_nan(got));
          continue;
        }
        ASSERT_EQ(got, nearest_half(exact[k])) << k << ": " << half_value(wave.get(10, l)) << " "
                                               << half_value(wave.get(12, l)) << " " << half_value(wave.get(14, l));
      }
    }
  }
}

TEST(AluHalf, RoundsFusedSumsJustBesideATieCorrectly) {
  // 3 * 683/2048 = 1 + 2^-11 is a tie between 1 and the next f16; 2^-24 more is none, but f32 would make it one.
  expect_lanes(v_fma_f16, {{{0x4200, 0x3556, 0x0000}, 0x3c00},
                           {{0x4200, 0x3556, 0x0001}, 0x3c01},
                           {{0x4200, 0x3556, 0x8001}, 0x3c00},
                           {{0x0001, 0x0001, 0x6801}, 0x6801},
                           {{0x7bff, 0x7bff, 0xfbff}, 0x7c00}});
}

TEST(AluHalf, DirectedRounding) {
  const uint32_t denormals = 0xf0;
  const uint64_t above = bits(1.f + 0x1p-20f), below = bits(-1.f - 0x1p-20f);
  expect_lanes(v_cvt_f16_f32, {{{above}, 0x3c01}, {{below}, 0xbc00}, {{bits(65520.f)}, 0x7c00}, {{bits(1e-9f)}, 1}}, {},
               denormals | 4);
  expect_lanes(v_cvt_f16_f32, {{{above}, 0x3c00}, {{below}, 0xbc01}, {{bits(1e9f)}, 0x7bff}, {{bits(-1e-9f)}, 0x8001}},
               {}, denormals | 8);
  expect_lanes(v_cvt_f16_f32, {{{above}, 0x3c00}, {{below}, 0xbc00}, {{bits(1e9f)}, 0x7bff}, {{bits(-1e9f)}, 0xfbff}},
               {}, denormals | 12);
  expect_lanes(v_cvt_pkrtz_f16_f32, {{{above, below}, 0xbc003c00},
                                     {{bits(1e9f), bits(0x1.8p-24f)}, 0x00017bff},
                                     {{bits(HUGE_VALF), bits(-HUGE_VALF)}, 0xfc007c00}});
}

TEST(AluHalf, Bf16RoundsToNearestEven) {
  expect_lanes(v_cvt_pk_bf16_f32, {{{0x3f808000, 0x3f818000}, 0x3f823f80},
                                   {{0x3f808001, 0xff7fffff}, 0xff803f81},
                                   {{0x7f800001, 0x00000001}, 0x00007fc0},
                                   {{0x7f800000, 0x80008001}, 0x80017f80}});
  expect_lanes(v_cvt_f32_bf16, {{{0xabcd3f80}, 0x3f800000}});
  expect_lanes(v_dot2_f32_bf16, {{{0x40003f80, 0x40803f80, bits(1.f)}, bits(10.f)}});
  // Random bits are added below the last bit that stays.
  expect_lanes(v_cvt_sr_bf16_f32, {{{0x3f808000, 0x7fffffff}, 0x3f80}, {{0x3f808000, 0x80000000}, 0x3f81}});
  expect_lanes(v_cvt_sr_f16_f32,
               {{{bits(1.f + 0x1p-11f), 0x7fffffff}, 0x3c00}, {{bits(1.f + 0x1p-11f), 0x80000000}, 0x3c01}});
}

TEST(AluHalf, FloatsToIntegersSaturate) {
  expect_lanes(v_cvt_i32_f32, {{{bits(-1.9f)}, 0xffffffff},
                               {{bits(3e9f)}, 0x7fffffff},
                               {{bits(-3e9f)}, 0x80000000},
                               {{0x7fc00000}, 0},
                               {{bits(2147483520.f)}, 2147483520}});
  expect_lanes(v_cvt_u32_f32,
               {{{bits(-1.9f)}, 0}, {{bits(3e9f)}, 3000000000}, {{bits(5e9f)}, 0xffffffff}, {{0x7fc00000}, 0}});
  expect_lanes(v_cvt_i32_f64, {{{bits(-1.9)}, 0xffffffff}, {{bits(1e10)}, 0x7fffffff}});
  expect_lanes(v_cvt_u32_f64, {{{bits(4294967295.5)}, 0xffffffff}});
  expect_lanes(v_cvt_i16_f16, {{{0x7bff}, 0x7fff}, {{0xfbff}, 0x8000}, {{0xbe00}, 0xffff}, {{0x7e00}, 0}});
  expect_lanes(v_cvt_u16_f16, {{{0xbe00}, 0}, {{0x7c00}, 0xffff}, {{0x7bff}, 65504}});
  expect_lanes(v_cvt_rpi_i32_f32, {{{bits(2.5f)}, 3}, {{bits(-2.5f)}, 0xfffffffe}});
  expect_lanes(v_cvt_flr_i32_f32, {{{bits(-2.5f)}, 0xfffffffd}});
  expect_lanes(v_cvt_pk_u8_f32,
               {{{bits(300.f), 1, 0x11223344}, 0x1122ff44}, {{bits(-3.f), 3, 0x11223344}, 0x00223344}});
  expect_lanes(v_cvt_pknorm_i16_f32, {{{bits(1.f), bits(-2.f)}, 0x80017fff}});
  expect_lanes(v_cvt_pknorm_u16_f32, {{{bits(1.f), bits(.5f)}, 0x8000ffff}});
}

TEST(AluHalf, IntegersToFloats) {
  expect_lanes(v_cvt_f32_i32,
               {{{0xffffffff}, bits(-1.f)}, {{0x7fffffff}, bits(0x1p31f)}, {{16777217}, bits(16777216.f)}});
  expect_lanes(v_cvt_f32_i32, {{{16777217}, bits(16777218.f)}}, {}, 0xf1);
  expect_lanes(v_cvt_f32_u32, {{{0xffffffff}, bits(0x1p32f)}, {{16777219}, bits(16777220.f)}});
  expect_lanes(v_cvt_f64_i32, {{{0xffffffff}, bits(-1.0)}});
  expect_lanes(v_cvt_f64_u32, {{{0xffffffff}, bits(4294967295.0)}});
  expect_lanes(v_cvt_f32_f64, {{{bits(1 + 0x1p-24)}, bits(1.f)}, {{bits(1e300)}, 0x7f800000}});
  expect_lanes(v_cvt_f16_u16, {{{0xffff}, 0x7c00}, {{2049}, 0x6800}});
  expect_lanes(v_cvt_f16_i16, {{{0xffff}, 0xbc00}});
  expect_lanes(v_cvt_f32_ubyte2, {{{0x11ff2233}, bits(255.f)}});
  expect_lanes(v_cvt_off_f32_i4, {{{0x8}, bits(-.5f)}, {{0x7}, bits(.4375f)}});
}

TEST(AluHalf, MixedPrecision) {
  OneWave wave;
  wave.set(10, 0, 0x40003c00), wave.set(12, 0, bits(3.f)), wave.set(14, 0, 0x4400bc00);
  wave.set(2, 0, 0xaaaabbbb);
  InstructionOperand a = v(10), c = v(14);
  a.op_sel_hi = true, a.op_sel = true;  // 2, as f16
  c.op_sel_hi = true, c.neg = true;     // 1
  wave.run(instruction(v_fma_mix_f32, v(3), {a, v(12), c}));
  EXPECT_EQ(as_float(wave.get(3, 0)), 7.f);
  wave.run(instruction(v_fma_mixlo_f16, v(2), {a, v(12), c}));
  EXPECT_EQ(wave.get(2, 0), 0xaaaa4700u);
  wave.run(instruction(v_fma_mixhi_f16, v(2), {a, v(12), c}));
  EXPECT_EQ(wave.get(2, 0), 0x47004700u);
}

TEST(AluHalf, PackedHalvesAreChosen) {
  expect_lanes(v_pk_add_f16, {{{0x40003c00, 0x44004200}, 0x46004400}});
  expect_lanes(v_pk_fma_f16, {{{0x40003c00, 0x40004000, 0x3c003c00}, 0x45004200}});
  expect_lanes(v_pk_max_f16, {{{0x7e003c00, 0x44004000}, 0x44004000}});
  OneWave wave;
  wave.set(10, 0, 0x40003c00), wave.set(12, 0, 0x44004200);
  InstructionOperand crossed = v(12);
  crossed.op_sel = true, crossed.neg = true;
  wave.run(instruction(v_pk_add_f16, v(2), {packed(v(10)), crossed}));  // 1 - 4, 2 + 3
  EXPECT_EQ(wave.get(2, 0), 0x4500c200u);
  expect_lanes(v_dot2_f32_f16, {{{0x40003c00, 0x44004200, bits(.5f)}, bits(11.5f)}});
  expect_lanes(v_dot2c_f32_f16, {{{0x40003c00, 0x44004200, bits(.5f)}, bits(11.5f)}});
  expect_lanes(v_pk_fmac_f16, {{{0x40003c00, 0x40004000, 0x3c003c00}, 0x45004200}});
}

TEST(AluHalf, ClearsTheUpperHalfOnlyInOldInstructions) {
  OneWave wave;
  wave.set(2, 0, 0xaaaabbbb), wave.set(3, 0, 0xaaaabbbb), wave.set(4, 0, 0xaaaabbbb);
  wave.set(10, 0, 0x44003c00);
  wave.run(instruction(v_mul_f16, v(2), {v(10), v(10)}));
  EXPECT_EQ(wave.get(2, 0), 0x3c00u);
  wave.run(instruction(v_fma_f16, v(3), {v(10), v(10), v(10)}));
  EXPECT_EQ(wave.get(3, 0), 0xaaaa4000u);
  Instruction high = instruction(v_mad_u16, v(4), {v(10), constant(1), constant(0)});
  high.sources[0].op_sel = true, high.op_sel_destination = true;
  wave.run(high);
  EXPECT_EQ(wave.get(4, 0), 0x4400bbbbu);
}

}  // namespace
}  // namespace rung::amdgpu
