// Vector instructions on f32 and f64: rounding, denormals, NaN, clamp, and division as compilers put it together.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "alu_fixture.hpp"

namespace rung::amdgpu {
namespace {

using enum Opcode;
constexpr uint64_t kInfinity = 0x7f800000, kNan = 0x7fc00000, kSignalling = 0x7f800001, kQuieted = 0x7fc00001;
constexpr uint64_t kMinusZero = 0x80000000, kDenormal = 1, kOne = 0x3f800000, kNextToOne = 0x3f800001;

TEST(AluFloat, RoundsByMode) {
  // 1 + 2^-24 lies between 1 and the next f32, nearer to neither.
  const uint64_t half_ulp = 0x33800000, minus_one = 0xbf800000, minus_half_ulp = 0xb3800000;
  const std::vector<uint64_t> sources = {kOne, half_ulp}, negative = {minus_one, minus_half_ulp};
  const uint32_t denormals = Mode::kDenormals32 | Mode::kDenormals16And64;
  expect_lanes(v_add_f32, {{sources, kOne}, {negative, minus_one}}, {}, denormals | 0);
  expect_lanes(v_add_f32, {{sources, kNextToOne}, {negative, minus_one}}, {}, denormals | 1);
  expect_lanes(v_add_f32, {{sources, kOne}, {negative, 0xbf800001}}, {}, denormals | 2);
  expect_lanes(v_add_f32, {{sources, kOne}, {negative, minus_one}}, {}, denormals | 3);
  // f64 and f16 have bits of their own.
  const uint64_t one = bits(1.0), tiny = bits(0x1p-53);
  expect_lanes(v_add_f64, {{{one, tiny}, one}}, {}, denormals | 1);
  expect_lanes(v_add_f64, {{{one, tiny}, one + 1}}, {}, denormals | 4);
  expect_lanes(v_add_f16, {{{0x3c00, 0x1000}, 0x3c00}}, {}, denormals);
  expect_lanes(v_add_f16, {{{0x3c00, 0x1000}, 0x3c01}}, {}, denormals | 4);
}

TEST(AluFloat, FlushesDenormalsByMode) {
  const uint64_t two = 0x40000000, smallest = 0x00800000, half = 0x3f000000;
  expect_lanes(v_mul_f32, {{{kDenormal, two}, 2}, {{smallest, half}, 0x00400000}});
  expect_lanes(v_mul_f32, {{{kDenormal, two}, 0}, {{0x80000001, two}, kMinusZero}, {{smallest, half}, 0}}, {}, 0xc0);
  expect_lanes(v_mul_f32, {{{kDenormal, two}, 0}, {{smallest, half}, 0x00400000}}, {}, 0xe0);  // results are kept
  expect_lanes(v_add_f16, {{{0x0001, 0x0001}, 0x0002}});
  expect_lanes(v_add_f16, {{{0x0001, 0x3c00}, 0x3c00}, {{0x0001, 0x0001}, 0}}, {}, 0x30);
  expect_lanes(v_add_f64, {{{1, 1}, 0}}, {}, 0x30);
  expect_lanes(v_max_u32, {{{1, 0}, 1}}, {}, 0);  // integers are no floats
}

TEST(AluFloat, ExtremesGiveNumbersAndHearSignallingNans) {
  expect_lanes(v_max_f32, {{{kNan, kOne}, kOne}, {{kOne, kNan}, kOne}, {{0, kMinusZero}, 0}, {{kMinusZero, 0}, 0}});
  expect_lanes(v_min_f32, {{{kNan, kOne}, kOne}, {{0, kMinusZero}, kMinusZero}, {{kMinusZero, 0}, kMinusZero}});
  expect_lanes(v_max_f32, {{{kSignalling, kOne}, kQuieted}, {{kOne, kSignalling}, kQuieted}});
  expect_lanes(v_max_f32, {{{kSignalling, kOne}, kOne}}, {}, 0xf0);  // not in IEEE mode
  expect_lanes(v_med3_f32, {{{bits(3.f), bits(1.f), bits(2.f)}, bits(2.f)}, {{kNan, bits(1.f), bits(2.f)}, bits(1.f)}});
  expect_lanes(v_max3_f32, {{{bits(3.f), kNan, bits(4.f)}, bits(4.f)}});
  expect_lanes(v_maximum3_f32, {{{bits(3.f), kNan, bits(4.f)}, kNan}, {{kMinusZero, 0, kMinusZero}, 0}});
  expect_lanes(v_max_f64, {{{bits(1.0), bits(-2.0)}, bits(1.0)}});
}

TEST(AluFloat, ClampsAndScalesResults) {
  const Instruction clamp{.clamp = true};
  expect_lanes(v_add_f32, {{{bits(.25f), bits(.5f)}, bits(.75f)}, {{kOne, kOne}, kOne}, {{bits(-3.f), kOne}, 0}},
               clamp);
  expect_lanes(v_add_f32, {{{kNan, kOne}, 0}}, clamp);
  expect_lanes(v_add_f32, {{{kNan, kOne}, kNan}}, clamp, 0xf0);  // without DX10_CLAMP
  expect_lanes(v_add_f16, {{{0x4000, 0x3c00}, 0x3c00}, {{0xbc00, 0}, 0}, {{0x3800, 0}, 0x3800}}, clamp);
  const uint32_t scaling = 0;  // neither IEEE mode nor denormal results
  expect_lanes(v_add_f32, {{{kOne, kOne}, bits(4.f)}, {{kMinusZero, kMinusZero}, 0}}, {.omod = 1}, scaling);
  expect_lanes(v_add_f32, {{{kOne, kOne}, bits(8.f)}}, {.omod = 2}, scaling);
  expect_lanes(v_add_f32, {{{kOne, kOne}, kOne}}, {.omod = 3}, scaling);
  expect_lanes(v_add_f16, {{{0x3c00, 0x3c00}, 0x4800}}, {.omod = 2}, scaling);
  expect_lanes(v_add_f32, {{{kOne, kOne}, bits(2.f)}}, {.omod = 1}, 0xf0);  // ignored where denormals are kept
}

TEST(AluFloat, SignsOfSources) {
  Instruction i;
  i.sources[0].neg = true, i.sources[1].abs = true;
  expect_lanes(v_add_f32, {{{kOne, bits(-2.f)}, kOne}}, i);
  expect_lanes(v_add_f64, {{{bits(1.0), bits(-2.0)}, bits(1.0)}}, i);
  expect_lanes(v_add_f16, {{{0x3c00, 0xc000}, 0x3c00}}, i);
  i.sources[0].abs = true;  // -|x|
  expect_lanes(v_mov_b32, {{{bits(-5.f)}, bits(-5.f)}, {{bits(5.f)}, bits(-5.f)}}, i);
}

TEST(AluFloat, RoundsToIntegersInF32) {
  expect_lanes(v_rndne_f32, {{{bits(2.5f)}, bits(2.f)}, {{bits(-.5f)}, kMinusZero}, {{bits(3.5f)}, bits(4.f)}});
  expect_lanes(v_rndne_f32, {{{bits(2.5f)}, bits(2.f)}}, {}, 0xf1);  // whatever the mode
  expect_lanes(v_floor_f32, {{{bits(-.5f)}, bits(-1.f)}, {{kMinusZero}, kMinusZero}});
  expect_lanes(v_ceil_f32, {{{bits(-.5f)}, kMinusZero}, {{bits(.5f)}, kOne}});
  expect_lanes(v_trunc_f32, {{{bits(-2.7f)}, bits(-2.f)}});
  expect_lanes(v_fract_f32, {{{bits(2.75f)}, bits(.75f)}, {{bits(-.25f)}, bits(.75f)}, {{bits(-1e-10f)}, 0x3f7fffff}});
  expect_lanes(v_rndne_f64, {{{bits(2.5)}, bits(2.0)}, {{bits(-0.5)}, bits(-0.0)}});
  expect_lanes(v_fract_f64, {{{bits(-1e-30)}, 0x3fefffffffffffff}});
}

TEST(AluFloat, ExponentsApart) {
  expect_lanes(v_frexp_exp_i32_f32, {{{bits(8.f)}, 4}, {{kDenormal}, 0xffffff6c}, {{0}, 0}, {{kInfinity}, 0}});
  expect_lanes(v_frexp_mant_f32, {{{bits(-8.f)}, bits(-.5f)}, {{kDenormal}, bits(.5f)}, {{kInfinity}, kInfinity}});
  expect_lanes(v_ldexp_f32, {{{kOne, 3}, bits(8.f)},
                             {{kOne, 0xffffff6b}, 1},
                             {{kOne, 0xffffff6a}, 0},
                             {{kOne, 1000}, kInfinity},
                             {{0x00000003, 0x7fffffff}, kInfinity},
                             {{0, 1000}, 0}});
  expect_lanes(v_ldexp_f32, {{{0x3fc00000, 0xffffff6b}, 2}});  // 1.5 * 2^-149 to even
  expect_lanes(v_ldexp_f64, {{{bits(3.0), 0xffffffff}, bits(1.5)}, {{bits(1.0), 5000}, bits(HUGE_VAL)}});
  expect_lanes(v_frexp_exp_i32_f64, {{{bits(8.0)}, 4}, {{1}, 0xfffffbcf}});
  expect_lanes(v_ldexp_f16, {{{0x3c00, 0xfffe}, 0x3400}, {{0x3c00, 0xffe8}, 1}});
}

// Against the f64 functions: at most 0.5 ulp and a little, denormals as zeros of their sign.
void expect_near(Opcode opcode, double (*exact)(double), double least, double most) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(least, most);
  for (int round = 0; round < 200; ++round) {
    OneWave wave;
    for (int l = 0; l < 64; ++l) wave.set(10, l, bits(static_cast<float>(any(random))));
    wave.run(instruction(opcode, v(2), {v(10)}));
    for (int l = 0; l < 64; ++l) {
      const float x = as_float(wave.get(10, l)), got = as_float(wave.get(2, l));
      const double wanted = exact(double{x});
      if (std::fabs(wanted) < 0x1p-126) {
        ASSERT_EQ(std::fabs(got), std::fabs(wanted) > 0x1.ffffffp-127 ? std::fabs(got) : 0.f) << x;
        continue;
      }
      const double ulp = std::ldexp(1.0, std::max(std::ilogb(wanted), -126) - 23);
      ASSERT_LE(std::fabs(got - wanted), 0.5001 * ulp) << name_of(opcode) << "(" << x << ")";
    }
  }
}

TEST(AluFloat, TranscendentalsAreWithinAnUlp) {
  expect_near(
      v_exp_f32, [](double x) { return std::exp2(x); }, -126, 127.9);
  expect_near(
      v_exp_f32, [](double x) { return std::exp2(x); }, -1, 1);
  expect_near(
      v_log_f32, [](double x) { return std::log2(x); }, 1e-30, 1e30);
  expect_near(
      v_log_f32, [](double x) { return std::log2(x); }, 0.5, 2);
  expect_near(
      v_rcp_f32, [](double x) { return 1 / x; }, -10, 10);
  expect_near(
      v_rsq_f32, [](double x) { return 1 / std::sqrt(x); }, 1e-20, 10);
  expect_near(
      v_sqrt_f32, [](double x) { return std::sqrt(x); }, 0, 1000);
  expect_lanes(v_exp_f32, {{{bits(-150.f)}, 0},
                           {{bits(128.f)}, kInfinity},
                           {{bits(-126.5f)}, 0},
                           {{kDenormal}, kOne},
                           {{0xff800000}, 0},
                           {{kInfinity}, kInfinity},
                           {{bits(-1e30f)}, 0},
                           {{kNan}, kNan}});
  expect_lanes(v_log_f32, {{{0}, 0xff800000},
                           {{kDenormal}, 0xff800000},
                           {{kInfinity}, kInfinity},
                           {{kOne}, 0},
                           {{bits(-1.f)}, 0xffc00000},
                           {{kMinusZero}, 0xff800000},
                           {{bits(8.f)}, bits(3.f)}});
  expect_lanes(v_rcp_f32, {{{0}, kInfinity},
                           {{kMinusZero}, 0xff800000},
                           {{kInfinity}, 0},
                           {{kDenormal}, kInfinity},
                           {{bits(0x1p127f)}, 0},
                           {{bits(4.f)}, bits(.25f)}});
  expect_lanes(v_sqrt_f32, {{{kMinusZero}, kMinusZero}, {{bits(4.f)}, bits(2.f)}, {{kDenormal}, 0}});
}

TEST(AluFloat, SinesTakeTurns) {
  expect_lanes(v_sin_f32, {{{bits(.25f)}, kOne},
                           {{bits(.5f)}, 0},
                           {{bits(-.25f)}, bits(-1.f)},
                           {{bits(64.25f)}, kOne},
                           {{bits(256.25f)}, 0},
                           {{bits(1.f / 12)}, bits(.5f)}});
  expect_lanes(v_cos_f32, {{{0}, kOne}, {{bits(.5f)}, bits(-1.f)}, {{bits(.25f)}, 0}, {{bits(300.f)}, kOne}});
}

// n / d as compilers lower it: the one-instruction steps together must give the correctly rounded quotient.
template <class T>
struct Divider {
  static constexpr bool kWide = sizeof(T) == 8;
  static constexpr uint8_t kRegisters = kWide ? 2 : 1;
  OneWave wave;
  static InstructionOperand r(int n) { return v(static_cast<uint16_t>(2 * n), kRegisters); }
  static InstructionOperand minus(InstructionOperand operand) { return operand.neg = true, operand; }
  void fma(int d, InstructionOperand a, InstructionOperand b, InstructionOperand c) {
    wave.run(instruction(kWide ? v_fma_f64 : v_fma_f32, r(d), {a, b, c}));
  }
  // n in register 1, d in 2; the quotient comes to 3.
  void divide() {
    const Opcode scale = kWide ? v_div_scale_f64 : v_div_scale_f32, fmas = kWide ? v_div_fmas_f64 : v_div_fmas_f32;
    wave.run(instruction(scale, r(4), {r(2), r(2), r(1)}));
    Instruction numerator = instruction(scale, r(5), {r(1), r(2), r(1)});
    numerator.carry_out = s(kVcc, 2);
    wave.run(numerator);
    wave.run(instruction(kWide ? v_rcp_f64 : v_rcp_f32, r(6), {r(4)}));
    const InstructionOperand one = constant(kWide ? bits(1.0) : bits(1.f));
    for (int step = 0; step < (kWide ? 2 : 1); ++step) {
      fma(7, minus(r(4)), r(6), one);
      fma(6, r(7), r(6), r(6));
    }
    wave.run(instruction(kWide ? v_mul_f64 : v_mul_f32, r(8), {r(5), r(6)}));
    if (!kWide) {
      fma(9, minus(r(4)), r(8), r(5));
      fma(8, r(9), r(6), r(8));
    }
    fma(9, minus(r(4)), r(8), r(5));
    wave.run(instruction(fmas, r(10), {r(9), r(6), r(8)}));
    wave.run(instruction(kWide ? v_div_fixup_f64 : v_div_fixup_f32, r(3), {r(10), r(2), r(1)}));
  }
};

template <class T>
void expect_exact_quotients(uint64_t sign_and_exponents) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 400; ++round) {
    Divider<T> divider;
    T n[64], d[64];
    for (int l = 0; l < 64; ++l) {
      const auto any = [&] {
        const uint64_t x = random();
        const uint64_t special[] = {0, 1, sign_and_exponents, 3};
        const uint64_t whole = x % 37 == 0 ? special[x / 37 % 4] : x;
        if constexpr (sizeof(T) == 4)
          return as_float(static_cast<uint32_t>(whole));
        else
          return as_double(whole);
      };
      n[l] = any(), d[l] = any();
      if constexpr (sizeof(T) == 4)
        divider.wave.set(2, l, bits(n[l])), divider.wave.set(4, l, bits(d[l]));
      else
        divider.wave.set64(2, l, bits(n[l])), divider.wave.set64(4, l, bits(d[l]));
    }
    divider.divide();
    for (int l = 0; l < 64; ++l) {
      T got;
      if constexpr (sizeof(T) == 4)
        got = as_float(divider.wave.get(6, l));
      else
        got = as_double(divider.wave.get64(6, l));
      const T wanted = n[l] / d[l];
      const bool same = std::isnan(wanted) ? std::isnan(got) : bits(got) == bits(wanted);
      // Scaling a denormal quotient back rounds it a second time: its last bit may be off.
      const bool denormal = std::fabs(wanted) < std::numeric_limits<T>::min();
      ASSERT_TRUE(same || (denormal && std::fabs(got - wanted) <= std::numeric_limits<T>::denorm_min()))
          << n[l] << " / " << d[l] << ": got " << got << ", wanted " << wanted;
    }
  }
}
TEST(AluFloat, DivisionInStepsIsExactInF32) { expect_exact_quotients<float>(kInfinity); }
TEST(AluFloat, DivisionInStepsIsExactInF64) { expect_exact_quotients<double>(uint64_t{0x7ff} << 52); }

