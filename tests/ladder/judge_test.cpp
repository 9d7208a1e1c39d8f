// How attempts are judged, on kernels that are wrong in scripted ways, and what tuning may take of a scripted clock.
// SPDX-License-Identifier: Apache-2.0
#include "scripted_climb.hpp"

namespace rung {
namespace {

using scripted::right;
using scripted::wrong_for;
using ::testing::StartsWith;

class Judging : public ScriptedClimb {
 protected:
  Result<Attempt> attempt(const Recipe& recipe = {}) {
    auto made =
        Workbench::create(subject, options.inputs, {.target = &target, .database_path = options.database_path}, budget);
    if (!made) return tl::unexpected(made.error());
    bench = std::move(*made);
    return bench->attempt(recipe);
  }
  Budget budget{20};
  std::unique_ptr<Workbench> bench;
};

TEST_F(Judging, NeedsEveryInputsAnswerToBeRight) {
  set_kernels({{"softmax_plain", wrong_for<1, 1>}});
  for (size_t wrong : {0, 1}) {  // the place of the input whose answer is wrong
    options.inputs = {numbers(wrong == 0 ? 1 : -1), numbers(wrong == 0 ? -1 : 1)};
    auto judged = attempt();
    ASSERT_TRUE(judged) << judged.error().message;
    EXPECT_FALSE(judged->right);
    EXPECT_THAT(judged->reason, StartsWith("y: relative L2 error"));
    ASSERT_EQ(judged->verdicts.size(), 2u);
    EXPECT_FALSE(judged->verdicts[wrong].passed);
    EXPECT_TRUE(judged->verdicts[1 - wrong].passed);
  }
}

TEST_F(Judging, TellsTheWorstErrorOfAllInputs) {
  set_kernels({{"softmax_plain", wrong_for<1, 1>}});
  options.inputs = {numbers(-1), numbers(1), numbers(-1)};
  auto judged = attempt();
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_EQ(judged->rel_l2, judged->verdicts[1].outputs[0].rel_l2);
  EXPECT_EQ(judged->max_abs, judged->verdicts[1].outputs[0].max_abs);
  EXPECT_EQ(judged->cosine, judged->verdicts[1].outputs[0].cosine);
  EXPECT_GT(judged->rel_l2, 0.01);
  EXPECT_LT(judged->cosine, 0.999);
}

TEST_F(Judging, AsksTheReferenceNotTheModelItself) {
  set_kernels({{"softmax_plain", right<1>}});
  EXPECT_TRUE(attempt()->right);
  subject.reference = graph_of("x: f32[2,8] = input()\ns = softmax(x)\ny = exp(s)\nreturn y=y");
  auto judged = attempt();
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_FALSE(judged->right);
}

// Attention as written has no number for a query without a key, one op has zeros: an answer that differs is not right,
// and the reason says where.
TEST(JudgeOfMasks, HoldsNaNToItsPlace) {
  Subject subject;
  subject.model.graph = subject.reference = graph_of(
      "s = add(matmul(q:f32[1,1,2,4], kt:f32[1,1,4,3]), mask:f32[2,3])\n"
      "y = matmul(softmax(s), v:f32[1,1,3,4])\nreturn y=y");
  for (NodeId id : subject.model.graph.inputs())
    subject.model.defaults[subject.model.graph.as<Input>(id)->name].type = subject.model.graph.type(id);
  NamedTensors inputs = random_inputs(subject.model.graph);
  const float out = -INFINITY;
  TemporaryDirectory directory;
  for (bool hidden : {false, true}) {
    inputs["mask"] = Tensor::of<float>({2, 3}, {0, out, 0, out, out, hidden ? out : 0});
    Budget budget(20);
    auto bench = Workbench::create(subject, {inputs}, {.database_path = directory / "tuning.json"}, budget);
    ASSERT_TRUE(bench) << bench.error().message;
    auto as_written = (*bench)->attempt_as_is({}), as_one_op = (*bench)->attempt_as_is({.rungs = {"attention"}});
    ASSERT_TRUE(as_written) << as_written.error().message;
    ASSERT_TRUE(as_one_op) << as_one_op.error().message;
    EXPECT_TRUE(as_written->right) << as_written->reason;
    EXPECT_EQ(as_one_op->right, !hidden) << as_one_op->reason;
    if (hidden) {
      EXPECT_THAT(as_one_op->reason, StartsWith("y: element [0,0,1,0]: got 0, wanted nan; 4 of 8 elements"));
    }
  }
}

TEST_F(Judging, AsksAPlanWhereEvaluationTakesTooLong) {
  set_kernels({{"softmax_plain", right<1>}});
  attempt();
  EXPECT_EQ(bench->judge().reference_source(), "scalar evaluator in f64");
  budget = Budget(1e-7);
  EXPECT_TRUE(attempt()->right);
  EXPECT_THAT(bench->judge().reference_source(), StartsWith("unfused plan in f32"));
}

TEST_F(Judging, WantsF32WithinItsRounding) {
  set_kernels({{"softmax_plain", right<1>}});
  attempt();
  auto tolerance = bench->judge().tolerance_for_recipe({});
  ASSERT_TRUE(tolerance);
  EXPECT_EQ(tolerance->rel_l2, tolerance_for(DType::f32, 8).rel_l2);
  EXPECT_EQ(tolerance->element, tolerance_for(DType::f32, 8).element);
}

TEST_F(Judging, LeavesOutChoicesThatNoProblemAsksFor) {
  set_kernels({{"softmax_plain", right<1000>}, {"softmax_fast", right<400>}});
  know_softmax({{"softmax_fast", 400}, {"softmax_plain", 1000}});
  Recipe recipe{.tuned_kernels = true, .choices = {{"softmax of another model", {"softmax_plain", {}}}}};
  EXPECT_THAT(attempt(recipe)->recipe.choices,
              ::testing::ElementsAre(::testing::Pair(softmax_problem, KernelChoice{"softmax_fast", {}})));
  recipe.choices = {{softmax_problem, {"softmax_plain", {}}}};
  EXPECT_EQ(attempt(recipe)->recipe.choices, recipe.choices) << "what is chosen stays";
}

TEST(TuningSeconds, AreSharesOfTheBudgetAndTheRest) {
  scripted::Clock clock;
  const Budget budget(100);
  EXPECT_DOUBLE_EQ(tuning_allowance(budget, 0, 0), 35);
  EXPECT_DOUBLE_EQ(tuning_allowance(budget, 20, 0), 15);
  EXPECT_DOUBLE_EQ(tuning_allowance(budget, 20, 2), 5);
  scripted::Clock::pass_us(90e6);
  EXPECT_DOUBLE_EQ(tuning_allowance(budget, 0, 0), 5);
}

TEST(ScriptedBudget, KeepsItsReserveFromSharesToo) {
  scripted::Clock clock;
  Budget budget(100, 15);
  EXPECT_DOUBLE_EQ(budget.left(), 85);
  scripted::Clock::pass_us(80e6);
  EXPECT_DOUBLE_EQ(budget.spent(), 80);
  EXPECT_DOUBLE_EQ(budget.left(), 5);
  EXPECT_DOUBLE_EQ(budget.share(0.04), 4);
  EXPECT_DOUBLE_EQ(budget.share(0.1), 5);
  scripted::Clock::pass_us(10e6);
  EXPECT_DOUBLE_EQ(budget.share(0.1), 0);
  budget.release();
  EXPECT_DOUBLE_EQ(budget.left(), 10);
}

}  // namespace
}  // namespace rung
