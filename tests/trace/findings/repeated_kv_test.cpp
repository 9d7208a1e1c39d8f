// Keys and values repeated for all heads, by copies or by reading, and expansions that are none.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/told_model.hpp"

namespace rung::trace {
namespace {

constexpr auto kFinding = findings::repeated_kv;
const Shape kQueries{1, 16, 512, 64}, kRepeated{1, 16, 1024, 64};
// Four groups of four heads: the third dimension has a stride of 0.
const ToldTensor kExpanded{{1, 4, 4, 1024, 64}, {262144, 65536, 0, 64, 1}};
const ToldProduct kScores{.m = 512, .k = 64, .n = 1024, .us = 30, .batch = 16};

TEST(RepeatedKv, CopiesBeforeAttention) {
  const auto finding = ToldModel::of_two_steps(kFinding, [](ToldModel& model) {
    model.copy("aten::repeat_interleave", 20, kExpanded)
        .copy("aten::repeat_interleave", 20, kExpanded)
        .attention(50, kQueries, kRepeated)
        .norm(500, kQueries);
  });
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->id, "repeated_kv");
  ASSERT_EQ(finding->evidence.size(), 1u);
  EXPECT_EQ(finding->evidence[0].event, "aten::copy_ [1,4,4,1024,64]");
  EXPECT_EQ(finding->evidence[0].count, 4);
  // the copies, and attention down to its 2.1 Gflop; nothing is known of the load
  EXPECT_NEAR(finding->bound_ms, 0.040 + 0.050 - 0.0022, 2e-4);
  EXPECT_NEAR(finding->loaded_bound_ms, 1.3 * (0.040 + 0.050 - 0.0022), 2e-4);
}

TEST(RepeatedKv, AttentionIsHeldAgainstWhatItNeeds) {
  const auto bound = [](const std::string& values, std::string_view device) {
    ToldModel model;
    model.device = device;
    model.copy("aten::reshape", 20, kExpanded).attention(3, kQueries, kRepeated, values);
    return model.norm(500, kQueries).found(kFinding)->bound_ms;
  };
  EXPECT_NEAR(bound("[\"False\"]", "NVIDIA H200"), 0.020 + 0.003 - 0.00217, 2e-4);
  EXPECT_NEAR(bound("[\"True\"]", "NVIDIA H200"), 0.020 + 0.003 - 0.00109, 2e-4) << "a causal mask spares half";
  EXPECT_NEAR(bound("[\"False\"]", "Unknown GPU"), 0.020, 2e-4) << "nothing is known of attention's need";
}

TEST(RepeatedKv, CopiesBeforeProductsOfAttention) {
  const auto finding = ToldModel{}
                           .copy("aten::flatten", 20, kExpanded)
                           .small("aten::mul", 5, {{kQueries}})
                           .product(kScores)
                           .softmax(50, {16, 512, 1024})
                           .product({.m = 512, .k = 1024, .n = 64, .batch = 16})
                           .found(kFinding);
  ASSERT_TRUE(finding);
  EXPECT_NEAR(finding->bound_ms, 0.020, 1e-3);
}

TEST(RepeatedKv, ExpandedKeysThatEveryHeadReads) {
  const auto told = [](bool one_for_all) {
    ToldProduct scores = kScores, values{.m = 512, .k = 1024, .n = 64, .us = 40, .batch = 16};
    scores.one_b_for_all = values.one_b_for_all = one_for_all;
    return ToldModel{}.product(scores).softmax(50, {16, 512, 1024}).product(values).found(kFinding);
  };
  const auto finding = told(true);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->evidence.size(), 2u);
  EXPECT_EQ(finding->evidence[1].event, "aten::bmm by [16,64,1024], heads alike");
  // both products down to reading or writing the weights, 18 MB
  EXPECT_NEAR(finding->bound_ms, 0.070 - 2 * 0.0037, 5e-4);
  EXPECT_FALSE(told(false));
  ToldProduct weights = kScores;
  weights.one_b_for_all = true;
  EXPECT_FALSE(ToldModel{}.product(weights).norm(10, kQueries).found(kFinding)) << "a linear layer over a batch";
}

TEST(RepeatedKv, OtherExpansionsAreNone) {
  const auto before_attention = [](const ToldTensor& from) {
    return ToldModel{}.copy("aten::reshape", 20, from).attention(50, kQueries, kRepeated).found(kFinding);
  };
  EXPECT_TRUE(before_attention(kExpanded));
  EXPECT_FALSE(before_attention({{1, 50, 1024}, {1024, 0, 1}})) << "a time's embedding for every row";
  EXPECT_FALSE(before_attention({{4, 16, 512, 64}, {0, 32768, 64, 1}})) << "a batch of one input";
  EXPECT_FALSE(before_attention({{1, 4, 1024, 64}, {262144, 64, 256, 1}})) << "only another order";
  EXPECT_FALSE(before_attention({{1, 4, 1, 1024, 64}, {262144, 65536, 0, 64, 1}})) << "one head of a group";
}

TEST(RepeatedKv, AttentionMustFollow) {
  EXPECT_FALSE(ToldModel{}
                   .copy("aten::reshape", 20, kExpanded)
                   .product({.m = 64, .k = 64, .n = 64})
                   .attention(50, kQueries, kRepeated)
                   .found(kFinding));
  ToldModel far;
  far.copy("aten::reshape", 20, kExpanded);
  for (int i = 0; i < 9; ++i) far.small("aten::mul", 5, {{kQueries}});
  EXPECT_FALSE(far.attention(50, kQueries, kRepeated).found(kFinding));
}

}  // namespace
}  // namespace rung::trace
