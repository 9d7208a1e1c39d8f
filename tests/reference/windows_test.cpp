// The evaluator's convolutions and poolings on small cases worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

TEST(ConvReference, SlidesTheWindowByTheStride) {
  Inputs inputs{{"x", f32({1, 3, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
                {"w", f32({2, 2, 2, 1}, {1, 0, 0, 1, 1, 1, 1, 1})},
                {"b", f32({2}, {0, 100})}};
  Tensor y = run("conv(x:f32[1,3,4,1], w:f32[2,2,2,1], b:f32[2], slots=bias, stride=[2,2])", inputs);
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2, 2}));
  expect_values(y, {7, 114, 11, 122});
}

TEST(ConvReference, SumsChannelsAndKeepsBatchesApart) {
  Inputs inputs{{"x", f32({2, 1, 2}, {1, 2, 3, 4})}, {"w", f32({1, 1, 2}, {10, 1})}};
  expect_values(run("conv(x:f32[2,1,2], w:f32[1,1,2])", inputs), {12, 34});
}

TEST(ConvReference, SeesZerosAroundAndStepsOverTaps) {
  Inputs inputs{{"x", f32({2, 4, 1}, {5, 6, 7, 8, 1, 2, 3, 4})}, {"w", f32({1, 2, 1}, {10, 1})}};
  expect_values(run("conv(x:f32[2,4,1], w:f32[1,2,1], before=[2], after=[1], dilation=[2])", inputs),
                {5, 6, 57, 68, 70, 1, 2, 13, 24, 30});
}

TEST(ConvReference, KeepsGroupsApart) {
  Inputs inputs{{"x", f32({1, 1, 4}, {1, 2, 3, 4})}, {"w", f32({4, 1, 2}, {1, 0, 0, 1, 1, 0, 0, 1})}};
  expect_values(run("conv(x:f32[1,1,4], w:f32[4,1,2], groups=2)", inputs), {1, 2, 3, 4});
}

TEST(ConvReference, TransposedSpreadsEachElementOverItsWindow) {
  Inputs inputs{{"x", f32({1, 2, 1}, {1, 2})}, {"w", f32({1, 3, 1}, {1, 10, 100})}};
  const std::string conv = "conv(x:f32[1,2,1], w:f32[1,3,1], transposed=true, stride=[2]";
  expect_values(run(conv + ")", inputs), {1, 10, 102, 20, 200});
  expect_values(run(conv + ", before=[1], after=[2], extra=[1])", inputs), {10, 102, 20});
}

TEST(ConvReference, ActivatesBeforeTheResidualAndLast) {
  Inputs inputs{{"x", f32({1, 1, 1}, {-3})}, {"w", f32({1, 1, 1}, {1})}, {"r", f32({1, 1, 1}, {-2})}};
  const std::string conv = "conv(x:f32[1,1,1], w:f32[1,1,1], r:f32[1,1,1], slots=residual";
  expect_values(run(conv + ")", inputs), {-5});
  expect_values(run(conv + ", activation=relu)", inputs), {-2});
  expect_values(run(conv + ", activation=relu, last=relu)", inputs), {0});
}

TEST(ConvReference, FactorsComeBeforeTheBias) {
  Inputs inputs{{"x", f32({1, 1, 1}, {3})}, {"w", f32({2, 1, 1}, {1, 2})}, {"b", f32({2, 2}, {4, 0.5, -10, 1})}};
  expect_values(run("conv(x:f32[1,1,1], w:f32[2,1,1], b:f32[2,2], slots=bias)", inputs), {2, 4});
}

TEST(ConvReference, IntegersHaveZeroPointsAndScales) {
  Inputs inputs{{"x", Tensor::of<uint8_t>({1, 3, 1}, {130, 128, 127})},
                {"w", Tensor::of<int8_t>({2, 3, 1}, {1, 10, 100, -1, 0, 0})},
                {"b", Tensor::of<int32_t>({2}, {-20, 4})},
                {"s", f32({2}, {0.5, 0.25})}};
  const std::string conv =
      "conv(x:u8[1,3,1], w:i8[2,3,1], b:i32[2], s:f32[2], slots=bias+scale, zero=128, before=[1], after=[1]";
  expect_values(run(conv + ")", inputs), {0, 1, -59, 0.5, -15, 1});  // around x stands the zero point
  expect_values(run(conv + ", activation=relu)", inputs), {0, 1, 0, 0.5, 0, 1});
}

