// Times of parts, corrected by whole plans.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/corrections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace rung {
namespace {

// Each of the parts takes 100 us in f32 and, by the table, 60 in bf16 and 40 in i8, which add errors.
PrecisionTable table_of(size_t parts) {
  PrecisionTable table;
  table.forms = {{.name = "f32"}, {.name = "bf16", .products = DType::bf16}, {.name = "i8", .products = DType::i8}};
  table.parts.resize(parts);
  table.bases = {{.values = DType::f32, .rest_us = 200, .squared_error = 0, .part_us = {}},
                 {.values = DType::bf16, .rest_us = 150, .squared_error = 1e-5, .part_us = {}}};
  for (ValuesTimes& base : table.bases) base.part_us.assign(parts, {100, 60, 40});
  table.squared_error.assign(parts, {0, 1e-5, 1e-4});
  return table;
}

double us_of(const PrecisionTable& table, const MixedPrecision& mixture) { return predicted(table, mixture).us; }

// Returns what a plan saves if its times are those of `truth`.
MeasuredSaving measured(const PrecisionTable& truth, const MixedPrecision& mixture) {
  return {mixture, us_of(truth, {0, std::vector<size_t>(truth.parts.size(), 0)}) - us_of(truth, mixture)};
}

TEST(PrecisionCorrections, NeedPlans) {
  const PrecisionTable table = table_of(3);
  EXPECT_EQ(corrected(table, {}).bases, table.bases);
}

TEST(PrecisionCorrections, LeaveWhatPlansConfirm) {
  const PrecisionTable table = table_of(3);
  const PrecisionTable after = corrected(table, {measured(table, {0, {2, 0, 1}}), measured(table, {1, {2, 2, 0}})});
  for (size_t base = 0; base < 2; ++base)
    for (size_t part = 0; part < 3; ++part)
      for (size_t form = 0; form < 3; ++form)
        EXPECT_NEAR(after.bases[base].part_us[part][form], table.bases[base].part_us[part][form], 1e-9);
}

TEST(PrecisionCorrections, BlameTheFormThatOnlySlowPlansHave) {
  const PrecisionTable table = table_of(3);
  PrecisionTable truth = table;
  for (ValuesTimes& base : truth.bases) base.part_us[1][2] = 130;
  const PrecisionTable after = corrected(
      table, {measured(truth, {0, {2, 2, 2}}), measured(truth, {0, {2, 0, 2}}), measured(truth, {0, {2, 2, 0}})});
  EXPECT_NEAR(after.bases[0].part_us[1][2], 130, 2);
  EXPECT_NEAR(after.bases[1].part_us[1][2], 130, 2) << "in each type of values";
  EXPECT_NEAR(after.bases[0].part_us[0][2], 40, 2);
  EXPECT_NEAR(after.bases[0].part_us[2][2], 40, 2);
  EXPECT_EQ(after.bases[0].part_us[1][1], 60) << "no plan had this form";
}

TEST(PrecisionCorrections, BlameValuesToo) {
  const PrecisionTable table = table_of(2);
  PrecisionTable truth = table;
  truth.bases[1].rest_us = 230;
  const PrecisionTable after = corrected(table, {measured(truth, {1, {2, 2}}), measured(truth, {0, {2, 2}})});
  EXPECT_NEAR(after.bases[1].rest_us, 230, 5);
  EXPECT_EQ(after.bases[0].rest_us, 200);
}

TEST(PrecisionCorrections, SkipWhatWasNotMeasured) {
  PrecisionTable table = table_of(2);
  table.bases[0].part_us[0][2] = kNotMeasured;
  const PrecisionTable after = corrected(table, {{{0, {2, 1}}, 50}, {{0, {1, 1}}, kNotMeasured}, {{0, {1, 0}}, 20}});
  EXPECT_TRUE(std::isnan(after.bases[0].part_us[0][2]));
  EXPECT_NEAR(after.bases[0].part_us[0][1], 80, 1);
  EXPECT_EQ(after.bases[0].part_us[1][1], 60);
}

TEST(PrecisionCorrections, WeighRacesByTheirDeviations) {
  const PrecisionTable table = table_of(1);
  const auto us = [&](double sure, double unsure) {
    return corrected(table, {{{0, {2}}, 20, sure}, {{0, {2}}, 60, unsure}}).bases[0].part_us[0][2];
  };
  EXPECT_NEAR(us(1, 100), 80, 1);
  EXPECT_NEAR(us(100, 1), 40, 1);
  EXPECT_NEAR(us(1, 1), 60, 1);
}

TEST(PrecisionCorrections, KeepTimesAboveNothing) {
  const PrecisionTable after = corrected(table_of(1), {{{0, {2}}, 150}});
  EXPECT_EQ(after.bases[0].part_us[0][2], 0);
}

TEST(PrecisionCorrections, DrawTimesThatPlansLeavePossible) {
  PrecisionTable table = table_of(3);
  for (ValuesTimes& base : table.bases) base.part_us.assign(3, {100, 90, 80});
  const std::vector<MeasuredSaving> plans{{{0, {2, 2, 0}}, 30}};
  double least = 100, most = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const PrecisionTable some = drawn(table, plans, seed);
    EXPECT_EQ(some.bases, drawn(table, plans, seed).bases);
    EXPECT_NEAR(us_of(some, {0, {2, 2, 0}}), 500 - 30, 6) << "the plan was measured, its forms were not";
    least = std::min(least, some.bases[0].part_us[0][2]), most = std::max(most, some.bases[0].part_us[0][2]);
  }
  EXPECT_LT(least, 75);
  EXPECT_GT(most, 95);
}

