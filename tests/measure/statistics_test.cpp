// Statistics against known values, and coverage of the intervals by simulation with fixed seeds.
// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/random.hpp"

namespace rung {
namespace {

std::vector<double> count_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Median, IsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(percentile(count_to(11), 90), 10);
  EXPECT_DOUBLE_EQ(percentile(count_to(101), 99), 100);
  EXPECT_DOUBLE_EQ(percentile({1, 2}, 25), 1.25);
  EXPECT_EQ(percentile({1, 2}, 100), 2);
  EXPECT_EQ(percentile({1, 2}, 0), 1);
}

// The ranks that tables of the binomial distribution give.
TEST(MedianInterval, HasTheTabulatedRanks) {
  auto ranks = [](int n) { return median_interval(count_to(n)); };
  EXPECT_EQ(ranks(6).lo, 1);
  EXPECT_EQ(ranks(6).hi, 6);
  EXPECT_EQ(ranks(10).lo, 2);
  EXPECT_EQ(ranks(10).hi, 9);
  EXPECT_EQ(ranks(20).lo, 6);
  EXPECT_EQ(ranks(20).hi, 15);
  EXPECT_EQ(ranks(100).lo, 40);
  EXPECT_EQ(ranks(100).hi, 61);
  EXPECT_EQ(ranks(2000).lo, 956);
  EXPECT_EQ(ranks(2000).hi, 1045);
  EXPECT_EQ(ranks(3).lo, 1);
  EXPECT_EQ(ranks(3).hi, 3);
  EXPECT_TRUE(std::isnan(median_interval({}).lo));
}

TEST(Summary, TellsMedianTailAndInterval) {
  Summary s = summarize(count_to(101));
  EXPECT_EQ(s.count, 101);
  EXPECT_EQ(s.median, 51);
  EXPECT_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.p90, 91);
  EXPECT_DOUBLE_EQ(s.p99, 100);
  EXPECT_EQ(s.ci95.lo, median_interval(count_to(101)).lo);
}

TEST(RatioEstimate, IsExactForAConstantRatio) {
  std::vector<double> a, b;
  for (int i = 1; i <= 10; ++i) a.push_back(3.0 * i), b.push_back(2.0 * i);
  RatioEstimate r = estimate_ratio(a, b);
  EXPECT_NEAR(r.ratio, 1.5, 1e-12);
  EXPECT_NEAR(r.lo, 1.5, 1e-12);
  EXPECT_NEAR(r.hi, 1.5, 1e-12);
  EXPECT_EQ(r.pairs, 10);
}

// Log ratios 1..10: 9 Walsh averages may go from each end (tables: critical value 8 for n = 10).
TEST(RatioEstimate, HasTheTabulatedSignedRankInterval) {
  std::vector<double> a, b(10, 1.0), walsh;
  for (int i = 1; i <= 10; ++i) a.push_back(std::exp(i));
  for (int i = 1; i <= 10; ++i)
    for (int j = i; j <= 10; ++j) walsh.push_back((i + j) / 2.0);
  std::sort(walsh.begin(), walsh.end());
  RatioEstimate r = estimate_ratio(a, b);
  EXPECT_NEAR(std::log(r.ratio), 5.5, 1e-12);
  EXPECT_NEAR(std::log(r.lo), walsh[8], 1e-12);
  EXPECT_NEAR(std::log(r.hi), walsh[walsh.size() - 9], 1e-12);
}

// How many Walsh averages of n pairs the exact distribution of the signed-rank sum lets go from each end.
size_t exact_cut(size_t n) {
  std::vector<double> chance(n * (n + 1) / 2 + 1);
  chance[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank)
    for (size_t sum = chance.size(); sum-- > 0;)
      chance[sum] = (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
  double below = 0;
  size_t cut = 0;
  while (below + chance[cut] <= 0.025) below += chance[cut++];
  return cut - 1;
}

// Above 80 pairs the interval comes from the normal distribution: at most one average of thousands from the exact one.
TEST(RatioEstimate, HasTheExactIntervalForManyPairsToo) {
  EXPECT_EQ(exact_cut(10), 8u);
  for (size_t n : {40, 81, 120, 200}) {
    std::vector<double> a, b(n, 1.0), logs, walsh;
    for (size_t i = 0; i < n; ++i) a.push_back(std::exp(double{random_normal(9, i)})), logs.push_back(std::log(a[i]));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i; j < n; ++j) walsh.push_back((logs[i] + logs[j]) / 2);
    std::sort(walsh.begin(), walsh.end());
    RatioEstimate r = estimate_ratio(a, b);
    const size_t cut = exact_cut(n), slack = n > 80 ? 1 : 0;
    EXPECT_GE(std::log(r.lo), walsh[cut - slack] - 1e-12) << n;
    EXPECT_LE(std::log(r.lo), walsh[cut] + 1e-12) << n;
    EXPECT_LE(std::log(r.hi), walsh[walsh.size() - 1 - cut + slack] + 1e-12) << n;
    EXPECT_GE(std::log(r.hi), walsh[walsh.size() - 1 - cut] - 1e-12) << n;
  }
}

