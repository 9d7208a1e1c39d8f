// Each cause of a gap, by a program that has it and by one that only looks like it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_recording.hpp"
#include "trace/analysis/analysis.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;

const CopyShape kToHostPageable{
    .bytes = 4, .from = MemoryKind::device, .to = MemoryKind::pageable, .device_to_host = true};
const CopyShape kToHostPinned{.bytes = 4, .from = MemoryKind::device, .to = MemoryKind::pinned, .device_to_host = true};

// Between two kernels of 50 us: the device comes to an end of the first while `body` runs.
template <class Body>
Recording between_kernels(const Body& body) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("first_gemm", 50);
    body(script);
    script.kernel("second_gemm", 50);
  });
  return script.finish();
}

struct Explained {
  GapCause cause;
  std::string call;
};

// Of the gap before the work of this name.
Explained explained(const Recording& recording, std::string_view before = "second_gemm") {
  const Analysis analysis = analyse(recording);
  for (const Gap& gap : analysis.accounting.gaps)
    if (gap.after != kNone && analysis.name(analysis.work[gap.after]) == before)
      return {gap.cause, gap.call == kNone ? "" : std::string(recording.name_of(recording.events[gap.call]))};
  return {GapCause::unknown, "no gap"};
}

void expect_cause(GapCause cause, std::string_view call, const Recording& recording) {
  const Explained got = explained(recording);
  EXPECT_EQ(name_of(got.cause), name_of(cause));
  EXPECT_EQ(got.call, call);
}

TEST(Gaps, AreTheHostsWhereItLaunchesLate) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", between_kernels([](auto& s) { s.host(200); }));
}

TEST(Gaps, AreTheDevicesWhereLaunchesAreTimely) {
  ScriptedRecording script;
  script.device_pause(1);
  script.range("ProfilerStep#1", [&] { script.kernel("first_gemm", 50).kernel("second_gemm", 50); });
  expect_cause(GapCause::device, "", script.finish());
}

TEST(Gaps, AreSynchronisationsWhereTheHostWaited) {
  expect_cause(GapCause::synchronization, "cudaStreamSynchronize", between_kernels([](auto& s) { s.synchronize(); }));
  expect_cause(GapCause::synchronization, "hipDeviceSynchronize",
               between_kernels([](auto& s) { s.synchronize("hipDeviceSynchronize").host(20); }));
}

TEST(Gaps, AreNoSynchronisationsWithNothingToWaitFor) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", between_kernels([](auto& s) { s.host(100).synchronize(); }));
  expect_cause(GapCause::host_bound, "cudaLaunchKernel",
               between_kernels([](auto& s) { s.host(60).runtime_call("hipDeviceSynchronize", 30); }));
}

// Other devices, other processes: what it waits for so long is not recorded.
TEST(Gaps, AreSynchronisationsWhereTheHostWaitsForLong) {
  expect_cause(GapCause::synchronization, "hipStreamSynchronize",
               between_kernels([](auto& s) { s.host(60).runtime_call("hipStreamSynchronize", 300); }));
}

// It had 40 us of lead when it waited; the 400 us after that would not have fitted into them.
TEST(Gaps, AreNoSynchronisationsBeforeMuchLongerHostWork) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", between_kernels([](auto& s) { s.synchronize().host(400); }));
}

TEST(Gaps, AreCopiesWhereTheHostWaitsWithinThem) {
  const auto cause_of = [](const CopyShape& shape, bool blocks) {
    ScriptedRecording script;
    script.range("ProfilerStep#1",
                 [&] { script.kernel("first_gemm", 50).copy(shape, 2, blocks).kernel("second_gemm", 50); });
    return explained(script.finish());
  };
  EXPECT_EQ(name_of(cause_of(kToHostPinned, true).cause), "copy");
  EXPECT_EQ(cause_of(kToHostPinned, true).call, "cudaMemcpy");
  EXPECT_EQ(cause_of(kToHostPinned, false).call, "no gap");
}

