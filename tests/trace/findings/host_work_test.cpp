// Pauses in which the host does other work, or loads input: what they cost, and what the host did meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

// Two kernels of 50 us in each step, and between them what `body` does.
template <class Body>
Recording with_pause(const Body& body) {
  return recorded_steps([&](ScriptedRecording& script) {
    script.kernel("a_gemm", 50);
    body(script);
    script.kernel("b_gemm", 50);
  });
}

void takes(ScriptedRecording& script, std::string_view op, double us) {
  script.op(op, [&] { script.host(us); });
}

template <class Body>
std::string doing(const Body& body) {
  const Found found(findings::host_work, with_pause(body));
  return found ? found->evidence.at(0).event : "nothing found";
}

TEST(HostWorkTest, IsNamedByTheShortestCoveringHalf) {
  EXPECT_EQ(doing([](auto& s) { takes(s, "aten::unique", 3000); }), "aten::unique");
  EXPECT_EQ(doing([](auto& s) { s.op("outer", [&] { takes(s, "inner", 3000); }); }), "inner");
  EXPECT_EQ(doing([](auto& s) { s.op("outer", [&] { takes(s, "short", 500), s.host(2500); }); }), "outer");
}

TEST(HostWorkTest, IsOtherwiseNamedByTheLongestInAll) {
  EXPECT_EQ(doing([](auto& s) {
              takes(s, "twice", 600), takes(s, "once", 900), takes(s, "twice", 600);
              s.host(900);
            }),
            "twice");
  EXPECT_EQ(doing([](auto& s) { takes(s, "a little", 800), s.host(2200); }), "nothing that the recording shows");
}

TEST(HostWorkTest, IsAWaitForAnotherBusyThread) {
  Recording recording = with_pause([](auto& s) { s.host(3000); });
  recording.lanes.push_back({false, -1, 1, 9, "loader"});
  const uint32_t name = recording.strings.number_of("decode");
  for (size_t i = 0, count = recording.events.size(); i < count; ++i) {
    const Event& event = recording.events[i];
    if (recording.name_of(event) == "a_gemm")
      recording.events.push_back({event.start_ns, 3'000'000, name, 0, 0, 2, EventKind::host_op});
  }
  std::ranges::stable_sort(recording.events, {}, &Event::start_ns);
  const Found found(findings::host_work, std::move(recording));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence.at(0).event, "waiting while thread 9 is in decode");
}

TEST(HostWorkTest, PausesOfAStepCountTogether) {
  const Found found(findings::host_work, with_pause([](auto& s) {
                      takes(s, "first", 2000), s.kernel("c_gemm", 50), takes(s, "second", 3000);
                    }));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("most of it in second"));
  ASSERT_EQ(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[0].count, kSteps);
  EXPECT_NEAR(found->evidence[0].ms, kSteps * 2.955, kSteps * 0.01) << "but for the kernel meanwhile";
  EXPECT_NEAR(found->bound_ms, 5.0, 0.1);
}

TEST(InputLoadingTest, LoadsOfAStepCountTogether) {
  const Found found(findings::input_loading, with_pause([](auto& s) {
                      takes(s, "load_batch", 2000), s.kernel("c_gemm", 50), takes(s, "next_batch", 3000);
                    }));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[0].event, "next_batch");
  EXPECT_EQ(found->evidence[1].event, "load_batch");
  EXPECT_NEAR(found->bound_ms, 5.0, 0.1);
  EXPECT_FALSE(Found(findings::input_loading, with_pause([](auto& s) { takes(s, "unload", 3000); })));
}

}  // namespace
}  // namespace rung::trace