// A search as the climb's: the fastest mixture by likely times is measured, unless it was measured before.
double found_by_search(const PrecisionTable& table, const PrecisionTable& truth, double limit) {
  std::vector<MeasuredSaving> plans;
  for (const size_t form : {1, 2}) plans.push_back(measured(truth, {0, std::vector<size_t>(truth.parts.size(), form)}));
  double best = std::numeric_limits<double>::infinity();
  for (uint64_t draw = 0, rounds = 0; draw < 5 && rounds < 10;) {
    const auto frontier = mixed_frontier(draw == 0 ? corrected(table, plans) : drawn(table, plans, draw));
    const auto within = fastest_within(frontier->choices, limit);
    const MixedPrecision next = (*frontier)[*within];
    if (std::ranges::any_of(plans, [&](const MeasuredSaving& plan) { return plan.mixture == next; })) {
      ++draw;
      continue;
    }
    plans.push_back(measured(truth, next));
    best = std::min(best, us_of(truth, next));
    ++rounds, draw = 0;
  }
  return best;
}

TEST(PrecisionCorrections, FindTheFastestMixtureDespiteTraps) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0, 1);
  constexpr double kLimit = 4.5e-4;
  int exact = 0, misled = 0;
  for (int i = 0; i < 50; ++i) {
    PrecisionTable table = table_of(8);
    for (size_t part = 0; part < 8; ++part)
      for (size_t form = 1; form < 3; ++form)
        table.bases[0].part_us[part][form] = table.bases[1].part_us[part][form] = 30 + 60 * any(random);
    PrecisionTable truth = table;
    for (const size_t part : {size_t(i % 8), size_t(i % 7)})
      for (ValuesTimes& base : truth.bases) base.part_us[part][2] += 60;
    const auto best = mixed_frontier(truth), believed = mixed_frontier(table);
    const double least = us_of(truth, (*best)[*fastest_within(best->choices, kLimit)]);
    misled += us_of(truth, (*believed)[*fastest_within(believed->choices, kLimit)]) > 1.03 * least;
    exact += found_by_search(table, truth, kLimit) <= 1.01 * least;
  }
  EXPECT_GE(misled, 25) << "the table alone misses it";
  EXPECT_GE(exact, 45) << "and the corrected one finds it";
}

}  // namespace
}  // namespace rung
