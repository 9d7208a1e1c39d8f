// What the host does wrong is found where it is, and only there; bounds are worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

// In microseconds: a launch takes 4 of the host and 2 more to the device, an operation 1.
constexpr double kLong = 300, kShort = 5;

void layer(ScriptedRecording& script, double us) {
  script.op("aten::mm", [&] { script.kernel("gemm", us); });
}
void layers(ScriptedRecording& script, int count, double us) {
  for (int i = 0; i < count; ++i) layer(script, us);
}
void item(ScriptedRecording& script) {
  script.op("aten::item", [&] {
    script.op("aten::_local_scalar_dense", [&] {
      script.copy({.bytes = 4, .device_to_host = true}, 1, false);
      script.synchronize();
    });
  });
}

// ---- launch_bound
TEST(LaunchBoundTest, ShortKernelsLaunchedOneByOne) {
  const Found found(findings::launch_bound, recorded_steps([](ScriptedRecording& script) {
                      for (int i = 0; i < 20; ++i) {
                        layer(script, kShort);
                        script.host(30);
                      }
                    }));
  ASSERT_TRUE(found);
  // 35 us from launch to launch, less the kernel's 5; 6.5 until the first one starts.
  EXPECT_NEAR(found->bound_ms, 19 * 0.030 + 0.0065, 0.0005);
  EXPECT_THAT(found->title, HasSubstr("20 calls launch 20 pieces of work"));
  ASSERT_GE(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[0].event, "gaps before work that was launched late");
  EXPECT_GE(found->evidence[0].count, kSteps * 19);
  EXPECT_EQ(found->evidence[1].event, "cudaLaunchKernel");
  EXPECT_EQ(found->evidence[1].count, kSteps * 20);
}

TEST(LaunchBoundTest, NotWhereTheDeviceIsBusy) {
  EXPECT_FALSE(Found(findings::launch_bound, recorded_steps([](ScriptedRecording& s) { layers(s, 20, kLong); })));
}

TEST(LaunchBoundTest, NotWhereAGraphIsReplayed) {
  EXPECT_FALSE(Found(findings::launch_bound, recorded_steps([](ScriptedRecording& script) {
                       script.graph({{"gemm", 5.0}, {"gemm", 5.0}, {"gemm", 5.0}, {"gemm", 5.0}});
                     })));
}

TEST(LaunchBoundTest, NotWhereAWaitCostTheHostsLead) {
  // Long kernels, but the first ones after the wait are short: they come late because the host had waited. Without the
  // wait the long kernel before them, 300 us, would hide the host's 160.
  const Recording recording = recorded_steps([](ScriptedRecording& script) {
    layer(script, kLong);
    for (int i = 0; i < 4; ++i) {
      item(script);
      for (int k = 0; k < 8; ++k) layer(script, kShort), script.host(15);
      layer(script, kLong);
    }
  });
  EXPECT_FALSE(findings::launch_bound(analyse(recording)));
  EXPECT_TRUE(findings::sync_in_step(analyse(recording)));
}

TEST(LaunchBoundTest, TheProfilersOwnTimeIsTakenOff) {
  const auto program = [](ScriptedRecording& script) {
    for (int i = 0; i < 20; ++i)
      script.op("aten::linear", [&] { script.op("aten::mm", [&] { script.kernel("gemm", kShort).host(30); }); });
  };
  const Found found(findings::launch_bound, recorded_steps(program));
  ASSERT_TRUE(found);
  // An operation starts 0.5 us after the one around it: each of the 40 costs 1 us at least.
  const double gaps_ms = found->evidence[0].ms / kSteps;
  EXPECT_LT(found->bound_ms, gaps_ms - 0.030);
  EXPECT_GT(found->bound_ms, gaps_ms - 0.045);
}

