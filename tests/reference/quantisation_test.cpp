// Rows in 8 bits, and products of them, against hand-computed values.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

TEST(QuantizeReference, ScalesEachRowToTheLargestNumber) {
  const Inputs inputs{{"x", f32({3, 3}, {1, -2, 0.5f, 0, 0, 0, 448, 100, -3})}};
  expect_values(run("cast(quantize(x:f32[3,3]), to=f32)", inputs), {224, -448, 112, 0, 0, 0, 448, 96, -3}, 0);
  expect_values(run("result(quantize(x:f32[3,3]))", inputs), {2.0 / 448, 1, 1}, 1e-7);
  expect_values(run("cast(quantize(x:f32[3,3], to=f8e4m3fnuz), to=f32)", inputs),
                {120, -240, 60, 0, 0, 0, 240, 52, -1.625}, 0);
  expect_values(run("cast(quantize(x:f32[3,3], to=i8), to=f32)", inputs), {64, -127, 32, 0, 0, 0, 127, 28, -1}, 0);
  expect_values(run("result(quantize(x:f32[3,3], to=i8))", inputs), {2.0 / 127, 1, 448.0 / 127}, 1e-7);
}

TEST(QuantizeReference, TellsANanByItsRowsScale) {
  const auto scales = values_of(run("result(quantize(x:f32[2,2], to=i8))", {{"x", f32({2, 2}, {NAN, 1, 127, 2})}}));
  EXPECT_TRUE(std::isnan(scales[0]));
  EXPECT_EQ(scales[1], 1);
}

// x w' is [[5, 11], [-1, -1]]; rows of w have the scales 2 and 10, rows of x 1 and 0.5.
const Inputs kProduct{{"x", f32({2, 2}, {1, 2, 1, -1})},
                      {"w", f32({2, 2}, {1, 2, 3, 4})},
                      {"c", f32({2}, {2, 10})},
                      {"s", f32({2}, {1, 0.5f})},
                      {"b", f32({2}, {100, 200})}};

TEST(LinearReference, ScalesProductsBeforeTheBias) {
  expect_values(run("linear(x:f32[2,2], w:f32[2,2], b:f32[2], c:f32[2], s:f32[2], slots=bias+scale+x_scale)", kProduct),
                {110, 310, 99, 195}, 0);
  expect_values(run("linear(x:f32[2,2], w:f32[2,2], c:f32[2], slots=scale, factor=0.5)", kProduct), {5, 55, -1, -5}, 0);
}

TEST(LinearReference, ScalesBothHalvesOfAGate) {
  // relu(gate) * up: 10 * 110, and relu(-2) * -10; then a quarter of it.
  expect_values(
      run("linear(x:f32[2,2], w:f32[2,2], c:f32[2], slots=scale, gated=true, activation=relu, factor=0.25)", kProduct),
      {275, 0}, 0);
}

TEST(LinearReference, MultipliesIntegersAsTheyAre) {
  const Inputs inputs{{"x", f32({1, 2}, {127, -127})}, {"w", f32({1, 2}, {-127, 127})}, {"c", f32({1}, {0.5f})}};
  expect_values(run("linear(cast(x:f32[1,2], to=i8), cast(w:f32[1,2], to=i8), c:f32[1], slots=scale)", inputs),
                {-127.0 * 127}, 0);
}

TEST(LinearReference, LeavesItsNormInEightBits) {
  const Inputs inputs{{"x", f32({1, 1}, {1})}, {"w", f32({2, 1}, {3, 1000})}, {"g", f32({2}, {1, 2})}};
  const std::string linear = "linear(x:f32[1,1], w:f32[2,1], g:f32[2], slots=norm_weight, norm_run=2, normed=f8e4m3fn)";
  expect_values(run("cast(result(" + linear + "), to=f32)", inputs), {3, 448}, 0);
}

}  // namespace
}  // namespace rung
