// Findings of several GPUs: from one rank's recording, or from a process that launches to all of them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"
#include "trace/findings/collectives.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr int64_t kSmallBytes = 16'384, kLargeBytes = 64'000'000;

// On a stream of its own, as PyTorch launches it; `bytes` below zero: a graph's replay, which tells nothing.
void all_reduce(ScriptedRecording& script, int64_t bytes, double us, uint32_t ranks = 8) {
  OperandTexts noted;
  noted.message_bytes = bytes;
  noted.ranks = bytes < 0 ? 0 : ranks;
  script.op("c10d::allreduce_", [&] {
    script.op(
        "record_param_comms", [&] { script.on_stream(20).kernel(kAllReduce, us).on_stream(7); }, noted);
  });
}
void gemm(ScriptedRecording& script, double us) {
  script.op("aten::mm", [&] { script.kernel("gemm", us); });
}

// Layers of a product and a sum that must wait for each other, so that the host waits too.
Recording in_series(std::string_view device, int layers, int64_t bytes, double us, uint32_t ranks = 8) {
  return recorded_steps(
      [&](ScriptedRecording& script) {
        for (int i = 0; i < layers; ++i) {
          gemm(script, 100);
          script.synchronize();
          all_reduce(script, bytes, us, ranks);
          script.synchronize();
        }
      },
      device);
}

TEST(CollectivesTest, TakeGroupAndMessageFromTheirOperation) {
  const Recording recording = in_series("NVIDIA H100", 1, kSmallBytes, 20, 4);
  const Analysis analysis = analyse(recording);
  const std::vector<Collective> found = collectives_of(analysis);
  ASSERT_EQ(found.size(), size_t{kSteps});
  EXPECT_EQ(found[0].ranks, 4u);
  EXPECT_EQ(found[0].message_bytes, kSmallBytes);
}

TEST(CollectivesTest, OnlyWhatRunsAloneIsExposed) {
  const Recording recording = recorded_steps([](ScriptedRecording& script) {
    gemm(script, 100);
    script.host(1);
    all_reduce(script, kLargeBytes, 300);
  });
  const Analysis analysis = analyse(recording);
  // The product starts 2 us after its launch, the sum one operation, its own and a launch later.
  EXPECT_NEAR(static_cast<double>(exposed_ns(analysis, collectives_of(analysis))) / kSteps, 207'500, 1'000);
}

// ---- late_ranks
// One step's sums, each of its own length.
Recording sums_of(int64_t bytes, std::initializer_list<double> us) {
  return recorded_steps([&](ScriptedRecording& script) {
    for (const double one : us) {
      gemm(script, 100);
      script.synchronize();
      all_reduce(script, bytes, one);
      script.synchronize();
    }
  });
}

TEST(LateRanksTest, WaitsAreWhatExceedsTheQuickestMessage) {
  const Found found(findings::late_ranks, sums_of(kLargeBytes, {400, 400, 900, 650}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 0.750, 1e-6);
  EXPECT_THAT(found->title, HasSubstr("in 2 collectives"));
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].count, kSteps * 2);
  EXPECT_NEAR(found->evidence[0].ms, kSteps * 0.750, 1e-6);
}

// One sum in each step: the quickest is in another step than the one that is looked at.
TEST(LateRanksTest, TheQuickestMayBeInAnotherStep) {
  std::vector<double> us{700, 400, 650};
  const Recording recording = recorded_steps([&](ScriptedRecording& script) {
    gemm(script, 100);
    script.synchronize();
    all_reduce(script, kLargeBytes, us.back());
    us.pop_back();
  });
  const Analysis all = analyse(recording);
  const auto finding = findings::late_ranks(median_step(all));
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.250, 1e-6);
}

