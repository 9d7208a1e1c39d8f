// Matrix products, linear layers and convolution against hand-computed values and plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

TEST(MatMulReference, MultipliesAndBroadcastsBatches) {
  Inputs inputs{{"a", f32({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, {"b", f32({2, 2, 1}, {1, 1, 1, -1})}};
  Tensor y = run("matmul(a:f32[2,1,2,2], b:f32[2,2,1])", inputs);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2, 1}));
  expect_values(y, {3, 7, -1, -1, 11, 15, -1, -1});
}

TEST(MatMulReference, AgreesWithPlainLoopsOnOddSizes) {
  const int64_t m = 3, k = 19, n = 5;
  Tensor a = random({m, k}, 1), b = random({k, n}, 2);
  std::vector<double> wanted;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += double{a.as<float>()[size_t(i * k + l)]} * double{b.as<float>()[size_t(l * n + j)]};
      wanted.push_back(sum);
    }
  expect_values(run("matmul(a:f32[3,19], b:f32[19,5])", {{"a", a}, {"b", b}}), wanted, 1e-6);
}

TEST(MatMulReference, AccumulatesWiderThanItsOperands) {
  // 2048 + 1 is no f16 value; the sum must not have been rounded on the way.
  Inputs inputs{{"a", convert(f32({1, 3}, {2048, 1, 1}), DType::f16)},
                {"b", convert(f32({3, 1}, {1, 1, 1}), DType::f16)}};
  expect_values(run("matmul(a:f16[1,3], b:f16[3,1])", inputs), {2050}, 0);
}

const Inputs kLinear{{"x", f32({2, 2}, {1, 2, 3, 4})},
                     {"w", f32({2, 2}, {1, 0, -1, 1})},  // rows are outputs
                     {"b", f32({2}, {10, -3})},
                     {"r", f32({2, 2}, {100, 200, 300, 400})}};

TEST(LinearReference, MultipliesByTheTransposedWeight) {
  expect_values(run("linear(x:f32[2,2], w:f32[2,2])", kLinear), {1, 1, 3, 1});
}

TEST(LinearReference, AddsBiasBeforeAndResidualAfterTheActivation) {
  expect_values(run("linear(x:f32[2,2], w:f32[2,2], b:f32[2], slots=bias)", kLinear), {11, -2, 13, -2});
  expect_values(run("linear(x:f32[2,2], w:f32[2,2], b:f32[2], r:f32[2,2], slots=bias+residual, "
                    "activation=relu)",
                    kLinear),
                {111, 200, 313, 400});
  expect_values(run("linear(x:f32[2,2], w:f32[2,2], r:f32[2,2], slots=residual)", kLinear), {101, 201, 303, 401});
}

TEST(LinearReference, GatesUpRowsByTheActivatedGateRows) {
  // Gate = x0, x1 + 1; up = x0 + x1, x0 - x1 + 2.
  Inputs inputs{{"x", f32({1, 2}, {1, -3})},
                {"w", f32({4, 2}, {1, 0, 0, 1, 1, 1, 1, -1})},
                {"b", f32({4}, {0, 1, 0, 2})},
                {"r", f32({1, 2}, {10, 20})}};
  expect_values(run("linear(x:f32[1,2], w:f32[4,2], gated=true, activation=relu)", inputs), {-2, 0});
  expect_values(run("linear(x:f32[1,2], w:f32[4,2], b:f32[4], r:f32[1,2], slots=bias+residual, gated=true)", inputs),
                {10 + 1 * -2, 20 + -2 * 6});
}

TEST(LinearReference, MixesTypesAndRoundsOnlyTheResult) {
  Inputs inputs{{"x", f32({1, 2}, {1, 0x1p-9f})}, {"w", to_bf16(f32({1, 2}, {1, 1}))}};
  expect_values(run("linear(x:f32[1,2], w:bf16[1,2], out=f32)", inputs), {1 + 0x1p-9}, 0);
  Tensor narrow = run("linear(x:f32[1,2], w:bf16[1,2], out=bf16)", inputs);
  EXPECT_EQ(narrow.dtype(), DType::bf16);
  expect_values(narrow, {1}, 0);
}
TEST(LinearReference, TurnsItsFirstHeadsAsRopeDoes) {
  Inputs inputs{{"x", random({3, 7}, 1)},
                {"w", random({20, 7}, 2)},
                {"b", random({20}, 3)},
                {"c", random({3, 6}, 4)},
                {"s", random({3, 6}, 5)}};
  Tensor wanted =
      run("concat(reshape(rope(reshape(slice(linear(x:f32[3,7], w:f32[20,7], b:f32[20], slots=bias), axis=1, begin=0, "
          "end=12), shape=[3,2,6]), reshape(c:f32[3,6], shape=[3,1,6]), reshape(s:f32[3,6], shape=[3,1,6])), "
          "shape=[3,12]), slice(linear(x, w, b, slots=bias), axis=1, begin=12, end=20), axis=1)",
          inputs);
  expect_values(run("linear(x:f32[3,7], w:f32[20,7], b:f32[20], c:f32[3,6], s:f32[3,6], slots=bias+cos+sin, "
                    "rotated_heads=2)",
                    inputs),
                values_of(wanted));
}
TEST(LinearReference, RefusesHeadsThatDoNotFit) {
  Inputs inputs{
      {"x", random({3, 7}, 1)}, {"w", random({20, 7}, 2)}, {"c", random({3, 6}, 3)}, {"r", random({3, 20}, 4)}};
  EXPECT_THAT(
      error_of("linear(x:f32[3,7], w:f32[20,7], c:f32[3,6], c, slots=cos+sin, rotated_heads=4)", inputs),
      testing::HasSubstr("got 4 rotated heads of 6 columns in f32[3,20], wanted an even width and no more than"));
  EXPECT_THAT(
      error_of("linear(x:f32[3,7], w:f32[20,7], r:f32[3,20], c:f32[3,6], c, slots=residual+cos+sin, rotated_heads=1)",
               inputs),
      testing::HasSubstr("got rotated heads with a gate, an activation or a residual, wanted none of them"));
}

