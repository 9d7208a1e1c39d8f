// Copies to shared memory through the interface of kernels, executed: what lands, and that it is under way meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/amd_kernel.hpp"

namespace rung {
namespace {

using amdgpu::Isa;
using amdgpu::testing::AmdKernel;

// Two waves go through rows of 256 floats, four of a row a lane, one row ahead; lane l of a wave adds up what lane 63 -
// l of the other wave has copied, each raised a few times. Lanes from 48 on copy nothing: their places stay zeros.
constexpr const char* kSource = R"~(#include "kernels/gpu/portable.cuh"
using namespace rung::gpu;
RUNG_KERNEL(128) sums(const float* rows, float* out, int count) {
  __shared__ __align__(16) float stages[2][2][512];
  const int thread = threadIdx.x, own = warp() * 256 + lane() * 4, others = (1 - warp()) * 256 + (63 - lane()) * 4;
  const bool copies_any = lane() < 48;
  for (int i = 0; i < 4; ++i) *reinterpret_cast<float4*>(stages[i / 2][i % 2] + own) = make_float4(0, 0, 0, 0);
  const auto issue = [&](CopyGroup<2>& group, int row) {
    if (!copies_any) return;
    group.issue(0, stages[row % 2][0] + own, rows + row * 1024 + own, true);
    group.issue(1, stages[row % 2][1] + own, rows + row * 1024 + 512 + own, own % 8 == 0);
  };
  CopyGroup<2> first;
  issue(first, 0);
  first.end();
  first.put();
  float sum = 0;
#pragma unroll 1
  for (int row = 0; row < count; ++row) {
    wait_for_groups<0>();
    sync_block();
    CopyGroup<2> next;
    if (row + 1 < count) issue(next, row + 1);
    next.end();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float x = stages[row % 2][half][others + i];
#pragma unroll
        for (int n = 0; n < 8; ++n) x = fmaf(x, 0.5f, 1.0f);
        sum += x;
      }
    asm volatile("" : "+v"(sum));  // here it is wanted, not behind what comes now
    next.put();
  }
  out[thread] = sum;
}
)~";

float raised(float x) {
  for (int n = 0; n < 8; ++n) x = std::fma(x, 0.5f, 1.0f);
  return x;
}

class CopiesOfKernels : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    RUNG_NEEDS_CLANG();
    const std::string root = RUNG_SOURCE;
    kernel = std::make_unique<AmdKernel>(
        kSource, "sums", GetParam(),
        std::vector<std::string>{"-I" + root + "/src", "-include", root + "/src/kernels/gpu/vendor/amd.cuh"});
  }
  std::unique_ptr<AmdKernel> kernel;
};
INSTANTIATE_TEST_SUITE_P(Isas, CopiesOfKernels, ::testing::Values(Isa::gfx942, Isa::gfx950),
                         [](const auto& test) { return std::string(info_of(test.param).name); });

TEST_P(CopiesOfKernels, LandWhereTheyWereSent) {
  constexpr int kRows = 5;
  std::vector<float> rows(1024 * kRows);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 251);
  const float* in = kernel->make(rows);
  auto* out = kernel->make<float>(128);
  kernel->run({.threads = {128}}, in, out, int{kRows});
  for (int thread = 0; thread < 128; ++thread) {
    const int lane = 63 - thread % 64, from = (1 - thread / 64) * 256 + lane * 4;
    float wanted = 0;
    for (int row = 0; row < kRows; ++row)
      for (const int half : {0, 512})
        for (int i = 0; i < 4; ++i) {
          const bool copied = lane < 48 && (half == 0 || from % 8 == 0);
          wanted += raised(copied ? rows[static_cast<size_t>(row * 1024 + half + from + i)] : 0);
        }
    EXPECT_EQ(out[thread], wanted) << thread;
  }
}

// In the loop, behind the barrier: most of the work stands between the loads and the wait for them.
TEST_P(CopiesOfKernels, AreUnderWayWhileTheThreadWorks) {
  const std::vector<std::string> code = kernel->text();
  size_t loads = 0, work = 0;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!code[at].starts_with("global_load_dwordx4")) continue;
    size_t meanwhile = 0;
    for (size_t next = at + 1; next < code.size() && code[next].find("vmcnt(") == std::string::npos; ++next)
      meanwhile += code[next].starts_with("v_fma") || code[next].starts_with("v_pk_fma");
    ++loads, work = std::max(work, meanwhile);
  }
  EXPECT_EQ(loads, 4u) << "two before the loop, two in it";
  EXPECT_GE(work, 48u) << "of 64 multiply-adds";
}

}  // namespace
}  // namespace rung
