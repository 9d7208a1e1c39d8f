// Products on one input that are launched apart, and products that only look like it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::separate_projections;
const ToldProduct kProjection{.m = 64, .k = 1024, .n = 1024}, kGroup{.m = 64, .k = 1024, .n = 256, .us = 20};
const ToldProduct kGate{.m = 64, .k = 1024, .n = 4096, .us = 60};

TEST(SeparateProjections, ThreeInARowCanBeOne) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.product(kProjection).product(kGroup).product(kGroup).norm(50, {64, 1024});
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "separate_projections");
  EXPECT_NEAR(finding->bound_ms, 0.040, 0.002) << "all but the longest of a step";
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].event, "aten::mm [64,1024] by 1024 + 256 + 256 columns");
  EXPECT_EQ(finding->evidence[0].count, 2);
  EXPECT_NEAR(finding->evidence[0].ms, 0.180, 1e-6);
  EXPECT_THAT(finding->title, testing::HasSubstr("3 products of a step, 90.0 µs, are launched apart"));
}

TEST(SeparateProjections, LeaveTheTimeOneProductNeeds) {
  const ToldProduct heavy{.m = 8192, .k = 4096, .n = 4096, .us = 300};  // 278 us at 989 Tflop/s
  const auto finding = ToldModel::of_two_steps(kFinding, [&](ToldModel& model) {
    model.product(heavy).product(heavy).product(heavy).norm(50, {8192, 4096});
  });
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.900 - 0.834, 0.005);
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * (0.900 - 0.834), 0.005);
  EXPECT_THAT(finding->bound_from, testing::HasSubstr("1.3 times the device's part"));
}

TEST(SeparateProjections, WhereTheHostIsLateItsLaunchesCount) {
  ToldModel model;
  for (int i = 0; i < 3; ++i) {
    model.script.host(100);
    ToldProduct brief = kProjection;
    brief.us = 5;
    model.product(brief);
  }
  const auto finding = model.norm(5, {64, 1024}).found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.105, 0.005) << "of two of the three the host's time; of the first nothing is known";
}

TEST(SeparateProjections, OfTwoTheSecondMayReadTheFirst) {
  EXPECT_FALSE(ToldModel{}.product(kProjection).product(kProjection).found(kFinding));
  EXPECT_TRUE(ToldModel{}.product(kGroup).product(kGroup).found(kFinding)) << "256 columns are no input of 1024";
}

TEST(SeparateProjections, WhatIsBetweenMakesThemDepend) {
  const Shape x{64, 1024};
  EXPECT_FALSE(ToldModel{}.product(kGroup).norm(5, x).product(kGroup).found(kFinding));
  EXPECT_FALSE(ToldModel{}.product(kGroup).small("aten::add", 5, {{x}, {x}}).product(kGroup).found(kFinding));
}

TEST(SeparateProjections, OtherInputsAreNotShared) {
  for (const ToldProduct& other : {ToldProduct{.m = 32, .k = 1024, .n = 256}, ToldProduct{.m = 64, .k = 512, .n = 256},
                                   ToldProduct{.m = 64, .k = 1024, .n = 256, .type = "float"},
                                   ToldProduct{.m = 64, .k = 1024, .n = 256, .batch = 4}})
    EXPECT_FALSE(ToldModel{}.product(kGroup).product(other).found(kFinding));
  const ToldTensor weights{{1024, 256}, {1, 1024}};
  ToldModel strided;
  for (const int64_t row : {1024, 2048}) strided.op("aten::mm", "nvjet_a", 50, {{{64, 1024}, {row, 1}}, weights});
  EXPECT_FALSE(strided.found(kFinding));
  const ToldProduct batched{.m = 64, .k = 64, .n = 128, .batch = 4};
  EXPECT_FALSE(ToldModel{}.product(batched).product(batched).product(batched).found(kFinding));
}

TEST(SeparateProjections, GateAndUpWithTheActivationBetween) {
  const ToldTensor hidden{{64, 4096}};
  const auto told = [&](const ToldTensor& activated, std::string_view last) {
    return ToldModel{}
        .product(kGate)
        .small("aten::gelu", 5, {activated})
        .product(kGate)
        .small(last, 5, {hidden, hidden})
        .found(kFinding);
  };
  const auto finding = told(hidden, "aten::mul");
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.060, 0.005);
  EXPECT_FALSE(told({{64, 1024}}, "aten::mul")) << "another tensor is activated";
  EXPECT_FALSE(told(hidden, "aten::add")) << "a chain of layers";
}

// ---- kernels without operations
const LaunchShape kSmall{{8, 4, 1}, {128, 1, 1}}, kLarge{{4, 22, 1}, {128, 1, 1}};
constexpr std::string_view kAttention = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop";

ToldModel of_kernels(std::vector<LaunchShape> launches, std::string_view after) {
  ToldModel model;
  for (const LaunchShape& launch : launches) model.script.kernel("nvjet_sm90_tst_64x8", 10, launch);
  model.script.kernel("rotary_kernel_vllm::rotary", 3).kernel(after, 10).kernel("nvjet_sm90_tst_64x8", 10, kLarge);
  return model;
}

TEST(SeparateProjections, KernelsAloneTellThreeBeforeAttention) {
  const auto finding = of_kernels({kLarge, kSmall, kSmall}, kAttention).found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.020, 0.001) << "two of the three";
  EXPECT_NEAR(finding->loaded_bound_ms, 0.026, 0.001) << "times 1.3: nothing is known of the load";
}

TEST(SeparateProjections, KernelsAloneTellNoMore) {
  EXPECT_FALSE(of_kernels({kLarge, kSmall, kLarge}, kAttention).found(kFinding)) << "keys and values differ";
  EXPECT_FALSE(of_kernels({kSmall, kSmall}, kAttention).found(kFinding));
  EXPECT_FALSE(of_kernels({kSmall, kSmall, kSmall, kSmall}, kAttention).found(kFinding));
  EXPECT_FALSE(of_kernels({kLarge, kSmall, kSmall}, "nvjet_other").found(kFinding)) << "no attention follows";
  EXPECT_FALSE(of_kernels({{}, {}, {}}, kAttention).found(kFinding)) << "grids are not recorded";
}

}  // namespace
}  // namespace rung::trace