TEST(ConvReference, RoundsIntegersWithinTheirBytes) {
  Inputs inputs{{"x", Tensor::of<int8_t>({1, 4, 1}, {-3, 1, 5, 127})},
                {"w", Tensor::of<int8_t>({1, 1, 1}, {1})},
                {"b", f32({1}, {0.5})},
                {"s", f32({1}, {0.5})}};
  const std::string conv = "conv(x:i8[1,4,1], w:i8[1,1,1], b:f32[1], s:f32[1], slots=bias+scale, zero=-1";
  // (-2, 2, 6, 128) + 0.5, halved: -0.75, 1.25, 3.25, 64.25
  EXPECT_EQ(convert(run(conv + ", out=u8, out_zero=200)", inputs), DType::f32).as<float>()[3], 255);
  const Tensor bytes = convert(run(conv + ", out=i8, out_zero=-127)", inputs), DType::f32);
  expect_values(bytes, {-128, -126, -124, -63});
  const Tensor halves =
      convert(run("conv(x:i8[1,4,1], w:i8[1,1,1], s:f32[1], slots=scale, zero=0, out=i8, activation=relu)", inputs),
              DType::f32);
  expect_values(halves, {0, 0, 2, 64});  // 0.5, 2.5 and 63.5 go to even numbers
}

TEST(ConvReference, EndsWithItsTail) {
  Inputs inputs{{"x", f32({1, 2, 1}, {-3, 5})}, {"w", f32({1, 1, 1}, {1})}, {"r", f32({1, 2, 1}, {1, 1})}};
  expect_values(
      run("conv(x:f32[1,2,1], w:f32[1,1,1], r:f32[1,2,1], slots=residual, tail=\"r1=min(r0,4);r2=mul(r1,r0)\")",
          inputs),
      {4, 24});
}

TEST(ConvReference, OfThreeAxesIsThatOfTheirWindows) {
  Inputs inputs{{"x", f32({1, 2, 1, 2, 1}, {1, 2, 3, 4})}, {"w", f32({1, 2, 1, 2, 1}, {1, 10, 100, 1000})}};
  expect_values(run("conv(x:f32[1,2,1,2,1], w:f32[1,2,1,2,1])", inputs), {4321});
}

TEST(PoolReference, ReducesWhatStandsInsideOfX) {
  Inputs inputs{{"x", f32({1, 4, 1}, {1, -2, 3, 4})}};
  const std::string pool = "pool(x:f32[1,4,1], window=[3], stride=[2], before=[1], after=[1], kind=";
  expect_values(run(pool + "max)", inputs), {1, 4});
  expect_values(run(pool + "sum)", inputs), {-1, 5});
  expect_values(run(pool + "mean)", inputs), {-0.5, 5.0 / 3});
}

TEST(PoolReference, TellsThePlaceOfTheFirstLargest) {
  Inputs inputs{{"x", f32({1, 2, 3, 1}, {5, 5, 1, 7, NAN, 7})}};
  expect_values(run("result(pool(x:f32[1,2,3,1], window=[1,2], places=true))", inputs), {0, 1, 4, 4});
  EXPECT_TRUE(std::isnan(run("pool(x:f32[1,2,3,1], window=[2,2])", inputs).as<float>()[0]));
}

TEST(PoolReference, OfNoElementIsNeutral) {
  Inputs inputs{{"x", f32({1, 1, 1}, {3})}};
  const std::string pool = "pool(x:f32[1,1,1], window=[1], before=[1], kind=";
  expect_values(run(pool + "sum)", inputs), {0, 3});
  EXPECT_EQ(run(pool + "max)", inputs).as<float>()[0], -INFINITY);
}

}  // namespace
}  // namespace rung