// What is asynchronous by name waits all the same where the host's memory is pageable.
TEST(Gaps, AreCopiesWhereMemoryIsPageable) {
  const auto cause_of = [](const CopyShape& shape) {
    const Recording recording =
        between_kernels([&](auto& s) { s.host(46).copy_in_call("cudaMemcpyAsync", shape, 1, 150); });
    return name_of(explained(recording, "Memcpy").cause);
  };
  EXPECT_EQ(cause_of(kToHostPageable), "copy");
  EXPECT_EQ(cause_of(kToHostPinned), "host-bound launch");
}

TEST(Gaps, AreAllocations) {
  for (const std::string_view name : {"cudaMalloc", "hipFree", "cudaHostAlloc", "cuMemCreate", "hipMallocAsync"})
    expect_cause(GapCause::allocation, name, between_kernels([&](auto& s) { s.runtime_call(name, 300); }));
}

// Each takes less than what the host does beside them; together they take most of the gap.
TEST(Gaps, AreAllocationsWhereTheseTakeMostTime) {
  expect_cause(GapCause::allocation, "cudaMalloc", between_kernels([](auto& s) {
                 s.host(250);
                 for (int i = 0; i < 4; ++i) s.runtime_call("cudaMalloc", 100);
               }));
}

TEST(Gaps, AreNotAllocationsWhereTheseTakeLittle) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel",
               between_kernels([](auto& s) { s.host(300).runtime_call("cudaMalloc", 10); }));
}

TEST(Gaps, AreCompilations) {
  expect_cause(GapCause::compilation, "cuModuleLoadData",
               between_kernels([](auto& s) { s.runtime_call("cuModuleLoadData", 500); }));
  expect_cause(GapCause::compilation, "inductor_compile (dynamo_timed)", between_kernels([](auto& s) {
                 s.op("inductor_compile (dynamo_timed)", [&] { s.host(100).runtime_call("cudaMalloc", 300); });
               }));
}

TEST(Gaps, AreNotCompilationsWhereWhatWasCompiledRuns) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", between_kernels([](auto& s) {
                 s.op("Torch-Compiled Region: 0/0",
                      [&] { s.range("## Call CompiledFxGraph x ##", [&] { s.host(90); }); });
               }));
}

TEST(Gaps, AreGraphLaunchesBeforeTheirFirstKernelOnly) {
  ScriptedRecording script;
  script.device_pause(1);
  script.range("ProfilerStep#1", [&] {
    script.kernel("first_gemm", 2);
    script.graph({{"second_gemm", 5}, {"third_gemm", 5}, {"fourth_gemm", 5}}, 60);
  });
  Recording recording = script.finish();
  for (Event& event : recording.events)  // a call may return after the first kernels have run
    if (recording.name_of(event) == "cudaGraphLaunch") event.duration_ns += 12'000;
  expect_cause(GapCause::graph_launch, "cudaGraphLaunch", recording);
  const Analysis analysis = analyse(recording);
  std::vector<std::string_view> causes;
  for (const Gap& gap : analysis.accounting.gaps) causes.push_back(name_of(gap.cause));
  EXPECT_THAT(causes, ElementsAre("host-bound launch", "device", "graph launch", "device", "device"));
}

std::vector<std::pair<std::string_view, int64_t>> parts(const Recording& recording) {
  std::vector<std::pair<std::string_view, int64_t>> found;
  const Analysis analysis = analyse(recording);
  for (const Gap& gap : analysis.accounting.gaps)
    if (gap.after != kNone && analysis.name(analysis.work[gap.after]) == "second_gemm")
      found.emplace_back(name_of(gap.cause), gap.span.length_ns() / 1000);
  return found;
}

