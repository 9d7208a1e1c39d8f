// What element-wise ops compute: against hand-computed values.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "reference/run.hpp"
#include "reference/values.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

double unary(const std::string& name, float x) {
  return values_of(run(name + "(x:f32[1])", {{"x", f32({1}, {x})}}))[0];
}
double binary(const std::string& name, float a, float b) {
  return values_of(run(name + "(a:f32[1], b:f32[1])", {{"a", f32({1}, {a})}, {"b", f32({1}, {b})}}))[0];
}

TEST(UnaryReference, ComputesEveryKindOnFloats) {
  EXPECT_EQ(unary("neg", 1.5f), -1.5);
  EXPECT_EQ(unary("abs", -1.5f), 1.5);
  EXPECT_NEAR(unary("exp", 1), 2.718281828, 1e-6);
  EXPECT_NEAR(unary("log", 10), 2.302585093, 1e-6);
  EXPECT_EQ(unary("sqrt", 9), 3);
  EXPECT_EQ(unary("rsqrt", 4), 0.5);
  EXPECT_EQ(unary("reciprocal", 4), 0.25);
  EXPECT_EQ(unary("square", -3), 9);
  EXPECT_NEAR(unary("sin", 1), 0.8414709848, 1e-7);
  EXPECT_NEAR(unary("cos", 1), 0.5403023059, 1e-7);
  EXPECT_NEAR(unary("tanh", 0.5f), 0.4621171573, 1e-7);
  EXPECT_NEAR(unary("erf", 0.5f), 0.5204998778, 1e-7);
  EXPECT_NEAR(unary("sigmoid", 1), 0.7310585786, 1e-7);
  EXPECT_NEAR(unary("silu", 1), 0.7310585786, 1e-7);
  EXPECT_NEAR(unary("gelu", 1), 0.8413447461, 1e-7);
  EXPECT_NEAR(unary("gelu_tanh", 1), 0.8411919906, 1e-7);
  EXPECT_EQ(unary("relu", -2), 0);
  EXPECT_EQ(unary("relu", 2), 2);
}

TEST(UnaryReference, StaysFiniteWhereTheFormulaOverflows) {
  EXPECT_EQ(unary("sigmoid", -1000), 0);
  EXPECT_EQ(unary("sigmoid", 1000), 1);
  EXPECT_EQ(unary("silu", -1000), 0);
  EXPECT_NEAR(unary("gelu", -5) / -1.4332e-06, 1, 1e-4);  // the tail is not cancelled away
}

TEST(UnaryReference, KeepsNan) {
  for (const char* name : {"relu", "abs", "sigmoid", "gelu"}) EXPECT_TRUE(std::isnan(unary(name, NAN))) << name;
}

TEST(UnaryReference, IsExactOnIntegersAndLogic) {
  int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_THAT(run("neg(x:i64[2])", {{"x", i64({2}, {big, -3})}}).as<int64_t>(), ElementsAre(-big, 3));
  Tensor bytes = Tensor::of<int8_t>({2}, {-128, 16});
  EXPECT_THAT(run("abs(x:i8[2])", {{"x", bytes}}).as<int8_t>(), ElementsAre(-128, 16));  // wraps
  EXPECT_THAT(run("square(x:i8[2])", {{"x", bytes}}).as<int8_t>(), ElementsAre(0, 0));
  EXPECT_THAT(run("not(x:bool[2])", {{"x", flags({2}, {1, 0})}}).as<bool>(), ElementsAre(false, true));
}

TEST(BinaryReference, ComputesEveryKindOnFloats) {
  EXPECT_EQ(binary("add", 1, 2), 3);
  EXPECT_EQ(binary("sub", 1, 2), -1);
  EXPECT_EQ(binary("mul", 3, 2), 6);
  EXPECT_EQ(binary("div", 3, 2), 1.5);
  EXPECT_EQ(binary("pow", 3, 2), 9);
  EXPECT_EQ(binary("max", 3, 2), 3);
  EXPECT_EQ(binary("min", 3, 2), 2);
  EXPECT_TRUE(std::isnan(binary("max", NAN, 2)));
  EXPECT_TRUE(std::isnan(binary("max", 2, NAN)));
  EXPECT_TRUE(std::isnan(binary("min", NAN, 2)));
  EXPECT_TRUE(std::isnan(binary("min", 2, NAN)));
}

