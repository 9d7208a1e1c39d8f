// Products of sums of quarters, against a plain loop: sizes with odd ends, rows of unlike sizes, NaNs, and the cut.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/packed.hpp"
#include "linear_case.hpp"

namespace rung::cpu {
namespace {

const Kernel& row() {
  return **std::ranges::find(all_kernels(), "linear_avx512", [](const Kernel* of) { return of->name; });
}

constexpr int64_t kPanel = 32;

LinearCase with_halves(LinearCase of) {
  of.params["strassen"] = 1;
  return of;
}

bool is_used(const LinearCase& of) {
  return gemm::PackedPlan(problem_of(of), gemm::kAvx512F32x32, Machine(cpu_info())).strassen.is_used();
}

class Strassen : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_info().avx512) GTEST_SKIP() << "the processor has no AVX-512";
  }
  // Checks the result, which has the same bits on any number of threads.
  static void check(LinearCase of) {
    of = with_halves(of);
    ASSERT_TRUE(is_used(of)) << of.text();
    const LinearData data = make_data(of);
    const auto got = run_row(row(), of, data, 2);
    EXPECT_EQ(compare(of, data, got[0], false), "");
    EXPECT_EQ(got[0], got[1]) << "a second run";
    for (const int threads : {2, 3}) {
      of.threads = threads;
      EXPECT_EQ(run_row(row(), of, data, 1)[0], got[0]) << threads << " threads";
    }
  }
};

TEST_F(Strassen, MatchesPlainLoopForOddRows) {
  for (const int64_t m : {2, 3, 27, 96, 131}) check({.m = m, .n = 2 * kPanel, .k = 40});
}

TEST_F(Strassen, MatchesPlainLoopForNarrowPanelsAndDepths) {
  for (const int64_t k : {34, 130, 1600}) check({.m = 30, .n = 4 * kPanel - 5, .k = k, .x_gap = 3});
}

TEST_F(Strassen, MatchesPlainLoopOnManyParts) {
  check({.m = 260, .n = 32 * kPanel, .k = 800});
  check({.m = 500, .n = 2 * kPanel, .k = 800});
}

TEST_F(Strassen, AddsBiasActivationAndResidual) {
  check(
      {.m = 99, .n = 4 * kPanel, .k = 800, .activation = Activation::gelu, .bias = true, .residual = true, .x_gap = 5});
}

TEST_F(Strassen, RoundsToBf16) { check({.m = 40, .n = 2 * kPanel, .k = 96, .out = DType::bf16}); }

// The largest error of a result, in units of its row's and column's sizes.
double largest_error(const LinearCase& of, const LinearData& data, const std::vector<std::byte>& got) {
  double largest = 0;
  for (size_t i = 0; i < data.expected.size(); ++i)
    largest = std::max(largest, std::abs(value_at(got, of.out, i) - data.expected[i]) / data.magnitude[i]);
  return largest;
}

// Multiplies rows, x's and the results', by sizes far apart.
void scale_rows(const LinearCase& of, LinearData& data, float (*size)(int64_t)) {
  for (int64_t row = 0; row < of.m; ++row) {
    for (int64_t i = 0; i < of.k; ++i) data.x[static_cast<size_t>(row * of.k + i)] *= size(row);
    for (int64_t i = 0; i < of.n; ++i) {
      data.expected[static_cast<size_t>(row * of.n + i)] *= static_cast<double>(size(row));
      data.magnitude[static_cast<size_t>(row * of.n + i)] *= static_cast<double>(size(row));
    }
  }
}

TEST_F(Strassen, KeepsDigitsOfSmallRowsBesideLargeOnes) {
  const auto unlike = [](int64_t at) { return at % 3 == 0 ? 0x1p20f : at % 3 == 1 ? 1.0f : 0x1p-60f; };
  const auto huge = [](int64_t at) { return at % 2 == 0 ? 0x1p122f : 0x1p121f; };
  for (const auto size : {+unlike, +huge}) {
    const LinearCase of = with_halves({.m = 64, .n = 2 * kPanel, .k = 256});
    LinearData data = make_data(of);
    scale_rows(of, data, size);
    EXPECT_LT(largest_error(of, data, run_row(row(), of, data, 1)[0]), 1e-6);
  }
}

TEST_F(Strassen, GivesZerosForRowsOfZeros) {
  const LinearCase of = with_halves({.m = 8, .n = 2 * kPanel, .k = 64});
  LinearData data = make_data(of);
  scale_rows(of, data, [](int64_t at) { return at == 1 || at >= 6 ? 0.0f : 1.0f; });
  EXPECT_EQ(compare(of, data, run_row(row(), of, data, 1)[0], false), "");
}