TEST(Gaps, AreTheDevicesFromTheLaunchOn) {
  ScriptedRecording script;
  script.range("ProfilerStep#1",
               [&] { script.kernel("first_gemm", 50).host(70).device_pause(100'000).kernel("second_gemm", 50); });
  EXPECT_THAT(parts(script.finish()),
              ElementsAre(testing::Pair("host-bound launch", 22), testing::Pair("device", 99'978)));
}

TEST(Gaps, AreOtherWorkWhereTheHostTakesLong) {
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", between_kernels([](auto& s) { s.host(900); }));
  expect_cause(GapCause::host_work, "cudaLaunchKernel", between_kernels([](auto& s) { s.host(1100); }));
}

TEST(Gaps, AreInputLoading) {
  constexpr std::string_view kNext = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  expect_cause(GapCause::input_loading, kNext,
               between_kernels([&](auto& s) { s.range(kNext, [&] { s.host(5000); }).host(10); }));
  expect_cause(GapCause::host_work, "cudaLaunchKernel",
               between_kernels([&](auto& s) { s.range(kNext, [&] { s.host(500); }).host(5000); }));
}

// A program may be called after what it loads.
TEST(Gaps, AreNotInputLoadingByARangesName) {
  ScriptedRecording script;
  script.range("train with a DataLoader", [&] { script.kernel("first_gemm", 50).host(300).kernel("second_gemm", 50); });
  expect_cause(GapCause::host_bound, "cudaLaunchKernel", script.finish());
}

TEST(Gaps, AreUnrecordedWorkWhereALaunchHasNone) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("first_gemm", 50).runtime_call("hipGraphLaunch", 5).host(300).kernel("second_gemm", 50);
  });
  const Recording recording = script.finish();
  EXPECT_EQ(name_of(explained(recording).cause), "work not recorded");
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.launches.all, 3);
  EXPECT_EQ(analysis.launches.lost, 1);
  EXPECT_EQ(analysis.launches.lost_graphs, 1);
  EXPECT_TRUE(analysis.launches.are_lost());
}

TEST(Gaps, AreUnknownWithoutAHost) {
  ScriptedRecording script;
  script.kernel("first_gemm", 5).host(100).kernel("second_gemm", 5);
  Recording recording = script.finish();
  std::erase_if(recording.events, [](const Event& event) { return !is_on_device(event.kind); });
  const Analysis analysis = analyse(recording);
  ASSERT_EQ(analysis.accounting.gaps.size(), 1u);
  EXPECT_EQ(name_of(analysis.accounting.gaps[0].cause), "unknown");
  EXPECT_EQ(analysis.accounting.busy_ns, 10'000);
  EXPECT_EQ(analysis.accounting.host_op_ns, 0);
}

// A gap over the end of a step is cut there: time between steps is no step's.
TEST(Gaps, EndWhereStepsEnd) {
  ScriptedRecording script;
  for (int i = 0; i < 2; ++i) {
    script.range("ProfilerStep#" + std::to_string(i),
                 [&] { script.host(30).kernel("my_gemm", 10).synchronize().host(20); });
    script.host(500);
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  std::vector<std::string_view> causes;
  for (const Gap& gap : analysis.accounting.gaps) causes.push_back(name_of(gap.cause));
  EXPECT_THAT(causes, ElementsAre("host-bound launch", "device", "synchronization", "host-bound launch", "device",
                                  "synchronization"));
  EXPECT_EQ(analysis.steps.between_ns, 500'000);
  EXPECT_EQ(analysis.accounting.time_ns, analysis.accounting.wall.length_ns() - 500'000);
}

// Streams overlap: what began last may have ended long before.
TEST(Gaps, StandBehindTheWorkThatEndedLast) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.kernel("long_gemm", 300).on_stream(8).kernel("short_gemm", 20).on_stream(7);
    script.synchronize().host(50).kernel("next_gemm", 50);
  });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  int found = 0;
  for (const Gap& gap : analysis.accounting.gaps) {
    if (gap.after == kNone || analysis.name(analysis.work[gap.after]) != "next_gemm") continue;
    ASSERT_NE(gap.before, kNone);
    EXPECT_EQ(analysis.name(analysis.work[gap.before]), "long_gemm");
    ++found;
  }
  EXPECT_EQ(found, 2) << "until the launch, and from it on";
}

TEST(Launches, IntoACaptureRanNothing) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script.runtime_call("cudaStreamBeginCapture", 1);
    for (int i = 0; i < 3; ++i) script.runtime_call("cudaLaunchKernel", 4);
    script.runtime_call("cudaStreamEndCapture", 1).kernel("a_gemm", 50).runtime_call("cudaLaunchKernel", 4);
  });
  const Recording recording = script.finish();
  const Launches launches = analyse(recording).launches;
  EXPECT_EQ(launches.captured, 3);
  EXPECT_EQ(launches.all, 2);
  EXPECT_EQ(launches.lost, 1) << "the one after the capture";
}

