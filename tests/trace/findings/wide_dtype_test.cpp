// Products in f32, among others in bf16 and alone.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kFinding = findings::wide_dtype;
// 68.7 Gflop: 69.5 us in bf16 at an H200's peak
const ToldProduct kWide{
    .m = 2048, .k = 4096, .n = 4096, .us = 1400, .kernel = "sm80_xmma_gemm_f32f32_f32f32_f32_tn", .type = "float"};
const ToldProduct kNarrow{.m = 2048, .k = 4096, .n = 4096, .us = 400};
constexpr double kNeededMs = 0.0695;
const ToldTensor kWideRows{{1, 2048, 4096}, {}, "float"};

TEST(WideDtype, AProductInF32) {
  const auto finding =
      ToldModel::of_two_steps(kFinding, [](ToldModel& model) { model.product(kWide).product(kNarrow); });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "wide_dtype");
  EXPECT_EQ(finding->title, "1 products of a step, 1.40 ms, are in f32: 78 % of its matrix work");
  EXPECT_EQ(finding->evidence[0].event, kWide.kernel + " 2048x4096x4096");
  EXPECT_NEAR(finding->bound_ms, 1.400 - kNeededMs, 1e-3);
}

TEST(WideDtype, NarrowProductsAreRight) {
  EXPECT_FALSE(ToldModel{}.product(kNarrow).found(kFinding));
  ToldProduct named = kNarrow;
  named.kernel = kWide.kernel;
  EXPECT_FALSE(ToldModel{}.product(named).found(kFinding)) << "operands say it, not the kernel";
  EXPECT_FALSE(ToldModel{}.product(kNarrow).small("aten::mul", 500, {kWideRows}).found(kFinding)) << "a norm's sums";
}

TEST(WideDtype, WhereAllIsInF32TheOthersHalve) {
  const auto told = [](const ToldProduct& product) {
    return ToldModel{}
        .product(product)
        .product(kWide)
        .small("aten::mul", 200, {kWideRows})
        .op("aten::where", "void at::native::vectorized_elementwise_kernel<4, where_kernel_impl()>()", 100,
            {{{1, 2048, 4096}, {}, "bool"}, kWideRows})
        .small("aten::mul", 300, {{{1, 2048, 4096}}})
        .found(kFinding);
  };
  const auto all = told(kWide), some = told(kNarrow);
  ASSERT_TRUE(all && some);
  EXPECT_NEAR(all->bound_ms, 2 * (1.400 - kNeededMs) + 0.100 + 0.050, 1e-3);
  EXPECT_NEAR(some->bound_ms, 1.400 - kNeededMs, 1e-3);
  EXPECT_EQ(all->evidence.back().event, "other kernels on f32");
  EXPECT_NEAR(all->evidence.back().ms, 0.300, 1e-6);
}

TEST(WideDtype, OfAttentionByPiecesOnlyTheArithmeticRemains) {
  const Shape weights{16, 512, 1024};
  const ToldProduct scores{
      .m = 512, .k = 64, .n = 1024, .us = 100, .kernel = kWide.kernel, .type = "float", .batch = 16};
  const ToldProduct values{
      .m = 512, .k = 1024, .n = 64, .us = 100, .kernel = kWide.kernel, .type = "float", .batch = 16};
  const auto finding = ToldModel{}
                           .product(scores)
                           .op("aten::all", "void at::native::reduce_kernel<512>()", 30, {{weights, {}, "bool"}})
                           .softmax(70, weights)
                           .product(values)
                           .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.300 - 0.0022, 5e-4);
}

TEST(WideDtype, FusedAttentionByItsOperands) {
  const auto told = [](const std::string& type) {
    const ToldTensor heads{{1, 16, 512, 64}, {}, type};
    return ToldModel{}
        .op("aten::_efficient_attention_forward", "fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", 100,
            {heads, heads, heads})
        .found(kFinding);
  };
  EXPECT_TRUE(told("float"));
  EXPECT_FALSE(told("c10::Half"));
}

TEST(WideDtype, KernelsAloneAreKnownByTheirNames) {
  const auto told = [](std::string_view kernel) {
    ToldModel model;
    model.script.kernel(kernel, 100).kernel("nvjet_sm90_tst_64x8_64x16_h_bz_TNT", 300);
    return model.found(kFinding);
  };
  for (const std::string_view kernel :
       {"void sgemm_largek_lds64<true>", "ampere_sgemm_128x64_tn", "Cijk_Alik_Bljk_SB_MT128x64x16",
        "Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT64x64x32"})
    EXPECT_TRUE(told(kernel)) << kernel;
  for (const std::string_view kernel :
       {"Cijk_Alik_Bljk_BBS_BH_MT128x64x16", "Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"})
    EXPECT_FALSE(told(kernel)) << kernel;
  const auto wide = told("void sgemm_largek_lds64<true>");
  EXPECT_NEAR(wide->bound_ms, 0.100, 1e-3) << "nothing is known to remain";
  EXPECT_NEAR(wide->loaded_bound_ms, 1.3 * 0.100, 1e-3);
}

// Volta's matrix units multiply f16 alone.
TEST(WideDtype, ACardWithoutBf16IsAdvisedF16) {
  const auto found_on = [](std::string_view device) {
    ToldModel model;
    model.device = device;
    return model.product(kWide).product(kNarrow).found(kFinding);
  };
  const auto all_of = [](const TraceFinding& finding) {
    std::string text = finding.bound_from;
    text.append(finding.remedy).append(finding.traps);
    for (const Change& change : finding.changes) text.append(change.what);
    return text;
  };
  const auto volta = found_on("Tesla V100-SXM2-32GB"), hopper = found_on("NVIDIA H200");
  ASSERT_TRUE(volta && hopper);
  EXPECT_THAT(volta->remedy, HasSubstr("in f16"));
  EXPECT_THAT(all_of(*volta), Not(AnyOf(HasSubstr("bfloat16"), HasSubstr("TF32"), HasSubstr("peaks in bf16"))));
  EXPECT_THAT(all_of(*hopper), AllOf(HasSubstr("bfloat16"), HasSubstr("TF32"), HasSubstr("peaks in bf16")));
  EXPECT_THAT(all_of(*hopper), Not(HasSubstr("MI300")));
}

}  // namespace
}  // namespace rung::trace
