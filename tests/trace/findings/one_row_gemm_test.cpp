// Products of few rows that read weights slowly, on kernels made for many.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::one_row_gemm;
// 50.3 MB: 10.5 us at an H200's memory rate, 12.0 us at what of it is reached
const ToldProduct kRow{.m = 1, .k = 4096, .n = 6144, .us = 16};

std::optional<TraceFinding> told(const std::function<void(ToldProduct&)>& change,
                                 std::string_view device = "NVIDIA H200") {
  ToldModel model;
  model.device = device;
  ToldProduct product = kRow;
  change(product);
  return model.product(product).norm(5, {1}).found(kFinding);
}

TEST(OneRowGemm, OnATileKernel) {
  const auto finding = told([](ToldProduct&) {});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "one_row_gemm");
  EXPECT_EQ(finding->evidence[0].event, kRow.kernel + " 1x6144x4096");
  EXPECT_NEAR(finding->bound_ms, 0.016 - 0.0105, 1e-4);
  EXPECT_THAT(finding->title, testing::HasSubstr("66 % of the card's memory rate"));
}

TEST(OneRowGemm, KernelsForFewRowsAreRight) {
  for (const std::string_view kernel : {"void gemvx::kernel<float>", "nvjet_sm90_tst_64x8_2x1_v_bz_splitK_TNT",
                                        "void wvSplitK_hf_sml_<__hip_bfloat16>"})
    EXPECT_FALSE(told([&](ToldProduct& p) { p.kernel = kernel; })) << kernel;
}

TEST(OneRowGemm, OthersAreNone) {
  EXPECT_TRUE(told([](ToldProduct& p) { p.m = 4; }));
  EXPECT_FALSE(told([](ToldProduct& p) { p.m = 5; }));
  EXPECT_FALSE(told([](ToldProduct& p) { p.us = 13; })) << "within a tenth of what is reached";
  EXPECT_FALSE(told([](ToldProduct& p) { p.k = 512, p.n = 1024; })) << "a launch's time";
  EXPECT_FALSE(told([](ToldProduct& p) { p.batch = 2; })) << "of a batch";
  EXPECT_FALSE(told([](ToldProduct&) {}, "Unknown GPU"));
}

}  // namespace
}  // namespace rung::trace
