// What PyTorch's profiler recorded on a GPU, taken apart: nothing is lost, nothing is counted twice, nothing is
// unknown.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "trace/analysis/analysis.hpp"
#include "trace/recording/read.hpp"

namespace rung::trace {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(RUNG_TEST_DATA) / "traces";

std::vector<std::string> recorded() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(".json.gz")) names.push_back(file.substr(0, file.size() - 8));
  }
  std::ranges::sort(names);
  return names;
}

const Recording& recording_of(const std::string& name) {
  static std::map<std::string, Recording> known;
  if (const auto it = known.find(name); it != known.end()) return it->second;
  auto recording = read_recording((kFolder / (name + ".json.gz")).string());
  if (!recording) throw std::runtime_error(recording.error().message);
  return known.emplace(name, std::move(*recording)).first->second;
}

const nlohmann::json& truth() {
  static const nlohmann::json truth = nlohmann::json::parse(std::ifstream(kFolder / "truth.json"));
  return truth;
}

class RecordedTrace : public testing::TestWithParam<std::string> {
 protected:
  RecordedTrace() : recording_(recording_of(GetParam())), analysis_(analyse(recording_)) {}

  int64_t all_categories_ns() const {
    const auto& sums = analysis_.accounting.by_category_ns;
    return std::accumulate(sums.begin(), sums.end(), int64_t{0});
  }
  bool is_graph() const { return GetParam().ends_with("_graph"); }

  const Recording& recording_;
  Analysis analysis_;
};

// Slow, obvious: every nanosecond of the wall is either within work or within a gap.
TEST_P(RecordedTrace, BusyTimeAndGapsMakeUpTheWall) {
  const Accounting& accounting = analysis_.accounting;
  std::vector<Span> pieces;
  for (const Event& event : recording_.events) {
    if (!is_on_device(event.kind) || recording_.lanes[event.lane].device != accounting.device) continue;
    for (const Span& step : analysis_.steps.spans) {
      const Span piece{std::max(event.start_ns, step.start_ns), std::min(event.end_ns(), step.end_ns)};
      if (piece.length_ns() > 0) pieces.push_back(piece);
    }
  }
  int64_t busy = 0, gaps = 0, until = INT64_MIN;
  for (const Span& piece : pieces) {
    busy += std::max<int64_t>(0, piece.end_ns - std::max(piece.start_ns, until));
    until = std::max(until, piece.end_ns);
  }
  for (const Gap& gap : accounting.gaps) {
    EXPECT_GT(gap.span.length_ns(), 0);
    gaps += gap.span.length_ns();
    for (const Span& piece : pieces)
      EXPECT_FALSE(piece.start_ns < gap.span.end_ns && gap.span.start_ns < piece.end_ns) << "work within a gap";
  }
  EXPECT_EQ(accounting.busy_ns, busy);
  EXPECT_EQ(busy + gaps, accounting.time_ns);
}

TEST_P(RecordedTrace, HasAllItsWorkInKnownCategories) {
  int64_t work = 0;
  for (const Work& each : analysis_.work) work += analysis_.event(each).duration_ns;
  EXPECT_GT(work, 0);
  EXPECT_EQ(all_categories_ns(), work);
  EXPECT_EQ(analysis_.accounting.by_category_ns[static_cast<size_t>(KernelCategory::unclassified)], 0);
}

TEST_P(RecordedTrace, HasTheThreeStepsThatWereRecorded) {
  EXPECT_EQ(analysis_.steps.found_by, "ProfilerStep ranges");
  const std::vector<Span>& steps = analysis_.steps.spans;
  ASSERT_EQ(steps.size() + analysis_.steps.outliers.size(), 3u);
  ASSERT_GE(steps.size(), 2u);
  EXPECT_EQ(analysis_.accounting.wall.start_ns, steps.front().start_ns);
  EXPECT_EQ(analysis_.accounting.wall.end_ns, steps.back().end_ns);
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_LE(steps[i - 1].end_ns, steps[i].start_ns);
}

