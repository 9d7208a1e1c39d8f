// Chains of small kernels, and neighbours that are no chain.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::unfused_elementwise;
const Shape kRows{1, 2048, 4096};
const ToldTensor kNarrow{kRows}, kWide{kRows, {}, "float"}, kSums{{1, 2048, 1}, {}, "float"};
constexpr double kFusedMs = 0.00699;  // 16.8 MB read and written at 4.8 TB/s
const ToldProduct kProduct{.m = 2048, .k = 4096, .n = 4096, .us = 500};

// An RMS norm as its formula has it.
void norm_by_pieces(ToldModel& model) {
  model.small("aten::to", 20, {kWide, kNarrow}).small("aten::pow", 20, {kWide});
  model.op("aten::mean", "void at::native::reduce_kernel<512, 1, MeanOps<float>>()", 20, {kWide});
  model.small("aten::rsqrt", 8, {kSums}).small("aten::mul", 30, {kWide, kSums});
}

TEST(UnfusedElementwise, ANormByPieces) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.product(kProduct);
    norm_by_pieces(model);
    model.product(kProduct);
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "unfused_elementwise");
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].event, "aten::to + aten::pow + aten::mean + aten::rsqrt + aten::mul");
  EXPECT_EQ(finding->evidence[0].count, 2);
  EXPECT_NEAR(finding->evidence[0].ms, 0.196, 1e-6);
  EXPECT_NEAR(finding->bound_ms, 0.098 - 0.008, 1e-3)
      << "its shortest kernel is longer than one that reads and writes once";
}

TEST(UnfusedElementwise, WhatOneKernelNeedsRemains) {
  ToldModel model;
  for (const std::string_view name : {"aten::mul", "aten::neg", "aten::add", "aten::mul"})
    model.small(name, name == "aten::neg" ? 3 : 20, {kNarrow});
  const auto finding = model.product(kProduct).found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.063 - kFusedMs, 1e-3);
}

TEST(UnfusedElementwise, ASumAtTheEndIsNotWritten) {
  ToldModel model;
  for (const std::string_view name : {"aten::mul", "aten::neg", "aten::add"}) model.small(name, 20, {kNarrow});
  model.op("aten::sum", "void at::native::reduce_kernel<512, 1, SumOps<float>>()", 2, {kNarrow});
  const auto finding = model.product(kProduct).found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.062 - kFusedMs / 2, 2e-4);
}

TEST(UnfusedElementwise, ASumAndANormAreNoChain) {
  EXPECT_FALSE(ToldModel{}
                   .product(kProduct)
                   .small("aten::add", 50, {kNarrow, kNarrow})
                   .norm(50, kRows)
                   .small("aten::silu", 50, {kNarrow})
                   .product(kProduct)
                   .found(kFinding));
}

TEST(UnfusedElementwise, OneOperationAgainAndAgainIsNoChain) {
  ToldModel model;
  for (int i = 0; i < 9; ++i) model.small(i % 2 ? "aten::fill_" : "aten::zero_", 50, {kNarrow});
  EXPECT_FALSE(model.product(kProduct).found(kFinding));
}

TEST(UnfusedElementwise, ProductsEndAChain) {
  ToldModel model;
  for (const std::string_view name : {"aten::mul", "aten::neg", "aten::add", "aten::cos"})
    model.small(name, 50, {kNarrow}).product(kProduct);
  EXPECT_FALSE(model.found(kFinding));
}

TEST(UnfusedElementwise, StepsEndAChain) {
  EXPECT_FALSE(ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.small("aten::mul", 50, {kNarrow}).small("aten::neg", 50, {kNarrow}).product(kProduct);
    model.small("aten::add", 50, {kNarrow}).small("aten::cos", 50, {kNarrow});
  }));
}

TEST(UnfusedElementwise, WhatACompilerMadeIsFused) {
  ToldModel model;
  for (const std::string_view kernel :
       {"triton_poi_fused_a_0", "triton_red_fused_b_1", "triton_per_fused_c_2", "triton_poi_fused_d_3"})
    model.op(kernel, kernel, 50, {kNarrow});
  EXPECT_FALSE(model.product(kProduct).found(kFinding));
}

TEST(UnfusedElementwise, CopiesToAnotherOrderAreNoPieces) {
  const ToldTensor transposed{{1, 16, 512, 64}, {524288, 64, 1024, 1}};
  EXPECT_FALSE(ToldModel{}
                   .small("aten::mul", 50, {kNarrow})
                   .copy("aten::contiguous", 50, transposed)
                   .small("aten::neg", 50, {kNarrow})
                   .copy("aten::contiguous", 50, transposed)
                   .small("aten::add", 50, {kNarrow})
                   .product(kProduct)
                   .found(kFinding));
  EXPECT_TRUE(ToldModel{}
                  .small("aten::mul", 50, {kNarrow})
                  .copy("aten::to", 50, {kRows}, "float")
                  .small("aten::neg", 50, {kNarrow})
                  .small("aten::add", 50, {kNarrow})
                  .product(kProduct)
                  .found(kFinding))
      << "a conversion is one";
}

TEST(UnfusedElementwise, PiecesOfAttentionAreAnothersFinding) {
  const Shape weights{16, 512, 1024};
  EXPECT_FALSE(ToldModel{}
                   .product({.m = 512, .k = 64, .n = 1024, .batch = 16})
                   .small("aten::mul", 50, {{weights}})
                   .small("aten::add", 50, {{weights}})
                   .small("aten::to", 50, {{weights}})
                   .softmax(50, weights)
                   .small("aten::where", 50, {{weights}})
                   .product({.m = 512, .k = 1024, .n = 64, .batch = 16})
                   .found(kFinding));
}

TEST(UnfusedElementwise, KernelsAloneAreNamedByWhatTheyCompute) {
  ToldModel model;
  model.script
      .kernel(
          "void at::native::elementwise_kernel<128, 2, "
          "at::native::gpu_kernel_impl_nocast<at::native::BinaryFunctor<float, "
          "float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)>(int)",
          20)
      .kernel(
          "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, "
          "3ul> >(int, "
          "at::native::FillFunctor<float>)",
          20)
      .kernel("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 4>(float*)", 20)
      .kernel(
          "void at::native::vectorized_elementwise_kernel<4, "
          "at::native::rsqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}>()",
          5)
      .kernel("nvjet_sm90_tst", 500);
  const auto finding = model.found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence[0].event, "MulFunctor + CUDAFunctor_add + CatArrayBatchedCopy + rsqrt_kernel_cuda");
  EXPECT_NEAR(finding->bound_ms, 0.060, 1e-3) << "all but the shortest";
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * 0.060, 1e-3);
}

}  // namespace
}  // namespace rung::trace
