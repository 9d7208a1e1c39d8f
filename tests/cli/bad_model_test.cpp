// Models and plans that cannot be used: one clear error each, exit code 1, nothing written.
// SPDX-License-Identifier: Apache-2.0
#include "ir/safetensors.hpp"
#include "plan/file.hpp"
#include "support/graphs.hpp"
#include "support/pace.hpp"
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
    expect_error(tool.run({"climb", model, "--budget", budget(2), "--out", tool / "out"}), 1, message);
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

TEST_F(BadModel, WithAbsurdSizesIsRefusedBeforeAnyAllocation) {
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

// A safetensors file whose first 8 bytes say that its header takes `length` bytes.
std::string weights_file(uint64_t length, const std::string& header, size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> (8 * i));
  return file + header + std::string(data_bytes, '\0');
}

TEST_F(BadModel, WithAHeaderBeyondItsFileIsRefused) {
  write("model.safetensors", weights_file(3, "{}", 0));
  expect_refused("got 10 bytes, wanted a header of 3 after the first 8");
  write("model.safetensors", weights_file(uint64_t{1} << 62, "{}", 0));
  expect_refused("got a header of 4611686018427387904 bytes");
}

struct BadHeader {
  std::string header, message;
};
class BadHeaders : public BadModel, public testing::WithParamInterface<BadHeader> {};

TEST_P(BadHeaders, OfWeightsAreRefused) {
  const auto& [header, message] = GetParam();
  write("model.safetensors", weights_file(header.size(), header, 12));
  expect_refused(message);
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, BadHeaders,
    testing::Values(
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                  "tensors 'a' and 'b' overlap"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                  "duplicate key 'a'"},
        BadHeader{R"({"a":)", "not valid JSON"}, BadHeader{"[]", "got an array of 0, wanted an object"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[4,18446744073709551615]}})",
                  "got bytes 4 to 18446744073709551615"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,12]}})", "tensor 'a'"},
        BadHeader{R"({"a":{"dtype":"F4","shape":[24],"data_offsets":[0,12]}})", "got dtype 'F4', wanted one of"}));

class BadWeights : public BadModel {
 protected:
  // Rewrites the checkpoint with one tensor changed, left out, or added where there is none of that name.
  void edit(const std::string& edited, const std::optional<Tensor>& value) {
    auto file = Safetensors::open(bert_tiny() + "/model.safetensors");
    ASSERT_TRUE(file);
    TensorList tensors;
    for (const auto& [name, entry] : (*file)->tensors())
      if (name != edited) tensors.emplace_back(name, *(*file)->load(name));
    if (value) tensors.emplace_back(edited, *value);
    ASSERT_TRUE(write_safetensors(model + "/model.safetensors", tensors, Metadata{}));
  }
  const std::string kTensor = "encoder.layer.1.output.dense.weight";
};

TEST_F(BadWeights, AreNamedAndCountedWhereNotFinite) {
  Tensor bad({DType::f32, {32, 64}});
  bad.as<float>()[5] = NAN;
  bad.as<float>()[9] = INFINITY;
  edit(kTensor, bad);
  expect_refused("1 NaN and 1 infinite");
  expect_error(tool.run({"run", model, "--shape", kShape, "--inputs", bert_tiny() + "/inputs.npz", "--outputs",
                         tool / "out.npz"}),
               1, kTensor);
  EXPECT_FALSE(std::filesystem::exists(tool / "out.npz"));
}

TEST_F(BadWeights, ThatAreMissingAreNamed) {
  edit(kTensor, std::nullopt);
  expect_refused("no tensor '" + kTensor + "'");
}

TEST_F(BadWeights, OfAnotherShapeAreNamed) {
  edit(kTensor, Tensor({DType::f32, {32, 65}}));
  expect_refused("tensor '" + kTensor + "': got f32[32,65], wanted shape [32,64]");
}

TEST_F(BadWeights, OfAnotherTypeAreNamed) {
  edit(kTensor, Tensor({DType::f8e4m3fn, {32, 64}}));
  expect_refused("'" + kTensor + "' is f8e4m3fn[32,64], wanted f32, f16 or bf16");
}

TEST_F(BadWeights, ThatDoNotBelongAreNamed) {
  edit("decoder.weight", Tensor({DType::f32, {1}}));
  expect_refused("does not belong to this architecture: decoder.weight");
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
  bytes[bytes.find("rung plan 5") + 10] = '7';
  tool.folder().write("plan.rung", bytes);
  expect_refused("'rung plan 7'");
}

TEST_F(BadPlan, ForAnotherDeviceIsRefused) {
  auto other = load_plan(plan);
  ASSERT_TRUE(other) << other.error().message;
  other->device = "cpu of another kind";
  ASSERT_TRUE(save_plan(*other, plan));
  expect_refused("built for 'cpu of another kind', this is '");
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