// Each step launches the same work, whenever the device comes to it.
TEST_P(RecordedTrace, StepsHoldTheSameWork) {
  if (GetParam() == "tuning_in_run") return;  // each of its steps compiles for another shape
  const std::vector<Span>& steps = analysis_.steps.spans;
  std::vector<size_t> counts(steps.size());
  for (const Work& work : analysis_.work)
    for (size_t i = 0; i < steps.size(); ++i)
      counts[i] +=
          analysis_.event(work).start_ns >= steps[i].start_ns && analysis_.event(work).start_ns < steps[i].end_ns;
  EXPECT_THAT(counts, testing::Each(counts.front()));
  EXPECT_EQ(counts.front() * steps.size(), analysis_.work.size());
}

TEST_P(RecordedTrace, WorkIsLinkedToItsCallsAndOperations) {
  size_t linked = 0, of_operations = 0;
  for (const Work& work : analysis_.work) {
    const Event& event = analysis_.event(work);
    linked += work.call != kNone;
    of_operations += work.op != kNone;
    if (work.call == kNone) continue;
    const Event& call = recording_.events[work.call];
    EXPECT_EQ(call.kind, EventKind::runtime_call);
    EXPECT_EQ(call.link, event.link);
    EXPECT_LE(call.start_ns, event.start_ns);
    if (work.op == kNone) continue;
    const Event& op = recording_.events[work.op];
    EXPECT_EQ(op.kind, EventKind::host_op);
    EXPECT_EQ(op.lane, call.lane);
    EXPECT_LE(op.start_ns, call.start_ns);
    EXPECT_GE(op.end_ns(), call.start_ns);
  }
  EXPECT_EQ(linked, analysis_.work.size());
  if (GetParam() == "decode_graph") {
    EXPECT_EQ(of_operations, 3u * 4 * 2) << "two operations move the position on; all else is in graphs";
  } else if (is_graph()) {
    EXPECT_EQ(of_operations, 0u);
  } else {
    EXPECT_EQ(of_operations, linked);
  }
}

TEST_P(RecordedTrace, EveryGapHasACause) {
  for (const Gap& gap : analysis_.accounting.gaps) EXPECT_NE(gap.cause, GapCause::unknown);
}

INSTANTIATE_TEST_SUITE_P(Traces, RecordedTrace, testing::ValuesIn(recorded()),
                         [](const auto& name) { return name.param; });

// Where the device is busy throughout, the profiler does not change how long a step takes. A device that waits for
// another rank is as slow as the profiler makes that rank's host.
TEST(RecordedTraces, HaveBusyStepsNotSlowedByProfiling) {
  int busy = 0;
  for (const std::string& name : recorded()) {
    const Accounting accounting = analyse(recording_of(name)).accounting;
    const double wall_ms = static_cast<double>(accounting.time_ns) / 1e6;
    const bool waits = truth()["scenarios"][name]["planted"] == nlohmann::json{"late_ranks"};
    if (static_cast<double>(accounting.busy_ns) / 1e6 < 0.9 * wall_ms || waits) continue;
    const double timed_ms = truth()["scenarios"][name]["step_ms"];
    EXPECT_NEAR(wall_ms / 3, timed_ms, 0.2 * timed_ms) << name << ": timed with a synchronisation after each step";
    ++busy;
  }
  EXPECT_GE(busy, 8);
}

double gap_ms(const std::string& name, GapCause cause) {
  const Analysis analysis = analyse(recording_of(name));
  int64_t ns = 0;
  for (const Gap& gap : analysis.accounting.gaps) ns += gap.cause == cause ? gap.span.length_ns() : 0;
  return static_cast<double>(ns) / 1e6;
}

TEST(RecordedTraces, FaultsShowInTheCausesOfGaps) {
  EXPECT_GT(gap_ms("sync_in_step", GapCause::synchronization), 0.5);
  EXPECT_EQ(gap_ms("clean_eager", GapCause::synchronization), 0);
  EXPECT_GT(gap_ms("allocation_in_step", GapCause::allocation), 3);
  EXPECT_EQ(gap_ms("clean_eager", GapCause::allocation), 0);
  EXPECT_GT(gap_ms("tuning_in_run", GapCause::compilation), 2000);
  EXPECT_EQ(gap_ms("graph_break", GapCause::compilation), 0);
  EXPECT_GT(gap_ms("small_eager", GapCause::host_bound), 14);
  EXPECT_LT(gap_ms("small_graph", GapCause::host_bound), 0.1);
}

}  // namespace
}  // namespace rung::trace
