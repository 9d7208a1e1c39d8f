// Plans without a climb, from code: built by a recipe, saved, opened again; texts with a NUL in them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <fstream>

#include "api/options.hpp"
#include "api/support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

api::Tensors answer_of(const api::Model& model) {
  api::Tensors outputs;
  auto session = model.session();
  EXPECT_TRUE(session) << session.error().message();
  if (session) {
    EXPECT_TRUE(session->run(known_inputs(), outputs));
  }
  return outputs;
}

TEST(PublicBuild, GivesAModelThatSavesAndReopens) {
  TemporaryDirectory directory;
  auto model = api::build(kModel, {.model = kOptions});
  ASSERT_TRUE(model) << model.error().message();
  const std::string path = directory / "plan.rung";
  api::Status saved = model->save(path);
  ASSERT_TRUE(saved) << saved.message();
  auto again = api::Model::open(path);
  ASSERT_TRUE(again) << again.error().message();
  const api::Tensors wanted = answer_of(*model), got = answer_of(*again);
  ASSERT_FALSE(wanted.empty());
  for (const auto& [name, tensor] : wanted) EXPECT_EQ(got.find(name)->second.bytes, tensor.bytes) << name;
  EXPECT_EQ(model->save(directory / "no/such/folder/plan.rung").kind(), api::Kind::file);
}

TEST(PublicBuild, TakesRecipesAndFrozenInputs) {
  auto model = api::build(kModel, {.model = {.threads = 1}, .inputs = known_inputs(), .freeze = {"token_type_ids"}});
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(model->inputs().size(), 2u);
  EXPECT_EQ(api::build(kModel, {.model = kOptions, .recipe = "{"}).error().kind(), api::Kind::usage);
}

// The bytes between the members of an older caller's struct may hold anything.
TEST(PublicOptions, TrustNoCodeForAnOlderCaller) {
  rung_options options RUNG_OPTIONS_INIT;
  options.size = offsetof(rung_options, drop_head) + sizeof(void*);
  std::memset(&options.drop_head + 1, 0xff, sizeof options - offsetof(rung_options, drop_head) - 1);
  const auto older = model_options("plan.rung", &options);
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(older->code, CodeUse::checked);
  options = RUNG_OPTIONS_INIT;
  EXPECT_EQ(model_options("plan.rung", &options)->code, CodeUse::checked);
  options.trust_code = true;
  EXPECT_EQ(model_options("plan.rung", &options)->code, CodeUse::trusted);
  EXPECT_TRUE(api::detail::COptions({.trust_code = true}).options.trust_code);
}

TEST(PublicOptions, OfAnOlderCallerAreTaken) {
  rung_options options RUNG_OPTIONS_INIT;
  options.size = offsetof(rung_options, drop_head);
  options.drop_head = true;  // beyond what such a caller knows
  rung_model* model = nullptr;
  TemporaryDirectory directory;
  std::filesystem::copy(kModel, directory.path(), std::filesystem::copy_options::recursive);
  std::filesystem::remove(directory / "modules.json");
  std::ifstream in(kModel + "/config.json");
  std::string config(std::istreambuf_iterator<char>(in), {});
  config.replace(config.find("\"BertModel\""), 11, "\"BertForMaskedLM\"");
  directory.write("config.json", config);
  EXPECT_EQ(rung_model_open(directory.path().c_str(), &options, &model), RUNG_FILE);
  EXPECT_THAT(rung_error(), HasSubstr("BertForMaskedLM: 5 tensors are wrong"));
  options.size = sizeof options;
  EXPECT_EQ(rung_model_open(directory.path().c_str(), &options, &model), RUNG_OK) << rung_error();
  rung_model_close(model);
}

TEST(Nul, IsAllowedInTextsButNotInNames) {
  TemporaryDirectory directory;
  make_encoder(directory);
  api::Session session = session_of(directory.path(), kOptions);
  const auto whole = session.model().encode("a\0 b"s);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->tokens, 4) << "[CLS] a b [SEP]";
  const api::Model& model = session.model();
  for (const api::Status& status :
       {api::Model::open(kModel + "\0x"s, kOptions).error(), model.save(directory / "plan.rung" + "\0x"s),
        session.bind_input("input_ids\0x"s, rung_tensor{}), session.output("last_hidden_state\0"s).error(),
        api::Model::open(kModel, {.device = "cpu\0x"s}).error(), api::Model::open(kModel, {.dtype = "f32\0"s}).error(),
        api::build(kModel + "\0"s).error(), api::climb(kModel + "\0"s).error(), api::bench(kModel + "\0"s).error(),
        api::climb(kModel, {.freeze = {"token_type_ids\0"s}}).error()}) {
    EXPECT_EQ(status.kind(), api::Kind::usage) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("NUL"));
  }
  api::Tensors inputs = known_inputs(), outputs;
  inputs["input_ids\0"s] = inputs["input_ids"];
  EXPECT_THAT(session.run(inputs, outputs).message(), HasSubstr("NUL"));
}