TEST(LateRanksTest, SmallMessagesAreHeldAgainstASlowLink) {
  const Found found(findings::late_ranks, sums_of(kSmallBytes, {500, 500}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 2 * (0.500 - 0.060 - kSmallBytes / 10e6), 1e-6);
}

TEST(LateRanksTest, WaitsAreNoTransfers) {
  const Found found(findings::exposed_collectives, sums_of(kLargeBytes, {400, 400, 900, 650}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 1.6, 1e-6);
  EXPECT_THAT(found->title, HasSubstr("take 1.60 ms of a step"));
}

TEST(LateRanksTest, NotMessagesOfAnotherSize) {
  EXPECT_FALSE(Found(findings::late_ranks, recorded_steps([](ScriptedRecording& script) {
                       all_reduce(script, kSmallBytes, 20);
                       script.synchronize();
                       all_reduce(script, kLargeBytes, 900);
                     })));
}

TEST(LateRanksTest, NotMessagesOfAnotherGroup) {
  EXPECT_FALSE(Found(findings::late_ranks, recorded_steps([](ScriptedRecording& script) {
                       all_reduce(script, kLargeBytes, 400, 2);
                       script.synchronize();
                       all_reduce(script, kLargeBytes, 900, 8);
                     })));
}

TEST(LateRanksTest, NotWhereTheSizeIsNotRecorded) {
  EXPECT_FALSE(Found(findings::late_ranks, sums_of(-1, {400, 900})));
}

TEST(LateRanksTest, NotWaitsBesideOtherWork) {
  EXPECT_FALSE(Found(findings::late_ranks, recorded_steps([](ScriptedRecording& script) {
                       all_reduce(script, kLargeBytes, 400);
                       script.synchronize();
                       gemm(script, 2000);
                       all_reduce(script, kLargeBytes, 900);
                     })));
}

// ---- small_collectives
TEST(SmallCollectivesTest, ManySmallSumsInSeries) {
  const Found found(findings::small_collectives, in_series("NVIDIA H100", 16, kSmallBytes, 20));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("16 small collectives per step, 16.4 KB each at most"));
  EXPECT_NEAR(found->bound_ms, 16 * 0.020, 1e-6);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].event, kAllReduce);
  EXPECT_EQ(found->evidence[0].count, kSteps * 16);
}

TEST(SmallCollectivesTest, ShortOnesWhoseSizeIsNotRecorded) {
  const Found found(findings::small_collectives, in_series("NVIDIA H100", 16, -1, 20));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("20.0 µs each"));
}

TEST(SmallCollectivesTest, NotLongOnesWhoseSizeIsNotRecorded) {
  EXPECT_FALSE(Found(findings::small_collectives, in_series("NVIDIA H100", 16, -1, 200)));
}

TEST(SmallCollectivesTest, NotAFew) {
  EXPECT_FALSE(Found(findings::small_collectives, in_series("NVIDIA H100", 4, kSmallBytes, 20)));
}

TEST(SmallCollectivesTest, NotLargeOnes) {
  EXPECT_FALSE(Found(findings::small_collectives, in_series("NVIDIA H100", 16, kLargeBytes, 400)));
}

TEST(SmallCollectivesTest, NotWhereProductsOverlapThem) {
  EXPECT_FALSE(Found(findings::small_collectives, recorded_steps([](ScriptedRecording& script) {
                       gemm(script, 4000);
                       for (int i = 0; i < 16; ++i) all_reduce(script, kSmallBytes, 20);
                     })));
}

// ---- exposed_collectives
TEST(ExposedCollectivesTest, LargeSumsWithNothingBesideThem) {
  const Found found(findings::exposed_collectives, in_series("NVIDIA H100", 2, kLargeBytes, 400));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 0.8, 1e-6);
  EXPECT_THAT(found->title, HasSubstr("2 of them"));
  for (const Change& change : found->changes)
    EXPECT_THAT(std::string(change.what), Not(HasSubstr("GPU_MAX_HW_QUEUES")));
}

TEST(ExposedCollectivesTest, AmdHasQueuesToSet) {
  const Found found(findings::exposed_collectives, in_series("AMD Instinct MI300X", 2, kLargeBytes, 400));
  ASSERT_TRUE(found);
  EXPECT_THAT(std::string(found->changes[3].what), HasSubstr("GPU_MAX_HW_QUEUES=2"));
  EXPECT_THAT(found->title, Not(HasSubstr("streams are in use")));
}

TEST(ExposedCollectivesTest, ManyStreamsOnAmdAreNamed) {
  const Found found(findings::exposed_collectives, recorded_steps(
                                                       [](ScriptedRecording& script) {
                                                         for (const int64_t stream : {1, 2, 3, 4})
                                                           script.on_stream(stream).kernel("gemm", 10);
                                                         script.on_stream(7).synchronize();
                                                         all_reduce(script, kLargeBytes, 400);
                                                       },
                                                       "AMD Instinct MI300X"));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("5 streams are in use"));
}

TEST(ExposedCollectivesTest, NotWhereProductsOverlapThem) {
  EXPECT_FALSE(Found(findings::exposed_collectives, recorded_steps([](ScriptedRecording& script) {
                       gemm(script, 1000);
                       all_reduce(script, kLargeBytes, 400);
                     })));
}

TEST(ExposedCollectivesTest, NotSmallOnes) {
  EXPECT_FALSE(Found(findings::exposed_collectives, in_series("NVIDIA H100", 16, kSmallBytes, 20)));
}

