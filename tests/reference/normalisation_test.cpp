// Softmax, norms and reductions against hand-computed values.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;

TEST(SoftmaxReference, NormalisesAlongTheAxis) {
  Inputs inputs{{"x", f32({2, 2}, {0, std::log(3.0f), 1000, 1000})}};
  expect_values(run("softmax(x:f32[2,2])", inputs), {0.25, 0.75, 0.5, 0.5});
  Inputs columns{{"x", f32({2, 2}, {0, 1000, std::log(3.0f), 1000})}};
  expect_values(run("softmax(x:f32[2,2], axis=-2)", columns), {0.25, 0.5, 0.75, 0.5});
  expect_values(run("softmax(x:f32[2,2], axis=0)", columns), {0.25, 0.5, 0.75, 0.5});
}

TEST(SoftmaxReference, GivesMinusInfinityZeroAndEmptyRowsNan) {
  Inputs inputs{{"x", f32({2, 2}, {0, -INFINITY, -INFINITY, -INFINITY})}};
  auto y = values_of(run("softmax(x:f32[2,2])", inputs));
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
}

TEST(TopKReference, GivesTheLargestInOrderWithPlaces) {
  Inputs inputs{{"x", f32({2, 4}, {1, 5, 3, 5, -1, NAN, -INFINITY, 0})}};
  auto y = values_of(run("top_k(x:f32[2,4], k=3)", inputs));
  EXPECT_THAT(std::vector(y.begin(), y.begin() + 3), ElementsAre(5, 5, 3));
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_THAT(std::vector(y.begin() + 4, y.end()), ElementsAre(0, -1));
  EXPECT_THAT(values_of(run("result(top_k(x:f32[2,4], k=3))", inputs)), ElementsAre(1, 3, 2, 1, 3, 0));
}

const Inputs kNorm{{"x", f32({2, 2}, {1, 3, -2, 4})},
                   {"r", f32({2, 2}, {0, 0, 3, 1})},
                   {"w", f32({2}, {2, 1})},
                   {"b", f32({2}, {0.5f, 0})}};

TEST(GroupNormReference, TakesEachRunOfChannelsOverAllPlaces) {
  const Inputs inputs{{"x", f32({1, 2, 4}, {1, 3, 0, 8, 5, 7, 4, 0})}};
  const double s = 1 / std::sqrt(5 + 1e-5), t = 1 / std::sqrt(11 + 1e-5);
  expect_values(run("group_norm(x:f32[1,2,4], groups=2, eps=1e-05)", inputs),
                {-3 * s, -s, -3 * t, 5 * t, s, 3 * s, t, -3 * t});
}

TEST(LayerNormReference, CentresScalesAndShifts) {
  double s = 1 / std::sqrt(1 + 1e-5), t = 3 / std::sqrt(9 + 1e-5);
  expect_values(run("layer_norm(x:f32[2,2], w:f32[2], b:f32[2], eps=1e-05)", kNorm),
                {-2 * s + 0.5, s, -2 * t + 0.5, t});
}

TEST(LayerNormReference, AddsTheResidualFirst) {
  double s = 1 / std::sqrt(1 + 1e-5), t = 2 / std::sqrt(4 + 1e-5);
  expect_values(run("layer_norm(x:f32[2,2], r:f32[2,2], w:f32[2], b:f32[2], slots=residual)", kNorm),
                {-2 * s + 0.5, s, -2 * t + 0.5, t});
}

TEST(LayerNormReference, KeepsSmallVarianceOverALargeMean) {
  Inputs inputs{{"x", f32({1, 2}, {16777216, 16777218})}, {"w", f32({2}, {1, 1})}, {"b", f32({2}, {0, 0})}};
  expect_values(run("layer_norm(x:f32[1,2], w:f32[2], b:f32[2])", inputs), {-0.999995, 0.999995});
}

TEST(LayerNormReference, WritesTheTypeItIsTold) {
  EXPECT_EQ(run("layer_norm(x:f32[2,2], w:f32[2], b:f32[2], out=bf16)", kNorm).dtype(), DType::bf16);
}

TEST(RmsNormReference, DividesByRootMeanSquareAndOffsetsWeights) {
  double s = 1 / std::sqrt(5 + 1e-6), t = 1 / std::sqrt(10 + 1e-6);
  expect_values(run("rms_norm(x:f32[2,2], w:f32[2])", kNorm), {2 * s, 3 * s, -4 * t, 4 * t});
  expect_values(run("rms_norm(x:f32[2,2], w:f32[2], weight_offset=1)", kNorm), {3 * s, 6 * s, -6 * t, 8 * t});
}

TEST(L2NormalizeReference, DividesByLengthOrAtLeastEps) {
  Inputs inputs{{"x", f32({2, 2}, {3, 4, 0, 0})}};
  expect_values(run("l2_normalize(x:f32[2,2])", inputs), {0.6, 0.8, 0, 0});
  expect_values(run("l2_normalize(x:f32[2,2], eps=10)", inputs), {0.3, 0.4, 0, 0});
}

