// Texts about a source: the published library's tokens, with the tokens that a model's files start with and ban.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "import/npz.hpp"
#include "support/temporary_directory.hpp"
#include "tasks/generate.hpp"

namespace rung::tasks {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int64_t kEndOfText = 39;  // ends a text, as the checkpoints' files say

std::string source_checkpoint(const std::string& name) { return std::string(RUNG_TEST_DATA) + "/checkpoints/" + name; }

NamedTensors arrays_of(const std::string& name) {
  const auto arrays = read_npz(source_checkpoint(name) + "/generated.npz");
  EXPECT_TRUE(arrays) << arrays.error().message;
  return *arrays;
}

// The inputs of the checkpoint's text number `index`.
NamedTensors inputs_of(const NamedTensors& arrays, int index) {
  NamedTensors inputs;
  for (const char* name : {"input_ids", "input_features", "decoder_input_ids"})
    if (const auto found = arrays.find(fmt::format("{}.{}", name, index)); found != arrays.end())
      inputs.emplace(name, found->second);
  return inputs;
}

GenerateTask task_of(const std::string& path, const NamedTensors& inputs) {
  GenerateTask task{.model = {.path = path, .threads = 1}, .options = {.most = 64}};
  task.options.sampling = {.temperature = 0, .repetition_penalty = 6};
  task.model.inputs = given_arrays(inputs);
  return task;
}

// The library was told to go on behind the token that ends a text.
std::vector<int64_t> wanted_tokens(const NamedTensors& arrays, int index) {
  const auto values = arrays.at(fmt::format("tokens.{}", index)).as<int64_t>();
  std::vector<int64_t> tokens(values.begin(), values.end());
  if (const auto end = std::ranges::find(tokens, kEndOfText); end != tokens.end()) tokens.erase(end + 1, tokens.end());
  return tokens;
}

class GenerateAboutASource : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, GenerateAboutASource, testing::Values("t5", "t5_gated", "whisper"),
                         [](const auto& name) { return name.param; });

TEST_P(GenerateAboutASource, MakesThePublishedLibrarysTokens) {
  const NamedTensors arrays = arrays_of(GetParam());
  for (const int index : {0, 1, 2}) {
    const NamedTensors inputs = inputs_of(arrays, index);
    const auto made = generate(task_of(source_checkpoint(GetParam()), inputs));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_THAT(made->tokens, ElementsAreArray(wanted_tokens(arrays, index))) << index;
    EXPECT_EQ(made->prompt_tokens, inputs.at("decoder_input_ids").shape()[1]);
  }
}

// The first text of each checkpoint begins with that token alone.
TEST_P(GenerateAboutASource, BeginsWithTheTokenThatTheFilesName) {
  const NamedTensors arrays = arrays_of(GetParam());
  NamedTensors inputs = inputs_of(arrays, 0);
  inputs.erase("decoder_input_ids");
  const auto made = generate(task_of(source_checkpoint(GetParam()), inputs));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->tokens, ElementsAreArray(wanted_tokens(arrays, 0)));
}

class WhisperFiles : public testing::Test {
 protected:
  WhisperFiles() {
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(source_checkpoint("whisper") + "/" + name, folder_.path());
  }
  // Returns what is made of a text whose prompt the files give.
  Result<Generated> made_with(const nlohmann::json& generation_config, int index) {
    folder_.write("generation_config.json", generation_config.dump());
    NamedTensors inputs = inputs_of(arrays_, index);
    inputs.erase("decoder_input_ids");
    return generate(task_of(folder_.path(), inputs));
  }
  const nlohmann::json own_ =
      nlohmann::json::parse(read_text_file(source_checkpoint("whisper") + "/generation_config.json").value());
  const NamedTensors arrays_ = arrays_of("whisper");
  TemporaryDirectory folder_;
};

// The third prompt is 1, 8, 12.
TEST_F(WhisperFiles, ForceTokensBehindTheStart) {
  nlohmann::json config = own_;
  config["forced_decoder_ids"] = {{1, 8}, {2, 12}};
  const auto made = made_with(config, 2);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->tokens, ElementsAreArray(wanted_tokens(arrays_, 2)));
  EXPECT_EQ(made->prompt_tokens, 3);
  config["forced_decoder_ids"] = {{1, nullptr}, {2, 12}};
  EXPECT_EQ(made_with(config, 2)->prompt_tokens, 1);
}

TEST_F(WhisperFiles, BanTokensAlwaysOrAtFirst) {
  const auto tokens = [&](const nlohmann::json& config) {
    const auto made = made_with(config, 0);
    EXPECT_TRUE(made) << made.error().message;
    return made->tokens;
  };
  nlohmann::json config = own_;
  const int64_t first = tokens(own_)[0], second = tokens(own_)[1];
  config["begin_suppress_tokens"] = {first};
  EXPECT_NE(tokens(config)[0], first);
  config["begin_suppress_tokens"] = {second};
  EXPECT_EQ(tokens(config), tokens(own_)) << "it is the second token, and only the first one is bound";
  config["suppress_tokens"] = {second};
  EXPECT_THAT(tokens(config), testing::Not(testing::Contains(second)));
}

TEST_F(WhisperFiles, AreReadStrictly) {
  const auto error = [&](const char* field, const nlohmann::json& value) {
    nlohmann::json config = own_;
    config[field] = value;
    const auto made = made_with(config, 0);
    return made ? "no error" : made.error().message;
  };
  EXPECT_THAT(error("forced_decoder_ids", {{2, 8}}), HasSubstr("field 'forced_decoder_ids': got [2,8], wanted [1, a"));
  EXPECT_THAT(error("forced_decoder_ids", {{1, 40}}), HasSubstr("wanted [1, a token from 0 to 39]"));
  EXPECT_THAT(error("forced_decoder_ids", 3), HasSubstr("field 'forced_decoder_ids'"));
  EXPECT_THAT(error("suppress_tokens", {40}), HasSubstr("suppress_tokens"));
  EXPECT_THAT(error("begin_suppress_tokens", "all"), HasSubstr("begin_suppress_tokens"));
}

TEST(GenerateAboutASource, NeedsASourceAndAStart) {
  GenerateTask task = task_of(source_checkpoint("t5"), {{"decoder_input_ids", Tensor::of<int64_t>({1, 1}, {0})}});
  EXPECT_THAT(generate(task).error().message, HasSubstr("input_ids"));
  TemporaryDirectory folder;
  std::filesystem::copy(source_checkpoint("t5") + "/model.safetensors", folder.path());
  auto config = nlohmann::json::parse(read_text_file(source_checkpoint("t5") + "/config.json").value());
  config.erase("decoder_start_token_id");
  folder.write("config.json", config.dump());
  task = task_of(folder.path(), {{"input_ids", Tensor::of<int64_t>({1, 1}, {3})}});
  EXPECT_THAT(generate(task).error().message, HasSubstr("have no decoder_start_token_id"));
}

}  // namespace
}  // namespace rung::tasks
