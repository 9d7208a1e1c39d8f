// Attention of one kernel that is slow for its sizes, by shapes and by grids, and attention that is right.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::slow_attention;
// 3.2 Gflop: 3.3 us at an H200's peak, 3.9 us at what of it is reached; 10.5 MB: 2.2 us.
const ToldAttention kLong{.q = {1, 16, 512, 128}, .k = {1, 16, 768, 128}, .us = 60};

std::optional<TraceFinding> told(const std::function<void(ToldAttention&)>& change,
                                 std::string_view device = "NVIDIA H200") {
  ToldModel model;
  model.device = device;
  ToldAttention attention = kLong;
  change(attention);
  return model.attention(attention).norm(5, {1}).found(kFinding);
}

TEST(SlowAttention, FarAboveItsSizes) {
  const auto finding = told([](ToldAttention&) {});
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("[1,16,512,128] on [1,16,768,128]: far above its sizes' time"));
  EXPECT_THAT(finding->title, HasSubstr("are slow for what they compute: 15 times what the best known programs"));
  EXPECT_NEAR(finding->bound_ms, 0.060 - 0.0033, 1e-4);
}

TEST(SlowAttention, WhatIsRight) {
  EXPECT_FALSE(told([](ToldAttention& a) { a.us = 14; })) << "within four times";
  EXPECT_FALSE(told([](ToldAttention& a) { a.us = 9.9, a.q = {1, 2, 16, 64}, a.k = {1, 2, 16, 64}; })) << "short";
  EXPECT_FALSE(told([](ToldAttention& a) { a.type = "float", a.us = 400; })) << "f32 first";
  EXPECT_FALSE(told([](ToldAttention&) {}, "Unknown GPU"));
}

// A mask may spare everything, and may spare nothing: the bound counts the first, the finding rests on the second.
TEST(SlowAttention, AMaskSparesNothingForSure) {
  EXPECT_FALSE(told([](ToldAttention& a) { a.is_masked = true, a.us = 14; }));
  const auto finding = told([](ToldAttention& a) { a.is_masked = true; });
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.060 - 0.0022, 1e-4) << "operands alone";
}

TEST(SlowAttention, MemoryEfficientWhereFlashTakesIt) {
  const auto efficient = [](const std::function<void(ToldAttention&)>& change, std::string_view device) {
    return told(
        [&](ToldAttention& a) {
          a.kernel = "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<bf16>::Params)";
          a.us = 12;
          change(a);
        },
        device);
  };
  const auto none = [](ToldAttention&) {};
  const auto finding = efficient(none, "NVIDIA H200");
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("memory-efficient, without a mask"));
  EXPECT_FALSE(efficient([](ToldAttention& a) { a.is_masked = true; }, "NVIDIA H200")) << "flash takes no mask";
  EXPECT_FALSE(efficient([](ToldAttention& a) { a.q[3] = a.k[3] = 320; }, "NVIDIA H200")) << "nor such heads";
  EXPECT_FALSE(efficient(none, "Tesla V100-SXM2-16GB")) << "nor this card";
}

std::optional<TraceFinding> replayed(const ScriptedRecording::Node& node, std::string_view device = "NVIDIA H200") {
  ToldModel model;
  model.device = device;
  model.script.graph({{"void vectorized_layer_norm_kernel<float>()", 5, {}}, node}, "cudaGraphLaunch");
  return model.found(kFinding);
}

TEST(SlowAttention, FewBlocksInAReplay) {
  constexpr std::string_view kKernel = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_64x128x256";
  const LaunchShape few{{8, 1, 1}, {384, 1, 1}};
  const auto finding = replayed({kKernel, 90, few});
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("8 blocks on 132 units"));
  EXPECT_NEAR(finding->bound_ms, 0.090, 1e-6);
  EXPECT_FALSE(replayed({kKernel, 90, {{34, 1, 1}, {384, 1, 1}}})) << "a quarter of the units";
  EXPECT_FALSE(replayed({kKernel, 19, few})) << "short";
  EXPECT_FALSE(replayed({kKernel, 90, {}})) << "the grid is not recorded";
  EXPECT_FALSE(replayed({"fmha_cutlassF_f32_aligned_64x64_rf_sm80", 90, few})) << "f32 first";
  EXPECT_FALSE(replayed({"nvjet_sm90_tst_64x64_h_bz_TNT", 90, few})) << "no attention";
}

}  // namespace
}  // namespace rung::trace
