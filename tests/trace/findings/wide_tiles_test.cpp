// Products of few rows on wide tiles, by shapes and by grids, and those that look alike.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"
#include "trace/findings/kernel_tile.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::wide_tiles;
constexpr std::string_view kTensile = "Cijk_Alik_Bljk_BBS_BH_Bias_AS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1";

// 33.6 MB: 6.3 us at an MI300X's memory rate, 7.8 us at what of it is reached
const ToldProduct kRow{.m = 1, .k = 4096, .n = 4096, .us = 40, .kernel = std::string(kTensile)};

std::optional<TraceFinding> told(const std::function<void(ToldProduct&)>& change,
                                 std::string_view device = "AMD Instinct MI300X") {
  ToldModel model;
  model.device = device;
  ToldProduct product = kRow;
  change(product);
  return model.product(product).norm(4, {1}).found(kFinding);
}

TEST(KernelTile, AsLibrariesWriteIt) {
  const std::pair<std::string_view, std::pair<int64_t, int64_t>> kNames[] = {
      {kTensile, {128, 128}},
      {"Custom_Cijk_Alik_Bljk_F8BS_BH_MT256x16x128_MI16x16x1", {256, 16}},
      {"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", {128, 256}},
      {"ampere_sgemm_128x64_tn", {128, 64}},
      {"ampere_sgemm_32x32_sliced1x4_tn", {32, 32}},
      {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_void_bf16_256x128x64_1x1x1_0_tnn_align8", {256, 128}},
      {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(...)", {32, 32}},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x96x32_stage4_warpsize2x2x1_tensor16x8x16", {64, 96}},
      {"nvjet_sm90_tst_128x8_64x12_2x1_v_bz_splitK_TNT", {128, 8}},
      {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT", {256, 128}},
      {"void cutlass::Kernel<cutlass::gemm::kernel::Gemm<Mma<cutlass::gemm::GemmShape<128, 64, 32> > > >()", {128, 64}},
  };
  for (const auto& [name, wanted] : kNames) {
    const auto tile = tile_of(name);
    ASSERT_TRUE(tile) << name;
    EXPECT_EQ(std::pair(tile->first, tile->second), wanted) << name;
  }
  for (const std::string_view name :
       {"", "gemv2T_kernel_val<int, int, float, 128, 16>", "_MT", "_MT128", "_MT128x", "tilesize0x4", "nvjet_",
        "void wvSplitK_hf_sml_<64, 2, 16>", "gemm_", "_MT99999999999999999999x2", "matmul_kernel"})
    EXPECT_FALSE(tile_of(name)) << name;
}

TEST(KernelTile, SplitSums) {
  EXPECT_TRUE(splits_inner_dimension("nvjet_sm90_tst_128x8_64x12_2x1_v_bz_splitK_TNT"));
  EXPECT_TRUE(splits_inner_dimension("Cijk_MT128x128x64_GSU4_LDSB1"));
  EXPECT_TRUE(splits_inner_dimension("Cijk_MT128x128x64_SK3_LDSB1"));
  EXPECT_FALSE(splits_inner_dimension("Cijk_MT128x128x64_GSU1_LDSB1"));
  EXPECT_FALSE(splits_inner_dimension("Cijk_MT128x128x64_SK0_SKXCCM0"));
}

TEST(WideTiles, OneRowByShapes) {
  const auto finding = told([](ToldProduct&) {});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence[0].event, std::string(kTensile) + " 1x4096x4096: tiles of 128 x 128");
  EXPECT_NEAR(finding->bound_ms, 0.040 - 0.0063, 1e-4);
  EXPECT_TRUE(told([](ToldProduct& p) { p.m = 16, p.us = 60; }));
}

TEST(WideTiles, WhatLooksAlike) {
  EXPECT_FALSE(told([](ToldProduct& p) { p.m = 17; })) << "more than an eighth of the tile";
  EXPECT_FALSE(told([](ToldProduct& p) { p.kernel = "Cijk_Alik_Bljk_BBS_BH_MT256x16x64_MI16x16x1"; })) << "narrow";
  EXPECT_FALSE(told([](ToldProduct& p) { p.kernel = "Cijk_Alik_Bljk_BBS_BH_MT128x64x64_MI16x16x1"; })) << "half";
  EXPECT_FALSE(told([](ToldProduct& p) { p.us = 8.5; })) << "reads weights as fast as the card can";
  EXPECT_FALSE(told([](ToldProduct& p) { p.k = p.n = 256, p.us = 7.9; })) << "the time to begin and to end";
  EXPECT_FALSE(told([](ToldProduct&) {}, "Unknown GPU"));
  ToldModel model;
  model.device = "AMD Instinct MI300X";
  EXPECT_FALSE(model.product(kRow).norm(4, {1}).found(findings::one_row_gemm)) << "one finding has it";
}

// The replay of a graph: kernels, grids, and nothing else.
std::optional<TraceFinding> replayed(uint32_t rows, uint32_t blocks, std::string_view kernel = kTensile,
                                     std::string_view norm = "vllm::rms_norm_kernel<__hip_bfloat16, 8>") {
  ToldModel model;
  model.device = "AMD Instinct MI300X";
  const LaunchShape per_row{{rows, 1, 1}, {256, 1, 1}}, tiles{{blocks, 1, 1}, {256, 1, 1}};
  model.script.graph({{norm, 4, per_row}, {kernel, 40, tiles}, {kernel, 30, tiles}}, "hipGraphLaunch");
  return model.found(kFinding);
}

TEST(WideTiles, OneRowByGridsOfAReplay) {
  const auto finding = replayed(1, 32);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("1 rows, 32 blocks: tiles of 128 x 128"));
  EXPECT_EQ(finding->evidence[0].count, 2) << "the second product reads the same norm";
  EXPECT_NEAR(finding->bound_ms, 0.070, 1e-6);
  EXPECT_THAT(finding->bound_from, HasSubstr("all of the time of products whose sizes are not recorded"));
}

TEST(WideTiles, WhatLooksAlikeInAReplay) {
  EXPECT_FALSE(replayed(128, 32)) << "the tile is full";
  EXPECT_FALSE(replayed(1, 304)) << "a block for each unit";
  EXPECT_FALSE(replayed(1, 0)) << "the grid is not recorded";
  EXPECT_FALSE(replayed(1, 32, std::string(kTensile) + "_GSU8")) << "split";
  EXPECT_FALSE(replayed(1, 32, kTensile, "void softmax_warp_forward<float>")) << "no block per row";
}

}  // namespace
}  // namespace rung::trace
