// Steps played again: as recorded where nothing is left out, sooner by what was worked out by hand where something is.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/replay.hpp"

#include <gtest/gtest.h>

#include "findings.hpp"
#include "trace/findings/profiler_cost.hpp"

namespace rung::trace {
namespace {

// A recording, analysed.
struct Played {
  explicit Played(Recording from) : recording(std::move(from)), analysis(analyse(recording)), host(analysis) {}
  int64_t without(const Omission& omission) const { return Replays(analysis).most_saved_ns(omission); }
  std::vector<uint32_t> calls(std::string_view name) const {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < recording.events.size(); ++i)
      if (recording.name_of(recording.events[i]) == name) found.push_back(i);
    return found;
  }
  Recording recording;
  Analysis analysis;
  HeldHost host;
};

// One step: a kernel of `first` us, a wait, 100 us of the host, and a kernel of `second` us.
Recording with_wait(double first, double second) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", first).synchronize().host(100).kernel("b", second);
    script.synchronize("cudaDeviceSynchronize");
  });
  return script.finish();
}

TEST(ReplayTest, NothingLeftOutSavesNothing) {
  EXPECT_EQ(Played(with_wait(300, 300)).without({}), 0);
  EXPECT_EQ(Played(with_wait(300, 300)).without({}), 0);
}

TEST(ReplayTest, WithoutAWaitTheHostIsAheadAgain) {
  const Played played(with_wait(300, 300));
  // Between the kernels the device stood still for 100 us of the host, a launch of 4 and 2 of the way.
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}}), 106'000);
}

TEST(ReplayTest, AShortWaitSavesOnlyItself) {
  const Played played(with_wait(20, 300));
  // The launch ends at 4 us, the kernel and the wait at 26; the host then needs 100 us anyway. A host four times as
  // fast would have begun to wait at 1: the most that the wait can have cost is 25.
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}}), 25'000);
}

TEST(ReplayTest, WorkLeftOutTakesNoTime) {
  const Played played(with_wait(300, 300));
  EXPECT_EQ(played.without({.calls = {}, .work = {1}, .spans = {}}), 300'000);
}

TEST(ReplayTest, AWaitBehindAnotherTakesItsPlace) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).synchronize().synchronize("cudaEventSynchronize").host(100).kernel("b", 300);
  });
  const Played played(script.finish());
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}}), 0);
}

TEST(ReplayTest, WaitsThatStayEndSoonerWithTheirWork) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).synchronize().host(100).kernel("b", 300);
    script.synchronize("cudaEventSynchronize").host(50).kernel("c", 300);
  });
  const Played played(script.finish());
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}}), 106'000);
}

TEST(ReplayTest, TheSavingOfAStepReachesTheNext) {
  ScriptedRecording script;
  for (int i = 1; i <= 2; ++i)
    script.range("ProfilerStep#" + std::to_string(i), [&] {
      script.kernel("a", 300).synchronize().host(100).kernel("b", 300);
      script.synchronize("cudaDeviceSynchronize");
    });
  const Played played(script.finish());
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}}), 2 * 106'000);
}

TEST(ReplayTest, AStreamKeepsItsOrderAndOthersTheirs) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).on_stream(8).kernel("b", 500).on_stream(7).kernel("c", 100);
    script.synchronize("cudaDeviceSynchronize");
  });
  const Played played(script.finish());
  ASSERT_EQ(played.analysis.work.size(), 3u);
  EXPECT_EQ(played.without({.calls = {}, .work = {0}, .spans = {}}), 0);  // the other stream takes longer
  EXPECT_EQ(played.without({.calls = {}, .work = {1}, .spans = {}}), 504'000 - 400'000);
}

TEST(ReplayTest, WorkStaysBehindThatOfItsStream) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).on_stream(8).kernel("b", 400).synchronize().on_stream(7).kernel("c", 100);
  });
  const Played played(script.finish());
  // "c" was launched when "b" was done, at 410 us; without both it starts when "a" is done, at 306 instead of 416.
  EXPECT_EQ(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {1}, .spans = {}}), 110'000);
}

// Nothing shows that the second stream waits for the first: only the host kept them apart.
TEST(ReplayTest, StreamsKeptApartByHostsRunTogether) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).synchronize().on_stream(8).kernel("b", 300).synchronize("cudaDeviceSynchronize");
  });
  const Played played(script.finish());
  EXPECT_NEAR(
      static_cast<double>(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}})),
      300'000, 5'000);
}

TEST(ReplayTest, AStreamAwaitingAnEventStaysBehind) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a", 300).synchronize().on_stream(8).runtime_call("cudaStreamWaitEvent", 1).kernel("b", 300);
  });
  const Played played(script.finish());
  EXPECT_NEAR(
      static_cast<double>(played.without({.calls = played.calls("cudaStreamSynchronize"), .work = {}, .spans = {}})),
      7'000, 1'000);
}

TEST(ReplayTest, WhatTheHostDidTakesNoTime) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] { script.kernel("a", 50).host(400).kernel("b", 100); });
  const Played played(script.finish());
  // The first kernel ended at 56 us; the second was launched from 404 to 408, and began 2 later.
  EXPECT_EQ(played.without({.calls = {}, .work = {}, .spans = {{1'010'000, 1'400'000}}}), 354'000);
}

TEST(ReplayTest, AnAllocationLastsAsLongAsItDid) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] { script.kernel("a", 50).runtime_call("cudaMalloc", 400).kernel("b", 100); });
  EXPECT_EQ(Played(script.finish()).without({.calls = {}, .work = {0}, .spans = {}}), 0);
}

TEST(ReplayTest, AFreeWaitsForTheDevice) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] { script.kernel("a", 50).synchronize("cudaFree").kernel("b", 100); });
  EXPECT_EQ(Played(script.finish()).without({.calls = {}, .work = {0}, .spans = {}}), 50'000);
}

// ---- the profiler's own time
Recording nested(int operations, double host_us) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    for (int i = 0; i < operations; ++i)
      script.op("outer", [&] {
        script.op("inner", [&] { script.kernel("k", 1).host(host_us); });
        script.op("inner", [&] {});
      });
  });
  return script.finish();
}

TEST(ProfilerCostTest, TwiceTheShortestStepInForEachOperation) {
  const Played played(nested(40, 90));
  // 120 operations of 1 us each, in 40 times 0.5 + 0.5 + 4 + 90 + 0.5 + 1 + 0.5 us.
  EXPECT_NEAR(largest_own_share(played.analysis, played.host), 1 - 120.0 / (40 * 97.0), 1e-3);
}

TEST(ProfilerCostTest, FewOperationsTellNothing) {
  const Played played(nested(20, 90));
  EXPECT_EQ(largest_own_share(played.analysis, played.host), 1);
}

TEST(ProfilerCostTest, NeverMoreThanHalf) {
  Recording recording = nested(40, 0);
  for (Event& event : recording.events)
    if (event.kind == EventKind::host_op && recording.name_of(event) == "inner" && event.duration_ns > 2'000)
      event.start_ns += 2'000, event.duration_ns -= 2'000;
  const Played played(std::move(recording));
  EXPECT_EQ(largest_own_share(played.analysis, played.host), 0.5);
}

}  // namespace
}  // namespace rung::trace
