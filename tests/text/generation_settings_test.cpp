// How a model wants to be sampled, as its files say.
// SPDX-License-Identifier: Apache-2.0
#include "text/generation_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "support/wrong_types.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GenerationSettings settings_of(const std::string& generation, const std::string& model = "{}") {
  auto settings = read_generation_settings(TextFiles{{"generation_config.json", generation}, {"config.json", model}});
  EXPECT_TRUE(settings) << settings.error().message;
  return settings.value_or(GenerationSettings{});
}

std::string settings_error(const std::string& generation, const std::string& model = "{}") {
  auto settings = read_generation_settings(TextFiles{{"generation_config.json", generation}, {"config.json", model}});
  EXPECT_FALSE(settings);
  return settings ? "" : settings.error().message;
}

TEST(GenerationSettings, AreThePublishedDefaultsWithoutFiles) {
  const auto settings = read_generation_settings(TextFiles{});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->eos_token_ids.value.empty());
  EXPECT_FALSE(settings->do_sample.value);
  EXPECT_EQ(settings->temperature.value, 1);
  EXPECT_EQ(settings->top_k.value, 50);
  EXPECT_EQ(settings->top_p.value, 1);
  EXPECT_EQ(settings->min_p.value, 0);
  EXPECT_EQ(settings->repetition_penalty.value, 1);
  EXPECT_EQ(settings->max_new_tokens.value, std::nullopt);
  EXPECT_EQ(settings->top_p.source, "default");
}

TEST(GenerationSettings, TellTheFileOfEachValue) {
  const auto settings = settings_of(
      R"({"do_sample":true,"temperature":0.6,"top_k":20,"top_p":0.95,"min_p":0.05,"repetition_penalty":1.05,
          "max_new_tokens":2048,"max_length":4096,"eos_token_id":[9,7,9],"bos_token_id":3})",
      R"({"eos_token_id":1,"pad_token_id":2,"bos_token_id":1,"vocab_size":10})");
  EXPECT_TRUE(settings.do_sample.value);
  EXPECT_EQ(settings.temperature.value, 0.6);
  EXPECT_EQ(settings.top_k.value, 20);
  EXPECT_EQ(settings.top_p.value, 0.95);
  EXPECT_EQ(settings.min_p.value, 0.05);
  EXPECT_EQ(settings.repetition_penalty.value, 1.05);
  EXPECT_EQ(settings.max_new_tokens.value, 2048);
  EXPECT_EQ(settings.max_length.value, 4096);
  EXPECT_THAT(settings.eos_token_ids.value, ElementsAre(7, 9));
  EXPECT_EQ(settings.eos_token_ids.source, "generation_config.json");
  EXPECT_EQ(settings.bos_token_id.value, 3);
  EXPECT_EQ(settings.pad_token_id.value, 2);
  EXPECT_EQ(settings.pad_token_id.source, "config.json");
}

TEST(GenerationSettings, TellWrongTypesInWords) {
  const nlohmann::json file = nlohmann::json::parse(
      R"({"do_sample":true,"temperature":0.6,"top_k":20,"top_p":0.95,"min_p":0.05,"repetition_penalty":1.05,
          "max_new_tokens":2048,"max_length":4096,"eos_token_id":[9,7,9],"bos_token_id":3,"pad_token_id":2})");
  for (const char* name : {"generation_config.json", "config.json"}) {
    const size_t refused = expect_words_for_wrong_types(file, [&](const nlohmann::json& json) {
      const auto settings = read_generation_settings(TextFiles{{name, json.dump()}});
      return settings ? std::string() : settings.error().message;
    });
    EXPECT_GT(refused, 20u) << name;
  }
}

TEST(GenerationSettings, TakeTokensOfAModelWithinAnother) {
  const auto settings = settings_of("{}", R"({"text_config":{"eos_token_id":106,"vocab_size":200},"pad_token_id":-1})");
  EXPECT_THAT(settings.eos_token_ids.value, ElementsAre(106));
  EXPECT_EQ(settings.eos_token_ids.source, "config.json: text_config");
  EXPECT_EQ(settings.pad_token_id.value, std::nullopt);
}

TEST(GenerationSettings, RefuseNonsenseByFileAndField) {
  EXPECT_THAT(settings_error(R"({"temperature":-0.5})"),
              HasSubstr("'generation_config.json': field 'temperature': got -0.5, wanted a number from 0 to"));
  EXPECT_THAT(settings_error(R"({"temperature":"hot"})"), HasSubstr("got the string 'hot'"));
  EXPECT_THAT(settings_error(R"({"top_k":-1})"), HasSubstr("field 'top_k': got -1"));
  EXPECT_THAT(settings_error(R"({"top_p":0})"), HasSubstr("field 'top_p': got 0"));
  EXPECT_THAT(settings_error(R"({"top_p":1.5})"), HasSubstr("field 'top_p': got 1.5"));
  EXPECT_THAT(settings_error(R"({"min_p":2})"), HasSubstr("field 'min_p': got 2"));
  EXPECT_THAT(settings_error(R"({"repetition_penalty":0})"), HasSubstr("field 'repetition_penalty': got 0"));
  EXPECT_THAT(settings_error(R"({"max_new_tokens":0})"), HasSubstr("field 'max_new_tokens': got 0"));
  EXPECT_THAT(settings_error(R"({"do_sample":1})"), HasSubstr("field 'do_sample': got 1, wanted true or false"));
  EXPECT_THAT(settings_error(R"({"eos_token_id":[1,true]})"), HasSubstr("field 'eos_token_id'"));
  EXPECT_THAT(settings_error("[]"), HasSubstr("'generation_config.json': got an array of 0, wanted an object"));
}

TEST(GenerationSettings, RefuseTokensBeyondTheVocabulary) {
  const std::string model = R"({"vocab_size":100,"eos_token_id":5})";
  EXPECT_THAT(settings_error(R"({"eos_token_id":100})", model),
              HasSubstr("field 'eos_token_id': got 100, wanted an integer from 0 to 99"));
  EXPECT_THAT(settings_error(R"({"eos_token_id":[5,100]})", model), HasSubstr("from 0 to 99"));
  EXPECT_THAT(settings_error(R"({"bos_token_id":-1})", model), HasSubstr("field 'bos_token_id': got -1"));
}

TEST(GenerationSettings, NameTheDirectoryOfADamagedFile) {
  const TemporaryDirectory directory;
  directory.write("generation_config.json", "{");
  const auto settings = read_generation_settings(directory.path());
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr(directory.path()));
  EXPECT_EQ(settings.error().kind, ErrorKind::file);
}

}  // namespace
}  // namespace rung