// ---- sync_in_step
TEST(SyncInStepTest, AnItemPerLayer) {
  const Found found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                      for (int i = 0; i < 4; ++i) {
                        layers(script, 2, kLong);
                        item(script);
                        script.host(50);
                      }
                      layer(script, kLong);
                    }));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->evidence.size(), 1u);
  EXPECT_EQ(found->evidence[0].event, "aten::item > cudaStreamSynchronize");
  EXPECT_EQ(found->evidence[0].count, kSteps * 4);
  EXPECT_THAT(found->title, HasSubstr("The host waits for the device 4 times inside a step"));
  // After each wait: 50 and about 8 us until the next kernel starts.
  EXPECT_NEAR(found->bound_ms, 4 * 0.058, 0.01);
}

TEST(SyncInStepTest, TheWaitThatEndsAStepIsNeeded) {
  EXPECT_FALSE(Found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                       layers(script, 4, kLong);
                       item(script);
                     })));
}

TEST(SyncInStepTest, NotTheWaitThatBeginsAStep) {
  EXPECT_FALSE(Found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                       script.synchronize("cudaDeviceSynchronize").host(100);
                       layers(script, 4, kLong);
                     })));
}

TEST(SyncInStepTest, AWaitForWhatIsDoneCostsNothing) {
  EXPECT_FALSE(Found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                       layer(script, kShort);
                       script.host(400).synchronize();
                       layers(script, 4, kLong);
                     })));
}

TEST(SyncInStepTest, ACopyBackThatBlocksIsOneToo) {
  const Found found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                      layers(script, 2, kLong);
                      script.copy({.bytes = 4096, .device_to_host = true}, 3, true).host(100);
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence[0].event, "cudaMemcpy");
}