TEST(BinaryReference, ComparesIntoBool) {
  Inputs inputs{{"a", f32({3}, {1, 2, 3})}, {"b", f32({3}, {2, 2, 2})}};
  auto compared = [&](const std::string& name) { return values_of(run(name + "(a:f32[3], b:f32[3])", inputs)); };
  EXPECT_THAT(compared("eq"), ElementsAre(0, 1, 0));
  EXPECT_THAT(compared("ne"), ElementsAre(1, 0, 1));
  EXPECT_THAT(compared("lt"), ElementsAre(1, 0, 0));
  EXPECT_THAT(compared("le"), ElementsAre(1, 1, 0));
  EXPECT_THAT(compared("gt"), ElementsAre(0, 0, 1));
  EXPECT_THAT(compared("ge"), ElementsAre(0, 1, 1));
  EXPECT_EQ(run("lt(a:f32[3], b:f32[3])", inputs).dtype(), DType::boolean);
}

TEST(BinaryReference, CombinesBools) {
  Inputs inputs{{"a", flags({4}, {0, 0, 1, 1})}, {"b", flags({4}, {0, 1, 0, 1})}};
  EXPECT_THAT(run("and(a:bool[4], b:bool[4])", inputs).as<bool>(), ElementsAre(false, false, false, true));
  EXPECT_THAT(run("or(a:bool[4], b:bool[4])", inputs).as<bool>(), ElementsAre(false, true, true, true));
}

TEST(BinaryReference, BroadcastsByNumpysRule) {
  Inputs inputs{{"a", f32({2, 1}, {10, 20})}, {"b", f32({3}, {1, 2, 3})}};
  Tensor sum = run("add(a:f32[2,1], b:f32[3])", inputs);
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  expect_values(sum, {11, 12, 13, 21, 22, 23});
}

TEST(BinaryReference, IsExactOnIntegers) {
  int64_t big = (int64_t{1} << 53), least = std::numeric_limits<int64_t>::min();
  Inputs inputs{{"a", i64({3}, {big, -7, least})}, {"b", i64({3}, {1, 2, -1})}};
  EXPECT_THAT(run("add(a:i64[3], b:i64[3])", inputs).as<int64_t>(), ElementsAre(big + 1, -5, INT64_MAX));
  EXPECT_THAT(run("div(a:i64[3], b:i64[3])", inputs).as<int64_t>(), ElementsAre(big, -3, least));
  EXPECT_THAT(run("max(a:i64[3], b:i64[3])", inputs).as<int64_t>(), ElementsAre(big, 2, -1));
  EXPECT_THAT(run("gt(a:i64[3], b:i64[3])", inputs).as<bool>(), ElementsAre(true, false, false));
}

TEST(BinaryReference, RefusesIntegerDivisionByZero) {
  Inputs inputs{{"a", i64({2}, {1, 2})}, {"b", i64({2}, {1, 0})}};
  EXPECT_THAT(error_of("div(a:i64[2], b:i64[2])", inputs), HasSubstr("div: integer division by zero"));
}