TEST(AluFloat, DivisionsSpecialCases) {
  expect_lanes(v_div_fixup_f32, {{{kOne, 0, 0}, 0xffc00000},
                                 {{kOne, kInfinity, kInfinity}, 0xffc00000},
                                 {{kOne, 0, kOne}, kInfinity},
                                 {{kOne, kMinusZero, kOne}, 0xff800000},
                                 {{kOne, kInfinity, bits(-1.f)}, kMinusZero},
                                 {{kOne, kSignalling, kOne}, kQuieted},
                                 {{bits(-3.f), kOne, kOne}, bits(3.f)}});
}

TEST(AluFloat, ClassesOfNumbers) {
  const uint64_t numbers[] = {kSignalling, kNan, 0xff800000, bits(-1.f), 0x80000001,
                              kMinusZero,  0,    kDenormal,  kOne,       kInfinity};
  for (int asked = 0; asked < 10; ++asked) {
    OneWave wave;
    for (int l = 0; l < 10; ++l) wave.set(10, l, static_cast<uint32_t>(numbers[l]));
    wave.w.set_exec(0x3ff);
    wave.run(instruction(v_cmp_class_f32, s(30, 2), {v(10), constant(uint64_t{1} << asked)}));
    EXPECT_EQ(wave.pair(30), uint64_t{1} << asked);
  }
}