// ---- collective_group
TEST(CollectiveGroupTest, AGroupOfTwoOnMi300x) {
  const Found found(findings::collective_group, in_series("AMD Instinct MI300X", 2, kLargeBytes, 400, 2));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("2 collectives per step in groups of 2"));
  EXPECT_THAT(found->evidence[0].event, HasSubstr("of 2 ranks"));
  EXPECT_NEAR(found->bound_ms, 0.8, 1e-6);
}

TEST(CollectiveGroupTest, NamesTheMostFrequentOfSeveralSizes) {
  for (const auto& [often, seldom] : {std::pair{2u, 4u}, {4u, 2u}}) {
    const Found found(findings::collective_group, recorded_steps(
                                                      [&](ScriptedRecording& script) {
                                                        for (const uint32_t ranks : {often, seldom, often, often, 8u})
                                                          all_reduce(script, kLargeBytes, 400, ranks);
                                                      },
                                                      "AMD Instinct MI300X"));
    ASSERT_TRUE(found);
    EXPECT_THAT(found->title, HasSubstr("4 collectives per step in groups of " + std::to_string(often) + ":"));
    ASSERT_EQ(found->evidence.size(), 2u);
    EXPECT_THAT(found->evidence[0].event, HasSubstr("of " + std::to_string(often) + " ranks"));
    EXPECT_EQ(found->evidence[0].count, kSteps * 3);
    EXPECT_NEAR(found->bound_ms, 1.6, 1e-6) << "the one of eight uses all links";
  }
}

// The analysis is of the second GPU: its name counts.
TEST(CollectiveGroupTest, OfTheGpuThatIsAtWork) {
  const auto on_second = [](std::vector<std::string> names) {
    Recording recording = in_series("", 2, kLargeBytes, 400, 2);
    for (Lane& lane : recording.lanes)
      if (lane.on_device) lane.device = 1;
    recording.device_names = std::move(names);
    return recording;
  };
  const std::vector<std::string> amd_second{"NVIDIA H100", "AMD Instinct MI300X"};
  const std::vector<std::string> amd_first{"AMD Instinct MI300X", "NVIDIA H100"};
  EXPECT_TRUE(Found(findings::collective_group, on_second(amd_second)));
  EXPECT_FALSE(Found(findings::collective_group, on_second(amd_first)));
  EXPECT_EQ(Found(findings::exposed_collectives, on_second(amd_second))->changes.size(), 5u);
  EXPECT_EQ(Found(findings::exposed_collectives, on_second(amd_first))->changes.size(), 3u);
}

TEST(SmallCollectivesTest, AreSmallUpToAStatedSize) {
  for (const bool noted : {true, false}) {
    const auto is_small_of = [&](int64_t bytes, double us) {
      return Found(findings::small_collectives, in_series("NVIDIA H100", 16, noted ? bytes : -1, us));
    };
    EXPECT_TRUE(is_small_of(kMostSmallBytes, 60));
    EXPECT_FALSE(is_small_of(kMostSmallBytes + 1, 60.001)) << noted;
  }
  EXPECT_TRUE(Found(findings::small_collectives, in_series("NVIDIA H100", 16, kMostSmallBytes, 90)))
      << "its size is known, and counts";
}

TEST(CollectiveGroupTest, NotGroupsOfEightOrWholeMachines) {
  EXPECT_FALSE(Found(findings::collective_group, in_series("AMD Instinct MI300X", 2, kLargeBytes, 400, 8)));
  EXPECT_FALSE(Found(findings::collective_group, in_series("AMD Instinct MI300X", 2, kLargeBytes, 400, 16)));
}

TEST(CollectiveGroupTest, NotAGroupOfOne) {
  EXPECT_FALSE(Found(findings::collective_group, in_series("AMD Instinct MI300X", 2, kLargeBytes, 400, 1)));
}

TEST(CollectiveGroupTest, NotWhereTheGroupIsNotRecorded) {
  EXPECT_FALSE(Found(findings::collective_group, in_series("AMD Instinct MI300X", 2, -1, 400)));
}

TEST(CollectiveGroupTest, NotOnOtherCards) {
  EXPECT_FALSE(Found(findings::collective_group, in_series("NVIDIA H100", 2, kLargeBytes, 400, 2)));
  EXPECT_FALSE(Found(findings::collective_group, in_series("AMD Instinct MI300A", 2, kLargeBytes, 400, 2)));
}