TEST(PublicText, IsCutAndSaysSoOrIsRefused) {
  TemporaryDirectory directory;
  make_encoder(directory);
  const auto model = api::Model::open(directory.path(), {.threads = 1, .shapes = {{"input_ids", {1, 5}}}});
  ASSERT_TRUE(model) << model.error().message();
  const auto fits = model->encode("a b c"), cut = model->encode("a b c d");
  ASSERT_TRUE(fits && cut);
  EXPECT_FALSE(fits->truncated());
  EXPECT_TRUE(cut->truncated());
  EXPECT_EQ(cut->tokens, 6);
  EXPECT_EQ(cut->kept, 5);
  const auto refused = model->encode("a b c d", api::Truncate::error);
  EXPECT_EQ(refused.error().kind(), api::Kind::mismatch);
  EXPECT_THAT(refused.error().message(), HasSubstr("has 6 tokens, and the plan reads 5"));
  EXPECT_TRUE(model->encode("a b c", api::Truncate::error));
}

TEST(PublicText, ComesBackFromItsIds) {
  TemporaryDirectory directory;
  make_encoder(directory);
  const auto model = api::Model::open(directory.path(), {.threads = 1, .shapes = {{"input_ids", {1, 5}}}});
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(*model->decode({2, 5, 6, 3}), "a b");
  EXPECT_EQ(*model->decode({2, 5, 6, 3}, {.keep_special = true}), "[CLS] a b [SEP]");
  EXPECT_EQ(*model->decode({}), "");
  const std::vector<int64_t> many(1000, 1);
  EXPECT_EQ(model->decode(many, {.keep_special = true})->size(), 1000 * 6 - 1u) << "longer than the first guess";
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 40}) {
    const auto refused = model->decode({5, id});
    EXPECT_EQ(refused.error().kind(), api::Kind::mismatch);
    EXPECT_THAT(refused.error().message(), HasSubstr("got id " + std::to_string(id) + ", which no token"));
  }
  const auto none = api::Model::open(kModel, kOptions);
  EXPECT_THAT(none->decode({5}).error().message(), HasSubstr("no tokenizer of its own"));
}

TEST(PublicText, IsWrittenOnlyWhereItFits) {
  TemporaryDirectory directory;
  make_encoder(directory);
  const auto model = api::Model::open(directory.path(), {.threads = 1, .shapes = {{"input_ids", {1, 5}}}});
  ASSERT_TRUE(model) << model.error().message();
  const int64_t ids[] = {5, 6};
  char room[5] = "....";
  rung_text text{room, 3, 0};
  EXPECT_EQ(rung_model_decode(model->handle(), ids, 2, nullptr, &text), RUNG_OK) << rung_error();
  EXPECT_EQ(text.bytes, 3u);
  EXPECT_STREQ(room, "....");
  text.room = 4;
  EXPECT_EQ(rung_model_decode(model->handle(), ids, 2, nullptr, &text), RUNG_OK) << rung_error();
  EXPECT_STREQ(room, "a b");
  text = {nullptr, 0, 0};
  EXPECT_EQ(rung_model_decode(model->handle(), ids, 2, nullptr, &text), RUNG_OK) << rung_error();
  EXPECT_EQ(text.bytes, 3u);
  rung_decode_options options = RUNG_DECODE_OPTIONS_INIT;
  options.clean_up = static_cast<rung_clean_up>(3);
  EXPECT_EQ(rung_model_decode(model->handle(), ids, 2, &options, &text), RUNG_USAGE);
  EXPECT_THAT(rung_error(), HasSubstr("clean_up: got 3, wanted 0 (as saved)"));
  EXPECT_EQ(rung_model_decode(model->handle(), nullptr, 2, nullptr, &text), RUNG_USAGE);
  EXPECT_EQ(rung_model_decode(model->handle(), ids, 2, nullptr, nullptr), RUNG_USAGE);
}

TEST(PublicText, MayBeTwoTexts) {
  TemporaryDirectory directory;
  make_encoder(directory);
  const auto model = api::Model::open(directory.path(), {.threads = 1, .shapes = {{"input_ids", {1, 7}}}});
  ASSERT_TRUE(model) << model.error().message();
  const auto pair = model->encode_pair("a", "b\0 c"s);
  ASSERT_TRUE(pair) << pair.error().message();
  EXPECT_EQ(pair->tokens, 6) << "[CLS] a [SEP] b c [SEP]";
  const auto half = model->encode_pair("a", {});
  ASSERT_TRUE(half) << half.error().message();
  EXPECT_EQ(half->tokens, 4) << "[CLS] a [SEP] [SEP]";
}

}  // namespace
}  // namespace rung
