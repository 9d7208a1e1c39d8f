// How many instructions the attention of a policy's action expert takes on AMD's machine code.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "device/gpu/emulated.hpp"
#include "gpu_harness.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support/device.hpp"

namespace rung::test {
namespace {

// 51 queries of eight heads on one head of keys: 26 tiles of 16 rows by 28 groups of 32 keys.
constexpr const char* kExpert =
    "result = attention(q:bf16[1,51,8,256], mask:f32[1,1,51,867], k:bf16[1,816,1,256], v:bf16[1,816,1,256], "
    "k2:bf16[1,51,1,256], v2:bf16[1,51,1,256], slots=mask, segments=2, scale=0.0625)";
constexpr uint64_t kTilesByGroups = 26 * 28;

struct Expected {
  const char* device;
  uint64_t depth, most;  // of a matrix instruction; wave instructions
};
class AttentionCounts : public ::testing::TestWithParam<Expected> {};
INSTANTIATE_TEST_SUITE_P(All, AttentionCounts,
                         ::testing::Values(Expected{"emu:gfx942", 16, 740000}, Expected{"emu:gfx950", 32, 705000}),
                         [](const auto& expected) { return std::string(expected.param.device).substr(4); });

TEST_P(AttentionCounts, OfAnExpertAreThoseOfItsProducts) {
  auto target = open_target(GetParam().device);
  if (!target) GTEST_SKIP() << target.error().message;
  const Case test = make_case(kExpert);
  const Kernel& row = *(*target)->kernel_named("attention_cdna");
  const auto context = (*target)->gpu->context();
  gpu::take_emulated_counts(context);
  auto outcome = run_gpu_row(**target, row, test);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(difference(outcome->outputs, test), "");
  const amdgpu::Counts counts = gpu::take_emulated_counts(context);
  // Of a tile and a group: 16 rows by 32 keys by 256 columns, once for the scores and once for the sums.
  EXPECT_EQ(counts.matrix, kTilesByGroups * 2 * (32 / 16) * (256 / GetParam().depth));
  EXPECT_LE(counts.instructions, GetParam().most);
  RecordProperty("instructions", std::to_string(counts.instructions));
}

}  // namespace
}  // namespace rung::test
