// Pi0 policies against the actions that PyTorch computed from the same checkpoints (tests/data/README.md).
// SPDX-License-Identifier: Apache-2.0
#include "huggingface_support.hpp"
#include "support/sample_inputs.hpp"

namespace rung {
namespace {

const ImportOptions kAllF32{.dtype = DType::f32};

class Pi0Checkpoint : public testing::TestWithParam<const char*> {
 protected:
  std::string directory() const { return test_data(GetParam()); }
  NamedTensors inputs() const { return load_npz(directory() + "/inputs.npz"); }
  Tensor expected(const std::string& name) const { return load_npz(directory() + "/outputs.npz").at(name); }
};

TEST_P(Pi0Checkpoint, GivesPyTorchsActionsInF32) {
  Model model = import_verified(directory(), kAllF32);
  auto actions = run_reference(model, inputs()).at("actions");
  EXPECT_LT(relative_error(actions, expected("actions_f32")), 1e-5);
}

// PyTorch's bf16 actions differ from its f32 ones by rounding alone, 0.8 and 0.4 %. Rounding at the same places gives
// the same actions; rounding anywhere else would be as far from them as they are from f32.
TEST_P(Pi0Checkpoint, RoundsWherePyTorchRoundsInBf16) {
  Model model = import_verified(directory());
  auto actions = run_reference(model, inputs()).at("actions");
  double theirs = relative_error(expected("actions_bf16"), expected("actions_f32"));
  EXPECT_LT(relative_error(actions, expected("actions_f32")), 1.25 * theirs);
  EXPECT_LT(relative_error(actions, expected("actions_bf16")), 0.1 * theirs);
}

TEST_P(Pi0Checkpoint, GivesTheSameActionsWithFrozenMasks) {
  Model model = import_verified(directory(), kAllF32);
  NamedTensors given = inputs(), masks;
  for (const char* name : {"image_mask", "token_mask"}) masks.insert(given.extract(name));
  Status frozen = freeze_inputs(model, masks);
  ASSERT_TRUE(frozen) << frozen.error().message;
  EXPECT_EQ(model.graph.inputs().size(), given.size());
  EXPECT_TRUE(verify(model.graph));
  EXPECT_LT(relative_error(run_reference(model, given).at("actions"), expected("actions_f32")), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Tiny, Pi0Checkpoint, testing::Values("pi0_tiny", "pi0_tiny_masked", "pi05_tiny"),
                         [](const auto& directory) { return std::string(directory.param); });

TEST(Pi0, TakesMissingMasksAsAllTrue) {
  Model model = import_verified(test_data("pi0_tiny"), kAllF32);
  NamedTensors given = load_npz(test_data("pi0_tiny/inputs.npz"));
  given.erase("image_mask");
  given.erase("token_mask");
  auto expected = load_npz(test_data("pi0_tiny/outputs.npz")).at("actions_f32");
  EXPECT_LT(relative_error(run_reference(model, given).at("actions"), expected), 1e-5);
}

TEST(Pi0, RunsOnItsOwnSampleInputs) {
  Model model = import_verified(test_data("pi0_tiny"));
  NamedTensors sample = sample_inputs(model, 5);
  for (const auto& [name, value] : sample) {
    Status status = check_input(model, name, value);
    EXPECT_TRUE(status) << status.error().message;
  }
  EXPECT_NE(sample.at("tokens").as<int64_t>()[0], sample_inputs(model, 6).at("tokens").as<int64_t>()[0]);
  EXPECT_EQ(run_reference(model, sample).at("actions").type(), (Type{DType::f32, {5, 4}}));
}

TEST(Pi0, CountsItsParameters) {
  // 217,204 in all, less the 64 of the prefix's final norm, which inference does not read.
  EXPECT_EQ(count_parameters(import_verified(test_data("pi0_tiny")).graph), 217140u);
}

TEST(Pi0, SaysWhichTensorsItDoesNotRead) {
  Model model = import_verified(test_data("pi0_tiny"));
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_THAT(model.notes[0], testing::HasSubstr("language_model.norm.weight"));
}

TEST(Pi0, LabelsNodesWithTheAuthorsModulePath) {
  Model model = import_verified(test_data("pi0_tiny"));
  std::set<std::string> labels;
  for (NodeId id : model.graph.order()) labels.insert(model.graph[id].label);
  EXPECT_TRUE(labels.count("camera.1.vision_tower.encoder.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(labels.count("language_model.layers.2.mlp.down_proj"));
  EXPECT_TRUE(labels.count("step.2.gemma_expert.layers.0.self_attn.k_proj"));
  EXPECT_TRUE(labels.count("step.0.action_time_mlp_in"));
}

TEST(Pi0, GivesLabelledValuesAsOutputsWhereAsked) {
  Model model = import_verified(test_data("pi0_tiny"), {.observed = {"step.0", "step.2"}});
  auto outputs = run_reference(model, load_npz(test_data("pi0_tiny/inputs.npz")));
  auto actions = outputs.at("actions").as<float>();
  EXPECT_THAT(outputs.at("step.2").as<float>(), testing::ElementsAreArray(actions));  // of three steps the last
  EXPECT_THAT(outputs.at("step.0").as<float>(), testing::Not(testing::ElementsAreArray(actions)));
}

TEST(Pi0, NamesALabelThatNoValueHas) {
  EXPECT_THAT(import_error(test_data("pi0_tiny"), {.observed = {"step.3"}}),
              testing::HasSubstr("no value of the model is labelled 'step.3'"));
}

TEST(Pi0, MixesBf16AndF32AsTheCheckpointDoes) {
  Model model = import_verified(test_data("pi0_tiny"));
  std::map<std::string, DType> types;
  for (NodeId id : model.graph.order())
    if (model.graph.as<Linear>(id)) types[model.graph[id].label] = model.graph.type(id).dtype;
  EXPECT_EQ(types.at("language_model.layers.0.self_attn.q_proj"), DType::bf16);
  EXPECT_EQ(types.at("camera.0.vision_tower.encoder.layers.0.mlp.fc1"), DType::bf16);
  EXPECT_EQ(types.at("step.0.state_proj"), DType::f32);
  EXPECT_EQ(types.at("step.0.action_out_proj"), DType::f32);
}

}  // namespace
}  // namespace rung
