// Two recordings compared: which rows there are, in which order, and which findings came and went.
// SPDX-License-Identifier: Apache-2.0
#include "trace/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rung::trace {
namespace {

using testing::ElementsAre;

// A kernel of each name, with these milliseconds, and a launch for each whole one of them.
Summary with_kernels(std::initializer_list<std::pair<const char*, double>> kernels) {
  Summary summary;
  for (const auto& [name, ms] : kernels)
    summary.step.by_kernel.push_back({name, KernelCategory::gemm, "", ms, 0, static_cast<int64_t>(ms)});
  return summary;
}

std::vector<std::string> names_of(const std::vector<DifferenceRow>& rows) {
  std::vector<std::string> names;
  for (const DifferenceRow& row : rows) names.push_back(row.name);
  return names;
}

TEST(DifferenceRows, AreSortedByTheSizeOfTheirChange) {
  const Difference d = difference(with_kernels({{"less", 5}, {"more", 1}, {"same", 2}, {"gone", 3.5}}),
                                  with_kernels({{"less", 1}, {"more", 3}, {"same", 2}, {"new", 3}}));
  EXPECT_THAT(names_of(d.kernels), ElementsAre("less", "gone", "new", "more", "same"));
  std::vector<double> changes;
  for (const DifferenceRow& row : d.kernels) changes.push_back(row.change_ms());
  EXPECT_THAT(changes, ElementsAre(-4, -3.5, 3, 2, 0));
  EXPECT_EQ(d.kernels[1].after_ms, 0);
  EXPECT_EQ(d.kernels[1].before_count, 3);
  EXPECT_EQ(d.kernels[1].after_count, 0);
  EXPECT_EQ(d.kernels[2].before_ms, 0);
  EXPECT_EQ(d.kernels[2].after_count, 3);
}

TEST(DifferenceRows, OfKindsAndOfGapsAreSuchToo) {
  Summary before, after;
  before.step.categories = {{KernelCategory::gemm, 5, 0, 9}, {KernelCategory::norm, 1, 0, 4}};
  after.step.categories = {{KernelCategory::gemm, 6, 0, 8}, {KernelCategory::copy, 3, 0, 2}};
  before.step.gaps = {{GapCause::copy, 4, 7}, {GapCause::synchronization, 1, 3}};
  after.step.gaps = {{GapCause::copy, 2, 6}, {GapCause::synchronization, 4, 5}};
  const Difference d = difference(before, after);
  EXPECT_THAT(names_of(d.categories), ElementsAre("copy", "GEMM", "normalisation")) << "of equal changes by name";
  EXPECT_THAT(names_of(d.gaps), ElementsAre("synchronization", "copy"));
  EXPECT_EQ(d.gaps[0].before_count, 3);
  EXPECT_EQ(d.gaps[0].after_count, 5);
}

TEST(Difference, TellsAStepsTimesAndFindings) {
  Summary before, after;
  before.step.wall_ms = 9, before.step.busy_ms = 2, before.step.kernels = 20;
  after.step.wall_ms = 4, after.step.busy_ms = 3, after.step.kernels = 8;
  for (const char* id : {"launch_bound", "sync_in_step"}) before.findings.push_back({.id = id});
  for (const char* id : {"sync_in_step", "graph_nodes"}) after.findings.push_back({.id = id});
  const Difference d = difference(before, after);
  EXPECT_THAT(d.gone, ElementsAre("launch_bound"));
  EXPECT_THAT(d.come, ElementsAre("graph_nodes"));
  const nlohmann::json json = to_json(d);
  EXPECT_EQ(json["step"]["change_ms"], -5.0);
  EXPECT_EQ(json["busy"]["before_ms"], 2.0);
  EXPECT_EQ(json["busy"]["after_ms"], 3.0);
  EXPECT_EQ(json["step"]["before_count"], 20.0);
  EXPECT_EQ(json["step"]["after_count"], 8.0);
  EXPECT_EQ(json["findings_gone"], nlohmann::json({"launch_bound"}));
  EXPECT_EQ(json["findings_come"], nlohmann::json({"graph_nodes"}));
}

}  // namespace
}  // namespace rung::trace
