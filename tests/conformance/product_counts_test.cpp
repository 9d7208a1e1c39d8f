// What products of CDNA cost in wave instructions, as the emulator counts them: the same every time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "device/gpu/emulated.hpp"
#include "gpu_harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/device.hpp"

namespace rung::test {
namespace {

amdgpu::Counts counts_of(const char* device, std::string_view row, const char* text) {
  auto target = open_target(device);
  if (!target) throw std::runtime_error(target.error().message);
  const Case test = make_case(text);
  for (const Kernel* each : (*target)->kernels_for(op_family(test.problem.op))) {
    if (each->name != row) continue;
    (void)gpu::take_emulated_counts((*target)->gpu->context());  // those of other tests
    auto ran = run_gpu_row(**target, *each, test);
    if (!ran) throw std::runtime_error(ran.error().message);
    return gpu::take_emulated_counts((*target)->gpu->context());
  }
  throw std::runtime_error("no such row");
}

const char* const kSkinny = "y = linear(x:bf16[51,1024], w:bf16[1024,1024], out=bf16)";

// 64 blocks of 4 waves. Of a wave's 8 chunks of K each takes 5 loads and 8 matrix instructions; on gfx950 4.
TEST(ProductCounts, OfFewTokensAreMostlyLoadsAndProducts) {
  const amdgpu::Counts older = counts_of("emu:gfx942", "linear_skinny_cdna", kSkinny);
  EXPECT_EQ(older.matrix, 256u * 8 * 8);
  EXPECT_LE(older.instructions, 105'000u);
  RecordProperty("gfx942", std::to_string(older.instructions));
  const amdgpu::Counts later = counts_of("emu:gfx950", "linear_skinny_cdna", kSkinny);
  EXPECT_EQ(later.matrix, 256u * 8 * 4);
  EXPECT_LE(later.instructions, 96'000u);
  RecordProperty("gfx950", std::to_string(later.instructions));
}

// Accesses of 16 bytes a lane are in the order of lanes, or rows that differ in their banks.
TEST(ProductCounts, OfManyTokensHaveNoBankConflicts) {
  const char* const wide = "y = linear(x:bf16[128,512], w:bf16[128,512], out=bf16)";
  for (const char* device : {"emu:gfx942", "emu:gfx950"}) {
    const amdgpu::Counts counts = counts_of(device, "linear_wide_cdna", wide);
    EXPECT_EQ(counts.bank_conflict_cycles, 0u) << device;
    EXPECT_GT(counts.lds_reads, 0u);
  }
}

// However the second matrix lies in memory, whose elements are then written one at a time.
TEST(ProductCounts, OfTwoMatricesHaveNoBankConflicts) {
  for (const char* text : {"y = matmul(x:bf16[64,256], transpose(y:bf16[64,256], permutation=[1,0]))",
                           "y = matmul(x:bf16[64,256], y:bf16[256,64])"}) {
    const amdgpu::Counts counts = counts_of("emu:gfx942", "matmul_cdna", text);
    EXPECT_EQ(counts.bank_conflict_cycles, 0u) << text;
    EXPECT_GT(counts.lds_writes, 0u);
  }
}

}  // namespace
}  // namespace rung::test
