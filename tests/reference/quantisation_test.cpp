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

// Without the column of 448 the scale is that of 127; the column's own values stay as they are, a NaN too.
TEST(QuantizeReference, LeavesOutliersOut) {
  const Inputs inputs{{"x", f32({3, 3}, {1, 448, -127, 0, 3, 0, 254, NAN, 2})}};
  const std::string quantize = "quantize(x:f32[3,3], to=i8, outliers=[1])";
  expect_values(run("cast(" + quantize + ", to=f32)", inputs), {1, 0, -127, 0, 0, 0, 127, 0, 1}, 0);
  expect_values(run("result(" + quantize + ")", inputs), {1, 1, 2}, 0);
  const auto outliers = values_of(run("result(" + quantize + ", index=2)", inputs));
  EXPECT_EQ(outliers[0], 448);
  EXPECT_EQ(outliers[1], 3);
  EXPECT_TRUE(std::isnan(outliers[2]));
}

// A group of 8 in i8 has its own scale, a whole number of the row's.
TEST(QuantizeReference, GivesGroupsWholeMultiplesOfTheRowsScale) {
  std::vector<float> x(16, 0.0f);
  x[0] = 127 * 127, x[1] = -127, x[8] = 254, x[9] = -2;
  const Inputs inputs{{"x", f32({1, 16}, x)}};
  const std::string quantize = "quantize(x:f32[1,16], to=i8, group=8)";
  expect_values(run("result(" + quantize + ")", inputs), {1}, 0);
  expect_values(run("cast(result(" + quantize + ", index=2), to=f32)", inputs), {127, 2}, 0);
  expect_values(run("cast(" + quantize + ", to=f32)", inputs), {127, -1, 0, 0, 0, 0, 0, 0, 127, -1, 0, 0, 0, 0, 0, 0},
                0);
}

// Many rows are fitted by several threads, and each as it is alone.
TEST(QuantizeReference, FitsEachRowByItself) {
  constexpr int64_t kRows = 70, kColumns = 1024;
  std::vector<float> x;
  for (int64_t i = 0; i < kRows * kColumns; ++i) x.push_back(static_cast<float>(i * i % 9973) / 997 - 4);
  const auto result = [&](const char* to, size_t index, int64_t rows, std::vector<float> values) {
    return values_of(run(fmt::format("cast(result(quantize(x:f32[{},{}], to={}, group=32), index={}), to=f32)", rows,
                                     kColumns, to, index),
                         {{"x", f32({rows, kColumns}, std::move(values))}}));
  };
  for (const char* to : {"u8", "i8"}) {
    const std::vector<double> scales = result(to, 1, kRows, x), group_scales = result(to, 2, kRows, x);
    for (const int64_t row : {int64_t{0}, int64_t{15}, int64_t{16}, int64_t{17}, kRows - 1}) {
      const std::vector<float> alone(x.begin() + row * kColumns, x.begin() + (row + 1) * kColumns);
      EXPECT_EQ(result(to, 1, 1, alone)[0], scales[static_cast<size_t>(row)]) << to << " " << row;
      const std::vector<double> groups = result(to, 2, 1, alone);
      EXPECT_TRUE(std::equal(groups.begin(), groups.end(), group_scales.begin() + row * kColumns / 32)) << row;
    }
  }
}

// Steps of 127 from -8 to 7, and a group of one value, which is its offset: nothing is lost.
TEST(QuantizeReference, PacksTwoNumbersInAByte) {
  std::vector<float> x;
  for (int i = -8; i < 8; ++i) x.push_back(static_cast<float>(127 * i));
  x.insert(x.end(), 16, 80.0f);
  const Inputs inputs{{"x", f32({1, 32}, x)}};
  const std::string quantize = "quantize(x:f32[1,32], to=u8, group=16)";
  expect_values(run("result(" + quantize + ")", inputs), {1}, 1e-6);
  expect_values(run("cast(result(" + quantize + ", index=2), to=f32)", inputs), {127, 0}, 0);
  expect_values(run("cast(result(" + quantize + ", index=3), to=f32)", inputs), {0, 10}, 0);
  std::vector<double> bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(2 * i + 16 * (2 * i + 1));
  bytes.insert(bytes.end(), 8, 8 + 16 * 8);
  expect_values(run("cast(" + quantize + ", to=f32)", inputs), bytes, 0);
}

TEST(QuantizeReference, TellsANanByTheScaleBesideGroups) {
  std::vector<float> x(16, 1.0f);
  x[3] = NAN;
  for (const char* to : {"u8", "i8"})
    EXPECT_TRUE(std::isnan(
        values_of(run(fmt::format("result(quantize(x:f32[1,16], to={}, group=8))", to), {{"x", f32({1, 16}, x)}}))[0]));
}