TEST(AluFloat, ComparisonsKnowNan) {
  OneWave wave;
  const uint64_t a[] = {bits(1.f), bits(2.f), bits(2.f), kNan, kMinusZero},
                 b[] = {bits(2.f), bits(1.f), bits(2.f), kOne, 0};
  for (int l = 0; l < 5; ++l)
    wave.set(10, l, static_cast<uint32_t>(a[l])), wave.set(12, l, static_cast<uint32_t>(b[l]));
  const struct {
    Opcode opcode;
    uint64_t lanes;
  } cases[] = {{v_cmp_f_f32, 0},         {v_cmp_lt_f32, 0b00001},  {v_cmp_eq_f32, 0b10100},  {v_cmp_le_f32, 0b10101},
               {v_cmp_gt_f32, 0b00010},  {v_cmp_lg_f32, 0b00011},  {v_cmp_ge_f32, 0b10110},  {v_cmp_o_f32, 0b10111},
               {v_cmp_u_f32, 0b01000},   {v_cmp_nge_f32, 0b01001}, {v_cmp_nlg_f32, 0b11100}, {v_cmp_ngt_f32, 0b11101},
               {v_cmp_nle_f32, 0b01010}, {v_cmp_neq_f32, 0b01011}, {v_cmp_nlt_f32, 0b11110}, {v_cmp_tru_f32, 0b11111}};
  wave.w.set_exec(0x1f);
  for (const auto& c : cases) {
    wave.run(instruction(c.opcode, s(30, 2), {v(10), v(12)}));
    EXPECT_EQ(wave.pair(30), c.lanes) << name_of(c.opcode);
  }
  wave.run(instruction(v_cmpx_lt_f32, s(30, 2), {v(10), v(12)}));
  EXPECT_EQ(wave.pair(30), 1u);
  EXPECT_EQ(wave.w.exec(), 1u);
}