const Inputs kReduce{{"x", f32({2, 3}, {1, 2, 3, 4, 5, 9})}, {"i", i64({2, 2}, {1, 2, INT64_C(1) << 53, 1})}};

TEST(ReduceReference, SumsAveragesAndTakesMaximaAlongAnyAxis) {
  expect_values(run("reduce(x:f32[2,3], kind=sum)", kReduce), {6, 18});
  expect_values(run("reduce(x:f32[2,3], kind=mean, axis=0)", kReduce), {2.5, 3.5, 6});
  Tensor max = run("reduce(x:f32[2,3], kind=max, axis=-1, keep_dim=true)", kReduce);
  EXPECT_EQ(max.shape(), (Shape{2, 1}));
  expect_values(max, {3, 9});
}

TEST(ReduceReference, KeepsIntegersExactAndNanVisible) {
  EXPECT_THAT(run("reduce(i:i64[2,2], kind=sum)", kReduce).as<int64_t>(), ElementsAre(3, (INT64_C(1) << 53) + 1));
  EXPECT_THAT(run("reduce(i:i64[2,2], kind=max, axis=0)", kReduce).as<int64_t>(), ElementsAre(INT64_C(1) << 53, 2));
  EXPECT_TRUE(std::isnan(values_of(run("reduce(x:f32[3], kind=max)", {{"x", f32({3}, {1, NAN, 2})}}))[0]));
}

TEST(ReduceReference, SumsNothingToZero) {
  expect_values(run("reduce(x:f32[2,0], kind=sum)", {{"x", f32({2, 0}, {})}}), {0, 0});
}

TEST(CumSumReference, AddsUpAlongTheAxis) {
  expect_values(run("cumsum(x:f32[2,3])", kReduce), {1, 3, 6, 4, 9, 18});
  expect_values(run("cumsum(x:f32[2,3], axis=-2)", kReduce), {1, 2, 3, 5, 7, 12});
  Tensor counts = run("cumsum(m:bool[4])", {{"m", flags({4}, {1, 0, 1, 1})}});
  EXPECT_THAT(counts.as<int64_t>(), ElementsAre(1, 1, 2, 3));
}

TEST(MaskedMeanReference, AveragesWhatTheMaskKeeps) {
  Inputs inputs{{"x", f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, {"m", f32({2, 2}, {1, 1, 0, 1})}};
  expect_values(run("masked_mean(x:f32[2,2,2], m:f32[2,2])", inputs), {2, 3, 7, 8});
  inputs["m"] = f32({2, 2}, {0, 0, 1, 0});
  expect_values(run("masked_mean(x:f32[2,2,2], m:f32[2,2])", inputs), {0, 0, 5, 6});
}

TEST(NormReference, AddsEpsToTheMeanOfSquares) {
  // (mean of squares, eps) = (5, 4) and (10, 6) of rms_norm, variances (1, 3) and (9, 7) of layer_norm.
  expect_values(run("rms_norm(x:f32[2,2], w:f32[2], eps=4)", kNorm),
                {2.0 / 3, 3.0 / 3, -4 / std::sqrt(14), 4 / std::sqrt(14)});
  expect_values(run("rms_norm(x:f32[1,2], w:f32[2], eps=4)", {{"x", f32({1, 2}, {0, 0})}, {"w", f32({2}, {2, 1})}}),
                {0, 0});
  expect_values(run("layer_norm(x:f32[2,2], w:f32[2], b:f32[2], eps=3)", kNorm),
                {-2 / 2.0 + 0.5, 1 / 2.0, -6 / std::sqrt(12) + 0.5, 3 / std::sqrt(12)});
}

TEST(L2NormalizeReference, KeepsNanVisible) {
  EXPECT_TRUE(std::isnan(values_of(run("l2_normalize(x:f32[2])", {{"x", f32({2}, {NAN, 1})}}))[1]));
}

TEST(ReduceReference, CountsFlags) {
  Tensor counts = run("reduce(m:bool[2,3], kind=sum)", {{"m", flags({2, 3}, {1, 0, 1, 0, 0, 0})}});
  EXPECT_THAT(counts.as<int64_t>(), ElementsAre(2, 0));
}

TEST(CumSumReference, StartsAgainInEveryLane) {
  Inputs inputs{{"x", i64({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  EXPECT_THAT(run("cumsum(x:i64[2,2,2], axis=1)", inputs).as<int64_t>(), ElementsAre(1, 2, 4, 6, 5, 6, 12, 14));
}

TEST(MaskedMeanReference, WeighsByMaskDividingByAtLeastEps) {
  Inputs inputs{{"x", f32({1, 2, 1}, {3, 8})}, {"m", f32({1, 2}, {0.5f, 0.25f})}};
  expect_values(run("masked_mean(x:f32[1,2,1], m:f32[1,2])", inputs), {3.5 / 0.75});
  expect_values(run("masked_mean(x:f32[1,2,1], m:f32[1,2], eps=7)", inputs), {0.5});
}

}  // namespace
}  // namespace rung
