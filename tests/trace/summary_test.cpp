// A recording in figures: of the step in the middle and of all steps, by cause, kind, kernel and library.
// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_recording.hpp"

namespace rung::trace {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::HasSubstr;

auto ms(double us) { return DoubleNear(us / 1e3, 1e-9); }

// Three steps on the second GPU, of which the last has the length in the middle. It takes 248 us: 120 + 30 + 7 + 10 us
// of work with pauses of 3, 44 of a wait and the launch after it, and 20 of work.
Recording three_steps() {
  ScriptedRecording script;
  script.kernel("of_another_gpu", 1).on_stream(7, 1).device_pause(3);
  for (const double us : {100.0, 140.0, 120.0}) {
    script.range("ProfilerStep#1", [&] {
      script.kernel("nvjet_a", us).kernel("nvjet_b", 30).copy({.bytes = 4, .to = MemoryKind::pinned}, 7, false);
      script.kernel("nvjet_a", 10).synchronize().host(40).kernel("a_norm_", 20).synchronize();
    });
    script.host(5);
  }
  Recording recording = script.finish();
  recording.device_names = {"First GPU", "Second GPU"};
  return recording;
}

struct Summarised {
  Recording recording = three_steps();
  Analysis analysis{analyse(recording)};
  Summary summary = summarise("trace.json", analysis);
};

TEST(Summary, CoversTheMedianStepAndAllSteps) {
  const Summary s = Summarised().summary;
  EXPECT_EQ(s.file, "trace.json");
  EXPECT_EQ(s.device, "Second GPU");
  EXPECT_EQ(s.steps, 3);
  EXPECT_THAT(s.step_ms(), ms(248));
  EXPECT_THAT(s.step.busy_ms, ms(187));
  EXPECT_THAT(s.step.host_ms, ms(208)) << "calls: of the first 182 us all, then a launch and a wait";
  EXPECT_EQ(s.step.kernels, 4) << "without the copy";
  EXPECT_THAT(s.all.wall_ms, ms(228 + 268 + 248));
  EXPECT_THAT(s.all.busy_ms, ms(3 * 187));
  EXPECT_EQ(s.all.kernels, 12);
  EXPECT_THAT(s.between_ms, ms(10));
  EXPECT_EQ(s.outside, 0);
}

TEST(Summary, HasGapsByCauseTheLongestFirst) {
  EXPECT_THAT(Summarised().summary.step.gaps,
              ElementsAre(FieldsAre(GapCause::synchronization, ms(44), 1), FieldsAre(GapCause::device, ms(13), 5),
                          FieldsAre(GapCause::host_bound, ms(4), 1)));
}

TEST(Summary, HasWorkByKindKernelAndLibrary) {
  const Figures step = Summarised().summary.step;
  const auto share = [](double us) { return DoubleNear(us / 187, 1e-9); };
  EXPECT_THAT(step.categories, ElementsAre(FieldsAre(KernelCategory::gemm, ms(160), share(160), 3),
                                           FieldsAre(KernelCategory::norm, ms(20), share(20), 1),
                                           FieldsAre(KernelCategory::copy, ms(7), share(7), 1)));
  EXPECT_THAT(step.by_kernel, ElementsAre(FieldsAre("nvjet_a", KernelCategory::gemm, "cuBLAS", ms(130), share(130), 2),
                                          FieldsAre("nvjet_b", KernelCategory::gemm, "cuBLAS", ms(30), share(30), 1),
                                          FieldsAre("a_norm_", KernelCategory::norm, "", ms(20), share(20), 1),
                                          FieldsAre("Memcpy DtoD", KernelCategory::copy, "", ms(7), share(7), 1)));
  EXPECT_THAT(step.libraries, ElementsAre(testing::Pair("cuBLAS", ms(160))));
  EXPECT_EQ(step.unclassified_share, 0);
}

// Work and gaps in turns, from the begin of the step to its end.
TEST(Summary, HasATimelineWithoutHoles) {
  const std::vector<Bar> bars = Summarised().summary.timeline;
  ASSERT_EQ(bars.size(), 12u);
  double done_us = 0;
  for (const Bar& bar : bars) {
    EXPECT_DOUBLE_EQ(bar.from_us, done_us);
    done_us = bar.to_us;
  }
  EXPECT_DOUBLE_EQ(done_us, 248);
  EXPECT_TRUE(bars[0].gap);
  EXPECT_EQ(bars[0].what(), "host-bound launch");
  EXPECT_FALSE(bars[2].gap);
  EXPECT_EQ(bars[2].name, "nvjet_a");
  EXPECT_EQ(bars[2].what(), "GEMM");
}

// Findings look up a gap's neighbours by their numbers, which are others in one step than in all.
TEST(MedianStep, HasItsGapsBesideTheirWork) {
  const Recording recording = three_steps();
  const Analysis all = analyse(recording);
  const Analysis one = median_step(all);
  EXPECT_EQ(one.work.size(), 5u);
  EXPECT_EQ(one.accounting.gaps.size(), 7u);
  for (const Analysis* analysis : std::initializer_list<const Analysis*>{&all, &one})
    for (const Gap& gap : analysis->accounting.gaps) {
      uint32_t before = kNone, after = kNone;
      for (uint32_t i = 0; i < analysis->work.size(); ++i) {
        if (analysis->event(analysis->work[i]).end_ns() <= gap.span.start_ns) before = i;
        if (after == kNone && analysis->event(analysis->work[i]).start_ns >= gap.span.end_ns) after = i;
      }
      EXPECT_EQ(gap.before, before);
      EXPECT_EQ(gap.after, after);
    }
}

TEST(Notes, WarnWhereManyLaunchesWereCaptured) {
  const auto note = [](int captured, int others) {
    ScriptedRecording script;
    script.range("ProfilerStep#1", [&] {
      script.runtime_call("cudaStreamBeginCapture", 1);
      for (int i = 0; i < captured; ++i) script.runtime_call("cudaLaunchKernel", 4);
      script.runtime_call("cudaStreamEndCapture", 1);
      for (int i = 0; i < others; ++i) script.kernel("a_gemm", 5);
    });
    const Recording recording = script.finish();
    const std::vector<Note> notes = notes_on(analyse(recording));
    return notes.size() == 1 ? notes[0] : Note{};
  };
  EXPECT_THAT(note(3, 6).text, HasSubstr("3 launches in the steps went into the capture of a graph"));
  EXPECT_TRUE(note(3, 6).is_grave);
  EXPECT_FALSE(note(3, 7).is_grave);
  EXPECT_TRUE(note(0, 7).text.empty());
}

TEST(Notes, CountWhatIsLost) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("a_gemm", 5).runtime_call("hipGraphLaunch", 4).runtime_call("hipLaunchKernel", 4);
    script.graph({{"b_gemm", 5}, {"c_gemm", 5}}).kernel("d_gemm", 5);
  });
  const Recording recording = script.finish();
  const std::vector<Note> notes = notes_on(analyse(recording));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].is_grave);
  EXPECT_THAT(notes[0].text, HasSubstr("2 of 5 launches in the steps have no work in this trace (1 of 2 launches of "
                                       "graphs): the profiler lost it"));
}

