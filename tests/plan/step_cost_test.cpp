// The least work of attention over a cache, by the place of its chunk in the text.
// SPDX-License-Identifier: Apache-2.0
#include "plan/step_cost.hpp"

#include <gtest/gtest.h>

#include "plan/support.hpp"

namespace rung {
namespace {

// Attention of 4 query heads on 2 key heads of 8 columns, over a cache of 64 places.
Step attention_step(int64_t chunk, const std::string& window) {
  const std::string text = "q: f32[1," + std::to_string(chunk) +
                           ",4,8] = input()\n"
                           "k: f32[1,64,2,8] = input()\n"
                           "v: f32[1,64,2,8] = input()\n"
                           "n: i64[1] = input()\n"
                           "return y=attention(q, n, k, v, slots=length, scale=1, after=0" +
                           window + ")";
  for (const Step& step : plan_of(graph_of(text)).steps)
    if (as<Attention>(step.op)) return step;
  ADD_FAILURE() << "no attention";
  return {};
}

constexpr double kBytesOfPlace = 2 * 8 * 4, kFlopsOfPair = 4 * 4 * 8;  // bytes: of keys, and again of values

TEST(StepCost, IsTheStepsOwnAtATextsBeginning) {
  for (const int64_t chunk : {1, 16}) {
    const Step step = attention_step(chunk, "");
    EXPECT_EQ(cost_behind(step, 0).flops, step.flops);
  }
}

TEST(StepCost, GrowsWithTheTokensBefore) {
  const Step token = attention_step(1, ""), chunk = attention_step(16, "");
  EXPECT_EQ(cost_behind(token, 39).flops, 40 * kFlopsOfPair);
  EXPECT_EQ(cost_behind(token, 39).bytes - cost_behind(token, 0).bytes, 2 * 39 * kBytesOfPlace);
  EXPECT_EQ(cost_behind(chunk, 32).flops, (16 * 32 + 8 * 17) * kFlopsOfPair);
  EXPECT_EQ(cost_behind(chunk, 32).bytes - cost_behind(chunk, 0).bytes, 2 * 32 * kBytesOfPlace);
}

TEST(StepCost, OfAWindowIsTheWindows) {
  const Step token = attention_step(1, ", before=9");
  EXPECT_EQ(cost_behind(token, 39).flops, 10 * kFlopsOfPair);
  EXPECT_EQ(cost_behind(token, 39).bytes, cost_behind(token, 50).bytes);
  EXPECT_EQ(cost_behind(token, 5).flops, 6 * kFlopsOfPair);
}

// The same attention, of one token, with its heads' way to the cache: it does not read the key that it makes.
TEST(StepCost, OfAttentionThatMakesItsKeyGrowsAlike) {
  const std::string text =
      "y = cached_attention(x:f32[1,64], k:f32[64,2,8], v:f32[64,2,8], p:i64[1], c:f32[1,8], s:f32[1,8], n:i64[1], "
      "after=0, before=49)";
  const Plan plan = plan_of(graph_of(text));
  const Step& step = *std::ranges::find_if(plan.steps, [](const Step& each) { return as<CachedAttention>(each.op); });
  EXPECT_EQ(cost_behind(step, 0).flops, step.flops);
  EXPECT_EQ(cost_behind(step, 0).bytes, step.bytes);
  EXPECT_EQ(cost_behind(step, 39).flops - step.flops, 39 * kFlopsOfPair);
  EXPECT_EQ(cost_behind(step, 39).bytes - step.bytes, 2 * 39 * kBytesOfPlace);
  EXPECT_EQ(cost_of_full_cache(step).flops - step.flops, 49 * kFlopsOfPair);
  EXPECT_EQ(cost_of_full_cache(step).bytes - step.bytes, 2 * 49 * kBytesOfPlace);
  const Problem problem = problem_of(step, 1);
  EXPECT_EQ(full_length(problem, 6), 64);
  EXPECT_EQ(full_length(problem, 3), std::nullopt);
}

TEST(StepCost, OfOtherStepsIsTheirOwn) {
  const Plan plan = plan_of(graph_of("y = matmul(x:f32[4,8], w:f32[8,8])\nreturn y=y"));
  for (const Step& step : plan.steps) EXPECT_EQ(cost_behind(step, 100).bytes, step.bytes);
}

}  // namespace
}  // namespace rung
