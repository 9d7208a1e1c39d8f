// The tensor names under which BERT and Pi0 checkpoints are published, and checkpoints that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include "huggingface_support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

void expect_same_actions(const TemporaryDirectory& dir) {
  Model model = import_verified(dir.path(), {.dtype = DType::f32});
  ASSERT_FALSE(model.defaults.empty());
  auto actions = run_reference(model, load_npz(test_data("pi0_tiny/inputs.npz"))).at("actions");
  auto expected = load_npz(test_data("pi0_tiny/outputs.npz")).at("actions_f32");
  EXPECT_LT(relative_error(actions, expected), 1e-5);
}

TEST(Pi0Layout, AcceptsLeRobotsPrefix) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) { return "model." + name; });
  expect_same_actions(dir);
}

TEST(Pi0Layout, AcceptsEmbedTokensForTheTiedHead) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) {
    return replaced(name, "paligemma.lm_head.", "paligemma.model.language_model.embed_tokens.");
  });
  expect_same_actions(dir);
}

TEST(Pi0Layout, AcceptsLeRobotsOldLayoutAndItsStatistics) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) {
    // The statistics stand beside the policy, without its prefix.
    if (name == "paligemma_with_expert.paligemma.model.language_model.norm.weight")
      return std::string("unnormalize_outputs.buffer_action.mean");
    auto old = replaced(name, "paligemma.lm_head", "paligemma.language_model.lm_head");
    old = replaced(old, "paligemma.model.language_model.", "paligemma.language_model.model.");
    return "model." + replaced(old, "paligemma.model.", "paligemma.");
  });
  expect_same_actions(dir);
}

TEST(Pi0Layout, NamesEveryTensorThatIsMissing) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) {
    return name == "state_proj.bias" || name.ends_with("expert.model.norm.weight") ? std::string() : name;
  });
  auto error = import_error(dir.path());
  EXPECT_THAT(error, HasSubstr("2 tensors are wrong"));
  EXPECT_THAT(error, HasSubstr("no tensor 'state_proj.bias'"));
  EXPECT_THAT(error, HasSubstr("no tensor 'paligemma_with_expert.gemma_expert.model.norm.weight'"));
}

TEST(Pi0Layout, NamesTensorsThatDoNotBelong) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) {
    return replaced(name, "paligemma.model.language_model.norm.weight", "surprise");
  });
  EXPECT_THAT(import_error(dir.path()),
              HasSubstr("does not belong to this architecture: paligemma_with_expert.surprise"));
}

TEST(Pi0Layout, NamesATensorOfAnotherShape) {
  TemporaryDirectory dir;
  copy_model(test_data("pi0_tiny"), dir, [](const std::string& name) { return name; });
  std::filesystem::remove(dir / "config.json");
  std::ifstream in(test_data("pi0_tiny/config.json"));
  std::string config(std::istreambuf_iterator<char>(in), {});
  dir.write("config.json", replaced(config, "\"vocab\": 128", "\"vocab\": 129"));
  auto error = import_error(dir.path());
  EXPECT_THAT(error, HasSubstr("lm_head.weight': got bf16[128,64], wanted shape [129,64]"));
}

TEST(BertLayout, AcceptsThePrefixOfModelsWithHeads) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return "bert." + name; });
  Model model = import_verified(dir.path(), {.shapes = {{"input_ids", Shape{1, 9}}}});
  ASSERT_FALSE(model.defaults.empty());
  auto outputs = run_reference(model, load_npz(test_data("bert_tiny/inputs.npz")));
  auto expected = load_npz(test_data("bert_tiny/outputs.npz"));
  EXPECT_LT(relative_error(outputs.at("last_hidden_state"), expected.at("last_hidden_state")), 1e-6);
  // Without modules.json beside it, the pooler is what the weights offer.
  EXPECT_LT(relative_error(outputs.at("pooler_output"), expected.at("pooler_output")), 1e-6);
}

TEST(BertLayout, AcceptsNormsCalledGammaAndBeta) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) {
    return replaced(replaced(name, "LayerNorm.weight", "LayerNorm.gamma"), "LayerNorm.bias", "LayerNorm.beta");
  });
  EXPECT_EQ(import_error(dir.path()), "no error");
}

TEST(BertLayout, NamesATensorThatIsMissing) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) {
    return name == "encoder.layer.1.output.dense.weight" ? std::string() : name;
  });
  EXPECT_THAT(import_error(dir.path()),
              HasSubstr("no tensor 'encoder.layer.1.output.dense.weight', wanted one of shape"));
}

TEST(BertLayout, RefusesAPoolingFolderOutsideTheModel) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  dir.write("modules.json", R"([{"type":"sentence_transformers.models.Pooling","path":"../elsewhere"}])");
  EXPECT_THAT(import_error(dir.path()), HasSubstr("path '../elsewhere' leaves the model's directory"));
}

TEST(BertLayout, RefusesModulesItDoesNotKnow) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  dir.write("modules.json", R"([{"type":"sentence_transformers.models.Dense","path":"1_Dense"}])");
  EXPECT_THAT(import_error(dir.path()), HasSubstr("module 'Dense' is not supported here"));
}

TEST(Import, SaysThatAFileIsEmpty) {
  const TemporaryDirectory dir;
  EXPECT_THAT(import_error(dir.write("model.onnx", "")), HasSubstr("is not a model: got an empty file, wanted"));
}

TEST(Import, NamesADirectoryThatIsNotThere) {
  const std::string error = import_error("/nowhere/at/all");
  EXPECT_THAT(error, testing::StartsWith("'/nowhere/at/all' is not a model: got nothing that can be read, wanted"));
  for (const std::string_view kind : importable_kinds()) EXPECT_THAT(error, HasSubstr(std::string(kind)));
  TemporaryDirectory dir;
  EXPECT_THAT(import_error(dir.path()), HasSubstr("config.json"));
}

}  // namespace
}  // namespace rung
