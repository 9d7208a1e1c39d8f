// Models and plans that cannot be used: one clear error each, exit code 1, nothing written.
// SPDX-License-Identifier: Apache-2.0
#include "ir/safetensors.hpp"
#include "support/graphs.hpp"
#include "tool.hpp"

namespace rung {
namespace {

class BadModel : public testing::Test {
 protected:
  Tool tool;
  std::string model = tool / "model";

  void SetUp() override { std::filesystem::copy(bert_tiny(), model, std::filesystem::copy_options::recursive); }
  void write(const std::string& name, const std::string& content) { tool.folder().write("model/" + name, content); }
  std::string read(const std::string& name) { return *read_text_file(model + "/" + name); }
  // Climbing is the longest way; nothing of it may be left.
  void expect_refused(const std::string& message) {
    expect_error(tool.run({"climb", model, "--budget", "2s", "--out", tool / "out"}), 1, message);
    EXPECT_TRUE(is_empty(tool / "out"));
  }
};

TEST_F(BadModel, ThatIsMissingIsNamed) {
  expect_error(tool.run({"inspect", tool / "nowhere"}), 1, tool / "nowhere");
  expect_error(tool.run({"climb", tool / "nowhere", "--out", tool / "out"}), 1, tool / "nowhere");
  EXPECT_FALSE(std::filesystem::exists(tool / "out"));
}

TEST_F(BadModel, WithoutConfigFieldsIsNamed) {
  write("config.json", R"({"model_type": "bert"})");
  expect_refused("config.json");
}

TEST_F(BadModel, WithAbsurdSizesIsRefusedBeforeMemoryIsTaken) {
  std::string config = read("config.json");
  size_t at = config.find("\"hidden_size\": 32");
  ASSERT_NE(at, config.npos);
  write("config.json", config.replace(at, 17, "\"hidden_size\": 1152921504606846976"));
  expect_refused("hidden_size");
}

TEST_F(BadModel, OfUnknownArchitectureIsNamed) {
  write("config.json", R"({"model_type": "gpt9"})");
  expect_refused("gpt9");
}

TEST_F(BadModel, WithConfigThatIsNotJson) {
  write("config.json", "{\"model_type\": ");
  expect_refused("config.json");
}

TEST_F(BadModel, WithTruncatedWeights) {
  std::string weights = read("model.safetensors");
  for (size_t size : {size_t{0}, size_t{7}, size_t{100}, weights.size() - 1}) {
    write("model.safetensors", weights.substr(0, size));
    expect_refused("model.safetensors");
  }
}

TEST_F(BadModel, WithAHeaderBeyondTheFile) {
  std::string weights = read("model.safetensors");
  weights[6] = '\x7f';
  write("model.safetensors", weights);
  expect_refused("model.safetensors");
}

class BadWeights : public BadModel {
 protected:
  // Rewrites the checkpoint with one tensor changed, or left out.
  void edit(const std::string& edited, const std::function<std::optional<Tensor>(Tensor)>& change) {
    auto file = Safetensors::open(bert_tiny() + "/model.safetensors");
    ASSERT_TRUE(file);
    TensorList tensors;
    for (const auto& [name, entry] : (*file)->tensors()) {
      std::optional<Tensor> tensor = *(*file)->load(name);
      if (name == edited) tensor = change(*tensor);
      if (tensor) tensors.emplace_back(name, *tensor);
    }
    ASSERT_TRUE(write_safetensors(model + "/model.safetensors", tensors, Metadata{}));
  }
  const std::string kTensor = "encoder.layer.1.output.dense.weight";
};

TEST_F(BadWeights, ThatAreNotFiniteAreNamedWithTheCount) {
  edit(kTensor, [](const Tensor& tensor) {
    Tensor copy(tensor.type());
    copy.as<float>()[5] = NAN;
    copy.as<float>()[9] = INFINITY;
    return copy;
  });
  expect_refused("1 NaN");
  expect_error(tool.run({"run", model, "--inputs", bert_tiny() + "/inputs.npz", "--outputs", tool / "out.npz"}), 1,
               kTensor);
  EXPECT_FALSE(std::filesystem::exists(tool / "out.npz"));
}

TEST_F(BadWeights, ThatAreMissingAreNamed) {
  edit(kTensor, [](const Tensor&) { return std::nullopt; });
  expect_refused(kTensor);
}

TEST_F(BadWeights, OfAnotherShapeAreNamed) {
  edit(kTensor, [](const Tensor&) { return Tensor({DType::f32, {32, 65}}); });
  expect_refused(kTensor);
}

class BadPlan : public testing::Test {
 protected:
  Tool tool;
  std::string plan = tool / "plan.rung";
  void SetUp() override {
    tool.folder().write("recipe.json", R"({"version":1,"rungs":["reduce","fusion"],"capture":true})");
    Ran built = tool.run({"build", bert_tiny(), "--shape", kShape, "--recipe", tool / "recipe.json", "--out", plan});
    ASSERT_EQ(built.exit_code, 0) << built.err;
  }
  void expect_refused(const std::string& message) {
    Ran ran = tool.run({"run", plan, "--inputs", bert_tiny() + "/inputs.npz", "--outputs", tool / "out.npz"});
    expect_error(ran, 1, message);
    EXPECT_FALSE(std::filesystem::exists(tool / "out.npz"));
  }
};

TEST_F(BadPlan, WithAFlippedByteIsDamaged) {
  std::string bytes = *read_text_file(plan);
  for (size_t at : {bytes.size() - 100, bytes.size() / 2, size_t{500}}) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    tool.folder().write("plan.rung", flipped);
    expect_refused("plan.rung");
  }
}

TEST_F(BadPlan, ThatIsTruncatedIsDamaged) {
  std::string bytes = *read_text_file(plan);
  tool.folder().write("plan.rung", bytes.substr(0, bytes.size() - 1));
  expect_refused("plan.rung");
}

TEST_F(BadPlan, OfAnotherVersionIsRefused) {
  std::string bytes = *read_text_file(plan);
  bytes[bytes.find("rung plan 1") + 10] = '7';
  tool.folder().write("plan.rung", bytes);
  expect_refused("'rung plan 7'");
}

TEST_F(BadPlan, AnswersLikeItsModelWhenItIsSound) {
  Ran ran = tool.run({"run", plan, "--inputs", bert_tiny() + "/inputs.npz", "--outputs", tool / "out.npz", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  Ran verified = tool.run(
      {"verify", plan, "--inputs", bert_tiny() + "/inputs.npz", "--reference", bert_tiny() + "/outputs.npz", "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
}

}  // namespace
}  // namespace rung
