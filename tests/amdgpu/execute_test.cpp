// Kernels compiled from source and executed: results, as the host computes them, and what was counted.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/execute.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "support/amd_kernel.hpp"

namespace rung::amdgpu {
namespace {

using testing::AmdKernel;
using testing::Grid;

std::vector<float> random_floats(size_t count, uint64_t seed) {
  std::vector<float> made(count);
  for (size_t n = 0; n < count; ++n) made[n] = random_normal(seed, n);
  return made;
}

class Executed : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override { RUNG_NEEDS_CLANG(); }
};
INSTANTIATE_TEST_SUITE_P(Targets, Executed, ::testing::Values(Target::gfx90a, Target::gfx942, Target::gfx950),
                         [](const auto& test) { return std::string(info_of(test.param).name); });

TEST_P(Executed, ASumOfTwoVectorsIsTheHosts) {
  AmdKernel kernel(R"(
KERNEL(256) add(const float* a, const float* b, float* c, int n) {
  const int i = group() * 256 + thread();
  if (i < n) c[i] = a[i] + b[i];
})",
                   "add", GetParam());
  const int n = 1000;
  const auto a = random_floats(n, 1), b = random_floats(n, 2);
  const float *at = kernel.make(a), *bt = kernel.make(b);
  auto* c = kernel.make<float>(n);
  const Counts counts = kernel.run({.groups = {4}, .threads = {256}}, at, bt, c, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  EXPECT_TRUE(kernel.memory().is_written(reinterpret_cast<uint64_t>(c), n * 4));
  EXPECT_EQ(counts.waves, 16u);
  EXPECT_EQ(counts.global_loads, 32u);
  EXPECT_EQ(counts.global_stores, 16u);
  EXPECT_EQ(counts.global_bytes_read, 8000u);
  EXPECT_EQ(counts.global_bytes_written, 4000u);
  EXPECT_EQ(counts.bytes_by_width[1], 12000u);
  // Of 32 floats a line: 2 of them for each of 3 accesses of 15 waves; the last wave has 40 lanes.
  EXPECT_EQ(counts.cache_lines, 96u);
}

TEST_P(Executed, AReductionThroughLdsIsTheHosts) {
  AmdKernel kernel(R"(
KERNEL(256) total(const float* a, float* sums) {
  SHARED float part[256];
  part[thread()] = a[group() * 256 + thread()];
  for (u32 half = 128; half > 0; half /= 2) {
    barrier();
    if (thread() < half) part[thread()] += part[thread() + half];
  }
  if (thread() == 0) sums[group()] = part[0];
})",
                   "total", GetParam());
  const auto a = random_floats(1024, 3);
  for (const uint64_t seed : {0, 1, 2, 3})
    for (const int cores : {1, 3}) {
      const float* at = kernel.make(a);
      auto* sums = kernel.make<float>(4);
      const Grid run{.groups = {4}, .threads = {256}, .checks = {.shuffle_seed = seed}, .cores = cores};
      const Counts counts = kernel.run(run, at, sums);
      for (int g = 0; g < 4; ++g) {
        std::vector<float> part(a.begin() + g * 256, a.begin() + (g + 1) * 256);
        for (size_t half = 128; half > 0; half /= 2)
          for (size_t t = 0; t < half; ++t) part[t] += part[t + half];
        EXPECT_EQ(sums[g], part[0]);
      }
      EXPECT_EQ(counts.barriers, 4u * 4 * 8);
    }
}

}  // namespace
}  // namespace rung::amdgpu