TEST_F(Strassen, LeavesNansAndInfinitiesInTheirRows) {
  const LinearCase of = with_halves({.m = 33, .n = 2 * kPanel, .k = 64, .bias = true});
  LinearData data = make_data(of);
  const auto finite = run_row(row(), of, data, 1)[0];
  data.x[static_cast<size_t>(3 * of.k + 10)] = NAN, data.x[static_cast<size_t>(21 * of.k + 40)] = INFINITY;
  const auto got = run_row(row(), of, data, 1)[0];
  for (int64_t i = 0; i < of.m * of.n; ++i) {
    const double value = value_at(got, of.out, static_cast<size_t>(i));
    const double infinity = data.w[static_cast<size_t>(i % of.n * of.k + 40)] > 0 ? INFINITY : -INFINITY;
    if (i / of.n == 3)
      EXPECT_TRUE(std::isnan(value)) << i;
    else if (i / of.n == 21)
      EXPECT_EQ(value, infinity) << i;
    else if (i / of.n == 20 || i / of.n == 2)  // their partners
      EXPECT_NEAR(value, value_at(finite, of.out, static_cast<size_t>(i)), 1e-5) << i;
    else
      EXPECT_EQ(value, value_at(finite, of.out, static_cast<size_t>(i))) << i;
  }
}

TEST_F(Strassen, LeavesNansOfWeightsInTheirColumns) {
  const LinearCase of = with_halves({.m = 33, .n = 4 * kPanel, .k = 64});
  LinearData data = make_data(of);
  const auto finite = run_row(row(), of, data, 1)[0];
  data.w[static_cast<size_t>(5 * of.k + 10)] = NAN;
  const auto got = run_row(row(), of, data, 1)[0];
  for (int64_t i = 0; i < of.m * of.n; ++i) {
    const double value = value_at(got, of.out, static_cast<size_t>(i));
    if (i % of.n == 5)
      EXPECT_TRUE(std::isnan(value)) << i;
    else
      EXPECT_NEAR(value, value_at(finite, of.out, static_cast<size_t>(i)), 1e-5) << i;
  }
}

TEST_F(Strassen, TakesWeightsWhoseSumsOverflow) {
  const LinearCase of = with_halves({.m = 6, .n = 2 * kPanel, .k = 2});
  LinearData data = make_data(of);
  for (float& w : data.w) w = 3e38f;
  for (size_t i = 0; i < data.x.size(); ++i) data.x[i] = i % 2 == 0 ? 0.5f : -0.25f;
  const auto got = run_row(row(), of, data, 1)[0];
  for (int64_t i = 0; i < of.m * of.n; ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(value_at(got, of.out, static_cast<size_t>(i))), 0.75e38f) << i;
}

TEST_F(Strassen, IsOfferedToLargeProductsOfF32) {
  const auto offered = [](const LinearCase& of) {
    const auto tunables = row().tunables_for(problem_of(of), Machine(cpu_info()));
    return std::ranges::any_of(tunables, [](const Tunable& each) { return each.names.front() == "strassen"; });
  };
  const LinearCase large{.m = 128, .n = 768, .k = 768};
  EXPECT_TRUE(offered(large));
  LinearCase other = large;
  other.m = 95;
  EXPECT_FALSE(offered(other)) << "few rows";
  other = large, other.n = 480;
  EXPECT_FALSE(offered(other)) << "few columns";
  other = large, other.k = 510;
  EXPECT_FALSE(offered(other)) << "few values of k";
  other = large, other.gated = true;
  EXPECT_FALSE(offered(other)) << "gated";
}

TEST_F(Strassen, TakesWhatHasHalvesAndAsksForIt) {
  const LinearCase large = with_halves({.m = 128, .n = 768, .k = 768});
  EXPECT_TRUE(is_used(large));
  LinearCase other = large;
  other.params.clear();
  EXPECT_FALSE(is_used(other)) << "small columns would lose digits, and nobody judged the result";
  other = large, other.n = 544;
  EXPECT_FALSE(is_used(other)) << "an odd number of panels";
  other = large, other.k = 769;
  EXPECT_FALSE(is_used(other)) << "odd k";
  other = large, other.x = DType::bf16;
  EXPECT_FALSE(is_used(other)) << "x is bf16";
}

}  // namespace
}  // namespace rung::cpu