TEST(AluFloat, ComparesIntegersBySign) {
  OneWave wave;
  wave.set64(10, 0, ~uint64_t{0}), wave.set64(12, 0, 1);
  wave.w.set_exec(1);
  const struct {
    Opcode opcode;
    bool is;
  } cases[] = {{v_cmp_lt_i32, true}, {v_cmp_lt_u32, false}, {v_cmp_gt_i16, false}, {v_cmp_gt_u16, true},
               {v_cmp_le_i64, true}, {v_cmp_le_u64, false}, {v_cmp_ne_i32, true},  {v_cmp_eq_u64, false},
               {v_cmp_ge_u32, true}, {v_cmp_ge_i64, false}, {v_cmp_t_i16, true},   {v_cmp_f_u64, false}};
  for (const auto& c : cases) {
    wave.run(instruction(c.opcode, s(30, 2), {v(10, 2), v(12, 2)}));
    EXPECT_EQ(wave.pair(30), c.is) << name_of(c.opcode);
  }
}

TEST(AluFloat, FusedAndUnfused) {
  const uint64_t a = bits(1.f + 0x1p-12f), c = bits(-1.f - 0x1p-11f);
  expect_lanes(v_fma_f32, {{{a, a, c}, bits(0x1p-24f)}});
  expect_lanes(v_fmac_f32, {{{a, a, c}, bits(0x1p-24f)}});
  expect_lanes(v_mad_f32, {{{a, a, c}, 0}});
  expect_lanes(v_fma_f64, {{{bits(1 + 0x1p-27), bits(1 + 0x1p-27), bits(-1 - 0x1p-26)}, bits(0x1p-54)}});
}

TEST(AluFloat, PackedPairs) {
  OneWave wave;
  wave.set64(10, 0, bits(1.f) | uint64_t{bits(2.f)} << 32), wave.set64(12, 0, bits(3.f) | uint64_t{bits(4.f)} << 32);
  const InstructionOperand a = packed(v(10, 2)), b = packed(v(12, 2));
  wave.run(instruction(v_pk_add_f32, v(2, 2), {a, b}));
  EXPECT_EQ(wave.get64(2, 0), bits(4.f) | uint64_t{bits(6.f)} << 32);
  InstructionOperand crossed = b;
  crossed.op_sel = true, crossed.op_sel_hi = false, crossed.neg_hi = true;
  wave.run(instruction(v_pk_mul_f32, v(2, 2), {a, crossed}));
  EXPECT_EQ(wave.get64(2, 0), bits(4.f) | uint64_t{bits(-6.f)} << 32);
  InstructionOperand high = b;
  high.op_sel = true;
  wave.run(instruction(v_pk_mov_b32, v(2, 2), {a, high}));
  EXPECT_EQ(wave.get64(2, 0), bits(1.f) | uint64_t{bits(4.f)} << 32);
}

}  // namespace
}  // namespace rung::amdgpu
