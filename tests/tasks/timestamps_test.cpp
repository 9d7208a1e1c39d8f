// Texts that say times: the published library's tokens, and the parts of which they consist.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "generate_source_support.hpp"
#include "support/temporary_directory.hpp"

namespace rung::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<int64_t>;

// The rules that tests/data/timestamps/make.py gave the library.
const nlohmann::json kRulesOfTexts{{"decoder_start_token_id", 1},    {"eos_token_id", 15},
                                   {"no_timestamps_token_id", 19},   {"max_initial_timestamp_index", 3},
                                   {"suppress_tokens", {5, 30}},     {"begin_suppress_tokens", {7, 15}},
                                   {"forced_decoder_ids", {{1, 19}}}};

class Timestamps : public testing::Test {
 protected:
  Timestamps() {
    for (const char* name : {"config.json", "model.safetensors"})
      std::filesystem::copy(source_checkpoint("whisper") + "/" + name, folder_.path());
    write(kRulesOfTexts);
  }
  void write(const nlohmann::json& config) const { folder_.write("generation_config.json", config.dump()); }
  GenerateTask task(int index = 0) const {
    NamedTensors source;
    source.emplace("input_features", arrays_.at(fmt::format("input_features.{}", index)));
    GenerateTask task = tasks::task_of(folder_.path(), source);
    task.options.most = 60;
    task.options.timestamps = true;
    return task;
  }
  std::string refusal(GenerateTask task) const {
    const auto made = generate(task);
    return made ? "no error" : made.error().message;
  }
  const NamedTensors arrays_ = *read_npz(std::string(RUNG_TEST_DATA) + "/timestamps/texts.npz");
  TemporaryDirectory folder_;
};

TEST_F(Timestamps, AreThePublishedLibrarys) {
  for (int index = 0; index < 4; ++index) {
    const auto made = generate(task(index));
    ASSERT_TRUE(made) << made.error().message;
    const auto wanted = arrays_.at(fmt::format("tokens.{}", index)).as<int64_t>();
    EXPECT_EQ(made->tokens, Tokens(wanted.begin(), wanted.end())) << index;
    EXPECT_EQ(made->prompt_tokens, 1) << "without the token of a text that says no times";
  }
}

TEST_F(Timestamps, CutTheTextIntoParts) {
  const auto made = generate(task());
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_THAT(made->tokens, ElementsAre(23, 11, 38, 38, 12, 7, 15));
  ASSERT_TRUE(made->segments);
  ASSERT_EQ(made->segments->size(), 2u);
  const Segment &first = (*made->segments)[0], &second = (*made->segments)[1];
  EXPECT_DOUBLE_EQ(first.begin, 0.06);
  EXPECT_DOUBLE_EQ(*first.end, 0.36);
  EXPECT_THAT(first.tokens, ElementsAre(11));
  EXPECT_DOUBLE_EQ(second.begin, 0.36);
  EXPECT_FALSE(second.end) << "the text ended without it";
  EXPECT_THAT(second.tokens, ElementsAre(12, 7));
}

TEST_F(Timestamps, AreSameWithDrafts) {
  GenerateTask drafted = task(2);
  drafted.draft = folder_.path();
  drafted.options.speculate = Speculate::on;
  const auto plain = generate(task(2)), made = generate(drafted);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->tokens, plain->tokens);
  EXPECT_GT(made->accepted, 2);
  EXPECT_EQ(made->accepted, made->drafted - 1) << "the model's own guesses keep the rules up to the end of the text";
}

TEST_F(Timestamps, AreAskedFor) {
  GenerateTask without = task();
  without.options.timestamps = false;
  const auto made = generate(without);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_FALSE(made->segments);
  EXPECT_EQ(made->prompt_tokens, 2);
}

TEST_F(Timestamps, NeedTheModelsTokens) {
  nlohmann::json config = kRulesOfTexts;
  config.erase("no_timestamps_token_id");
  write(config);
  EXPECT_THAT(refusal(task()), HasSubstr("timestamps: the model's files have no no_timestamps_token_id"));
  config["no_timestamps_token_id"] = 40;
  write(config);
  EXPECT_THAT(refusal(task()), HasSubstr("field 'no_timestamps_token_id': got 40"));
  config["no_timestamps_token_id"] = 39;
  write(config);
  EXPECT_THAT(refusal(task()), HasSubstr("got token 15 for the end of a text and 40 for times"));
  config["max_initial_timestamp_index"] = -1;
  write(config);
  EXPECT_THAT(refusal(task()), HasSubstr("max_initial_timestamp_index"));
}

TEST_F(Timestamps, AreRefusedBehindTheTokenForNone) {
  GenerateTask other = task();
  other.model.inputs = given_arrays({{"input_features", arrays_.at("input_features.0")},
                                     {"decoder_input_ids", Tensor::of<int64_t>({1, 2}, {1, 19})}});
  EXPECT_EQ(refusal(other), "timestamps: the text begins with token 19, by which it has none");
}

TEST(Segments, HaveWordsAndEnds) {
  const TimestampRules rules{.none = 19, .end = 15};
  const auto parts = segments_of(Tokens{20, 1, 2, 30, 30, 33, 34, 3, 16, 39, 15}, rules, nullptr);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2u) << "a part without words is none";
  EXPECT_THAT((*parts)[0].tokens, ElementsAre(1, 2));
  EXPECT_DOUBLE_EQ(*(*parts)[0].end, 0.2);
  EXPECT_DOUBLE_EQ((*parts)[1].begin, 0.28);
  EXPECT_THAT((*parts)[1].tokens, ElementsAre(3));
  EXPECT_DOUBLE_EQ(*(*parts)[1].end, 0.38);
  EXPECT_TRUE(segments_of(Tokens{}, rules, nullptr)->empty());
}

}  // namespace
}  // namespace rung::tasks
