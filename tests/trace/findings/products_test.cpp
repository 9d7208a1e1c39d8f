// Sizes of products by their operations, and what they ask of a card.
// SPDX-License-Identifier: Apache-2.0
#include "trace/findings/products.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;

std::vector<Product> products_in(ToldModel& model) {
  const Recording recording = model.script.finish();
  return products_of(analyse(recording));
}

std::vector<int64_t> sizes_of(std::string_view op, const std::vector<ToldTensor>& tensors) {
  ToldModel model;
  model.op(op, "a_gemm", 5, tensors);
  const std::vector<Product> products = products_in(model);
  if (products.empty()) return {};
  return {products[0].batch, products[0].m, products[0].k, products[0].n};
}

TEST(Products, SizesOfEachOperation) {
  const ToldTensor bias{{30}}, a{{5, 20}}, b{{20, 30}}, weight{{30, 20}}, x{{1, 5, 20}}, batch_a{{4, 5, 20}},
      batch_b{{4, 20, 30}};
  EXPECT_THAT(sizes_of("aten::mm", {a, b}), ElementsAre(1, 5, 20, 30));
  EXPECT_THAT(sizes_of("aten::addmm", {bias, a, b}), ElementsAre(1, 5, 20, 30));
  EXPECT_THAT(sizes_of("aten::_addmm_activation", {bias, a, b}), ElementsAre(1, 5, 20, 30));
  EXPECT_THAT(sizes_of("aten::bmm", {batch_a, batch_b}), ElementsAre(4, 5, 20, 30));
  EXPECT_THAT(sizes_of("aten::baddbmm", {bias, batch_a, batch_b}), ElementsAre(4, 5, 20, 30));
  EXPECT_THAT(sizes_of("aten::linear", {x, weight}), ElementsAre(1, 5, 20, 30));
  EXPECT_THAT(sizes_of("vllm::rocm_unquantized_gemm", {x, weight}), ElementsAre(1, 5, 20, 30));
  EXPECT_THAT(sizes_of("triton_tem_fused_mm_view_1", {x, weight, {{5, 30}}}), ElementsAre(1, 5, 20, 30));
}

TEST(Products, OfScaledOperandsToo) {
  EXPECT_THAT(sizes_of("aten::_scaled_mm", {{{5, 20}}, {{20, 30}}}), ElementsAre(1, 5, 20, 30));
}

TEST(Products, WhatIsNoneIsLeftOut) {
  EXPECT_TRUE(sizes_of("aten::add", {{{5, 20}}, {{20, 30}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{5, 20}}, {{21, 30}}}).empty()) << "inner sizes differ";
  EXPECT_TRUE(sizes_of("aten::mm", {{{5, 20}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{20}}, {{20, 30}}}).empty());
  EXPECT_TRUE(sizes_of("aten::bmm", {{{4, 5, 20}}, {{3, 20, 30}}}).empty()) << "batches differ";
  EXPECT_TRUE(sizes_of("triton_tem_fused_mm_view_1", {{{5, 20}}, {{30, 20}}}).empty()) << "no result";
  EXPECT_TRUE(sizes_of("triton_tem_fused_mm_view_1", {{{5, 20}}, {{30, 21}}, {{5, 30}}}).empty());
}

TEST(Products, SizesThatNoTensorHasAreLeftOut) {
  constexpr int64_t kHuge = INT64_MAX / 2;
  EXPECT_TRUE(sizes_of("aten::mm", {{{kHuge, 20}, {20, 1}}, {{20, kHuge}, {kHuge, 1}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{-5, 20}, {20, 1}}, {{20, 30}, {30, 1}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{5, 0}, {1, 1}}, {{0, 30}, {30, 1}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{5, 20}, {-20, 1}}, {{20, 30}, {30, 1}}}).empty());
  EXPECT_TRUE(sizes_of("aten::mm", {{{5, 20}, {kHuge, 1}}, {{20, 30}, {30, 1}}}).empty());
  EXPECT_TRUE(
      sizes_of("triton_tem_fused_mm_1", {{{kHuge, 4}, {4, 1}}, {{kHuge, 4}, {4, 1}}, {{kHuge, 1}, {1, 1}}}).empty());
}

