// What a plan takes of its model besides the graph.
// SPDX-License-Identifier: Apache-2.0
#include "open/subject.hpp"

#include "plan/build.hpp"
#include "support.hpp"

namespace rung {
namespace {

TEST(AttachModel, GivesAPlanItsModelsNamesAndValues) {
  Subject subject;
  subject.model.graph =
      graph_of("x: i64[3] = input()\nz: f32[4] = input()\ny = exp(z)\nw = cast(x, to=f32)\nreturn y=y, w=w");
  subject.model.name = "small";
  subject.model.architecture = "none";
  subject.model.stages = {{"all", {"*"}}};
  subject.model.defaults["x"] = {.type = {DType::i64, {3}},
                                 .meaning = "token ids",
                                 .value = Tensor::of<int64_t>({3}, {7, 8, 9}),
                                 .range = IntegerRange{5, 90}};
  subject.frozen["mask"] = Tensor::of<float>({1}, {1});
  subject.attachments["tokenizer.json"] = "{}";
  auto built = build_plan(subject.model.graph, {});
  ASSERT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  attach_model(built->plan, subject);  // as often as a plan is handed on
  const Plan& plan = built->plan;
  EXPECT_EQ(plan.model, "small");
  EXPECT_EQ(plan.architecture, "none");
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.attachments.at("tokenizer.json"), "{}");
  const auto x = std::ranges::find(plan.inputs, "x", &PlanInput::name);
  ASSERT_NE(x, plan.inputs.end());
  EXPECT_EQ(x->meaning, "token ids");
  ASSERT_TRUE(x->value);
  EXPECT_EQ(x->value->as<int64_t>()[1], 8);
  EXPECT_EQ(x->first, 5);
  EXPECT_EQ(x->last, 90);
  const auto z = std::ranges::find(plan.inputs, "z", &PlanInput::name);
  ASSERT_NE(z, plan.inputs.end());
  EXPECT_FALSE(z->value);
  EXPECT_FALSE(z->first);
  ASSERT_EQ(plan.frozen.size(), 1u);
  EXPECT_EQ(plan.frozen[0].name, "mask");
}

}  // namespace
}  // namespace rung