// The runtime's call makes the driver's, and either may have the work.
TEST(Launches, WithinOneAnotherAreOne) {
  for (const bool outer_has_work : {true, false}) {
    ScriptedRecording script;
    script.range("ProfilerStep#1", [&] { script.kernel("a_gemm", 50).host(10).kernel("b_gemm", 50); });
    Recording recording = script.finish();
    const uint32_t driver = recording.strings.number_of("cuLaunchKernel");
    for (size_t i = 0, count = recording.events.size(); i < count; ++i) {
      Event event = recording.events[i];
      if (event.kind != EventKind::runtime_call) continue;
      event.start_ns += 1000, event.duration_ns -= 2000, event.name = driver;
      (outer_has_work ? event : recording.events[i]).link += 100;
      recording.events.push_back(event);
    }
    std::ranges::stable_sort(recording.events, {}, &Event::start_ns);
    const Launches launches = analyse(recording).launches;
    EXPECT_EQ(launches.all, 2) << outer_has_work;
    EXPECT_EQ(launches.lost, 0) << outer_has_work;
  }
}

// Steps of 100 us, one of 1,000, and 3 us of work after each.
TEST(Accounting, WorkOutsideIsOfNoStepAtAll) {
  ScriptedRecording script;
  for (int i = 0; i < 5; ++i) {
    script.range("ProfilerStep#" + std::to_string(i),
                 [&] { script.kernel("a_gemm", i == 2 ? 1000 : 100).synchronize(); });
    script.kernel("between_gemm", 3).synchronize().host(10);
  }
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.steps.outliers.size(), 1u);
  EXPECT_EQ(analysis.work.size(), 4u);
  EXPECT_EQ(analysis.accounting.outside, 5) << "without that of the outlier";
  EXPECT_EQ(analysis.accounting.outside_ns, 15'000);
}

TEST(Accounting, IgnoresOtherThreadsAndTimeBetweenSteps) {
  ScriptedRecording script;
  for (int i = 0; i < 2; ++i) {
    script.range("ProfilerStep#" + std::to_string(i), [&] { script.kernel("a_gemm", 50).synchronize(); });
    script.op("aten::between", [&] { script.host(30); });
  }
  Recording recording = script.finish();
  recording.lanes.push_back({false, -1, 1, 2, "other"});
  Event other = recording.events.front();
  other.kind = EventKind::host_op, other.duration_ns = 500'000, other.lane = 2;
  recording.events.insert(recording.events.begin(), other);
  const Accounting accounting = analyse(recording).accounting;
  EXPECT_EQ(accounting.time_ns, 2 * 56'000);
  EXPECT_EQ(accounting.host_op_ns, 2 * 56'000) << "a launch and a wait in each step";
}

TEST(Accounting, CountsTimeOfTheLaunchingThread) {
  ScriptedRecording script;
  script.range("ProfilerStep#1", [&] {
    script
        .op(
            "aten::mm", [&] { script.host(10).kernel("my_gemm", 5); }, {}, 6)
        .host(100);
  });
  const Recording recording = script.finish();
  const Analysis analysis = analyse(recording);
  EXPECT_EQ(analysis.accounting.host_op_ns, (6 + 10 + 4) * 1000);
  EXPECT_EQ(analysis.accounting.by_category_ns[static_cast<size_t>(KernelCategory::gemm)], 5000);
}

}  // namespace
}  // namespace rung::trace