// No finding rests on an idle device where the device may have been busy; the largest bound comes first.
TEST(Summary, HasNoIdleFindingsWhereWorkIsLost) {
  const auto findings = [](bool loses) {
    ScriptedRecording script;
    script.range("ProfilerStep#1", [&] {
      for (int i = 0; i < 20; ++i) script.kernel("a_gemm", 5).host(30);
      if (loses) script.runtime_call("cudaGraphLaunch", 5);
      for (int i = 0; i < 3; ++i) script.kernel("a_gemm", 300).synchronize().host(60);
      script.kernel("a_gemm", 300).synchronize();
    });
    const Recording recording = script.finish();
    const Analysis analysis = analyse(recording);
    std::vector<std::string> ids;
    std::vector<double> bounds;
    for (const TraceFinding& finding : summarise("", analysis).findings) {
      ids.emplace_back(finding.id);
      bounds.push_back(finding.bound_ms);
    }
    EXPECT_TRUE(std::ranges::is_sorted(bounds, std::greater{}));
    return ids;
  };
  EXPECT_THAT(findings(false), ElementsAre("launch_bound", "sync_in_step"));
  EXPECT_THAT(findings(true), testing::IsEmpty());
}

TEST(Notes, NameFourOutliersAndCountTheRest) {
  ScriptedRecording script;
  for (int i = 1; i <= 15; ++i)
    script.range("ProfilerStep#1", [&] { script.kernel("a_gemm", i % 3 == 0 ? 994 : 94).synchronize(); });
  const Recording recording = script.finish();
  const std::vector<Note> notes = notes_on(analyse(recording));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0].text, HasSubstr("step 3 took 1.00 ms (10.0 × the median), step 6 took"));
  EXPECT_THAT(notes[0].text, HasSubstr("step 12 took 1.00 ms (10.0 × the median), and 1 more."));
}

}  // namespace
}  // namespace rung::trace
