// Ops with several results: their results lie in one buffer of a plan, are read apart, and are checked apart.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"
#include "plan/file.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// The three best rows of a table, and where they stand in it.
constexpr const char* kRoute =
    "values = top_k(x:f32[2,9], k=3)\n"
    "places = result(values)\n"
    "rows = gather(table:f32[9,5], places, axis=0)\n"
    "scores = softmax(values)\n"
    "return places=places, rows=rows, scores=scores, values=values";

TEST(SeveralResults, AreReadWhereTheOpWroteThem) {
  expect_right(graph_of(kRoute), {});
  expect_right(graph_of(kRoute), all_passes());
}

TEST(SeveralResults, LieAlignedInOneBuffer) {
  const Plan plan = plan_of(kRoute);
  const Step& top = plan.steps[0];
  ASSERT_EQ(top.choice.kernel, "top_k_fallback");
  EXPECT_EQ(plan.buffers[top.output.index].bytes, kBufferAlignment + 6 * sizeof(int64_t));
  int readers = 0;
  for (const Step& step : plan.steps)
    for (const PlanOperand& input : step.inputs)
      if (input.index == top.output.index && input.view.dtype == DType::i64) {
        EXPECT_EQ(input.offset, kBufferAlignment);
        ++readers;
      }
  EXPECT_GE(readers, 2);  // the gather, and the copy that is an output
}

TEST(SeveralResults, OfLoadedPlansAreReadAsTheirTypes) {
  Plan plan = plan_of(kRoute);
  ASSERT_TRUE(check_plan(plan)) << check_plan(plan).error().message;
  for (Step& step : plan.steps)
    for (PlanOperand& input : step.inputs)
      if (input.index == plan.steps[0].output.index && input.view.dtype == DType::i64) input.offset = 0;
  const auto status = check_plan(plan);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("holds f32, and is read as i64"));
}

TEST(SeveralResults, OfALoadedPlanStayWithinTheirBuffer) {
  Plan plan = plan_of(kRoute);
  plan.buffers[plan.steps[0].output.index].bytes = kBufferAlignment;  // as if there were no places
  const auto status = check_plan(plan);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("has 256 bytes, wanted 304"));
}

// A norm between two linears, which is in both.
constexpr const char* kNormed =
    "s = linear(x:f32[5,8], w:f32[64,8], g:f32[64], slots=norm_weight, norm_run=32)\n"
    "y = linear(slice(result(s), begin=1, end=4), v:f32[16,64], slice(result(s, index=2), begin=1, end=4), "
    "slots=squares)\n"
    "return y=y, s=s";

TEST(SeveralResults, AreReadInPartsWhereTheyStand) {
  expect_right(graph_of(kNormed), {});
  const Plan plan = plan_of(kNormed);
  ASSERT_EQ(plan.steps.size(), 3u) << "two linears, and the copy of an output";
  constexpr uint64_t kScaled = 5 * 64 * sizeof(float), kSquares = 2048;  // bytes; both a multiple of 256
  EXPECT_EQ(plan.steps[1].inputs[0].offset, kScaled + 64 * 2);
  EXPECT_EQ(plan.steps[1].inputs[2].offset, kSquares + 2 * sizeof(float));
}

TEST(SeveralResults, OfConstantsAreConstants) {
  const Graph graph = graph_of(
      "c: f32[4] = constant(name=\"c\", values=[1,7,3,7])\n"
      "y = gather(x:f32[4,2], result(top_k(c, k=2)), axis=0)");
  expect_right(graph, {});
  expect_right(graph, all_passes());
}

}  // namespace
}  // namespace rung