// Returns the relative L2 error of rows that are quantised and multiply an identity.
double rounding_error(const Tensor& w, const std::string& to, const std::string& slots) {
  const int64_t rows = w.shape()[0], columns = w.shape()[1];
  Tensor x({DType::f32, {columns, columns}});
  for (int64_t i = 0; i < columns; ++i) x.as<float>()[static_cast<size_t>(i * columns + i)] = 1;
  std::string text = fmt::format(
      "q = quantize(w:f32[{0},{1}], to={2}, group=32)\ns = result(q)\nu = result(q, index=2)\n", rows, columns, to);
  if (to == "u8") text += "o = result(q, index=3)\n";
  text +=
      fmt::format("result = linear(x:f32[{0},{0}], q, s, u{1}, slots={2})", columns, to == "u8" ? ", o" : "", slots);
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().message;
  const Tensor got = evaluate(*graph, {{"x", x}, {"w", w}})->at(0);
  double error = 0, norm = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < columns; ++i) {
      const double value = w.as<float>()[static_cast<size_t>(row * columns + i)];
      const double difference = got.as<float>()[static_cast<size_t>(i * rows + row)] - value;
      error += difference * difference, norm += value * value;
    }
  return std::sqrt(error / norm);
}

// The formats q4_K and q8_0 of llama.cpp have errors of 0.0713 and 0.0054 on such values.
TEST(QuantizeReference, HasSmallErrorsInGroups) {
  const Tensor w = random({48, 256}, 3);
  EXPECT_LT(rounding_error(w, "u8", "scale+group_scale+group_offset"), 0.0713);
  EXPECT_LT(rounding_error(w, "i8", "scale+group_scale"), 0.0056);
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

// 0.5 (2 (1 3) + ...) of 8 bits, the outliers' 10 (-1) + 100 0.25 beside them, without scales; then a bias and a ReLU.
TEST(LinearReference, AddsProductsOfOutliers) {
  const Inputs inputs{
      {"x", f32({2, 2}, {1, 2, 0, -4})}, {"w", f32({1, 2}, {3, 4})}, {"b", f32({1}, {-40})},
      {"c", f32({1}, {0.5f})},           {"s", f32({2}, {2, 8})},    {"xo", f32({2, 2}, {10, 100, 4, 400})},
      {"wo", f32({1, 2}, {-1, 0.25f})}};
  const std::string linear =
      "linear(cast(x:f32[2,2], to=i8), cast(w:f32[1,2], to=i8), b:f32[1], c:f32[1], s:f32[2], xo:f32[2,2], "
      "wo:f32[1,2], slots=bias+scale+x_scale+x_outliers+w_outliers";
  expect_values(run(linear + ")", inputs), {11 + 15 - 40, -64 + 96 - 40}, 0);
  expect_values(run(linear + ", activation=relu)", inputs), {0, 0}, 0);
}

TEST(LinearReference, AddsABiasOfIntegersBeforeTheScale) {
  const std::string factors =
      "linear(cast(x:f32[2,2], to=i8), cast(w:f32[2,2], to=i8), cast(b:f32[2], to=i32), c:f32[2]";
  expect_values(run(factors + ", slots=bias+scale)", kProduct), {210, 2110, 198, 1990}, 0);
  expect_values(run(factors + ", s:f32[2], slots=bias+scale+x_scale)", kProduct), {210, 2110, 99, 995}, 0);
}

// Weights are 3 (2 c) + 3 8 o for each group of two columns: of 4 bits, c is -8, 7, 0, 1 and o is 0, -1.
TEST(LinearReference, ReadsWeightsInGroups) {
  const Inputs inputs{{"x", f32({2, 4}, {1, 0, 0, 0, 0, 1, 1, 10})},
                      {"w", f32({1, 2}, {0xf0, 0x98})},
                      {"c", f32({1}, {3})},
                      {"g", f32({1, 2}, {2, 5})},
                      {"o", f32({1, 2}, {0, -1})},
                      {"b", f32({1, 4}, {-8, 7, 0, 1})}};
  const std::string groups = "c:f32[1], cast(g:f32[1,2], to=i8)";
  expect_values(run("linear(x:f32[2,4], cast(w:f32[1,2], to=u8), " + groups +
                        ", cast(o:f32[1,2], to=i8), slots=scale+group_scale+group_offset)",
                    inputs),
                {-48, 42 - 24 + 150 - 240}, 0);
  expect_values(run("linear(x:f32[2,4], cast(b:f32[1,4], to=i8), " + groups + ", slots=scale+group_scale)", inputs),
                {-48, 42 + 150}, 0);
  expect_values(run("linear(x:f32[2,4], cast(w:f32[1,2], to=u8), g:f32[1,2], cast(o:f32[1,2], to=i8), "
                    "slots=group_scale+group_offset)",
                    inputs),
                {-16, 14 - 5 + 0}, 0);
}

TEST(LinearReference, LeavesItsNormInEightBits) {
  const Inputs inputs{{"x", f32({1, 1}, {1})}, {"w", f32({2, 1}, {3, 1000})}, {"g", f32({2}, {1, 2})}};
  const std::string linear = "linear(x:f32[1,1], w:f32[2,1], g:f32[2], slots=norm_weight, norm_run=2, normed=f8e4m3fn)";
  expect_values(run("cast(result(" + linear + "), to=f32)", inputs), {3, 448}, 0);
}

}  // namespace
}  // namespace rung
