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
  const Plan plan = plan_of(
      "w: f32[4,4] = constant(name=\"w\")\nx: f32[3,4] = input()\n"
      "y = linear(x, w)  # layer.0.dense\nreturn y=y");
  EXPECT_TRUE(check_precision(recipe, plan));
  recipe.precision.push_back({.labels = "layer.1.dense", .values = DType::bf16});
  Status checked = check_precision(recipe, plan);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("'layer.1.dense': no launch of this model has a label that begins so, "
                                                 "but some begin 'layer';"));
  recipe.precision[1].labels = "head";
  EXPECT_THAT(check_precision(recipe, plan).error().message, HasSubstr("begins so; 'rung inspect"));
  recipe.precision[1].labels = "*";
  EXPECT_TRUE(check_precision(recipe, plan));
}

}  // namespace
}  // namespace rung
