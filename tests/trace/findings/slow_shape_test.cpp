// Sizes and strides that keep fast kernels away, and those that do not.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::slow_shape;
// 68.7 Gflop: 69.5 us at an H200's peak, 83.8 us at what of it the best known programs reach
const ToldProduct kOdd{
    .m = 2048, .k = 4096, .n = 4095, .us = 300, .kernel = "cutlass_75_tensorop_bf16_s1688gemm_align1"};

std::optional<TraceFinding> told(const ToldProduct& product, std::string_view device = "NVIDIA H200") {
  ToldModel model;
  model.device = device;
  return model.product(product).norm(100, {1}).found(kFinding);
}

ToldProduct with(ToldProduct product, const std::function<void(ToldProduct&)>& change) {
  change(product);
  return product;
}

TEST(SlowShape, RowsThatAreNoWholeVectors) {
  const auto finding = told(kOdd);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "slow_shape");
  EXPECT_EQ(finding->evidence[0].event, "aten::mm [2048,4096] by [4096,4095]: rows of 8190 bytes");
  EXPECT_NEAR(finding->bound_ms, 0.300 - 0.0695, 1e-3);
  const auto inner = told(with(kOdd, [](ToldProduct& p) { p.k = 4095, p.n = 4096; }));
  ASSERT_TRUE(inner);
  EXPECT_THAT(inner->evidence[0].event, HasSubstr("rows of 8190 bytes"));
}

TEST(SlowShape, WhatDoesNotSlow) {
  EXPECT_FALSE(told(with(kOdd, [](ToldProduct& p) { p.n = 4096; })));
  EXPECT_FALSE(told(with(kOdd, [](ToldProduct& p) { p.n = 4096, p.m = 2047; }))) << "the number of rows is free";
  EXPECT_FALSE(told(with(kOdd, [](ToldProduct& p) { p.us = 160; }))) << "within twice what is reached";
  EXPECT_FALSE(told(kOdd, "Unknown GPU"));
  EXPECT_TRUE(told(with(kOdd, [](ToldProduct& p) { p.type = "float", p.n = 4094; }))) << "16376 bytes";
  EXPECT_FALSE(told(with(kOdd, [](ToldProduct& p) { p.type = "float", p.n = 4092; }))) << "16368 bytes";
}

TEST(SlowShape, FindsRowsThatMeetInOneAmdChannel) {
  // 68.7 Gflop: 52.5 us at an MI300X's peak, 87.6 us reached
  const ToldProduct k4096{.m = 2048, .k = 4096, .n = 4096, .us = 150, .kernel = "Cijk_Alik_Bljk_BBS_BH_MT256x256"};
  const auto finding = told(k4096, "AMD Instinct MI300X");
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("rows of 8192 bytes, a multiple of 512"));
  EXPECT_NEAR(finding->bound_ms, 0.150 - 0.0525, 1e-3);
  EXPECT_FALSE(told(k4096, "NVIDIA H200"));
  EXPECT_FALSE(told(with(k4096, [](ToldProduct& p) { p.k = 4224; }), "AMD Instinct MI300X")) << "8448 bytes";
  EXPECT_FALSE(told(with(k4096, [](ToldProduct& p) { p.us = 125; }), "AMD Instinct MI300X"));
  EXPECT_FALSE(told(with(k4096, [](ToldProduct& p) { p.m = 32; }), "AMD Instinct MI300X")) << "weights are read once";
}

TEST(SlowShape, FewTiles) {
  const ToldProduct few{.m = 128, .k = 8192, .n = 512, .us = 40, .launch = {{2, 4, 1}, {256, 1, 1}}};
  const auto finding = told(few);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->evidence[0].event, HasSubstr("8 tiles"));
  EXPECT_FALSE(told(with(few, [](ToldProduct& p) { p.launch.grid = {8, 8, 1}; })));
  EXPECT_FALSE(told(with(few, [](ToldProduct& p) { p.kernel = "nvjet_splitK_TNT"; })));
  EXPECT_FALSE(told(with(few, [](ToldProduct& p) { p.us = 9; }))) << "not long enough to tell";
  EXPECT_FALSE(told(with(few, [](ToldProduct& p) { p.type = "float"; }))) << "f32 first";
  EXPECT_FALSE(told(with(few, [](ToldProduct& p) { p.launch = {}; }))) << "the grid is not recorded";
}

}  // namespace
}  // namespace rung::trace
