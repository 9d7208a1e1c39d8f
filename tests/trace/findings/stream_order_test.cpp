// Waits between streams, and work that would run side by side if all were launched at once.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/stream_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_recording.hpp"

namespace rung::trace {
namespace {

using testing::Each;
using testing::ElementsAre;

// Kernels of 300 us on streams 1, 2, ..., of which each is launched when the one before is over; `before` is what the
// host does first.
template <class Before>
Recording in_turns(int streams, const Before& before) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    for (int stream = 1; stream <= streams; ++stream) {
      before(script, stream);
      script.on_stream(stream).kernel("a_gemm", 300).host(400);
    }
  });
  return script.finish();
}
void nothing(ScriptedRecording&, int) {}

int64_t overlap_us(const Recording& recording) { return overlap_ns(analyse(recording)) / 1000; }

TEST(StreamOrder, LetsStreamsTheHostSeparatesRunTogether) {
  for (const int streams : {1, 2, 3, 5}) EXPECT_EQ(overlap_us(in_turns(streams, nothing)), (streams - 1) * 300);
  const Recording three = in_turns(3, nothing);
  EXPECT_THAT(waits_for_other_streams(analyse(three)), Each(false));
}

TEST(StreamOrder, KeepsAStreamBehindTheEventItAwaits) {
  const Recording second = in_turns(3, [](ScriptedRecording& script, int stream) {
    if (stream == 2) script.runtime_call("cudaStreamWaitEvent", 1);
  });
  const Analysis analysis = analyse(second);
  EXPECT_THAT(waits_for_other_streams(analysis), ElementsAre(false, true, true)) << "the third may be the one";
  EXPECT_EQ(overlap_us(second), 0);
}

TEST(StreamOrder, TakesLateWorkOnFreeStreamsAsWaiting) {
  for (const bool late : {false, true}) {
    ScriptedRecording script;
    script.range("ProfilerStep#1",
                 [&] { script.on_stream(1).kernel("a_gemm", 300).on_stream(2).kernel("b_gemm", 100); });
    Recording recording = script.finish();
    for (Event& event : recording.events)
      if (late && recording.name_of(event) == "b_gemm") event.start_ns += 400'000;
    EXPECT_THAT(waits_for_other_streams(analyse(recording)), ElementsAre(false, late));
  }
}

TEST(StreamOrder, WithinAGraphNothingTells) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] { script.graph({{"a_gemm", 300}, {"b_gemm", 300}}); });
  const Recording recording = script.finish();
  EXPECT_THAT(waits_for_other_streams(analyse(recording)), ElementsAre(true, true));
}

}  // namespace
}  // namespace rung::trace
