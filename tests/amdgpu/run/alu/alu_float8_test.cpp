// Numbers of 8, 6 and 4 bits: every code by the words of its format, rounding, saturation, scales.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;

// The value of a code of the given bits of exponent and mantissa; what is special is left to the caller.
double value_of_code(uint32_t code, int exponents, int mantissas, int bias) {
  const uint32_t mantissa = code & ((1u << mantissas) - 1), exponent = code >> mantissas & ((1u << exponents) - 1);
  const double sign = code >> (exponents + mantissas) & 1 ? -1 : 1, one = 1 << mantissas;
  return sign * (exponent == 0 ? std::ldexp(mantissa / one, 1 - bias)
                               : std::ldexp(1 + mantissa / one, static_cast<int>(exponent) - bias));
}

struct Format {
  Opcode widen, narrow;
  Isa isa;
  int exponents, mantissas, bias;
  uint32_t first_special;  // magnitudes from here on are infinite or NaN
};
constexpr Format kFormats[] = {
    {v_cvt_f32_fp8, v_cvt_pk_fp8_f32, Isa::gfx942, 4, 3, 8, 0x80},
    {v_cvt_f32_bf8, v_cvt_pk_bf8_f32, Isa::gfx942, 5, 2, 16, 0x80},
    {v_cvt_f32_fp8, v_cvt_pk_fp8_f32, Isa::gfx950, 4, 3, 7, 0x7f},
    {v_cvt_f32_bf8, v_cvt_pk_bf8_f32, Isa::gfx950, 5, 2, 15, 0x7c},
};

TEST(AluFloat8, EveryCodeBecomesItsValueAndComesBack) {
  for (const Format& format : kFormats)
    for (uint32_t code = 0; code < 256; ++code) {
      OneWave wave;
      wave.w.isa = format.isa;
      wave.set(10, 0, code | 0xaaaaaa00);
      wave.run(instruction(format.widen, v(2), {v(10)}));
      const float got = as_float(wave.get(2, 0));
      const bool fnuz_nan = format.isa == Isa::gfx942 && code == 0x80;
      if (fnuz_nan || (code & 0x7f) >= format.first_special) {
        EXPECT_FALSE(std::isfinite(got)) << code;
        EXPECT_EQ(std::isinf(got), format.first_special == 0x7c && (code & 0x7f) == 0x7c);
        continue;
      }
      EXPECT_EQ(got, value_of_code(code, format.exponents, format.mantissas, format.bias)) << code;
      EXPECT_EQ(std::signbit(got), code >= 0x80);
      wave.set(3, 0, 0xbbbbbbbb);
      wave.run(instruction(format.narrow, v(3), {v(2), constant(0)}));
      EXPECT_EQ(wave.get(3, 0), 0xbbbb0000 | code);
    }
}

TEST(AluFloat8, RoundsToNearestEvenAndOverflowsByFormat) {
  const auto narrowed = [](Opcode opcode, Isa isa, float x, uint32_t mode = Mode::kUsual) {
    OneWave wave;
    wave.w.isa = isa, wave.w.mode = mode;
    wave.run(instruction(opcode, v(2), {constant(bits(x)), constant(bits(-x))}));
    return wave.get(2, 0) & 0xffff;
  };
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 1.0625f), 0xc040u);  // a tie, to even
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 1.1875f), 0xc242u);  // likewise
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 1.07f), 0xc141u);
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 0.f), 0u);       // -0 would be NaN
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 0x1p-11f), 0u);  // half the smallest
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 247.f), 0xff7fu);
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 1000.f), 0x8080u);
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx950, 1000.f), 0xff7fu);
  EXPECT_EQ(narrowed(v_cvt_pk_bf8_f32, Isa::gfx950, 1e6f), 0xfc7cu);
  const uint32_t clamps = Mode::kUsual | 1u << 23;
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx942, 1000.f, clamps), 0xff7fu);
  EXPECT_EQ(narrowed(v_cvt_pk_fp8_f32, Isa::gfx950, 1000.f, clamps), 0xfe7eu);
  EXPECT_EQ(narrowed(v_cvt_pk_bf8_f32, Isa::gfx950, 1e6f, clamps), 0xfb7bu);
}

TEST(AluFloat8, RandomBitsRoundIntoAByte) {
  OneWave wave;
  wave.set(10, 0, bits(1.09375f));  // 3/4 of the way from 1 to 1.125
  wave.set(12, 0, 0x3fffffff), wave.set(12, 1, 0x40000000);
  wave.set(10, 1, bits(1.09375f));
  wave.set(2, 0, 0x11223344), wave.set(2, 1, 0x11223344);
  Instruction i = instruction(v_cvt_sr_fp8_f32, v(2), {v(10), v(12)});
  i.op_sel_destination = true;  // with op_sel[2] clear: byte 2
  wave.run(i);
  EXPECT_EQ(wave.get(2, 0), 0x11403344u);
  EXPECT_EQ(wave.get(2, 1), 0x11413344u);
}

TEST(AluFloat8, ScalesArePowersOfTwo) {
  OneWave wave;
  wave.w.isa = Isa::gfx950;
  wave.set(10, 0, 0x40384800);  // FP8 0, 4, 1, 2 from the lowest byte
  Instruction widen = instruction(v_cvt_scalef32_pk_f32_fp8, v(2, 2), {v(10), constant(bits(12.f))});  // counts as 8
  widen.sources[0].op_sel = true;
  wave.run(widen);
  EXPECT_EQ(wave.get64(2, 0), bits(8.f) | uint64_t{bits(16.f)} << 32);
  wave.set(4, 0, 0xaabbccdd);
  Instruction narrow =
      instruction(v_cvt_scalef32_pk_fp4_f32, v(4), {constant(bits(24.f)), constant(bits(-5.f)), constant(bits(8.f))});
  narrow.sources[2].op_sel = true;  // byte 1; 3 is code 5, -5/8 rounds to -0.5, code 9
  wave.run(narrow);
  EXPECT_EQ(wave.get(4, 0), 0xaabb95ddu);
}

TEST(AluFloat8, Packs32SixBitCodesIntoSixRegisters) {
  OneWave wave;
  wave.w.isa = Isa::gfx950;
  for (int n = 0; n < 16; ++n) {  // all codes of FP6 without a sign, then those with one
    wave.set(32 + n, 0, bits(static_cast<float>(value_of_code(static_cast<uint32_t>(n), 2, 3, 1))));
    wave.set(64 + n, 0, bits(static_cast<float>(value_of_code(static_cast<uint32_t>(n) + 48, 2, 3, 1))));
  }
  wave.run(instruction(v_cvt_scalef32_2xpk16_fp6_f32, v(2, 6), {v(32, 16), v(64, 16), constant(bits(1.f))}));
  for (int n = 0; n < 32; ++n) {
    uint32_t code = 0;
    for (int b = 0; b < 6; ++b) code |= (wave.get(2 + (6 * n + b) / 32, 0) >> ((6 * n + b) % 32) & 1) << b;
    EXPECT_EQ(code, static_cast<uint32_t>(n < 16 ? n : n + 32)) << n;
  }
  wave.run(instruction(v_cvt_scalef32_pk32_f32_fp6, v(100, 32), {v(2, 6), constant(bits(2.f))}));
  for (int n = 0; n < 32; ++n)
    EXPECT_EQ(as_float(wave.get(100 + n, 0)), 2 * as_float(wave.get(n < 16 ? 32 + n : 48 + n, 0)));
}

}  // namespace
}  // namespace rung::amdgpu