// Where noise is large, signs alone bind. With log ratios 1..n, the interval begins at the k-th: the last of which
// 2^n / (n + 1) is at least 200 times C(n, k - 1).
TEST(AnytimeEstimate, EndsAtTheOrderStatisticsOnBothSides) {
  struct Ranks {
    int pairs;
    double lo;
  };
  for (const Ranks& want : {Ranks{12, 1}, {13, 1}, {15, 1}, {16, 2}, {17, 2}, {20, 3}, {25, 4}, {100, 31}}) {
    std::vector<double> a, b(static_cast<size_t>(want.pairs), 1.0);
    for (double log : count_to(want.pairs)) a.push_back(std::exp(log));
    const RatioEstimate r = estimate_ratio_anytime(a, b, 1000), turned = estimate_ratio_anytime(b, a, 1000);
    const double hi = want.pairs + 1 - want.lo;
    EXPECT_NEAR(std::log(r.lo), want.lo, 1e-9) << want.pairs;
    EXPECT_NEAR(std::log(r.hi), hi, 1e-9) << want.pairs;
    EXPECT_NEAR(std::log(turned.lo), -hi, 1e-9) << want.pairs;
    EXPECT_NEAR(std::log(turned.hi), -want.lo, 1e-9) << want.pairs;
    EXPECT_NEAR(std::log(r.ratio), (want.pairs + 1) / 2.0, 1e-9) << want.pairs;
    EXPECT_EQ(r.pairs, want.pairs);
  }
}

TEST(AnytimeEstimate, OfFewPairsIsBoundByScaleAlone) {
  std::vector<double> a, b(11, 1.0);
  for (double log : count_to(11)) a.push_back(std::exp(log));
  const RatioEstimate r = estimate_ratio_anytime(a, b, 10);
  const double radius = 10.0 / 11 * std::sqrt(12 * (std::log(12.0) + 2 * std::log(200.0)));
  EXPECT_NEAR(std::log(r.lo), 6 - radius, 1e-9);
  EXPECT_NEAR(std::log(r.hi), 6 + radius, 1e-9);
  EXPECT_GT(std::log(r.hi), 11) << "no order statistic binds";
}

// A machine that others use: blocks of one plan take 1.1 to 13 times as long as blocks of the same plan beside them.
TEST(AnytimeEstimate, WidensWherePairsScatterBeyondTheScale) {
  const std::vector<double> a{std::exp(0.1), std::exp(0.9), std::exp(2.6)}, b(3, 1.0), alike(3, std::exp(1.2));
  EXPECT_LT(estimate_ratio_anytime(a, b, 0.5).lo, 1) << "three pairs that do not agree decide nothing";
  EXPECT_GT(estimate_ratio_anytime(b, a, 0.5).hi, 1);
  EXPECT_GT(estimate_ratio_anytime(alike, b, 0.5).lo, 1) << "three pairs that agree decide a factor of 3.3";
}

TEST(RatioEstimate, ClaimsNothingFromFewerThanSixPairs) {
  RatioEstimate r = estimate_ratio(std::vector<double>(5, 2.0), std::vector<double>(5, 1.0));
  EXPECT_NEAR(r.ratio, 2, 1e-12);
  EXPECT_EQ(r.lo, 0);
  EXPECT_EQ(r.hi, INFINITY);
  EXPECT_GT(estimate_ratio(std::vector<double>(6, 2.0), std::vector<double>(6, 1.0)).lo, 1.9);
  EXPECT_EQ(estimate_ratio({}, {}).pairs, 0);
}

TEST(RatioEstimate, IgnoresATenthOfThePairsGoneWild) {
  std::vector<double> a, b;
  for (uint64_t i = 0; i < 40; ++i) {
    a.push_back(1.1 * (1 + 0.01 * double{random_normal(1, i)}));
    b.push_back(1 + 0.01 * double{random_normal(2, i)});
    if (i % 10 == 0) a.back() *= 10;
  }
  RatioEstimate r = estimate_ratio(a, b);
  EXPECT_NEAR(r.ratio, 1.1, 0.01);
  EXPECT_LT(r.hi, 1.13);
}

// A noisy machine: drift that both sides share, 5 % of jitter, and now and then a stolen slice.
double noisy(uint64_t seed, uint64_t i, double time) {
  double slice = random_uniform(seed + 1, i) < 0.05f ? 1 + 2 * double{random_uniform(seed + 2, i)} : 1;
  return time * std::exp(0.05 * double{random_normal(seed, i)}) * slice;
}

double ratio_coverage(int pairs, int trials) {
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < pairs; ++i) {
      double drift = 1 + 0.3 * std::sin(i * 0.3);
      auto at = static_cast<uint64_t>(trial * pairs + i);
      a.push_back(noisy(10, at, 1.1 * drift));
      b.push_back(noisy(20, at, drift));
    }
    RatioEstimate r = estimate_ratio(a, b);
    covered += r.lo <= 1.1 && 1.1 <= r.hi;
  }
  return static_cast<double>(covered) / trials;
}

TEST(RatioEstimate, CoversTheTruthNineteenTimesOutOfTwenty) {
  // Three standard errors of the simulation below 95 %; discreteness makes the interval of few pairs a little wide.
  for (int pairs : {8, 20, 100}) {
    double coverage = ratio_coverage(pairs, 1000);
    EXPECT_GT(coverage, 0.929) << pairs;
    EXPECT_LT(coverage, 0.985) << pairs;
  }
}

TEST(MedianInterval, CoversTheTruthNineteenTimesOutOfTwenty) {
  for (int n : {10, 51, 1001}) {
    int covered = 0;
    const int trials = 1000;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values;
      for (int i = 0; i < n; ++i)
        values.push_back(std::exp(double{random_normal(5, uint64_t(trial * n + i))}));  // median 1
      Interval interval = median_interval(values);
      covered += interval.lo <= 1 && 1 <= interval.hi;
    }
    EXPECT_GT(covered, 0.929 * trials) << n;
    EXPECT_LT(covered, 0.99 * trials) << n;
  }
}

}  // namespace
}  // namespace rung