TEST(Products, AllWorkOfAnOperationIsOneProducts) {
  ToldModel model;
  const auto mm = model.script.operands("[[5,20],[20,30]]", "[\"float\",\"float\"]");
  model.script.op(
      "aten::mm", [&] { model.script.kernel("nvjet_splitK", 20).kernel("cublasLt::splitKreduce", 5); }, mm);
  model.script.op(
      "aten::mm", [&] { model.script.kernel("nvjet", 7); }, mm);
  const std::vector<Product> products = products_in(model);
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[0].ns, 25'000);
  EXPECT_EQ(products[0].first, 0u);
  EXPECT_EQ(products[0].last, 1u);
  EXPECT_EQ(products[0].main, 0u) << "the longest";
  EXPECT_EQ(products[1].ns, 7'000);
  EXPECT_EQ(products[1].first, 2u);
}

TEST(Products, AnOperationAroundEverythingIsNone) {
  ToldModel model;
  const auto mm = model.script.operands("[[5,20],[20,30]]", "[\"float\",\"float\"]");
  model.script.op(
      "aten::mm",
      [&] {
        for (int i = 0; i < 17; ++i) model.script.kernel("nvjet", 20);
      },
      mm);
  EXPECT_TRUE(products_in(model).empty());
}

TEST(Products, AskForOperandsOnceAndForTheirArithmetic) {
  ToldModel model;
  model.product({.m = 5, .k = 20, .n = 30, .batch = 4})
      .product({.m = 5, .k = 20, .n = 30, .batch = 4, .one_b_for_all = true});
  const std::vector<Product> products = products_in(model);
  EXPECT_EQ(products[0].demand().flops, 2 * 4 * 5 * 20 * 30);
  EXPECT_EQ(products[0].demand().bytes, 2 * 4 * (5 * 20 + 20 * 30 + 5 * 30));
  EXPECT_EQ(products[1].demand().bytes, 2 * (4 * 5 * 20 + 20 * 30 + 4 * 5 * 30)) << "a stride of 0 is read once";
  EXPECT_EQ(products[0].demand(1).bytes, products[0].demand().bytes / 2);
}

TEST(Floor, IsTheLongerOfArithmeticAndMemory) {
  const CardPeaks* h200 = peaks_of_device("NVIDIA H200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(floor_ns(h200, {989.4e9, 0}), 1'000'000);
  EXPECT_EQ(floor_ns(h200, {989.4e9, 9.6e9}), 2'000'000);
  EXPECT_EQ(attainable_ns(h200, {989.4e9 * 0.829, 0}), 1'000'000);
  EXPECT_EQ(attainable_ns(h200, {0, 4.8e9 * 0.875}), 1'000'000);
  EXPECT_EQ(floor_ns(nullptr, {989.4e9, 9.6e9}), 0) << "of an unknown card nothing is known";
}

TEST(Floor, CountsElementsInMemory) {
  const CallOperand expanded{"bf16", {1, 4, 4, 64}, {1024, 256, 0, 1}};
  EXPECT_EQ(elements_of(expanded), 1024);
  EXPECT_EQ(stored_elements_of(expanded), 256);
  EXPECT_EQ(bytes_of(expanded), 512);
  EXPECT_EQ(elements_of({"bf16", {INT64_MAX, INT64_MAX}, {}}), 1'000'000'000'000'000'000);
  EXPECT_EQ(elements_of({"bf16", {-3, 5}, {}}), 0);
  EXPECT_EQ(elements_of({"Scalar", {}, {}}), 0);
  EXPECT_EQ(bytes_of("f8e4m3fnuz"), 1);
  EXPECT_EQ(bytes_of("ScalarList"), 0);
}

}  // namespace
}  // namespace rung::trace
