// Attention by pieces, and what is none.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr auto kFinding = findings::unfused_attention;
const ToldProduct kScores{.m = 512, .k = 64, .n = 1024, .us = 30, .batch = 16};
const ToldProduct kValues{.m = 512, .k = 1024, .n = 64, .us = 40, .batch = 16};
const Shape kWeights{16, 512, 1024};
const ToldTensor kHeads{{1, 16, 512, 64}, {524288, 64, 1024, 1}};
constexpr double kFusedMs = 0.0022;  // 2.1 Gflop at 989 Tflop/s

TEST(UnfusedAttention, TwoProductsAroundSoftmaxAreOneKernelsWork) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.product(kScores).small("aten::mul", 20, {{kWeights}}).softmax(100, kWeights).product(kValues);
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "unfused_attention");
  EXPECT_NEAR(finding->bound_ms, 0.190 - kFusedMs, 0.0005);
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].event, "aten::bmm + aten::mul + aten::_softmax + aten::bmm");
  EXPECT_EQ(finding->evidence[0].count, 2);
  EXPECT_NEAR(finding->evidence[0].ms, 0.380, 1e-6);
  EXPECT_EQ(finding->title, "4 kernels of a step, 190 µs, compute attention by pieces, 1 times");
}

TEST(UnfusedAttention, CountsNoArithmeticAsNeededWhereMasked) {
  const auto finding = ToldModel{}
                           .product(kScores)
                           .small("aten::add", 20, {{kWeights}, {kWeights}})
                           .softmax(100, kWeights)
                           .product(kValues)
                           .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.190 - 0.0013, 0.0003) << "only 6.3 MB are read and written";
}

TEST(UnfusedAttention, CopiesForItVanishToo) {
  const ToldTensor keys{{1, 4, 4, 1024, 64}, {262144, 65536, 0, 64, 1}};
  const auto finding = ToldModel{}
                           .copy("aten::reshape", 10, keys)
                           .copy("aten::contiguous", 10, kHeads)
                           .product(kScores)
                           .softmax(100, kWeights)
                           .product(kValues)
                           .copy("aten::reshape", 10, kHeads)
                           .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.200 - kFusedMs, 0.0005);
  EXPECT_EQ(finding->evidence[0].event, "2 aten::copy_ + aten::bmm + aten::_softmax + aten::bmm + aten::copy_");
}

TEST(UnfusedAttention, TheFrameworksOwnPiecesAreNamed) {
  ToldModel model;
  const auto fallback = [&](const auto& body) { model.script.op("aten::_scaled_dot_product_attention_math", body); };
  fallback([&] { model.small("aten::mul", 10, {kHeads}).product(kScores).softmax(100, kWeights).product(kValues); });
  const auto finding = model.found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->title, HasSubstr("fallback"));
  EXPECT_NEAR(finding->bound_ms, 0.180 - kFusedMs, 0.0005) << "the scale before the product is its own";
}

TEST(UnfusedAttention, WhereTheHostIsLateOneLaunchRemains) {
  ToldModel model;
  for (const auto& piece : std::vector<std::function<void()>>{
           [&] { model.product(kScores); }, [&] { model.softmax(10, kWeights); }, [&] { model.product(kValues); }}) {
    model.script.host(200);
    piece();
  }
  const auto finding = model.found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.205, 0.01) << "of the second and third the host's time; one of them remains: 205 us";
}

TEST(UnfusedAttention, ShapesMustFit) {
  const auto told = [](const ToldProduct& first, const ToldProduct& second) {
    return ToldModel{}.product(first).softmax(100, kWeights).product(second).found(kFinding);
  };
  EXPECT_TRUE(told(kScores, kValues));
  ToldProduct other = kValues;
  other.k = 512;
  EXPECT_FALSE(told(kScores, other)) << "reads other weights";
  other = kValues;
  other.m = 256;
  EXPECT_FALSE(told(kScores, other));
  other = kValues;
  other.batch = 8;
  EXPECT_FALSE(told(kScores, other));
}

TEST(UnfusedAttention, SoftmaxAloneIsNone) {
  EXPECT_FALSE(ToldModel{}.product(kScores).softmax(100, kWeights).norm(10, kWeights).found(kFinding));
  EXPECT_FALSE(ToldModel{}.softmax(100, kWeights).product(kValues).found(kFinding));
  EXPECT_FALSE(ToldModel{}.product(kScores).softmax(100, kWeights).norm(10, kWeights).product(kValues).found(kFinding))
      << "weights of attention are not normed again";
  ToldModel far;
  far.product(kScores).softmax(100, kWeights);
  for (int i = 0; i < 7; ++i) far.small("aten::mul", 5, {{kWeights}});
  EXPECT_FALSE(far.product(kValues).found(kFinding)) << "too much between";
  EXPECT_FALSE(ToldModel{}.attention(100, {1, 16, 512, 64}, {1, 16, 1024, 64}).found(kFinding)) << "it is fused";
}

TEST(UnfusedAttention, OperationsWithoutShapesTellTooLittle) {
  ToldModel model;
  for (const auto& [op, kernel] :
       {std::pair{"aten::mm", "nvjet_a"}, {"aten::_softmax", "softmax_warp_forward"}, {"aten::mm", "nvjet_b"}})
    model.script.op(op, [&, name = kernel] { model.script.kernel(name, 50); });
  EXPECT_FALSE(model.found(kFinding));
}

TEST(UnfusedAttention, KernelsWithoutOperationsTellIt) {
  ToldModel model;
  model.script.kernel("Cijk_Alik_Bljk_BBS_BH_MT64x64", 30)
      .kernel("cunn_SoftMaxForward<4, float>", 50)
      .kernel("Cijk_Ailk_Bljk_BBS_BH_MT64x64", 30)
      .kernel("nccl_other", 30);
  const auto finding = model.found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence[0].event,
            "Cijk_Alik_Bljk_BBS_BH_MT64x64 + cunn_SoftMaxForward + Cijk_Ailk_Bljk_BBS_BH_MT64x64");
  EXPECT_NEAR(finding->bound_ms, 0.110, 0.002) << "nothing is known to remain";
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * 0.110, 0.002);
}

// An operation that claims to be a product and has softmax inside it.
TEST(UnfusedAttention, AProductDoesNotContainItsSoftmax) {
  ToldModel model;
  const auto square = model.script.operands("[[64,64],[64,64]]", "[\"float\",\"float\"]");
  model.script.op(
      "aten::mm", [&] { model.script.kernel("nvjet", 20).kernel("softmax_warp_forward", 50).kernel("nvjet", 20); },
      square);
  EXPECT_FALSE(model.found(kFinding));
}

TEST(UnfusedAttention, IsIgnoredBelowAHundredthOfAStep) {
  const auto told = [](double others_us) {
    return ToldModel{}.product(kScores).softmax(10, kWeights).product(kValues).norm(others_us, {1}).found(kFinding);
  };
  EXPECT_TRUE(told(5000));
  EXPECT_FALSE(told(9000));
}

}  // namespace
}  // namespace rung::trace
