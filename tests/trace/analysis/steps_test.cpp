// How the step that repeats is found, and where it begins and ends.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_recording.hpp"
#include "trace/analysis/analysis.hpp"
#include "trace/analysis/repetition.hpp"
#include "trace/analysis/steps.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int64_t> lengths_us(const Steps& steps) {
  std::vector<int64_t> lengths;
  for (const Span& span : steps.spans) lengths.push_back(span.length_ns() / 1000);
  return lengths;
}

size_t work_in(const Analysis& analysis, const Span& step) {
  return static_cast<size_t>(std::ranges::count_if(analysis.work, [&](const Work& work) {
    return analysis.event(work).start_ns >= step.start_ns && analysis.event(work).start_ns < step.end_ns;
  }));
}

void layer(ScriptedRecording& script) { script.kernel("a_gemm", 3).kernel("a_norm_", 2).kernel("a_gelu", 1); }

TEST(Steps, AreTheProfilers) {
  ScriptedRecording script;
  script.kernel("warm_up_gemm", 2).host(50);
  for (int i = 0; i < 3; ++i) script.range("ProfilerStep#" + std::to_string(i), [&] { layer(script); });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "ProfilerStep ranges");
  EXPECT_EQ(analysis.steps.spans.size(), 3u);
  EXPECT_EQ(analysis.work.size(), 9u) << "without what came before";
}

TEST(Steps, OfOneProfilerStepAreOne) {
  ScriptedRecording script;
  script.range("ProfilerStep#7", [&] { layer(script); });
  const Recording recording = script.finish();
  EXPECT_EQ(analyse(recording).steps.spans.size(), 1u);
}

// The host is done with a step in 15 us, the device takes 100: steps take 100, and hold what was launched in them.
TEST(Steps, AreTheDevicesWhereItIsLate) {
  ScriptedRecording script;
  for (int i = 0; i < 4; ++i)
    script.range("ProfilerStep#" + std::to_string(i), [&] { script.kernel("a_gemm", 60).kernel("b_gemm", 40); });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_THAT(lengths_us(analysis.steps), ElementsAre(106, 100, 100, 100));
  for (const Span& step : analysis.steps.spans) EXPECT_EQ(work_in(analysis, step), 2u);
}

// The recording may begin or end within a step, and a first one may load libraries.
TEST(Steps, AreSetApartFarFromTheMedian) {
  for (const double us : {5.0, 60.0, 70.0, 150.0, 160.0, 1000.0}) {
    const bool is_one = us >= 70 && us <= 150;
    for (int odd = 0; odd < 5; ++odd) {
      SCOPED_TRACE(std::to_string(us) + " us in step " + std::to_string(odd));
      ScriptedRecording script;
      for (int i = 0; i < 5; ++i)
        script.range("ProfilerStep#" + std::to_string(i),
                     [&] { script.kernel("a_gemm", i == odd ? us : 100).synchronize(); });
      const Recording recording = script.finish();
      const Analysis analysis = analyse(recording);
      EXPECT_EQ(analysis.steps.spans.size(), is_one ? 5u : 4u);
      EXPECT_EQ(analysis.steps.host.size(), analysis.steps.spans.size());
      EXPECT_EQ(analysis.work.size(), analysis.steps.spans.size());
      ASSERT_EQ(analysis.steps.outliers.size(), is_one ? 0u : 1u);
      if (is_one) continue;
      EXPECT_EQ(analysis.steps.outliers[0].number, static_cast<size_t>(odd) + 1);
      EXPECT_NEAR(static_cast<double>(analysis.steps.outliers[0].span.length_ns()) * 1e-3, us, 11);
    }
  }
}

TEST(Outliers, ExceedAFactorOfOneAndAHalf) {
  const auto left = [](int64_t odd) {
    Steps steps;
    for (const int64_t length : {int64_t{300}, int64_t{300}, odd, int64_t{300}, int64_t{300}})
      steps.spans.push_back({1000, 1000 + length}), steps.host.push_back({0, length});
    set_outliers_apart(steps);
    EXPECT_EQ(steps.spans.size() + steps.outliers.size(), 5u);
    EXPECT_EQ(steps.host.size(), steps.spans.size());
    for (const auto& outlier : steps.outliers) EXPECT_EQ(outlier.number, 3u);
    return steps.spans.size();
  };
  for (const int64_t length : {200, 201, 299, 300, 449, 450}) EXPECT_EQ(left(length), 5u) << length;
  for (const int64_t length : {0, 1, 199, 451, 3000}) EXPECT_EQ(left(length), 4u) << length;
}

