// The precision solver against brute force, and its refusals.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

// Calls `visit` with every choice, options of the first part changing slowest; sums go from the first part to the last.
template <class Visit>
void for_each_choice(const std::vector<PartOptions>& parts, const PrecisionChoice& so_far, const Visit& visit) {
  const size_t part = so_far.options.size();
  if (part == parts.size()) return visit(so_far);
  for (size_t i = 0; i < parts[part].options.size(); ++i) {
    PrecisionChoice longer = so_far;
    longer.us += parts[part].options[i].us;
    longer.squared_error += parts[part].options[i].squared_error;
    longer.options.push_back(i);
    for_each_choice(parts, longer, visit);
  }
}

double least_us_within(const std::vector<PartOptions>& parts, double limit) {
  double least = kInfinity;
  for_each_choice(parts, {}, [&](const PrecisionChoice& choice) {
    if (choice.squared_error <= limit) least = std::min(least, choice.us);
  });
  return least;
}

// Random tables; small integers make ties common.
std::vector<PartOptions> random_parts(uint32_t seed, size_t count, bool integers) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(0, 1);
  std::vector<PartOptions> parts(count);
  for (PartOptions& part : parts) {
    part.options.resize(1 + random() % 4);
    for (PartOption& option : part.options) {
      option.us = integers ? static_cast<double>(random() % 4) : any(random);
      option.squared_error = integers ? static_cast<double>(random() % 4) : std::exp(10 * any(random) - 10);
    }
  }
  return parts;
}

std::vector<PrecisionChoice> frontier_of(const std::vector<PartOptions>& parts, size_t most_states = 1 << 15) {
  auto frontier = precision_frontier(parts, most_states);
  EXPECT_TRUE(frontier) << frontier.error().message;
  return frontier ? *frontier : std::vector<PrecisionChoice>{};
}

TEST(PrecisionSolver, FindsWhatBruteForceFinds) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const auto parts = random_parts(seed, seed % 6, seed % 2 == 0);
    const auto frontier = frontier_of(parts);
    ASSERT_FALSE(frontier.empty());
    for (size_t i = 0; i < frontier.size(); ++i) {
      const PrecisionChoice& choice = frontier[i];
      EXPECT_EQ(choice.us, least_us_within(parts, choice.squared_error)) << "seed " << seed;
      double us = 0, squared_error = 0;
      for (size_t part = 0; part < parts.size(); ++part) {
        us += parts[part].options[choice.options[part]].us;
        squared_error += parts[part].options[choice.options[part]].squared_error;
      }
      EXPECT_EQ(us, choice.us);
      EXPECT_EQ(squared_error, choice.squared_error);
      const double above = i + 1 < frontier.size() ? frontier[i + 1].squared_error : kInfinity;
      EXPECT_EQ(choice.us, least_us_within(parts, std::nexttoward(above, 0.0L))) << "seed " << seed;
    }
  }
}

TEST(PrecisionSolver, TakesTheFastestWithinTheLimit) {
  const auto frontier =
      frontier_of({{"a", {{10, 0}, {4, 4}, {1, 9}}}, {"b", {{10, 0}, {5, 1}}}, {"one option", {{7, 2}}}});
  const auto options_within = [&](double limit) {
    const auto found = fastest_within(frontier, limit);
    return found ? frontier[*found].options : std::vector<size_t>{};
  };
  EXPECT_THAT(options_within(2), ElementsAre(0, 0, 0));
  EXPECT_THAT(options_within(3), ElementsAre(0, 1, 0));
  EXPECT_THAT(options_within(6), ElementsAre(1, 0, 0));
  EXPECT_THAT(options_within(6.9), ElementsAre(1, 0, 0));
  EXPECT_THAT(options_within(7), ElementsAre(1, 1, 0));
  EXPECT_THAT(options_within(1e9), ElementsAre(2, 1, 0));
}

