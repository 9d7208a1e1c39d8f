// Pi0 policies as plans, against the actions that PyTorch computed from the same checkpoints.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "models/policy.hpp"
#include "open/recipe.hpp"
#include "reference/evaluate.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class Pi0Plan : public ::testing::TestWithParam<const char*> {
 protected:
  Policy policy{GetParam()};
  void expect_below(double error, double limit) {
    RecordProperty("rel_l2", fmt::format("{:.3g}", error));
    RecordProperty("limit", fmt::format("{:.3g}", limit));
    EXPECT_LE(error, limit);
  }
};

TEST_P(Pi0Plan, GivesPyTorchsActionsInF32) {
  Session session = session_of(policy.subject(), default_recipe(1));
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, MatchesPyTorchInF32WithFrozenMasks) {
  Session session = session_of(policy.subject(kF32, policy.masks()), default_recipe(1));
  EXPECT_EQ(session.plan().frozen.size(), 2u);
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, MatchesPyTorchInF32Unfused) {
  Session session = session_of(policy.subject(), {});
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, AnswersBothMaskSettingsWhenNotFrozen) {
  Subject subject = policy.subject();
  Session session = session_of(subject, default_recipe(1));
  NamedTensors inputs = policy.inputs();
  for (bool all : {true, false}) {
    for (const char* name : {"image_mask", "token_mask"}) {
      Tensor mask(inputs.at(name).type());
      for (bool& flag : mask.as<bool>()) flag = true;
      if (!all) mask.as<bool>().back() = false;
      inputs[name] = mask;
    }
    auto want = evaluate(subject.model.graph, inputs);
    ASSERT_TRUE(want) << want.error().message;
    EXPECT_LT(relative_l2(actions_of(session, inputs), want->front()), 1e-5);
  }
}

TEST_P(Pi0Plan, FrozenRefusesAnotherMaskByName) {
  Session session = session_of(policy.subject(kF32, policy.masks()), default_recipe(1));
  for (const char* name : {"image_mask", "token_mask"}) {
    NamedTensors inputs = policy.inputs();
    Tensor mask = convert(convert(inputs.at(name), DType::u8), DType::boolean);
    mask.as<bool>()[0] = !mask.as<bool>()[0];
    inputs[name] = mask;
    auto outputs = session.infer(inputs);
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error().message, HasSubstr(fmt::format("input '{}' is frozen", name)));
  }
}

// The bound for low precision: 1.25 x the error of PyTorch's own bf16 actions.
TEST_P(Pi0Plan, StaysWithinTheBoundWithTheRungPrecision) {
  Tensor exact = policy.expected("actions_f32");
  double theirs = relative_l2(policy.expected("actions_bf16"), exact);
  Session session = session_of(policy.subject(), default_recipe(1, DType::bf16));
  expect_below(relative_l2(actions_of(session, policy.inputs()), exact), 1.25 * theirs);
}

TEST_P(Pi0Plan, StaysWithinBoundsInTheCheckpointsTypes) {
  Tensor exact = policy.expected("actions_f32");
  double theirs = relative_l2(policy.expected("actions_bf16"), exact);
  for (const Recipe& recipe : {Recipe{}, default_recipe(1)}) {
    Session session = session_of(policy.subject({}), recipe);
    expect_below(relative_l2(actions_of(session, policy.inputs()), exact), 1.25 * theirs);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, Pi0Plan, ::testing::Values("pi0_tiny", "pi0_tiny_masked", "pi05_tiny"),
                         [](const auto& directory) { return std::string(directory.param); });

TEST(Pi05Plan, WorksConditionsOutAhead) {
  Policy policy("pi05_tiny");
  for (const Recipe& recipe : {Recipe{}, default_recipe(1)}) {
    Session session = session_of(policy.subject(), recipe);
    EXPECT_LE(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-6);
    for (const Step& step : session.plan().steps)
      for (const char* part : {"time_mlp", "time_embedding", ".dense"})
        EXPECT_EQ(step.label.find(part), std::string::npos) << step.label;
  }
}

TEST(Pi0PlanWithFrozenMasks, DoesLessWorkThanTheUnfrozenOne) {
  Policy policy("pi0_tiny_masked");
  auto flops = [](const Session& session) {
    double total = 0;
    for (const auto& step : session.plan().steps) total += step.flops;
    return total;
  };
  Session open = session_of(policy.subject(), default_recipe(1));
  Session frozen = session_of(policy.subject(kF32, policy.masks()), default_recipe(1));
  EXPECT_LT(flops(frozen), 0.75 * flops(open));
}

}  // namespace
}  // namespace rung