TEST(BinaryReference, RoundsOnceToTheNarrowType) {
  // 1 + 2^-8 is half way between two bf16 values: the even one wins; a little more rounds up.
  Inputs inputs{{"a", to_bf16(f32({2}, {1, 1}))}, {"b", to_bf16(f32({2}, {0x1p-8f, 0x1.02p-8f}))}};
  expect_values(run("add(a:bf16[2], b:bf16[2])", inputs), {1, 1.0078125}, 0);
  // In f32 the sum 1 + 2^-8 + 2^-40 would lose its last bit, and then round down.
  Inputs tiny{{"a", to_bf16(f32({1}, {1.0f + 0x1p-7f}))}, {"b", to_bf16(f32({1}, {0x1p-40f}))}};
  EXPECT_EQ(reference::round_to(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  expect_values(run("add(a:bf16[1], b:bf16[1])", tiny), {1.0078125}, 0);
}

TEST(RoundTo, GoesToNearestEvenFromF64) {
  using reference::round_to;
  EXPECT_EQ(round_to(DType::bf16, 1 + 0x1p-8), 1);
  EXPECT_EQ(round_to(DType::bf16, -(1 + 0x1p-8 + 0x1p-40)), -(1 + 0x1p-7));
  EXPECT_EQ(round_to(DType::f16, 1 + 0x1p-11), 1);
  EXPECT_EQ(round_to(DType::f16, 1 + 0x1p-11 + 0x1p-45), 1 + 0x1p-10);
  EXPECT_EQ(round_to(DType::f16, 65520), INFINITY);
  EXPECT_EQ(round_to(DType::f16, 65519.999999), 65504);
  EXPECT_EQ(round_to(DType::f16, 0x1p-25), 0);
  EXPECT_EQ(round_to(DType::f16, 0x1p-25 * (1 + 0x1p-40)), 0x1p-24);
  EXPECT_EQ(round_to(DType::bf16, 1e300), INFINITY);
  EXPECT_EQ(round_to(DType::f32, 0.1), static_cast<double>(0.1f));
  EXPECT_TRUE(std::isnan(round_to(DType::bf16, NAN)));
}

TEST(CastReference, ConvertsByValue) {
  Tensor x = f32({4}, {-1.75f, 0, 0.5f, 3.25f});
  EXPECT_THAT(run("cast(x:f32[4], to=i32)", {{"x", x}}).as<int32_t>(), ElementsAre(-1, 0, 0, 3));
  EXPECT_THAT(run("cast(x:f32[4], to=bool)", {{"x", x}}).as<bool>(), ElementsAre(true, false, true, true));
  Tensor wide = i64({1}, {300});
  EXPECT_THAT(run("cast(x:i64[1], to=u8)", {{"x", wide}}).as<uint8_t>(), ElementsAre(44));
  expect_values(run("cast(x:i64[1], to=f32)", {{"x", wide}}), {300}, 0);
}

TEST(CastReference, RoundsToEightBits) {
  const Inputs inputs{{"x", f32({5}, {1.0625f, -1.1875f, 1000, -1e9f, 0.001f})}};
  expect_values(run("cast(cast(x:f32[5], to=f8e4m3fn), to=f32)", inputs), {1, -1.25, 448, -448, 0.001953125}, 0);
  expect_values(run("cast(cast(x:f32[5], to=f8e4m3fnuz), to=f32)", inputs), {1, -1.25, 240, -240, 0.0009765625}, 0);
}

TEST(SelectReference, TakesFromAWhereTrueAndBroadcasts) {
  Inputs inputs{{"c", flags({2, 1}, {1, 0})}, {"a", i64({3}, {1, 2, 3})}, {"b", i64({1}, {-1})}};
  Tensor y = run("select(c:bool[2,1], a:i64[3], b:i64[1])", inputs);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_THAT(y.as<int64_t>(), ElementsAre(1, 2, 3, -1, -1, -1));
}

TEST(SelectReference, DoesNotLetTheOtherSidesNanThrough) {
  Inputs inputs{{"c", flags({2}, {1, 0})}, {"a", f32({2}, {1, NAN})}, {"b", f32({2}, {NAN, 2})}};
  expect_values(run("select(c:bool[2], a:f32[2], b:f32[2])", inputs), {1, 2}, 0);
}

TEST(GatedMulReference, MultipliesTheActivatedGateByUp) {
  Inputs inputs{{"g", f32({2}, {1, -1})}, {"u", f32({2}, {2, 3})}};
  expect_values(run("gated_mul(g:f32[2], u:f32[2], activation=silu)", inputs), {2 * 0.7310585786, 3 * -0.2689414214});
  expect_values(run("gated_mul(g:f32[2], u:f32[2], activation=none)", inputs), {2, -3});
}

TEST(RopeReference, RotatesTheTwoHalves) {
  Inputs inputs{{"x", f32({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                {"c", f32({2, 4}, {1, 1, 1, 1, 0, 0.5f, 0, 0.5f})},
                {"s", f32({2, 4}, {0, 0, 0, 0, 1, 2, 1, 2})}};
  // Row 0 stays; row 1: x*cos + [-7, -8, 5, 6]*sin.
  expect_values(run("rope(x:f32[1,2,4], c:f32[2,4], s:f32[2,4])", inputs), {1, 2, 3, 4, -7, -13, 5, 16});
}

TEST(BinaryReference, ComputesEveryKindOnIntegers) {
  Inputs inputs{{"a", i64({4}, {6, -2, 4, 5})}, {"b", i64({4}, {3, 3, 4, -2})}};
  auto of = [&](const std::string& name) { return values_of(run(name + "(a:i64[4], b:i64[4])", inputs)); };
  EXPECT_THAT(of("add"), ElementsAre(9, 1, 8, 3));
  EXPECT_THAT(of("sub"), ElementsAre(3, -5, 0, 7));
  EXPECT_THAT(of("mul"), ElementsAre(18, -6, 16, -10));
  EXPECT_THAT(of("div"), ElementsAre(2, 0, 1, -2));
  EXPECT_THAT(of("max"), ElementsAre(6, 3, 4, 5));
  EXPECT_THAT(of("min"), ElementsAre(3, -2, 4, -2));
  EXPECT_THAT(of("eq"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(of("ne"), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(of("lt"), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(of("le"), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(of("gt"), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(of("ge"), ElementsAre(1, 0, 1, 1));
}

TEST(GatedMulReference, ActivatesByEveryFunction) {
  const std::pair<const char*, double> at_half[] = {
      {"relu", 0.5}, {"gelu", 0.3457312306}, {"gelu_tanh", 0.3457140}, {"silu", 0.3112296656}, {"tanh", 0.4621171573}};
  for (auto [name, wanted] : at_half)
    expect_values(run(fmt::format("gated_mul(g:f32[1], u:f32[1], activation={})", name),
                      {{"g", f32({1}, {0.5f})}, {"u", f32({1}, {1})}}),
                  {wanted}, 1e-6);
}

}  // namespace
}  // namespace rung
