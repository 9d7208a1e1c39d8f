// The problems of a plan, the order of tuning them, and what a plan takes of a table that is looked up, too.
// SPDX-License-Identifier: Apache-2.0
#include "tune/plan_tasks.hpp"

#include <algorithm>

#include "plan/support.hpp"

namespace rung {
namespace {

TEST(PlanTasks, HaveMoreHeadroomWhereProblemsTakeLonger) {
  const Plan plan = plan_of(
      "v: f32[128,128] = constant(name=\"v\")\n"
      "w: f32[1024,1024] = constant(name=\"w\")\n"
      "y = linear(x:f32[512,128], v)\n"  // more operations and fewer bytes than the other
      "z = linear(u:f32[1,1024], w)\n"
      "return y=y, z=z",
      {.tuned_kernels = true});
  std::map<int64_t, double> headroom;
  for (const TuneTask& task : tasks_of(plan)) headroom[task.problem.output.shape[0]] = task.headroom;
  ASSERT_THAT(headroom, ::testing::SizeIs(2));
  EXPECT_GT(headroom[1], headroom[512]);
}

// A problem has one task, which has as much to gain as all its launches.
TEST(PlanTasks, CountAllLaunchesOfAProblem) {
  const char* once = "w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)";
  const char* thrice = "w: f32[64,64] = constant(name=\"w\")\ny = linear(linear(linear(x:f32[4,64], w), w), w)";
  const std::vector<TuneTask> one = tasks_of(plan_of(once)), three = tasks_of(plan_of(thrice));
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(three.size(), 1u);
  EXPECT_EQ(one[0].key, three[0].key);
  EXPECT_EQ(one[0].count, 1);
  EXPECT_EQ(three[0].count, 3);
  EXPECT_DOUBLE_EQ(three[0].headroom, 3 * one[0].headroom);
}

// A decoder's table of 75 tokens is its head, too; the linear before it has a table of its own.
class TiedHead : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::cpu_info().avx2) GTEST_SKIP() << "no row packs weights on this processor";
    const Plan plan = plan_of(
        "t: f32[75,32] = constant(name=\"t\")\n"
        "w: f32[32,32] = constant(name=\"w\")\n"
        "y = linear(linear(gather(t, index:i64[2]), w), t)",
        {.tuned_kernels = true});
    for (const TuneTask& task : tasks_of(plan)) (task.problem.output.shape[1] == 75 ? head : inner) = task;
    for (const Step& step : plan.steps)
      if (step.problem == head.key) panels = step.choice;
    ASSERT_FALSE(panels.kernel.empty());
  }

  // oneDNN's row won, and that of the panels took so much longer.
  TunedProblem won_by_onednn(double times) const {
    return {.choice = onednn, .candidates = {{onednn, 100, "chosen"}, {panels, 100 * times, ""}}, .margin = Margin{}};
  }

  TuneTask head, inner;
  KernelChoice panels;
  const KernelChoice onednn{"linear_onednn", {}};
};

TEST_F(TiedHead, IsTheOnlyTableThatIsLookedUp) {
  EXPECT_TRUE(head.is_looked_up);
  EXPECT_FALSE(inner.is_looked_up);
}

TEST_F(TiedHead, KeepsItsPanelsWhereNearlyAsFast) {
  EXPECT_EQ(choice_of(won_by_onednn(1.04), head), panels);
  EXPECT_EQ(choice_of(won_by_onednn(1.04), inner), onednn) << "no gather reads its table";
}

TEST_F(TiedHead, LeavesItsPanelsForAClearlyFasterRow) { EXPECT_EQ(choice_of(won_by_onednn(1.06), head), onednn); }

TEST_F(TiedHead, KeepsItsPanelsWhereNothingIsSure) {
  TunedProblem entry = won_by_onednn(1.5);
  EXPECT_EQ(choice_of(entry, head), onednn);
  entry.margin->disturbance = 0.8;
  EXPECT_EQ(choice_of(entry, head), panels) << "other programs had the processors meanwhile";
  EXPECT_EQ(choice_of(entry, inner), onednn);
}

TEST_F(TiedHead, TakesTheWinnerWhereNoOtherRan) {
  TunedProblem entry = won_by_onednn(1.04);
  entry.candidates[1].us = 0;
  EXPECT_EQ(choice_of(entry, head), onednn) << "the other row failed";
  entry.candidates.clear();
  EXPECT_EQ(choice_of(entry, head), onednn) << "a person's choice";
  entry = won_by_onednn(0.9);
  entry.choice = panels;
  EXPECT_EQ(choice_of(entry, head), panels);
}

}  // namespace
}  // namespace rung
