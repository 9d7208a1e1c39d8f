// What is found in the recorded traces, held against what was planted in them, what is there besides, and what the
// remedies brought when they were timed without a profiler.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "trace/findings/evidence.hpp"
#include "trace/findings/trace_finding.hpp"
#include "trace/recording/read.hpp"

namespace rung::trace {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kTraces = std::string(RUNG_TEST_DATA) + "/traces/";

const nlohmann::json& scenarios() {
  static const nlohmann::json truth = nlohmann::json::parse(std::ifstream(kTraces + "truth.json"));
  return truth["scenarios"];
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& [name, facts] : scenarios().items()) found.push_back(name);
  return found;
}

struct Advised {
  std::vector<TraceFinding> findings;
  double step_ms = 0;

  const TraceFinding* find(std::string_view id) const {
    const auto found = std::ranges::find(findings, id, &TraceFinding::id);
    return found == findings.end() ? nullptr : &*found;
  }
};

// Each trace is read once.
const Advised& advised(const std::string& name) {
  static std::map<std::string, Advised> known;
  const auto [at, added] = known.try_emplace(name);
  if (!added) return at->second;
  const auto recording = read_recording(kTraces + name + ".json.gz");
  EXPECT_TRUE(recording) << recording.error().message;
  if (!recording) return at->second;
  const Analysis analysis = analyse(*recording);
  at->second = {advise_on(analysis), step_ms(median_step(analysis))};
  return at->second;
}

std::set<std::string> ids_in(const nlohmann::json& list) { return list.get<std::set<std::string>>(); }

class AdviceOnTrace : public testing::TestWithParam<std::string> {};

TEST_P(AdviceOnTrace, WhatIsPlantedIsFound) {
  for (const std::string& id : ids_in(scenarios()[GetParam()]["planted"]))
    EXPECT_NE(advised(GetParam()).find(id), nullptr) << id << " is planted and was not found";
}

TEST_P(AdviceOnTrace, WhatIsFoundIsThere) {
  std::set<std::string> there = ids_in(scenarios()[GetParam()]["planted"]);
  there.merge(ids_in(scenarios()[GetParam()]["present"]));
  for (const TraceFinding& finding : advised(GetParam()).findings)
    EXPECT_TRUE(there.contains(std::string(finding.id)))
        << finding.id << " was found and is not there: " << finding.title;
}

TEST_P(AdviceOnTrace, NoBoundIsBelowTheGain) {
  for (const auto& [id, cure] : scenarios()[GetParam()]["cures"].items()) {
    const TraceFinding* finding = advised(GetParam()).find(id);
    if (!finding) continue;
    // The remedies were timed for seconds, under a load that lasts.
    EXPECT_GE(std::max(finding->bound_ms, finding->loaded_bound_ms), cure["gain_ms"].get<double>()) << id;
  }
}

TEST_P(AdviceOnTrace, AFindingSaysAllThatIsNeeded) {
  const Advised& all = advised(GetParam());
  std::set<std::string_view> ids;
  double before = std::numeric_limits<double>::max();
  for (const TraceFinding& finding : all.findings) {
    SCOPED_TRACE(finding.id);
    EXPECT_TRUE(ids.insert(finding.id).second) << "twice";
    EXPECT_LE(finding.bound_ms, before) << "not in order";
    before = finding.bound_ms;
    EXPECT_GT(finding.bound_ms, 0);
    EXPECT_LT(finding.bound_ms, all.step_ms);
    EXPECT_FALSE(finding.title.empty() || finding.bound_from.empty() || finding.remedy.empty());
    EXPECT_FALSE(finding.traps.empty() || finding.confirm.empty() || finding.evidence.empty());
    EXPECT_THAT(finding.title, HasSubstr(" "));
    EXPECT_EQ(finding.title.find('\n'), std::string::npos);
    EXPECT_THAT(finding.changes, Contains(testing::Field(&Change::stack, "PyTorch")));
    EXPECT_THAT(finding.changes, Contains(testing::Field(&Change::stack, "vLLM")));
    for (const Evidence& row : finding.evidence) EXPECT_GT(row.count, 0) << row.event;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AdviceOnTrace, testing::ValuesIn(names()), [](const auto& of) { return of.param; });

// The planted fault is what the evidence names.
struct Named {
  std::string_view trace, id, event;
};
constexpr Named kNamed[] = {
    {"sync_in_step", "sync_in_step", "aten::item > cudaStreamSynchronize"},
    {"pageable_copy", "pageable_copy", "Memcpy HtoD (Pageable -> Device)"},
    {"allocation_in_step", "allocation_in_step", "cudaFree"},
    {"allocation_in_step", "allocation_in_step", "cudaMalloc"},
    {"graph_break", "graph_break", "aten::scaled_dot_product_attention"},
    {"tuning_in_run", "tuning_in_run", "entire_frame_compile"},
    {"small_eager", "launch_bound", "cudaLaunchKernel"},
};

TEST(AdviceOnTraces, EvidenceNamesTheFault) {
  for (const Named& named : kNamed) {
    const TraceFinding* finding = advised(std::string(named.trace)).find(named.id);
    ASSERT_NE(finding, nullptr) << named.id;
    EXPECT_THAT(finding->evidence, Contains(testing::Field(&Evidence::event, named.event))) << named.id;
  }
}

// Bounds that are within twice the gain; a profiler slows the host, so that others are further off.
TEST(AdviceOnTraces, BoundsAreNear) {
  constexpr std::pair<std::string_view, std::string_view> kNear[] = {
      {"small_eager", "launch_bound"},    {"small_separate", "launch_bound"},
      {"decode_eager", "launch_bound"},   {"sync_in_step", "sync_in_step"},
      {"pageable_copy", "pageable_copy"}, {"allocation_in_step", "allocation_in_step"},
  };
  for (const auto& [trace, id] : kNear) {
    const TraceFinding* finding = advised(std::string(trace)).find(id);
    ASSERT_NE(finding, nullptr) << trace;
    const double gain = scenarios()[std::string(trace)]["cures"][std::string(id)]["gain_ms"].get<double>();
    EXPECT_LE(finding->bound_ms, 2 * gain) << trace << ": " << id;
  }
}

}  // namespace
}  // namespace rung::trace
