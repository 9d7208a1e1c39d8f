// Formulas: values worked out by hand, and the edges of integers and of narrow floats.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "reference/run.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> formula(const char* kind, const std::vector<float>& x) {
  const auto count = static_cast<int64_t>(x.size());
  return values_of(run(fmt::format("formula(x:f32[{}], kind={})", count, kind), {{"x", f32({count}, x)}}));
}

std::vector<int64_t> of_integers(const char* kind, const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  const auto count = static_cast<int64_t>(x.size());
  const std::string text = fmt::format("formula(x:i64[{}], y:i64[{}], kind={})", count, count, kind);
  const Tensor z = run(text, {{"x", i64({count}, x)}, {"y", i64({count}, y)}});
  return {z.as<int64_t>().begin(), z.as<int64_t>().end()};
}

TEST(FormulaReference, TrigonometryHasItsKnownValues) {
  EXPECT_THAT(formula("asin", {1}), ElementsAre(testing::DoubleNear(1.5707963, 1e-6)));
  EXPECT_THAT(formula("cosh", {1}), ElementsAre(testing::DoubleNear(1.5430806, 1e-6)));
  EXPECT_THAT(formula("atanh", {0.5f}), ElementsAre(testing::DoubleNear(0.5493061, 1e-6)));
  const Inputs points{{"y", f32({2}, {1, -1})}, {"x", f32({2}, {-1, 0})}};
  expect_values(run("formula(y:f32[2], x:f32[2], kind=atan2)", points), {2.3561945, -1.5707963});
}

TEST(FormulaReference, RemaindersTakeTheSignAsked) {
  EXPECT_THAT(of_integers("fmod", {7, -7, 7, -7}, {3, 3, -3, -3}), ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(of_integers("floor_mod", {7, -7, 7, -7}, {3, 3, -3, -3}), ElementsAre(1, 2, -2, -1));
  EXPECT_THAT(of_integers("floor_mod", {INT64_MIN}, {-1}), ElementsAre(0));
}

TEST(FormulaReference, RemainderByZeroIsRefused) {
  const Inputs zeros{{"x", i64({1}, {1})}, {"y", i64({1}, {0})}};
  EXPECT_THAT(error_of("formula(x:i64[1], y:i64[1], kind=fmod)", zeros), HasSubstr("integer division by zero"));
}

TEST(FormulaReference, ShiftsBeyondTheWidthLeaveTheSign) {
  EXPECT_THAT(of_integers("shift_left", {1, 3, 1}, {4, 62, 64}), ElementsAre(16, int64_t(3) << 62, 0));
  EXPECT_THAT(of_integers("shift_right", {-8, 8, -1, 5}, {1, 1, 70, 70}), ElementsAre(-4, 4, -1, 0));
}

TEST(FormulaReference, IntegerPowersWrapAndTruncate) {
  EXPECT_THAT(of_integers("int_pow", {3, -2, 2, 2, -1}, {4, 3, 64, -1, -3}), ElementsAre(81, -8, 0, 0, -1));
}

TEST(FormulaReference, NarrowFloatsTakeTheNearestEvenOne) {
  EXPECT_THAT(formula("f8e4m3fn", {1.0625f, 1.1875f, 1000, 0}), ElementsAre(1, 1.25, 448, 0));
  EXPECT_THAT(formula("f4e2m1", {0.25f, 0.75f, 2.5f, 5, -9}), ElementsAre(0, 1, 2, 4, -6));
  EXPECT_THAT(formula("f8e8m0_nearest", {3, 5, 1.5f}), ElementsAre(4, 4, 2));
  EXPECT_THAT(formula("f8e8m0_down", {3, -5}), ElementsAre(2, 4));
}

TEST(FormulaReference, BeyondTheLargestIsNanWhereAsked) {
  const auto fn = formula("f8e4m3fn_or_nan", {464, 465});
  EXPECT_EQ(fn[0], 448);
  EXPECT_TRUE(std::isnan(fn[1]));
  const auto e5m2 = formula("f8e5m2_or_nan", {61439, 61440, -1e6f});
  EXPECT_THAT(e5m2, ElementsAre(57344, HUGE_VAL, -HUGE_VAL));
}

TEST(FormulaReference, TopOfIntegersIsExact) {
  const int64_t big = int64_t{1} << 53;
  const Inputs x{{"x", i64({3}, {big, big + 1, big - 1})}};
  EXPECT_THAT(run("top_k(x:i64[3], k=2)", x).as<int64_t>(), ElementsAre(big + 1, big));
  EXPECT_THAT(run("result(top_k(x:i64[3], k=2))", x).as<int64_t>(), ElementsAre(1, 0));
}

}  // namespace
}  // namespace rung
