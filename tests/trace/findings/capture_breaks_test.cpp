// Calls in a step that would break the capture of a graph: where they stand, and how long they take.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/capture_breaks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings.hpp"

namespace rung::trace {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

// Of one step.
template <class Step>
std::vector<CaptureBreak> breaks_in(const Step& step) {
  const Recording recording = recorded_steps(step);
  const Analysis analysis = analyse(recording);
  return capture_breaks(median_step(analysis));
}

TEST(CaptureBreaks, BetweenLaunchesComeFirstThenTheLongest) {
  const auto found = breaks_in([](ScriptedRecording& script) {
    script.runtime_call("cudaHostAlloc", 300).kernel("a_gemm", 10);
    for (const double us : {20.0, 30.0}) {
      script.op("aten::empty", [&] { script.runtime_call("cudaMalloc", us); });
      script.runtime_call("cudaEventQuery", us * 2).kernel("b_gemm", 10);
    }
    script.kernel("c_gemm", 886);
  });
  EXPECT_THAT(found,
              ElementsAre(FieldsAre("cudaEventQuery", "between launches", true, 2, DoubleNear(0.100, 1e-9)),
                          FieldsAre("cudaMalloc", "in aten::empty, between launches", true, 2, DoubleNear(0.050, 1e-9)),
                          FieldsAre("cudaDeviceSynchronize", "after the last launch", false, 1, testing::_),
                          FieldsAre("cudaHostAlloc", "before the first launch", false, 1, DoubleNear(0.300, 1e-9))));
}

TEST(CaptureBreaks, AreCallsThatWaitAskOrAllocate) {
  const auto breaks = [](std::string_view call) {
    const auto found = breaks_in(
        [&](ScriptedRecording& script) { script.kernel("a_gemm", 10).runtime_call(call, 5).kernel("b_gemm", 10); });
    return std::ranges::count(found, true, &CaptureBreak::is_between_launches) == 1;
  };
  for (const char* call :
       {"cudaStreamSynchronize", "hipEventSynchronize", "hipStreamQuery", "cudaEventQuery", "hsa_signal_wait_scacquire",
        "cuModuleLoadData", "cudaMalloc", "hipFree", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2", "cudaHostAlloc",
        "cudaFreeHost", "hipHostRegister", "cudaMemcpy"})
    EXPECT_TRUE(breaks(call)) << call;
  for (const char* call : {"cudaMallocAsync", "hipFreeAsync", "cudaMemcpyAsync", "cudaEventRecord", "cudaGetDevice",
                           "cudaStreamWaitEvent", "cudaMemsetAsync"})
    EXPECT_FALSE(breaks(call)) << call;
}

TEST(CaptureBreaks, AreAsynchronousCopiesOfPageableMemoryEitherWay) {
  const auto call_of = [](const CopyShape& shape) {
    const auto found = breaks_in(
        [&](ScriptedRecording& script) { script.kernel("a_gemm", 10).copy(shape, 5, false).kernel("b_gemm", 10); });
    return found.empty() || !found[0].is_between_launches ? "none" : found[0].call;
  };
  EXPECT_EQ(call_of({.bytes = 8, .from = MemoryKind::pageable, .host_to_device = true}),
            "cudaMemcpyAsync (pageable memory)");
  EXPECT_EQ(call_of({.bytes = 8, .to = MemoryKind::pageable, .device_to_host = true}),
            "cudaMemcpyAsync (pageable memory)");
  EXPECT_EQ(call_of({.bytes = 8, .from = MemoryKind::pinned, .host_to_device = true}), "none");
}

TEST(CaptureBreaks, AreNoneWhereGraphsLaunchAllWork) {
  EXPECT_THAT(breaks_in([](ScriptedRecording& script) {
                script.graph({{"a_gemm", 10}}).runtime_call("cudaMalloc", 5).graph({{"b_gemm", 10}});
              }),
              IsEmpty());
}

}  // namespace
}  // namespace rung::trace