// ---- one_process_many_gpus
Recording on_devices(int devices, double us, int64_t second_process = 1) {
  Recording recording = recorded_steps([&](ScriptedRecording& script) {
    for (int i = 0; i < 16; ++i)
      for (int device = 0; device < devices; ++device) {
        script.on_stream(7, device);
        gemm(script, us);
        script.host(20);
      }
    script.on_stream(7, 0);
  });
  if (second_process == 1) return recording;
  // The calls behind the second device's work become another process's.
  std::vector<uint32_t> links;
  for (const Event& event : recording.events)
    if (is_on_device(event.kind) && recording.lanes[event.lane].device == 1) links.push_back(event.link);
  recording.lanes.push_back({false, -1, second_process, 1, "worker"});
  for (Event& event : recording.events)
    if (event.kind == EventKind::runtime_call && std::ranges::find(links, event.link) != links.end())
      event.lane = static_cast<uint16_t>(recording.lanes.size() - 1);
  return recording;
}

TEST(OneProcessManyGpusTest, OneProcessLaunchesToTwo) {
  const Found found(findings::one_process_many_gpus, on_devices(2, 5));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("One process launches to 2 GPUs"));
  EXPECT_NEAR(found->bound_ms, 16 * 0.020, 1e-6);  // from the end of its kernel to the end of the other launch
  ASSERT_EQ(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[1].event, "kernels on device 1");
  EXPECT_EQ(found->evidence[1].count, kSteps * 16);
}

// The busiest GPU may be the second: what it waits for is work for the first.
TEST(OneProcessManyGpusTest, AreTheSameWhicheverIsBusiest) {
  const auto numbered = [](bool swapped) {
    Recording recording = on_devices(2, 5);
    for (Event& event : recording.events)
      if (is_on_device(event.kind) && recording.lanes[event.lane].device == 0) event.duration_ns += 100;
    for (Lane& lane : recording.lanes)
      if (lane.on_device && swapped) lane.device = 1 - lane.device;
    return Found(findings::one_process_many_gpus, std::move(recording));
  };
  const Found first = numbered(false), second = numbered(true);
  ASSERT_TRUE(first && second);
  EXPECT_NEAR(first->bound_ms, 16 * 0.0199, 1e-6);
  EXPECT_DOUBLE_EQ(first->bound_ms, second->bound_ms);
  EXPECT_NEAR(first->evidence[0].ms, kSteps * 16 * 0.0051, 1e-9);
  EXPECT_NEAR(second->evidence[0].ms, kSteps * 16 * 0.0050, 1e-9);
}

TEST(OneProcessManyGpusTest, NotOneGpu) { EXPECT_FALSE(Found(findings::one_process_many_gpus, on_devices(1, 5))); }

TEST(OneProcessManyGpusTest, NotAProcessForEach) {
  EXPECT_FALSE(Found(findings::one_process_many_gpus, on_devices(2, 5, 2)));
}

TEST(OneProcessManyGpusTest, NotWhereTwoProcessesUseTheSameNumbers) {
  // Two ranks' recordings in one file: each numbers its calls from 1.
  Recording recording = on_devices(2, 5);
  recording.lanes.push_back({false, -1, 2, 1, "rank 1"});
  for (size_t i = 0, recorded = recording.events.size(); i < recorded; ++i) {
    Event event = recording.events[i];
    if (event.kind != EventKind::runtime_call) continue;
    event.lane = static_cast<uint16_t>(recording.lanes.size() - 1);
    recording.events.push_back(event);
  }
  std::ranges::stable_sort(recording.events, {}, &Event::start_ns);
  EXPECT_FALSE(Found(findings::one_process_many_gpus, std::move(recording)));
}

TEST(OneProcessManyGpusTest, NotWhereNoGpuWaits) {
  EXPECT_FALSE(Found(findings::one_process_many_gpus, on_devices(2, 500)));
}

TEST(OneProcessManyGpusTest, NotForAKernelOrTwoOnAnother) {
  EXPECT_FALSE(Found(findings::one_process_many_gpus, recorded_steps([](ScriptedRecording& script) {
                       for (int i = 0; i < 20; ++i) gemm(script, 5), script.host(20);
                       script.on_stream(7, 1).kernel("copy", 5).on_stream(7, 0);
                     })));
}

TEST(CollectiveFindingsTest, NothingWithoutWork) {
  const Recording recording;
  for (const auto find : {findings::small_collectives, findings::exposed_collectives, findings::collective_group,
                          findings::one_process_many_gpus})
    EXPECT_FALSE(find(analyse(recording)));
}

}  // namespace
}  // namespace rung::trace
