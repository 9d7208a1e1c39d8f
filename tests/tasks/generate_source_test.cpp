// Texts about a source: the published library's tokens, with the tokens that a model's files start with and ban.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "generate_source_support.hpp"
#include "support/temporary_directory.hpp"

namespace rung::tasks {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

class GenerateAboutASource : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, GenerateAboutASource, testing::ValuesIn(source_checkpoints()),
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

// A copy of a checkpoint, with another generation_config.json.
class SourceFiles : public testing::Test {
 protected:
  explicit SourceFiles(const std::string& checkpoint)
      : own_(nlohmann::json::parse(read_text_file(source_checkpoint(checkpoint) + "/generation_config.json").value())),
        arrays_(arrays_of(checkpoint)) {
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(source_checkpoint(checkpoint) + "/" + name, folder_.path());
  }
  // Returns what is made of a text whose prompt the files give.
  Result<Generated> made_with(const nlohmann::json& generation_config, int index) {
    folder_.write("generation_config.json", generation_config.dump());
    NamedTensors inputs = inputs_of(arrays_, index);
    inputs.erase("decoder_input_ids");
    return generate(task_of(folder_.path(), inputs));
  }
  // Returns the message of the error that a value of a field causes.
  std::string error_of(const char* field, const nlohmann::json& value) {
    nlohmann::json config = own_;
    config[field] = value;
    const auto made = made_with(config, 0);
    return made ? "no error" : made.error().message;
  }
  const nlohmann::json own_;
  const NamedTensors arrays_;
  TemporaryDirectory folder_;
};

class WhisperFiles : public SourceFiles {
 protected:
  WhisperFiles() : SourceFiles("whisper") {}
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
  EXPECT_THAT(error_of("forced_decoder_ids", {{2, 8}}),
              HasSubstr("field 'forced_decoder_ids': got [2,8], wanted [1, a"));
  EXPECT_THAT(error_of("forced_decoder_ids", {{1, 40}}), HasSubstr("wanted [1, a token from 0 to 39]"));
  EXPECT_THAT(error_of("forced_decoder_ids", 3), HasSubstr("field 'forced_decoder_ids'"));
  EXPECT_THAT(error_of("suppress_tokens", {40}), HasSubstr("suppress_tokens"));
  EXPECT_THAT(error_of("begin_suppress_tokens", "all"), HasSubstr("begin_suppress_tokens"));
}

class M2m100Files : public SourceFiles {
 protected:
  M2m100Files() : SourceFiles("m2m_100") {}
};

// The second prompt is 0, 11: the token of a language stands behind the start.
TEST_F(M2m100Files, NameTheTokenOfALanguage) {
  nlohmann::json config = own_;
  config["forced_bos_token_id"] = 11;
  const auto made = made_with(config, 1);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->tokens, ElementsAreArray(wanted_tokens(arrays_, 1)));
  EXPECT_EQ(made->prompt_tokens, 2);
  EXPECT_THAT(error_of("forced_bos_token_id", 40), HasSubstr("forced_bos_token_id"));
}

TEST_F(M2m100Files, BanWordsOfOneToken) {
  nlohmann::json config = own_;
  const int64_t first = wanted_tokens(arrays_, 0)[0];
  config["bad_words_ids"] = {{first}, {1}};
  const auto made = made_with(config, 0);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->tokens, testing::Not(testing::Contains(first)));
  EXPECT_THAT(error_of("bad_words_ids", {{3, 4}}), HasSubstr("got [3,4], wanted [a token from 0 to 39]"));
  EXPECT_THAT(error_of("bad_words_ids", 3), HasSubstr("field 'bad_words_ids': got 3"));
}

// The tokenizer's letters begin with a token of their own, 2, and a is 3.
TEST(GenerateAboutASource, ReadsATextByItsTokenizer) {
  TemporaryDirectory folder;
  for (const char* name : {"config.json", "model.safetensors", "generation_config.json"})
    std::filesystem::copy(source_checkpoint("bart") + "/" + name, folder.path());
  auto tokenizer =
      nlohmann::json::parse(read_text_file(std::string(RUNG_TEST_DATA) + "/letters/tokenizer.json").value());
  for (int id = 24; id <= kEndOfText; ++id) tokenizer["model"]["vocab"][fmt::format("-{}", id)] = id;
  folder.write("tokenizer.json", tokenizer.dump());
  GenerateTask by_text = task_of(folder.path(), {});
  by_text.model.inputs = {}, by_text.text = "cab";
  const auto read = generate(by_text);
  ASSERT_TRUE(read) << read.error().message;
  const auto given = generate(task_of(folder.path(), {{"input_ids", Tensor::of<int64_t>({1, 4}, {2, 5, 3, 4})}}));
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(read->tokens, given->tokens);
  EXPECT_EQ(read->text, given->text);
  EXPECT_TRUE(read->text);
}

TEST(GenerateActions, MakesPyTorchsTokensOfActions) { expect_tokens_of_actions("cpu", 0); }

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