TEST(SyncInStepTest, HipWaitsByItsOwnNames) {
  const Found found(findings::sync_in_step, recorded_steps([](ScriptedRecording& script) {
                      layers(script, 2, kLong);
                      script.synchronize("hipDeviceSynchronize").host(100);
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence[0].event, "hipDeviceSynchronize");
}

// ---- pageable_copy
CopyShape upload(MemoryKind from) {
  return {.bytes = 16'000'000, .from = from, .to = MemoryKind::device, .host_to_device = true};
}
Recording with_upload(MemoryKind from, bool blocks) {
  return recorded_steps([&](ScriptedRecording& script) {
    layers(script, 2, kLong);
    script.op("aten::to", [&] { script.copy(upload(from), 1000, blocks); });
    script.host(100);
    layers(script, 2, kLong);
  });
}

TEST(PageableCopyTest, UploadsFromPageableMemory) {
  const Found found(findings::pageable_copy, with_upload(MemoryKind::pageable, true));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("1 copies per step"));
  EXPECT_THAT(found->title, HasSubstr("16 MB at 16 GB/s"));
  EXPECT_NEAR(found->bound_ms, 1.0 + 0.108, 0.002);  // and 108 us from its end to the next kernel
  ASSERT_EQ(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[0].event, "Memcpy HtoD");
  EXPECT_EQ(found->evidence[0].count, kSteps);
  EXPECT_EQ(found->evidence[1].event, "aten::to > cudaMemcpy");
}

TEST(PageableCopyTest, SeveralUploadsCountTogether) {
  const Found found(findings::pageable_copy, recorded_steps([](ScriptedRecording& script) {
                      CopyShape half = upload(MemoryKind::pageable);
                      half.bytes /= 2;
                      layers(script, 2, kLong);
                      script.copy(upload(MemoryKind::pageable), 1000, true).copy(half, 500, true);
                      script.copy(upload(MemoryKind::pinned), 200, false);
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("2 copies per step from pageable memory to the device: 1.50 ms, 24 MB at 16 "
                                      "GB/s"));
  EXPECT_EQ(found->evidence[0].count, kSteps * 2);
}

TEST(PageableCopyTest, TheWaitOfTheUploadIsNoSynchronisation) {
  EXPECT_FALSE(Found(findings::sync_in_step, with_upload(MemoryKind::pageable, true)));
}

TEST(PageableCopyTest, NotFromPinnedMemory) {
  EXPECT_FALSE(Found(findings::pageable_copy, with_upload(MemoryKind::pinned, false)));
}

TEST(PageableCopyTest, NotWhereTheProfilerDoesNotTell) {
  EXPECT_FALSE(Found(findings::pageable_copy, with_upload(MemoryKind::unknown, true)));
}

TEST(PageableCopyTest, NotFromTheDevice) {
  EXPECT_FALSE(Found(findings::pageable_copy, recorded_steps([](ScriptedRecording& script) {
                       layers(script, 2, kLong);
                       script.copy({.bytes = 16'000'000, .to = MemoryKind::pageable, .device_to_host = true}, 1000,
                                   true);
                       layers(script, 2, kLong);
                     })));
}

TEST(PageableCopyTest, NotASmallOne) {
  EXPECT_FALSE(Found(findings::pageable_copy, recorded_steps([](ScriptedRecording& script) {
                       layers(script, 4, kLong);
                       script.copy({.bytes = 64, .from = MemoryKind::pageable, .host_to_device = true}, 1, false);
                       layers(script, 4, kLong);
                     })));
}

// ---- allocation_in_step
TEST(AllocationInStepTest, AnAllocationPerStep) {
  const Found found(findings::allocation_in_step, recorded_steps([](ScriptedRecording& script) {
                      layer(script, kShort);
                      script.runtime_call("cudaMalloc", 400);
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence[0].event, "cudaMalloc");
  EXPECT_EQ(found->evidence[0].count, kSteps);
  EXPECT_NEAR(found->bound_ms, 0.4, 0.01);  // the first kernel is over before the host goes on
}

TEST(AllocationInStepTest, SeveralCountTogetherAndByName) {
  const Found found(findings::allocation_in_step, recorded_steps([](ScriptedRecording& script) {
                      layer(script, kShort);
                      script.runtime_call("cudaMalloc", 400).runtime_call("cudaFree", 100);
                      script.runtime_call("cudaMalloc", 300);
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("3 times inside a step: 800 µs of the host's time"));
  ASSERT_EQ(found->evidence.size(), 2u);
  EXPECT_EQ(found->evidence[0].event, "cudaMalloc");
  EXPECT_EQ(found->evidence[0].count, kSteps * 2);
  EXPECT_NEAR(found->evidence[0].ms, kSteps * 0.7, 1e-9);
  EXPECT_EQ(found->evidence[1].event, "cudaFree");
  EXPECT_NEAR(found->bound_ms, 0.8, 0.01);
}

TEST(AllocationInStepTest, NotWhereTheDeviceHasWorkMeanwhile) {
  EXPECT_FALSE(Found(findings::allocation_in_step, recorded_steps([](ScriptedRecording& script) {
                       layers(script, 4, kLong);
                       script.runtime_call("cudaMalloc", 400);
                       layers(script, 2, kLong);
                     })));
}

TEST(AllocationInStepTest, NotBetweenSteps) {
  EXPECT_FALSE(Found(findings::allocation_in_step, recorded_steps([](ScriptedRecording& script) {
                       script.runtime_call("cudaMalloc", 400);
                       layers(script, 2, kLong);
                     })));
}

// ---- tuning_in_run
TEST(TuningInRunTest, CompilationInsideSteps) {
  const Found found(findings::tuning_in_run, recorded_steps([](ScriptedRecording& script) {
                      script.op("entire_frame_compile",
                                [&] { script.op("backend_compile (dynamo_timed)", [&] { script.host(5000); }); });
                      layers(script, 2, kLong);
                    }));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 5.0, 0.01);  // what is nested counts once
  EXPECT_EQ(found->evidence[0].event, "entire_frame_compile");
  EXPECT_EQ(found->evidence[0].count, kSteps);
  EXPECT_EQ(found->title.find("shapes differ"), std::string::npos);
}

TEST(TuningInRunTest, ShapesThatDifferAreNamed) {
  int length = 16;
  const Found found(findings::tuning_in_run, recorded_steps([&](ScriptedRecording& script) {
                      script.runtime_call("hipModuleLoadData", 2000);
                      const auto operands = script.operands("[[" + std::to_string(length++) + ",64]]", "[\"float\"]");
                      script.op(
                          "aten::relu", [&] { script.kernel("relu", kLong); }, operands);
                    }));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("shapes differ from step to step"));
}

TEST(TuningInRunTest, NotWhereNothingIsCompiled) {
  EXPECT_FALSE(Found(findings::tuning_in_run, recorded_steps([](ScriptedRecording& script) {
                       script.op("Torch-Compiled Region: 0/0", [&] { layers(script, 2, kLong); });
                     })));
}

// ---- graph_break
void compiled(ScriptedRecording& script, int kernels) {
  script.range("## Call CompiledFxGraph abc ##", [&] { script.host(20), layers(script, kernels, kShort); });
}

TEST(GraphBreakTest, EagerAttentionBetweenCompiledParts) {
  const Found found(findings::graph_break, recorded_steps([](ScriptedRecording& script) {
                      for (int i = 0; i < 3; ++i) {
                        compiled(script, 2);
                        script.op("aten::scaled_dot_product_attention",
                                  [&] { script.host(50).kernel("flash", kShort); });
                      }
                      compiled(script, 2);
                    }));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("cut 3 times"));
  EXPECT_EQ(found->evidence[0].event, "compiled regions");
  EXPECT_EQ(found->evidence[0].count, kSteps * 4);
  EXPECT_EQ(found->evidence[1].event, "aten::scaled_dot_product_attention");
  EXPECT_EQ(found->evidence[1].count, kSteps * 3);
  // Before the attention 50 us, before the next part's first kernel 20: a kernel of 5 hides the rest of the host's
  // time.
  EXPECT_NEAR(found->bound_ms, 3 * 0.070, 0.001);
}

TEST(GraphBreakTest, NotOneCompiledPartPerStep) {
  EXPECT_FALSE(Found(findings::graph_break, recorded_steps([](ScriptedRecording& script) {
                       compiled(script, 4);
                       script.op("aten::argmax", [&] { script.host(50).kernel("argmax", kShort); });
                     })));
}

TEST(GraphBreakTest, NotPartsWithoutEagerWorkBetweenThem) {
  EXPECT_FALSE(Found(findings::graph_break, recorded_steps([](ScriptedRecording& script) {
                       for (int i = 0; i < 3; ++i) compiled(script, 2), script.host(50);
                     })));
}

TEST(GraphBreakTest, NotWhereTheDeviceNeverWaits) {
  EXPECT_FALSE(Found(findings::graph_break, recorded_steps([](ScriptedRecording& script) {
                       layers(script, 4, kLong);
                       for (int i = 0; i < 3; ++i) {
                         compiled(script, 2);
                         script.op("aten::scaled_dot_product_attention", [&] { script.kernel("flash", kShort); });
                       }
                     })));
}

TEST(GraphBreakTest, RegionsOfDynamoWhereNoGraphIsNamed) {
  EXPECT_TRUE(Found(findings::graph_break, recorded_steps([](ScriptedRecording& script) {
                      for (int i = 0; i < 3; ++i) {
                        script.op("Torch-Compiled Region: 0/0", [&] { layers(script, 2, kShort); });
                        script.op("aten::sort", [&] { script.host(50).kernel("sort", kShort); });
                      }
                      script.op("Torch-Compiled Region: 0/0", [&] { layers(script, 2, kShort); });
                    })));
}

// ---- all of them
TEST(HostFindingsTest, NothingWithoutWork) {
  const Recording recording;
  for (const auto find : {findings::launch_bound, findings::sync_in_step, findings::pageable_copy,
                          findings::allocation_in_step, findings::tuning_in_run, findings::graph_break})
    EXPECT_FALSE(find(analyse(recording)));
}

}  // namespace
}  // namespace rung::trace
