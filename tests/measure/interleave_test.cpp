// The interleaved comparison: order, warm-up, stopping, and how often it calls a tie a win.
// SPDX-License-Identifier: Apache-2.0
#include "measure/interleave.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/random.hpp"
#include "measure/clock.hpp"
#include "support/scripted_clock.hpp"

namespace rung {
namespace {

TEST(Interleaver, AlternatesTheOrderAndWarmsUpAfterChanges) {
  std::string order;
  Interleaver interleaver({.budget_s = 1e9, .min_pairs = 4, .max_pairs = 4, .warmup = 1, .runs = 2});
  auto result = *interleaver.compare([&] { return order += 'a', 1.0; }, [&] { return order += 'b', 1.0; });
  EXPECT_EQ(order,
            "aaabbb"
            "bbaaa"
            "aabbb"
            "bbaaa");  // the inner blocks meet, so no warm-up there
  EXPECT_EQ(result.a.size(), 4u);
  EXPECT_EQ(result.b.size(), 4u);
}

TEST(Interleaver, SettlesBeforeItTakesTimes) {
  scripted::Clock clock;
  size_t calls = 0;
  const auto run = [&]() -> Result<double> {
    scripted::Clock::pass_us(1000);
    return ++calls <= 20 ? 2.0 : 1.0;  // slow for the first 20 ms
  };
  auto result = Interleaver({.max_pairs = 10, .runs = 1, .settle_s = 0.02}).compare(run, run);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->a, std::vector<double>(10, 1.0));
  EXPECT_EQ(result->b, std::vector<double>(10, 1.0));
}

TEST(Interleaver, TakesTheBlocksMedian) {
  int run = 0;
  auto a = [&] { return run++ % 3 == 1 ? 100.0 : 2.0; };  // one run of three is disturbed
  Interleaver interleaver({.budget_s = 1e9, .min_pairs = 6, .max_pairs = 6, .warmup = 0, .runs = 3});
  auto result = *interleaver.compare(a, [] { return 1.0; });
  EXPECT_EQ(result.median_a, 2);
  EXPECT_EQ(result.median_b, 1);
  EXPECT_NEAR(result.ratio.ratio, 2, 1e-12);
}

TEST(Interleaver, StopsWhenTheIntervalIsTight) {
  auto result = *Interleaver({.budget_s = 1e9}).compare([] { return 3.0; }, [] { return 2.0; });
  EXPECT_TRUE(result.tight);
  EXPECT_EQ(result.ratio.pairs, 10);
  EXPECT_NEAR(result.ratio.ratio, 1.5, 1e-12);
}

TEST(Interleaver, StopsAtItsBudgetAndClaimsNothing) {
  auto sleepy = [] {
    return checked_seconds_of([]() -> Status {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return {};
    });
  };
  auto result = *Interleaver({.half_width = 0, .budget_s = 0.001, .warmup = 0, .runs = 1}).compare(sleepy, sleepy);
  EXPECT_EQ(result.ratio.pairs, 1);
  EXPECT_FALSE(result.tight);
  EXPECT_EQ(result.ratio.lo, 0);
  EXPECT_GE(result.median_a, 0.005);
}

TEST(Interleaver, StopsAtTheMostPairs) {
  uint64_t i = 0;
  auto noisy = [&] { return 1 + double{random_uniform(1, i++)}; };
  auto result = *Interleaver({.half_width = 1e-9, .budget_s = 1e9, .max_pairs = 37}).compare(noisy, noisy);
  EXPECT_EQ(result.ratio.pairs, 37);
  EXPECT_FALSE(result.tight);
}

// One pair of five differs, so one end of the interval lies at the ratio and the other far from it.
TEST(Interleaver, ContinuesWhileEitherIntervalEndIsFar) {
  for (bool upper : {true, false}) {
    int pairs = 0;
    auto often_the_same = [&] { return pairs++ % 5 == 4 ? 3.0 : 1.0; };
    auto always_the_same = [] { return 1.0; };
    Interleaver interleaver({.budget_s = 1e9, .min_pairs = 10, .max_pairs = 30, .warmup = 0, .runs = 1});
    auto result = upper ? *interleaver.compare(often_the_same, always_the_same)
                        : *interleaver.compare(always_the_same, often_the_same);
    EXPECT_EQ(result.ratio.ratio, 1);
    EXPECT_GT(upper ? result.ratio.hi : 1 / result.ratio.lo, 1.5);
    EXPECT_EQ(upper ? result.ratio.lo : result.ratio.hi, 1);
    EXPECT_EQ(result.ratio.pairs, 30);
    EXPECT_FALSE(result.tight);
  }
}

TEST(Interleaver, MeasuresAtLeastTheFewestAllowedPairs) {
  Interleaver interleaver({.budget_s = 1e9, .min_pairs = 23, .warmup = 0, .runs = 1});
  EXPECT_EQ(interleaver.compare([] { return 1.0; }, [] { return 1.0; })->ratio.pairs, 23);
}

TEST(Interleaver, EndsWithThePairThatSpendsTheBudget) {
  scripted::Clock clock;
  uint64_t runs = 0;
  auto noisy = [&] {
    scripted::Clock::pass_us(1e5);
    return 1 + double{random_uniform(1, runs++)};
  };
  auto result = *Interleaver({.half_width = 0, .budget_s = 2, .warmup = 0, .runs = 1}).compare(noisy, noisy);
  EXPECT_EQ(result.ratio.pairs, 10) << "of two runs of 0.1 s";
  EXPECT_DOUBLE_EQ(result.spent_s, 2);
}

// Ties called a win or a loss, with stopping by width: one in twenty at most (and three standard errors).
TEST(Interleaver, SeldomCallsATieAWin) {
  const int trials = 600;
  int wrong = 0;
  for (int trial = 0; trial < trials; ++trial) {
    uint64_t i = 0;
    auto run = [&] {
      uint64_t at = static_cast<uint64_t>(trial) * 100000 + i++;
      double slice = random_uniform(3, at) < 0.05f ? 3 : 1;
      return slice * std::exp(0.05 * double{random_normal(4, at)});
    };
    auto ratio =
        Interleaver({.half_width = 0.02, .budget_s = 1e9, .max_pairs = 60, .warmup = 0}).compare(run, run)->ratio;
    wrong += ratio.lo > 1 || ratio.hi < 1;
  }
  EXPECT_LT(wrong, 0.077 * trials);
  EXPECT_GT(wrong, 0.01 * trials);  // the interval is not so wide as to be useless
}

TEST(Interleaver, EndsOnceTheRatioClearsTheBoundary) {
  const auto noisy = [](double level) {
    return [level, runs = uint64_t{0}]() mutable -> Result<double> {
      return level * std::exp(0.01 * double{random_normal(static_cast<uint64_t>(level * 1000), runs++)});
    };
  };
  const InterleaveOptions options{.half_width = 0,
                                  .budget_s = 1e9,
                                  .max_pairs = 400,
                                  .warmup = 0,
                                  .runs = 1,
                                  .noise = 0.5,
                                  .boundary = 0.9,
                                  .anytime = true};
  const auto above = *Interleaver(options).compare(noisy(1), noisy(1.01));
  EXPECT_TRUE(above.clear);
  EXPECT_GT(above.ratio.lo, 0.9);
  EXPECT_LT(above.ratio.pairs, 60) << "equal to one percent, and a tenth from the boundary";
  const auto below = *Interleaver(options).compare(noisy(1), noisy(1.3));
  EXPECT_TRUE(below.clear);
  EXPECT_LT(below.ratio.hi, 0.9);
  EXPECT_LT(below.ratio.pairs, 60);
  const auto at = *Interleaver(options).compare(noisy(0.9), noisy(1));
  EXPECT_FALSE(at.clear);
  EXPECT_EQ(at.ratio.pairs, 400);
}

// As narrow as was asked, but by the interval that may be looked at: the other one is narrower, and would end it first.
TEST(Interleaver, IsTightByTheIntervalThatItGives) {
  const auto run = [](uint64_t seed) {
    return [seed, runs = uint64_t{0}]() mutable -> Result<double> {
      return std::exp(0.02 * double{random_normal(seed, runs++)});
    };
  };
  InterleaveOptions options{
      .half_width = 0.01, .budget_s = 1e9, .warmup = 0, .runs = 1, .noise = 0.5, .patience_s = 1e9};
  const auto once = *Interleaver(options).compare(run(1), run(2));
  options.anytime = true;
  const auto often = *Interleaver(options).compare(run(1), run(2));
  EXPECT_TRUE(once.tight);
  EXPECT_TRUE(often.tight);
  EXPECT_GT(often.ratio.pairs, once.ratio.pairs);
  EXPECT_LE(often.ratio.hi, 1.01 * often.ratio.ratio);
}

TEST(Interleaver, EndsWithTheFirstErrorOfARun) {
  int runs = 0;
  auto failing = [&]() -> Result<double> {
    if (++runs == 7) return fail("the device is gone");
    return 1.0;
  };
  auto sound = [] { return 1.0; };
  for (bool first : {true, false}) {
    runs = 0;
    Interleaver interleaver({.half_width = 0, .budget_s = 1e9});
    auto result = first ? interleaver.compare(failing, sound) : interleaver.compare(sound, failing);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "the device is gone");
    EXPECT_EQ(runs, 7) << "nothing is run after it";
  }
}

TEST(Clock, GivesNoTimeForWorkThatFailed) {
  EXPECT_TRUE(checked_seconds_of([] { return Status(); }));
  auto failed = checked_seconds_of([]() -> Status { return fail("no"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no");
}

TEST(Clock, MovesForwardAndTimesWork) {
  int64_t before = now_ns();
  double seconds = seconds_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
  EXPECT_GE(seconds, 0.002);
  EXPECT_GE(now_ns() - before, static_cast<int64_t>(seconds * 1e9));
}

}  // namespace
}  // namespace rung