// Nobody recorded who launched what ran when the recording began: it is no step's, and the first begins when it is
// over.
TEST(Steps, BeginAfterWorkFromBeforeTheRecording) {
  ScriptedRecording script;
  script.kernel("old_gemm", 500);
  for (int i = 0; i < 2; ++i) script.range("ProfilerStep#" + std::to_string(i), [&] { script.kernel("a_gemm", 100); });
  Recording recording = script.finish();
  for (Event& event : recording.events)
    if (recording.name_of(event) == "old_gemm") event.link = 0;
  const Analysis analysis = analyse(recording);
  EXPECT_THAT(lengths_us(analysis.steps), ElementsAre(100, 100));
  EXPECT_EQ(analysis.work.size(), 2u);
}

TEST(Steps, AreRangesThatRepeat) {
  ScriptedRecording script;
  for (int i = 0; i < 3; ++i) {
    script.range("infer", [&] {
      for (int part = 0; part < 5; ++part) script.range("layer " + std::to_string(part), [&] { layer(script); });
    });
    script.host(40);
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "ranges 'infer'");
  EXPECT_EQ(analysis.steps.spans.size(), 3u);
}

TEST(Steps, AreNumberedRanges) {
  ScriptedRecording script;
  for (int i = 0; i < 12; ++i) script.range("iteration_" + std::to_string(i), [&] { layer(script); });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "ranges 'iteration_'");
  EXPECT_EQ(analysis.steps.spans.size(), 12u);
}

TEST(Steps, AreNotTheNumberedPartsOfOneRange) {
  ScriptedRecording script;
  script.range("forward", [&] {
    script.kernel("embedding", 2);
    for (int i = 0; i < 12; ++i) script.range("layer_" + std::to_string(i), [&] { layer(script); });
    script.kernel("head_gemm", 9);
  });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "nothing repeats");
  EXPECT_EQ(analysis.work.size(), 38u);
  EXPECT_THAT(analysis.steps.spans, IsEmpty());
}

TEST(Steps, AreNotRangesWithLittleWork) {
  ScriptedRecording script;
  for (int i = 0; i < 5; ++i) {
    script.range("compiled part", [&] { script.kernel("a_norm_", 1); });
    layer(script);
    layer(script);
    layer(script);
    script.kernel("end_gemm", 1);
  }
  const Recording recording = script.finish();
  EXPECT_EQ(analyse(recording).steps.found_by, "repeated kernels");
}

TEST(Steps, AreGraphLaunches) {
  ScriptedRecording script;
  for (int i = 0; i < 6; ++i) script.graph({{"a_gemm", 5}, {"b_norm_", 3}}).synchronize();
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "graph launches");
  EXPECT_EQ(analysis.steps.spans.size(), 6u);
  EXPECT_EQ(analysis.work.size(), 12u);
}

TEST(Steps, AreSequencesOfGraphsThatDiffer) {
  ScriptedRecording script;
  for (int i = 0; i < 4; ++i) {
    script.graph({{"a_gemm", 5}, {"b_norm_", 3}}).graph({{"a_gemm", 5}, {"c_norm_", 3}});
    script.graph({{"a_gemm", 5}, {"b_norm_", 3}}).synchronize();
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "graph launches");
  EXPECT_EQ(analysis.steps.spans.size(), 4u);
}

TEST(Steps, AreKernelsThatRepeat) {
  ScriptedRecording script;
  for (int i = 0; i < 5; ++i) {
    script.kernel("embedding", 2);
    for (int part = 0; part < 8; ++part) layer(script);
    script.kernel("head_gemm", 5).synchronize();
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "repeated kernels");
  ASSERT_EQ(analysis.steps.spans.size(), 5u);
  for (const Span& step : analysis.steps.spans) EXPECT_EQ(work_in(analysis, step), 26u);
}

// A second stream, whose order differs each time, does not hide them, whichever stream is the first.
TEST(Steps, AreKernelsRepeatedOnTheBusiestStream) {
  for (const int64_t side : {3, 9}) {
    ScriptedRecording script;
    for (int i = 0; i < 5; ++i) {
      script.on_stream(side).kernel("side_" + std::to_string(i), 1).on_stream(7).kernel("embedding", 2);
      for (int part = 0; part < 8; ++part) {
        layer(script);
        if (part % (i + 2) == 1) script.on_stream(side).kernel("side_gemm", 30).on_stream(7);
      }
      script.synchronize();
    }
    const Recording recording = script.finish();
    const Analysis analysis = analyse(recording);
    EXPECT_EQ(analysis.steps.found_by, "repeated kernels");
    EXPECT_EQ(analysis.steps.spans.size() + analysis.steps.outliers.size(), 5u);
  }
}

