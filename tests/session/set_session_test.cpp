// Sessions over several plans: a run goes to the plan for the shapes of its inputs.
// SPDX-License-Identifier: Apache-2.0
#include "session/set_session.hpp"

#include "plan/support.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x + x over that many elements.
Plan doubling(int elements, int threads = 1) {
  Recipe recipe = all_passes();
  recipe.threads = threads;
  return plan_of(fmt::format("x: f32[{0}] = input()\ny: f32[{0}] = add(x, x)\nreturn y=y", elements), recipe);
}

SetSession session_over(std::vector<Plan> plans) {
  auto set = PlanSet::make(std::move(plans));
  EXPECT_TRUE(set) << set.error().message;
  auto session = SetSession::create(*set);
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

TEST(SetSession, RunsThePlanForTheShapesGiven) {
  SetSession session = session_over({doubling(2), doubling(3, 2)});
  EXPECT_EQ(session.selected_index(), 0u);
  const auto three = session.infer({{"x", Tensor::of<float>({3}, {1, 2, 3})}});
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_THAT((*three)[0].second.as<float>(), ElementsAre(2, 4, 6));
  EXPECT_EQ(session.selected_index(), 1u);
  const auto two = session.infer({{"x", Tensor::of<float>({2}, {5, 6})}});
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_THAT((*two)[0].second.as<float>(), ElementsAre(10, 12));
}

TEST(SetSession, StaysAtItsPlanWhereNoneServes) {
  SetSession session = session_over({doubling(2), doubling(3)});
  ASSERT_TRUE(session.select({{"x", {3}}}));
  const auto refused = session.infer({{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no plan is for x=4; there is one for: x=2; x=3"));
  EXPECT_EQ(session.selected_index(), 1u);
}

// Memory that is bound in one plan's session is there again when that plan is selected.
TEST(SetSession, KeepsWhatIsBoundInEachPlan) {
  SetSession session = session_over({doubling(2), doubling(3)});
  const auto bind = [&](int elements, float value) {
    ASSERT_TRUE(session.select({{"x", {elements}}}));
    auto memory = session.selected().own_input(0, Place::host);
    ASSERT_TRUE(memory) << memory.error().message;
    std::fill_n(reinterpret_cast<float*>(*memory), elements, value);
  };
  bind(2, 1), bind(3, 4);
  ASSERT_TRUE(session.select({{"x", {2}}}));
  ASSERT_TRUE(session.selected().run());
  EXPECT_THAT((*session.selected().outputs())[0].second.as<float>(), ElementsAre(2, 2));
}

TEST(SetSession, OfOnePlanSaysWhatInputIsWrong) {
  SetSession session = session_over({doubling(2)});
  const auto refused = session.infer({{"x", Tensor::of<float>({3}, {1, 2, 3})}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("input 'x': got f32[3], wanted f32[2]"));
}

}  // namespace
}  // namespace rung
