// Copies that only change an order, and copies that do more or that must be.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::layout_copies;
const ToldTensor kTransposed{{1, 16, 512, 64}, {524288, 64, 1024, 1}};
constexpr std::string_view kByStrides =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda()>>()";

TEST(LayoutCopies, OfTransposes) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.copy("aten::contiguous", 20, kTransposed)
        .attention(50, {1, 16, 512, 64}, {1, 16, 512, 64})
        .copy("aten::reshape", 10, kTransposed);
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "layout_copies");
  EXPECT_EQ(finding->evidence[0].event, "aten::contiguous [1,16,512,64]");
  EXPECT_EQ(finding->evidence[0].count, 2);
  EXPECT_EQ(finding->evidence[1].event, "aten::reshape [1,16,512,64]");
  EXPECT_NEAR(finding->bound_ms, 0.030, 0.001);
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * 0.030, 0.001);
  EXPECT_EQ(finding->changes.size(), 2u);
}

TEST(LayoutCopies, ThePauseBeforeThemVanishesToo) {
  const auto bound = [](double pause_us) {
    ToldModel model;
    model.script.device_pause(pause_us);
    return model.norm(100, {1}).copy("aten::contiguous", 20, kTransposed).norm(100, {1}).found(kFinding)->bound_ms;
  };
  EXPECT_NEAR(bound(3) - bound(0), 0.003, 1e-6);
}

TEST(LayoutCopies, OtherCopiesStay) {
  const auto told = [](const ToldTensor& from, std::string_view type = "c10::BFloat16") {
    return ToldModel{}.norm(50, {1}).copy("aten::contiguous", 20, from, type).found(kFinding);
  };
  EXPECT_TRUE(told(kTransposed));
  EXPECT_FALSE(told(kTransposed, "float")) << "a conversion";
  EXPECT_FALSE(told({kTransposed.shape})) << "the same order";
  EXPECT_FALSE(told({{1, 512, 64}, {99, 64, 1}})) << "a dimension of one element has any stride";
  EXPECT_FALSE(told({{4, 16, 512, 64}, {0, 32768, 64, 1}})) << "an expansion";
  EXPECT_FALSE(
      ToldModel{}.norm(50, {1}).op("aten::copy_", kByStrides, 20, {{kTransposed.shape}, kTransposed}).found(kFinding))
      << "into a cache, not into new memory";
}

TEST(LayoutCopies, BetweenFormatsOfImages) {
  const auto finding =
      ToldModel{}
          .op("aten::cudnn_convolution", "void cudnn::engines_precompiled::nchwToNhwcKernel<float>()", 20, {})
          .op("aten::cudnn_convolution", "sm90_xmma_fprop_implicit_gemm_bf16", 50, {})
          .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->changes.back().what, HasSubstr("channels_last"));
}

TEST(LayoutCopies, KernelsAloneTellThemBesideProductsAndAttention) {
  const auto told = [](std::string_view before, std::string_view after) {
    ToldModel model;
    model.script.kernel(before, 50).kernel(kByStrides, 20).kernel(kByStrides, 20).kernel(after, 50);
    return model.found(kFinding);
  };
  constexpr std::string_view kSum =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
  const auto finding = told(kSum, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence[0].count, 2) << "one reads what the other wrote, or both are read";
  EXPECT_TRUE(told("nvjet_sm90_tst", kSum));
  EXPECT_FALSE(told(kSum, kSum)) << "of a mask, for all that is known";
}

}  // namespace
}  // namespace rung::trace
