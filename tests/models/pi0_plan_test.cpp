// Pi0 policies as plans, against the actions that PyTorch computed from the same checkpoints.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "import/npz.hpp"
#include "ladder/rungs.hpp"
#include "ladder/subject.hpp"
#include "ladder/workbench.hpp"
#include "plan/build.hpp"
#include "reference/evaluate.hpp"
#include "session/session.hpp"
#include "support/graphs.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

const ImportOptions kF32{.dtype = DType::f32};

NamedTensors load(const std::string& path) {
  auto arrays = read_npz(path);
  EXPECT_TRUE(arrays) << arrays.error().message;
  return arrays ? *arrays : NamedTensors{};
}

// Every rung that is not opt-in; with bf16 the rung "precision" too.
Recipe full_recipe(DType dtype = DType::f32) {
  Recipe recipe;
  for (const Rung& rung : ladder())
    if (!rung.opt_in || dtype == DType::bf16) rung.apply(recipe);
  return recipe;
}

class Policy {
 public:
  explicit Policy(const std::string& name) : directory_(std::string(RUNG_TEST_DATA) + "/" + name) {}
  NamedTensors inputs() const { return load(directory_ + "/inputs.npz"); }
  Tensor expected(const std::string& name) const { return load(directory_ + "/outputs.npz").at(name); }

  Subject subject(const ImportOptions& options = kF32, const NamedTensors& frozen = {}) const {
    auto model = import_model(directory_, options);
    EXPECT_TRUE(model) << model.error().message;
    Subject subject{.model = std::move(*model), .reference = {}, .frozen = frozen, .attachments = {}};
    Status status = freeze_inputs(subject.model, frozen);
    EXPECT_TRUE(status) << status.error().message;
    return subject;
  }

  NamedTensors masks() const {
    NamedTensors all = inputs();
    return {{"image_mask", all.at("image_mask")}, {"token_mask", all.at("token_mask")}};
  }

 private:
  std::string directory_;
};

Session session_of(const Subject& subject, const Recipe& recipe) {
  auto built = build_plan(subject.model.graph, recipe);
  EXPECT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  auto session =
      Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(recipe.threads));
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

Tensor actions_of(Session& session, const NamedTensors& inputs) {
  auto outputs = session.infer(inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? outputs->front().second : Tensor();
}

class Pi0Plan : public testing::TestWithParam<const char*> {
 protected:
  Policy policy{GetParam()};
  void expect_below(double error, double limit) {
    RecordProperty("rel_l2", fmt::format("{:.3g}", error));
    RecordProperty("limit", fmt::format("{:.3g}", limit));
    EXPECT_LE(error, limit);
  }
};

TEST_P(Pi0Plan, GivesPyTorchsActionsInF32) {
  Session session = session_of(policy.subject(), full_recipe());
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, GivesPyTorchsActionsInF32WithFrozenMasks) {
  Session session = session_of(policy.subject(kF32, policy.masks()), full_recipe());
  EXPECT_EQ(session.plan().frozen.size(), 2u);
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, GivesPyTorchsActionsInF32FromTheUnfusedBaseline) {
  Session session = session_of(policy.subject(), {});
  expect_below(relative_l2(actions_of(session, policy.inputs()), policy.expected("actions_f32")), 1e-5);
}

TEST_P(Pi0Plan, AnswersBothMaskSettingsWhenNotFrozen) {
  Subject subject = policy.subject();
  Session session = session_of(subject, full_recipe());
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
  Session session = session_of(policy.subject(kF32, policy.masks()), full_recipe());
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
  Session session = session_of(policy.subject(), full_recipe(DType::bf16));
  expect_below(relative_l2(actions_of(session, policy.inputs()), exact), 1.25 * theirs);
}

TEST_P(Pi0Plan, StaysWithinTheBoundInTheCheckpointsOwnTypes) {
  Tensor exact = policy.expected("actions_f32");
  double theirs = relative_l2(policy.expected("actions_bf16"), exact);
  Session session = session_of(policy.subject({}), {});
  expect_below(relative_l2(actions_of(session, policy.inputs()), exact), 1.25 * theirs);
}

// Fusion moves roundings, and 20 actions average few of them: a plan beyond the bound is judged wrong, so no climb
// keeps it.
TEST_P(Pi0Plan, FusedInTheCheckpointsOwnTypesIsRightOnlyWithinTheBound) {
  TemporaryDirectory directory;
  Tensor exact = policy.expected("actions_f32");
  double theirs = relative_l2(policy.expected("actions_bf16"), exact);
  Subject subject = policy.subject({});
  subject.reference = policy.subject().model.graph;
  Budget budget(1);
  auto bench = Workbench::create(subject, {policy.inputs()}, {.database_path = directory / "tuning.json"}, budget);
  ASSERT_TRUE(bench) << bench.error().message;
  auto baseline = (*bench)->attempt({});
  ASSERT_TRUE(baseline && baseline->right);
  Recipe recipe = full_recipe();
  recipe.tuned_kernels = false;
  auto fused = (*bench)->attempt(recipe);
  ASSERT_TRUE(fused) << fused.error().message;
  double error = relative_l2(actions_of(*fused->session, policy.inputs()), exact);
  RecordProperty("rel_l2", fmt::format("{:.3g}", error));
  EXPECT_EQ(fused->right, error <= 1.25 * theirs) << fused->reason;
}

INSTANTIATE_TEST_SUITE_P(Tiny, Pi0Plan, testing::Values("pi0_tiny", "pi0_tiny_masked"),
                         [](const auto& directory) { return std::string(directory.param); });

TEST(Pi0PlanWithFrozenMasks, DoesLessWorkThanTheUnfrozenOne) {
  Policy policy("pi0_tiny_masked");
  auto flops = [](const Session& session) {
    double total = 0;
    for (const auto& step : session.plan().steps) total += step.flops;
    return total;
  };
  Session open = session_of(policy.subject(), full_recipe());
  Session frozen = session_of(policy.subject(kF32, policy.masks()), full_recipe());
  EXPECT_LT(flops(frozen), 0.75 * flops(open));
}

}  // namespace
}  // namespace rung
