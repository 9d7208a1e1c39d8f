// Kernels compiled from source and executed: results, as the host computes them, and what was counted.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/execute.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "kernels/gpu/norm/norm_arguments.hpp"
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

class Executed : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { RUNG_NEEDS_CLANG(); }
};
INSTANTIATE_TEST_SUITE_P(Isas, Executed, ::testing::Values(Isa::gfx90a, Isa::gfx942, Isa::gfx950),
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

// A kernel of ours, from its own source: softmax over rows of 1000 floats, 64 lanes a row.
TEST(ExecutedKernels, SoftmaxOfOurOwnIsTheHosts) {
  RUNG_NEEDS_CLANG();
  const std::string root = RUNG_SOURCE;
  AmdKernel kernel("#include \"kernels/gpu/norm/norm.cu\"\n", "norm_2", Isa::gfx942,
                   {"-I" + root + "/src", "-include", root + "/src/kernels/gpu/vendor/amd.cuh"});
  const uint32_t rows = 7, width = 1000;
  const auto x = random_floats(rows * width, 4);
  gpu::NormArguments a{};
  a.x = {reinterpret_cast<uint64_t>(kernel.make(x)), 1, DType::f32, true};
  auto* out = kernel.make<float>(rows * width);
  a.out = {reinterpret_cast<uint64_t>(out), 1, DType::f32, true};
  a.residual.type = a.weight.type = a.bias.type = DType::f32;
  a.rows.count = rows, a.rows.rank = 1;
  a.rows.size[0] = gpu::Divisor(rows);
  for (auto& stride : a.rows.stride) stride[0] = width;
  a.width = width, a.group = 64, a.kind = gpu::NormKind::softmax;
  kernel.run({.groups = {2}, .threads = {256}}, a);
  for (uint32_t row = 0; row < rows; ++row) {
    double total = 0;
    for (uint32_t n = 0; n < width; ++n) total += std::exp(double{x[row * width + n]});
    for (uint32_t n = 0; n < width; ++n) {
      const double expected = std::exp(double{x[row * width + n]}) / total;
      ASSERT_NEAR(out[row * width + n], expected, 1e-6 * expected) << row << " " << n;
    }
  }
}

TEST(ExecutedLds, A160KilobyteGroupRunsOnGfx950Alone) {
  RUNG_NEEDS_CLANG();
  const std::string source = R"(KERNEL(64) kernel(u32* out) {
    extern SHARED u32 room[];
    for (u32 i = thread(); i < 40960; i += 64) room[i] = 3 * i;
    barrier();
    for (u32 i = thread(); i < 40960; i += 64) out[40959 - i] = room[40959 - i];
  })";
  AmdKernel large(source, "kernel", Isa::gfx950);
  auto* out = large.make<uint32_t>(40960);
  large.run({.threads = {64}, .dynamic_lds_bytes = 160 * 1024}, out);
  EXPECT_EQ(out[40959], 3u * 40959);
  AmdKernel small(source, "kernel", Isa::gfx942);
  auto refused = small.try_run({.threads = {64}, .dynamic_lds_bytes = 160 * 1024}, out);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_EQ(refused.error().message, "kernel 'kernel': got 163840 bytes of LDS, wanted at most 65536 on gfx942");
}

TEST(ExecutedLds, DispatchesThatCannotBeMeantAreRefused) {
  RUNG_NEEDS_CLANG();
  AmdKernel kernel("KERNEL(128) kernel(u32* out, u32 x) { out[thread()] = x; }", "kernel", Isa::gfx942);
  auto* out = kernel.make<uint32_t>(1024);
  const auto error = [&](const Grid& grid, auto... arguments) {
    auto made = kernel.try_run(grid, arguments...);
    return made ? std::string("ran") : made.error().message;
  };
  EXPECT_EQ(error({.threads = {192}}, out, 1u),
            "kernel 'kernel': got a work-group of 192 x 1 x 1 threads, wanted 1 to 128");
  EXPECT_EQ(error({.threads = {0}}, out, 1u),
            "kernel 'kernel': got a work-group of 0 x 1 x 1 threads, wanted 1 to 128");
  EXPECT_EQ(error({.groups = {65536, 65536}, .threads = {64}}, out, 1u),
            "kernel 'kernel': got 65536 x 65536 x 1 work-groups, wanted 1 to 2^31");
  EXPECT_EQ(error({.threads = {64}}, out), "kernel 'kernel': got 8 bytes of arguments, wanted 12");
  EXPECT_EQ(error({.threads = {64}}, out, 1u), "ran");
}

// Hidden arguments and three dimensions of threads and groups.
TEST(ExecutedLds, AThreadKnowsItsPlaceInTheGrid) {
  RUNG_NEEDS_CLANG();
  for (const Isa isa : {Isa::gfx90a, Isa::gfx942}) {
    AmdKernel kernel(R"(KERNEL(1024) kernel(u32* out) {
    const u32 x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
    const u32 y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() + __builtin_amdgcn_workitem_id_y();
    const u32 z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() + __builtin_amdgcn_workitem_id_z();
    const u32* blocks = (const u32*)__builtin_amdgcn_implicitarg_ptr();
    const u32 width = blocks[0] * __builtin_amdgcn_workgroup_size_x(), height = blocks[1] * __builtin_amdgcn_workgroup_size_y();
    out[(z * height + y) * width + x] = x | y << 10 | z << 20;
  })",
                     "kernel", isa);
    auto* out = kernel.make<uint32_t>(20 * 9 * 8);
    kernel.run({.groups = {4, 3, 2}, .threads = {5, 3, 4}}, out);
    for (uint32_t z = 0; z < 8; ++z)
      for (uint32_t y = 0; y < 9; ++y)
        for (uint32_t x = 0; x < 20; ++x) ASSERT_EQ(out[(z * 9 + y) * 20 + x], x | y << 10 | z << 20);
  }
}

}  // namespace
}  // namespace rung::amdgpu
