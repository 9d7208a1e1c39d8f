// Recipes whose choices decide nothing: the plan's own recipe leaves them out, a person's is refused.
// SPDX-License-Identifier: Apache-2.0
#include "plan/build.hpp"

#include "plan/support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class Choices : public ::testing::Test {
 protected:
  Graph graph = graph_of("w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)");
  std::string problem = plan_of(graph).steps[0].problem;
  Recipe recipe{.tuned_kernels = true, .choices = {{problem, {"linear_openblas", {}}}}};
};

TEST_F(Choices, ThatDecideSomethingStayInThePlansRecipe) {
  Plan plan = plan_of(graph, recipe);
  EXPECT_EQ(plan.recipe, recipe);
  EXPECT_TRUE(check_choices(recipe, plan));
}

TEST_F(Choices, ForAProblemWithoutALaunchAreNamed) {
  Recipe more = recipe;
  more.choices["linear m=3"] = {"linear_openblas", {}};
  Plan plan = plan_of(graph, more);
  EXPECT_EQ(plan.recipe, recipe);
  Status checked = check_choices(more, plan);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("choice 'linear m=3': no launch"));
}

TEST_F(Choices, WithTuningOffAreNamed) {
  recipe.tuned_kernels = false;
  Plan plan = plan_of(graph, recipe);
  EXPECT_TRUE(plan.recipe.choices.empty());
  Status checked = check_choices(recipe, plan);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("'choices': got 1 with 'tuned_kernels' false"));
}

TEST(PartsOfARecipe, ThatNoLaunchIsInAreNamed) {
  Recipe recipe{.precision = {{.labels = "layer.0", .products = DType::bf16}}};
  const Graph model =
      graph_of("w: f32[4,4] = constant()\nx: f32[3,4] = input()\ny = linear(x, w)  # layer.0.dense\nreturn y=y");
  const auto built = build_plan(model, {});
  ASSERT_TRUE(built) << built.error().message;
  const auto check = [&] { return check_precision(recipe, model, *built); };
  EXPECT_TRUE(check());
  recipe.precision.push_back({.labels = "layer.1.dense", .values = DType::bf16});
  Status checked = check();
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("'layer.1.dense': no launch of this model has a label that begins so, "
                                                 "but some begin 'layer';"));
  recipe.precision[1].labels = "head";
  EXPECT_THAT(check().error().message, HasSubstr("begins so; 'rung inspect"));
  recipe.precision[1].labels = "*";
  EXPECT_TRUE(check());
}

// The product of q and k is one launch, labelled q, because an entry for k says the same as that for q. What an op took
// in behind its product decides nothing under its own label.
TEST(PartsOfARecipe, MayBeProductsThatOneLaunchComputes) {
  const Graph model = graph_of(
      "x: f32[3,8] = input()\nwq: f32[8,8] = constant()\nwk: f32[8,8] = constant()\nwd: f32[8,8] = constant()\n"
      "q = linear(x, wq)  # q\nk = linear(x, wk)  # k\nd = linear(mul(q, k), wd)  # out.dense\n"
      "y = silu(d)  # out\nreturn y=y");
  const auto built = build_plan(model, {.rungs = {"projection", "fusion"}});
  ASSERT_TRUE(built) << built.error().message;
  for (const char* label : {"q", "k", "out"})
    EXPECT_TRUE(check_precision({.precision = {{.labels = label, .products = DType::bf16}}}, model, *built)) << label;
  EXPECT_FALSE(check_precision({.precision = {{.labels = "out.dense", .products = DType::bf16}}}, model, *built));
}

}  // namespace
}  // namespace rung