TEST(PrecisionSolver, NamesTheLeastErrorWithinReach) {
  const auto found = fastest_within(frontier_of({{"a", {{1, 9}, {2, 4}}}, {"b", {{1, 5}}}}), 8.41);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "an error of 2.9 is out of reach: the least is 3");
  EXPECT_EQ(found.error().kind, ErrorKind::mismatch);
  EXPECT_TRUE(fastest_within(frontier_of({{"a", {{1, 9}}}}), 9));
}

TEST(PrecisionSolver, TakesTheFirstOfEqualOptions) {
  const auto frontier = frontier_of({{"a", {{3, 1}, {3, 1}, {3, 1}}}, {"b", {{2, 1}, {2, 1}}}});
  ASSERT_EQ(frontier.size(), 1u);
  EXPECT_THAT(frontier[0].options, ElementsAre(0, 0));
}

TEST(PrecisionSolver, ChoosesNothingForNoParts) {
  const auto frontier = frontier_of({});
  ASSERT_EQ(frontier.size(), 1u);
  EXPECT_EQ(frontier[0].us, 0);
  EXPECT_TRUE(frontier[0].options.empty());
  EXPECT_FALSE(fastest_within({}, 1));
}

TEST(PrecisionSolver, RefusesWhatIsNoTable) {
  EXPECT_THAT(precision_frontier({{"a part", {}}}).error().message, HasSubstr("'a part': got no options"));
  for (const double bad : {kNaN, kInfinity, -1.0}) {
    EXPECT_THAT(precision_frontier({{"a", {{1, 1}, {bad, 1}}}}).error().message, HasSubstr("'a': got an option of"));
    EXPECT_THAT(precision_frontier({{"a", {{1, bad}}}}).error().message, HasSubstr("wanted numbers from 0"));
  }
}

// With few states the result is still a list of true choices, and near the best ones.
TEST(PrecisionSolver, StaysNearTheOptimumWithFewStates) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto parts = random_parts(seed, 8, false);
    const auto exact = frontier_of(parts), thinned = frontier_of(parts, 200);
    EXPECT_LE(thinned.size(), 201u);
    EXPECT_EQ(thinned.front().squared_error, exact.front().squared_error);
    EXPECT_EQ(thinned.back().us, exact.back().us);
    for (const PrecisionChoice& choice : exact) {
      const double wider = 1.6 * choice.squared_error;  // 8 steps of about 1.05
      EXPECT_LE(thinned[*fastest_within(thinned, wider)].us, choice.us) << "seed " << seed;
    }
  }
}

// As a model of many layers has them: each narrower form is faster and less exact.
TEST(PrecisionSolver, TakesManyPartsInLittleTime) {
  auto parts = random_parts(1, 60, false);
  for (PartOptions& part : parts) {
    part.options.resize(4);
    std::ranges::sort(part.options, {}, &PartOption::squared_error);
    for (size_t i = 0; i < part.options.size(); ++i) part.options[i].us += static_cast<double>(part.options.size() - i);
  }
  const auto frontier = frontier_of(parts);
  EXPECT_GT(frontier.size(), 1000u);
  for (size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_GT(frontier[i].squared_error, frontier[i - 1].squared_error);
    EXPECT_LT(frontier[i].us, frontier[i - 1].us);
  }
}

TEST(PrecisionSolver, SpreadsPointsOverTheTimes) {
  std::vector<PrecisionChoice> frontier;
  for (double us : {100.0, 99.0, 98.0, 60.0, 59.0, 20.0, 10.0}) frontier.push_back({us, 1 / us, {}});
  EXPECT_THAT(spread_over(frontier, 4), ElementsAre(0, 3, 5, 6));  // at most 100, 70, 40 and 10 us
  EXPECT_THAT(spread_over(frontier, 2), ElementsAre(0, 6));
  EXPECT_THAT(spread_over(frontier, 1), ElementsAre(0));
  EXPECT_THAT(spread_over({frontier[0]}, 5), ElementsAre(0));
  EXPECT_TRUE(spread_over({}, 5).empty());
  EXPECT_TRUE(spread_over(frontier, 0).empty());
}

}  // namespace
}  // namespace rung
