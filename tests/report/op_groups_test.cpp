// Launches of one problem taken together: sums, names, order, and a tail that loses nothing.
// SPDX-License-Identifier: Apache-2.0
#include "report/op_groups.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace rung::report {
namespace {

using ::testing::ElementsAre;

OpTime op(std::string label, std::string kernel, std::string problem, double us) {
  OpTime made{.label = std::move(label), .op = "linear", .kernel = std::move(kernel), .problem = std::move(problem)};
  made.us = us, made.floor_us = us / 2, made.flops = us * 3e3, made.bytes = us * 5e3;
  return made;
}

std::vector<std::string> labels(const std::vector<OpGroup>& groups) {
  std::vector<std::string> names;
  for (const OpGroup& group : groups) names.push_back(group.label);
  return names;
}

TEST(OpGroups, AddUpWhatTheirLaunchesTake) {
  auto groups = group_ops({op("layer.0.dense", "k", "p", 10), op("layer.1.dense", "k", "p", 30)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].label, "layer.*.dense");
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_DOUBLE_EQ(groups[0].us, 40);
  EXPECT_DOUBLE_EQ(groups[0].floor_us, 20);
  EXPECT_DOUBLE_EQ(groups[0].flops, 120e3);
  EXPECT_DOUBLE_EQ(groups[0].bytes, 200e3);
  EXPECT_DOUBLE_EQ(groups[0].gflops(), 3);
  EXPECT_DOUBLE_EQ(groups[0].gbps(), 5);
}

TEST(OpGroups, KeepOtherKernelsAndOtherProblemsApart) {
  auto groups = group_ops({op("a", "k", "p", 1), op("b", "other", "p", 2), op("c", "k", "q", 3), op("d", "k", "p", 4)});
  EXPECT_THAT(labels(groups), ElementsAre("*", "c", "b")) << "longest first";
}

TEST(OpGroups, KeepOtherOpsAndOtherCategoriesApart) {
  std::vector<OpTime> ops(3, op("a", "k", "p", 4));
  ops[1].op = "conv", ops[1].label = "b", ops[1].us = 3;
  ops[2].category = ops[0].category == Category{} ? Category(1) : Category{}, ops[2].label = "c", ops[2].us = 2;
  const auto groups = group_ops(ops);
  EXPECT_THAT(labels(groups), ElementsAre("a", "b", "c"));
  EXPECT_EQ(groups.at(1).op, "conv");
  EXPECT_EQ(groups.at(2).category, ops[2].category);
}

TEST(OpGroups, OfEqualTimesComeByName) {
  EXPECT_THAT(labels(group_ops({op("b", "k", "p", 7), op("a", "k", "q", 7)})), ElementsAre("a", "b"));
}

TEST(OpGroups, KeepTheFirstNameWhereLengthsDiffer) {
  EXPECT_THAT(labels(group_ops({op("a.b", "k", "p", 1), op("a.b.c", "k", "p", 1)})), ElementsAre("a.b"));
}

TEST(OpGroups, CountNonFiniteOrNegativeTimesAsZero) {
  auto groups =
      group_ops({op("a", "k", "p", 5), op("a", "k", "p", NAN), op("a", "k", "p", INFINITY), op("a", "k", "p", -1)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].count, 4);
  EXPECT_DOUBLE_EQ(groups[0].us, 5);
}

TEST(OpGroups, PastTheLimitBecomeOneThatLosesNothing) {
  std::vector<OpTime> ops;
  for (int i = 0; i < 5; ++i)
    ops.push_back(op(std::string(1, static_cast<char>('a' + i)), "k", std::to_string(i), 10 - i));
  ops.push_back(op("e", "k", "4", 0.5));
  auto all = group_ops(ops), folded = fold_tail(all, 2);
  EXPECT_THAT(labels(folded), ElementsAre("a", "b", "3 more problems"));
  EXPECT_EQ(folded.back().count, 4) << "launches, not problems";
  EXPECT_DOUBLE_EQ(folded.back().us, 8 + 7 + 6.5);
  EXPECT_DOUBLE_EQ(total_us(folded), total_us(all));
  EXPECT_DOUBLE_EQ(folded.back().floor_us, 21.5 / 2);
  EXPECT_DOUBLE_EQ(folded.back().flops, 21.5 * 3e3);
  EXPECT_DOUBLE_EQ(folded.back().bytes, 21.5 * 5e3);
  EXPECT_THAT(labels(fold_tail(all, 5)), ElementsAre("a", "b", "c", "d", "e"));
}

}  // namespace
}  // namespace rung::report