TEST(LinearReference, GivesWhatLinearsBehindANormRead) {
  const Inputs inputs{
      {"x", random({3, 7}, 1)}, {"w", random({64, 7}, 2)}, {"r", random({3, 64}, 3)}, {"g", random({64}, 4)}};
  const std::string plain = "linear(x:f32[3,7], w:f32[64,7], r:f32[3,64], slots=residual)";
  const std::string feeding =
      "linear(x:f32[3,7], w:f32[64,7], r:f32[3,64], g:f32[64], slots=residual+norm_weight, norm_run=32)";
  expect_values(run(feeding, inputs), values_of(run(plain, inputs)), 0);
  Tensor scaled = run(fmt::format("result({})", feeding), inputs);
  EXPECT_EQ(scaled.type(), (Type{DType::bf16, {3, 64}}));
  expect_values(scaled, values_of(run(fmt::format("cast(mul({}, g:f32[64]), to=bf16)", plain), inputs)), 0);
  Tensor squares = run(fmt::format("result({}, index=2)", feeding), inputs);
  EXPECT_EQ(squares.type(), (Type{DType::f32, {3, 2}}));
  Tensor wanted = run(fmt::format("reduce(square(reshape({}, shape=[3,2,32])), kind=mean)", plain), inputs);
  expect_values(squares, values_of(wanted), 1e-5);
}
TEST(LinearReference, SquaresItsResultBeforeRoundingIt) {
  const Inputs inputs{{"x", f32({1, 1}, {1 + 0x1p-9f})},
                      {"w", f32({32, 1}, std::vector<float>(32, 1))},
                      {"g", f32({32}, std::vector<float>(32, 1))}};
  const std::string feeding = "linear(x:f32[1,1], w:f32[32,1], g:f32[32], slots=norm_weight, norm_run=32, out=bf16)";
  EXPECT_EQ(values_of(run(feeding, inputs))[0], 1);
  expect_values(run(fmt::format("result({}, index=2)", feeding), inputs), {(1 + 0x1p-9) * (1 + 0x1p-9)}, 1e-6);
}
TEST(LinearReference, NormsItsRowsByTheirSquares) {
  Inputs inputs{{"x", random({3, 64}, 1)}, {"w", random({10, 64}, 2)}, {"one", f32({64}, std::vector<float>(64, 1))}};
  inputs["q"] = run("reduce(square(reshape(x:f32[3,64], shape=[3,2,32])), kind=mean)", {{"x", inputs["x"]}});
  Tensor wanted =
      run("linear(rms_norm(x:f32[3,64], one:f32[64], eps=0.25), w:f32[10,64], gated=true, activation=silu)", inputs);
  expect_values(
      run("linear(x:f32[3,64], w:f32[10,64], q:f32[3,2], gated=true, activation=silu, slots=squares, eps=0.25)",
          inputs),
      values_of(wanted), 1e-4);
}

TEST(Im2colReference, LaysPatchesOutInRowOrderChannelMajor) {
  // Two channels of 2x4, patch 2: patch 0 holds columns 0-1 of channel 0, then of channel 1.
  Inputs inputs{{"x", f32({1, 2, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17})}};
  Tensor y = run("im2col(x:f32[1,2,2,4], patch=2)", inputs);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 8}));
  expect_values(y, {0, 1, 4, 5, 10, 11, 14, 15, 2, 3, 6, 7, 12, 13, 16, 17});
}

TEST(Im2colReference, LeavesPixelsThatFillNoPatch) {
  Inputs inputs{{"x", f32({1, 1, 3, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})}};
  expect_values(run("im2col(x:f32[1,1,3,5], patch=2)", inputs), {0, 1, 5, 6, 2, 3, 7, 8});
}

TEST(LinearReference, ActivatesByEveryFunction) {
  const std::pair<const char*, double> at_minus_one[] = {{"none", -1},
                                                         {"relu", 0},
                                                         {"gelu", -0.1586552539},
                                                         {"gelu_tanh", -0.1588080094},
                                                         {"silu", -0.2689414214},
                                                         {"tanh", -0.7615941560}};
  for (auto [name, wanted] : at_minus_one)
    expect_values(run(fmt::format("linear(x:f32[1,1], w:f32[1,1], activation={})", name),
                      {{"x", f32({1, 1}, {-0.5f})}, {"w", f32({1, 1}, {2})}}),
                  {wanted}, 1e-7);
}

}  // namespace
}  // namespace rung
