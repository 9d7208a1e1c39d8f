// A plan holds a table that is looked up and multiplied by once, where the linear's layout can be looked up.
// SPDX-License-Identifier: Apache-2.0
#include "plan/share_tables.hpp"

#include "plan/check.hpp"
#include "plan/support.hpp"

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A table of 75 tokens, with tails of rows and columns, which is the head of a decoder, too.
std::string tied(std::string_view type, std::string_view more = "") {
  return fmt::format(
      "t: {0}[75,37] = constant(name=\"t\")\n"
      "index: i64[2] = input()\n"
      "h: {0}[2,37] = tanh(gather(t, index))\n"
      "y: f32[2,75] = linear(h, t, out=f32)\n{1}",
      type, more);
}

bool has_packed_row() { return cpu::cpu_info().avx2; }

class TiedTable : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, TiedTable, ::testing::Values("f32", "bf16", "f16"),
                         [](const auto& type) { return std::string(type.param); });

TEST_P(TiedTable, IsHeldOnce) {
  if (!has_packed_row()) GTEST_SKIP() << "no row packs weights on this processor";
  const Plan plan = plan_of(tied(GetParam()), all_passes());
  EXPECT_EQ(plan.weights.size(), 1u);
  EXPECT_THAT(kernels_of(plan), Contains("gather_panels"));
  EXPECT_TRUE(check_plan(plan));
}

TEST_P(TiedTable, GivesTheRowsThatWereStored) {
  const Graph graph = graph_of(tied(GetParam(), "return h=h, y=y"));
  NamedTensors inputs = random_inputs(graph);
  for (const auto& [first, second] : {std::pair{0, 74}, {33, 64}, {1, 16}, {48, 23}}) {
    inputs.at("index").as<int64_t>()[0] = first, inputs.at("index").as<int64_t>()[1] = second;
    const auto shared = outputs_of(plan_of(graph, all_passes()), inputs), apart = outputs_of(plan_of(graph), inputs);
    ASSERT_EQ(shared.size(), 2u);
    EXPECT_EQ(relative_l2(shared[0].second, apart[0].second), 0) << first << ", " << second;
  }
}

// A plan of a file may say anything.
TEST(ShareTables, OtherPanelsAreRefused) {
  if (!has_packed_row()) GTEST_SKIP() << "no row packs weights on this processor";
  const Plan good = plan_of(tied("bf16"), all_passes());
  const auto refusal = [&](const std::string& name, std::optional<int64_t> value) {
    Plan plan = good;
    Params& params = std::ranges::find(plan.steps, "gather_panels", [](const Step& step) {
                       return step.choice.kernel;
                     })->choice.params;
    params.erase(name);
    if (value) params[name] = *value;
    const auto checked = check_plan(plan);
    return checked ? "none" : checked.error().message;
  };
  for (const char* name : {"width", "grain", "depth"})
    for (const std::optional<int64_t> value : {std::optional<int64_t>(), {0}, {-1}, {7}, {int64_t{1} << 62}})
      EXPECT_THAT(refusal(name, value), ::testing::HasSubstr("gather_panels")) << name;
  EXPECT_THAT(refusal("breadth", 1), ::testing::HasSubstr("gather_panels"));
}

TEST(ShareTables, KeepsBothWhereAnotherStepReadsTheTable) {
  const Plan plan = plan_of(tied("f32", "return y=y, t=t"), all_passes());
  EXPECT_THAT(kernels_of(plan), Contains("gather_copy"));
  EXPECT_EQ(plan.weights.size(), 2u);
}

TEST(ShareTables, LeavesAGatherOfColumns) {
  const Plan plan = plan_of(
      "t: f32[64,64] = constant(name=\"t\")\n"
      "index: i64[2] = input()\n"
      "h: f32[64,2] = gather(t, index, axis=1)\n"
      "y: f32[2,64] = linear(transpose(h, permutation=[1,0]), t)\n",
      all_passes());
  EXPECT_THAT(kernels_of(plan), Not(Contains("gather_panels")));
}

TEST(ShareTables, LeavesATableThatNoLinearReads) {
  EXPECT_THAT(kernels_of(plan_of("t: f32[9,8] = constant(name=\"t\")\ny = gather(t, index:i64[2])", all_passes())),
              ElementsAre("gather_copy"));
}

TEST(ShareTables, ReportsAnIndexOutOfRange) {
  const Graph graph = graph_of(tied("bf16"));
  Session session = session_over(plan_of(graph, all_passes()));
  NamedTensors inputs = random_inputs(graph);
  for (const int64_t bad : {-1, 75}) {
    inputs.at("index").as<int64_t>()[1] = bad;
    EXPECT_FALSE(session.infer(inputs)) << bad;
  }
}

}  // namespace
}  // namespace rung