TEST(Steps, AreKernelsThatRepeatWithoutAHost) {
  ScriptedRecording script;
  for (int i = 0; i < 5; ++i) {
    script.kernel("embedding", 2);
    for (int part = 0; part < 8; ++part) layer(script);
  }
  Recording recording = script.finish();
  std::erase_if(recording.events, [](const Event& event) { return !is_on_device(event.kind); });
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "repeated kernels");
  EXPECT_EQ(analysis.steps.spans.size(), 5u);
  EXPECT_EQ(analysis.work.size(), 125u);
}

// The recording begins within a step: the host waits at the end of each, which tells where they begin.
TEST(Steps, BeginAfterTheLongestPause) {
  ScriptedRecording script;
  layer(script);
  for (int i = 0; i < 5; ++i) {
    script.kernel("head_gemm", 5).synchronize().host(300).kernel("embedding", 2);
    for (int part = 0; part < 4; ++part) layer(script);
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "repeated kernels");
  ASSERT_EQ(analysis.steps.spans.size(), 4u);
  EXPECT_EQ(analysis.name(analysis.work.front()), "embedding");
}

TEST(Steps, AreNotTheLayersOfOne) {
  ScriptedRecording script;
  script.kernel("embedding", 2);
  for (int part = 0; part < 30; ++part) layer(script);
  script.kernel("head_gemm", 5);
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.found_by, "nothing repeats");
  EXPECT_EQ(analysis.work.size(), 92u);
  EXPECT_EQ(analysis.accounting.wall.start_ns, 1'000'000) << "the host's first call";
}

TEST(Steps, OfNoWorkAreNone) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] { script.op("aten::mm", [&] { script.host(5); }); });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_THAT(analysis.steps.spans, IsEmpty());
  EXPECT_THAT(analysis.work, IsEmpty());
  EXPECT_EQ(analysis.accounting.wall.length_ns(), 0);
  EXPECT_EQ(analysis.accounting.device, -1);
  const Recording nothing;
  EXPECT_THAT(analyse(nothing).work, IsEmpty());
}

std::vector<size_t> repetitions(const std::vector<uint32_t>& tokens) {
  return find_repetitions(tokens, std::vector<int64_t>(tokens.size(), 0));
}

TEST(Repetition, IsFoundFromItsRareTokens) {
  EXPECT_THAT(repetitions({1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2}), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(repetitions({1, 2, 1, 2, 3, 1, 2, 1, 2, 3}), ElementsAre(0, 5, 10));
  EXPECT_THAT(repetitions({7, 7, 7}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(repetitions({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}), ElementsAre(1, 4, 7, 10, 13));
}

TEST(Repetition, BeginsASequenceAfterItsLongestPause) {
  EXPECT_THAT(find_repetitions({3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, {0, 9, 1, 1, 9, 1, 1, 9, 1, 1}),
              ElementsAre(1, 4, 7, 10));
  EXPECT_THAT(find_repetitions({1, 2, 3, 1, 2, 3}, {0, 9, 1, 1, 9, 1}), ElementsAre(0, 3, 6)) << "of whole ones";
}

TEST(Repetition, MayBeUneven) {
  std::vector<uint32_t> tokens;
  std::vector<size_t> begins;
  for (const uint32_t more : {0, 1, 0, 0, 1, 1, 0, 1, 1, 1}) {
    begins.push_back(tokens.size());
    tokens.push_back(1);
    tokens.insert(tokens.end(), 20 + more, 2);
    tokens.push_back(100 + more);  // a kernel for each length
  }
  EXPECT_EQ(repetitions(tokens), begins);
}

TEST(Repetition, IsNotFoundWhereNothingRepeats) {
  EXPECT_THAT(repetitions({}), IsEmpty());
  EXPECT_THAT(repetitions({1}), IsEmpty());
  EXPECT_THAT(repetitions({1, 2, 3, 4}), IsEmpty());
  EXPECT_THAT(repetitions({1, 2, 1, 3, 4, 5, 6, 7}), IsEmpty());
  EXPECT_THAT(repetitions({5, 1, 1, 1, 1, 1, 1, 1, 1, 6}), IsEmpty()) << "layers of one step";
}

}  // namespace
}  // namespace rung::trace
