// What the climb judges by: equal launches, reduction lengths, tolerances.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/workbench.hpp"

#include "ladder/climber.hpp"
#include "support.hpp"

namespace rung {
namespace {

Plan plan_of(std::string_view text, const Recipe& recipe = {}) {
  auto built = build_plan(graph_of(text), recipe);
  EXPECT_TRUE(built) << built.error().message;
  return std::move(built->plan);
}

TEST(SameLaunches, HoldsForTheSameRecipe) {
  const char* text = "y = softmax(add(x:f32[4,8], x))";
  EXPECT_TRUE(same_launches(plan_of(text), plan_of(text)));
}

TEST(SameLaunches, SeesAnotherKernelShapeParameterOrRecorder) {
  const char* text = "w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)";
  Plan plan = plan_of(text);
  EXPECT_FALSE(same_launches(plan, plan_of(text, {.capture = true})));
  EXPECT_FALSE(same_launches(plan, plan_of(text, {.tuned_kernels = true})));
  EXPECT_FALSE(same_launches(plan, plan_of("w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[5,64], w)")));
  Plan other = plan;
  other.steps[0].choice.params["by_rows"] = 1;
  EXPECT_FALSE(same_launches(plan, other));
  other = plan;
  other.steps.pop_back();
  EXPECT_FALSE(same_launches(plan, other));
}

// Each alone tells two plans apart.
TEST(SameLaunches, SeesEveryFieldOfALaunch) {
  const Plan plan = plan_of(
      "w: f32[64,64] = constant(name=\"w\")\n"
      "y = exp(linear(x:f32[4,64], w))");
  ASSERT_EQ(plan.steps.size(), 2u);
  using Change = void (*)(Plan&);
  const std::pair<const char*, Change> changes[] = {
      {"threads", [](Plan& p) { ++p.recipe.threads; }},
      {"capture", [](Plan& p) { p.recipe.capture = !p.recipe.capture; }},
      {"kernel", [](Plan& p) { p.steps[1].choice.kernel += "_other"; }},
      {"op", [](Plan& p) { p.steps[1].op = Unary{UnaryKind::tanh}; }},
      {"operands", [](Plan& p) { p.steps[1].inputs.push_back(p.steps[1].inputs[0]); }},
      {"order", [](Plan& p) { std::swap(p.steps[0], p.steps[1]); }},
  };
  for (const auto& [what, change] : changes) {
    Plan other = plan;
    change(other);
    EXPECT_FALSE(same_launches(plan, other)) << what;
    EXPECT_FALSE(same_launches(other, plan)) << what;
  }
  using OperandChange = void (*)(PlanOperand&);
  const std::pair<const char*, OperandChange> operand_changes[] = {
      {"storage", [](PlanOperand& o) { o.storage = o.storage == Storage::weight ? Storage::buffer : Storage::weight; }},
      {"index", [](PlanOperand& o) { ++o.index; }},
      {"offset", [](PlanOperand& o) { o.offset += 256; }},
      {"dtype", [](PlanOperand& o) { o.view.dtype = DType::bf16; }},
      {"shape", [](PlanOperand& o) { ++o.view.shape[0]; }},
      {"strides", [](PlanOperand& o) { ++o.view.strides[0]; }},
  };
  for (const auto& [what, change] : operand_changes) {
    Plan read = plan, written = plan;
    change(read.steps[0].inputs[1]);
    change(written.steps[1].output);
    EXPECT_FALSE(same_launches(plan, read)) << what << " of an operand";
    EXPECT_FALSE(same_launches(plan, written)) << what << " of a result";
  }
  Plan named = plan;
  named.steps[0].label = "another", named.model = "another";
  EXPECT_TRUE(same_launches(plan, named)) << "names launch nothing";
}

TEST(LongestReductionPath, AddsLengthsAlongTheLongestBranch) {
  const char* weights =
      "w: f32[16,8] = constant(name=\"w\")\n"
      "v: f32[16,100] = constant(name=\"v\")\n";
  EXPECT_EQ(longest_reduction_path(graph_of(std::string(weights) + "y = softmax(linear(x:f32[4,8], w))")), 8 + 16);
  EXPECT_EQ(longest_reduction_path(
                graph_of(std::string(weights) + "y = add(softmax(linear(x:f32[4,8], w)), linear(z:f32[4,100], v))")),
            100);
  EXPECT_EQ(longest_reduction_path(graph_of("y = relu(x:f32[4,8])")), 1);
}

TEST(LongestReductionPath, CountsTheTermsOfEachOpsSums) {
  EXPECT_EQ(longest_reduction_path(graph_of("y = reduce(x:f32[4,8], kind=mean, axis=0)")), 4);
  EXPECT_EQ(longest_reduction_path(graph_of("y = attention(q:f32[1,5,2,16], k:f32[1,7,2,16], v:f32[1,7,2,16])")),
            16 + 7);
  EXPECT_EQ(longest_reduction_path(
                graph_of("y = conv(x:f32[1,28,28,3], w:f32[8,14,14,3], b:f32[8], slots=bias, stride=[14,14])")),
            3 * 14 * 14);
  EXPECT_EQ(longest_reduction_path(graph_of("y = masked_mean(x:f32[1,9,4], m:f32[1,9])")), 9);
}

TEST(LongestReductionPath, CountsNoSumsOfIntegers) {
  EXPECT_EQ(longest_reduction_path(graph_of("y = reduce(x:i64[4,8], kind=sum, axis=1)")), 1);
  EXPECT_EQ(longest_reduction_path(graph_of("y = cumsum(x:i32[9])")), 1);
  EXPECT_EQ(longest_reduction_path(graph_of("y = cumsum(x:f32[9])")), 9);
}

class WorkbenchOfBert : public ::testing::Test {
 protected:
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  Budget budget{30};
  std::unique_ptr<Workbench> bench = [this] {
    auto made = Workbench::create(subject, {sample_inputs(subject.model, 1)},
                                  {.database_path = directory / "tuning.json"}, budget);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }();
};

TEST_F(WorkbenchOfBert, JudgesARightPlanRight) {
  auto attempt = bench->attempt({.rungs = {"reduce", "attention", "projection", "fusion"}, .capture = true});
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_TRUE(attempt->right) << attempt->reason;
  EXPECT_GT(attempt->rel_l2, 0);
}

TEST_F(WorkbenchOfBert, JudgesAWrongPlanWrong) {
  subject.model.graph = [&] {  // the same model with its first output doubled
    Graph graph = subject.model.graph;
    NodeId out = graph.outputs()[0].node;
    graph.set_output(graph.outputs()[0].name, graph.add(Binary{BinaryKind::add}, {out, out}));
    return graph;
  }();
  auto attempt = bench->attempt({});
  ASSERT_TRUE(attempt) << attempt.error().message;
  EXPECT_FALSE(attempt->right);
  EXPECT_NE(attempt->reason, "");
}

TEST_F(WorkbenchOfBert, HoldsLowPrecisionToItsOwnBaseline) {
  Recipe recipe{.rungs = {"precision"}, .precision = everywhere(DType::bf16)};
  auto f32 = bench->judge().tolerance_for_recipe({}), bf16 = bench->judge().tolerance_for_recipe(recipe);
  ASSERT_TRUE(f32 && bf16);
  EXPECT_LT(f32->rel_l2, 1e-5);
  EXPECT_GE(bf16->rel_l2, f32->rel_l2 / 10);
  EXPECT_LT(bf16->rel_l2, 0.05);
  auto baseline = bench->attempt(recipe);
  ASSERT_TRUE(baseline) << baseline.error().message;
  EXPECT_DOUBLE_EQ(bf16->rel_l2, 1.25 * baseline->rel_l2);
  EXPECT_TRUE(baseline->right) << baseline->reason;
}

TEST_F(WorkbenchOfBert, HoldsEachPrecisionToItsOwnBaseline) {
  const Recipe all{.rungs = {"precision"}, .precision = everywhere(DType::bf16)},
      one{.rungs = {"precision"}, .precision = {{.labels = "encoder.layer.1", .products = DType::bf16}}};
  auto of_all = bench->judge().tolerance_for_recipe(all), of_one = bench->judge().tolerance_for_recipe(one);
  ASSERT_TRUE(of_all && of_one);
  EXPECT_LT(of_one->rel_l2, of_all->rel_l2);
  EXPECT_EQ(bench->judge().tolerance_for_recipe(all)->rel_l2, of_all->rel_l2);
}

// The whole model in bf16 but its second layer's products and attention: what does either entry cost?
TEST_F(WorkbenchOfBert, SaysWhatEachEntryOfThePrecisionCosts) {
  const PartPrecision all = everywhere(DType::bf16)[0],
                      wide{.labels = "encoder.layer.1", .products = DType::f32, .attention = DType::f32};
  Recipe recipe{.rungs = {"precision"}, .precision = {all, wide}};
  auto costs = bench->judge().costs_of_precision(recipe);
  ASSERT_TRUE(costs) << costs.error().message;
  ASSERT_EQ(costs->size(), 2u);
  const PrecisionCost &of_all = costs->at(0), &of_wide = costs->at(1);
  EXPECT_EQ(of_all.part, all);
  EXPECT_EQ(of_wide.part, wide);
  auto both = bench->attempt_unjudged(recipe);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_LT(of_wide.rel_l2_alone, 1e-5) << "it is an f32 plan";
  EXPECT_EQ(of_all.rel_l2_without, of_wide.rel_l2_alone);
  EXPECT_EQ(of_wide.rel_l2_without, of_all.rel_l2_alone);
  EXPECT_GT(of_all.rel_l2_alone, 1e-4) << "it is the plan in bf16";
  EXPECT_NE(both->rel_l2, of_all.rel_l2_alone);
}

TEST(Workbench, RefusesToJudgePrecisionByNonFiniteErrors) {
  Subject subject = tiny_bert();
  for (const Output& output : std::vector<Output>(subject.reference.outputs()))  // x - x in place of every output x
    subject.reference.set_output(output.name,
                                 subject.reference.add(Binary{BinaryKind::sub}, {output.node, output.node}));
  Budget budget{30};
  auto bench = Workbench::create(subject, {sample_inputs(subject.model, 1)}, {}, budget);
  ASSERT_TRUE(bench) << bench.error().message;
  auto tolerance =
      (*bench)->judge().tolerance_for_recipe({.rungs = {"precision"}, .precision = everywhere(DType::bf16)});
  ASSERT_FALSE(tolerance) << tolerance->rel_l2;
  EXPECT_THAT(tolerance.error().message, ::testing::HasSubstr("the reference is all zeros"));
}

TEST(TuningAllowance, LeavesAsMuchForEachLaterAttempt) {
  const Budget budget(100);
  const double all = tuning_allowance(budget, 0, 0);
  EXPECT_GT(all, 0);
  EXPECT_NEAR(tuning_allowance(budget, 0, 2), all / 3, 0.1);
  EXPECT_NEAR(tuning_allowance(budget, all / 3, 1), all / 3, 0.1) << "seconds not spent go to those that follow";
  EXPECT_LE(tuning_allowance(budget, all, 0), 0.1);
}

}  // namespace
}  // namespace rung
