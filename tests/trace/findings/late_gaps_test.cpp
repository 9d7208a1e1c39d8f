// Gaps before late launches, put together again, and which work was launched late.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/late_gaps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_recording.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;

// The second kernel is launched 22 us after the end of the first, and begins `pause_us` later than at once.
TEST(LateGaps, IncludeLaunchLatencyButNoLongerPause) {
  for (const int64_t pause_us : {2, 19, 20, 21, 5000}) {
    ScriptedRecording script;
    script.range("ProfilerStep#1", [&] { script.kernel("a_gemm", 50).host(70).kernel("b_gemm", 50); });
    Recording recording = script.finish();
    for (Event& event : recording.events)
      if (recording.name_of(event) == "b_gemm") event.start_ns += (pause_us - 2) * 1000;
    const Analysis analysis = analyse(recording);
    const std::vector<LateGap> gaps = late_gaps(analysis, GapCause::host_bound);
    ASSERT_EQ(gaps.size(), 2u) << "the first is before the first kernel";
    EXPECT_EQ(gaps[1].idle.length_ns(), (22 + std::min<int64_t>(pause_us, 20)) * 1000) << pause_us;
    EXPECT_EQ(gaps[1].launched_ns - gaps[1].idle.start_ns, 22'000);
    EXPECT_EQ(analysis.name(analysis.work.at(gaps[1].after)), "b_gemm");
  }
}

TEST(LaunchedLate, IsWorkReachingEmptyStreamsWithoutAWait) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("first", 50).kernel("in time", 50).host(200).kernel("late", 50);
    script.synchronize().kernel("held", 50).on_stream(8).kernel("idle stream", 50).kernel("behind it", 50);
  });
  const Recording recording = script.finish();
  EXPECT_THAT(launched_late(analyse(recording)), ElementsAre(true, false, true, false, true, false));
}

}  // namespace
}  // namespace rung::trace
