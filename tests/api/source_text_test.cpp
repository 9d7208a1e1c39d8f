// Texts about a source, texts with times and tokens of actions, through the C++ interface.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/support.hpp"
#include "base/atomic_file.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tokens = std::vector<int64_t>;

const std::string kSources = RUNG_TEST_DATA;
constexpr int64_t kEndOfText = 39;

NamedTensors saved_arrays(const std::string& path) {
  const auto arrays = read_npz(kSources + path);
  EXPECT_TRUE(arrays) << arrays.error().message;
  return *arrays;
}

Tokens tokens_of_array(const Tensor& tensor) {
  const auto values = tensor.as<int64_t>();
  return {values.begin(), values.end()};
}

api::Tensor public_tensor(const Tensor& tensor) {
  const auto* bytes = tensor.data();
  const auto shape = tensor.shape();
  api::Tensor made;
  made.dtype = tensor.dtype() == DType::i64       ? api::DType::i64
               : tensor.dtype() == DType::boolean ? api::DType::boolean
                                                  : api::DType::f32;
  made.shape.assign(shape.begin(), shape.end());
  made.bytes.assign(bytes, bytes + tensor.bytes());
  return made;
}

Tokens all_tokens(api::Result<api::Generation> generation) {
  if (!generation) throw std::runtime_error(generation.error().message());
  Tokens tokens;
  for (auto piece = generation->next(); piece && *piece; piece = generation->next()) tokens.push_back((*piece)->token);
  return tokens;
}

Tokens until_its_end(Tokens tokens) {
  const auto end = std::ranges::find(tokens, kEndOfText);
  if (end != tokens.end()) tokens.erase(end + 1, tokens.end());
  return tokens;
}

api::GenerateOptions penalized() {
  api::GenerateOptions options;
  options.most = 64, options.temperature = 0, options.repetition_penalty = 6;
  return options;
}

class TextAboutASource : public testing::TestWithParam<const char*> {
 protected:
  static api::LanguageModel open(const std::string& name, int64_t cache = 72) {
    auto model = api::LanguageModel::open(kSources + "/checkpoints/" + name, {.model = {.threads = 1}, .cache = cache});
    if (!model) throw std::runtime_error(model.error().message());
    return *model;
  }
};
INSTANTIATE_TEST_SUITE_P(Checkpoints, TextAboutASource, testing::Values("whisper", "t5", "bart"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(TextAboutASource, HasThePublishedLibrarysTokens) {
  const NamedTensors arrays = saved_arrays(std::string("/checkpoints/") + GetParam() + "/generated.npz");
  const char* input = arrays.contains("input_features.0") ? "input_features" : "input_ids";
  auto session = open(GetParam()).session();
  ASSERT_TRUE(session) << session.error().message();
  for (const int index : {0, 1, 2, 0}) {
    const auto array = [&](const char* name) { return arrays.at(std::string(name) + "." + std::to_string(index)); };
    const auto read = session->read({{input, public_tensor(array(input))}});
    ASSERT_TRUE(read) << read.message();
    const Tokens made =
        all_tokens(session->generate({.tokens = tokens_of_array(array("decoder_input_ids"))}, penalized()));
    EXPECT_EQ(made, until_its_end(tokens_of_array(array("tokens")))) << index;
  }
}

TEST_P(TextAboutASource, BeginsAsTheFilesSayAndAgain) {
  const NamedTensors arrays = saved_arrays(std::string("/checkpoints/") + GetParam() + "/generated.npz");
  const char* input = arrays.contains("input_features.0") ? "input_features" : "input_ids";
  auto session = open(GetParam()).session();
  ASSERT_TRUE(session->read({{input, public_tensor(arrays.at(std::string(input) + ".0"))}}));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session->reset());
    EXPECT_EQ(all_tokens(session->generate({}, penalized())), until_its_end(tokens_of_array(arrays.at("tokens.0"))))
        << "text " << i;
  }
}

using Source = TextAboutASource;
TEST_F(Source, IsWantedBeforeAText) {
  auto session = open("whisper").session();
  const auto begun = session->generate({});
  EXPECT_EQ(begun.error().kind(), api::Kind::usage);
  EXPECT_THAT(begun.error().message(), HasSubstr("got tokens before a source"));
}

TEST_F(Source, IsRefusedWithoutAnEncoder) {
  auto session = open("llama", 16).session();
  const Tensor ids = Tensor::of<int64_t>({1, 2}, {3, 4});
  EXPECT_THAT(session->read({{"input_ids", public_tensor(ids)}}).message(), HasSubstr("encoder"));
}

TEST_F(Source, OfADraftIsTheTexts) {
  const NamedTensors arrays = saved_arrays("/checkpoints/t5/generated.npz");
  const auto draft = open("t5_gated");
  auto session = open("t5").session();
  for (const int index : {0, 2}) {
    ASSERT_TRUE(session->read({{"input_ids", public_tensor(arrays.at("input_ids." + std::to_string(index)))}}));
    api::GenerateOptions options = penalized();
    options.draft = &draft, options.speculate = api::Speculate::on;
    const Tokens prompt = tokens_of_array(arrays.at("decoder_input_ids." + std::to_string(index)));
    EXPECT_EQ(all_tokens(session->generate({.tokens = prompt}, options)),
              until_its_end(tokens_of_array(arrays.at("tokens." + std::to_string(index)))));
  }
}

TEST_F(Source, OfAPolicyIsItsImages) {
  const Tokens wanted = tokens_of_array(saved_arrays("/pi0_fast_tiny/outputs.npz").at("tokens"));
  auto model = api::LanguageModel::open(kSources + "/pi0_fast_tiny", {.model = {.threads = 1}, .cache = 40});
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->session();
  api::Tensors source;
  Tokens begin;
  for (const auto& [name, tensor] : saved_arrays("/pi0_fast_tiny/inputs.npz"))
    if (name == "decoder_input_ids")
      begin = tokens_of_array(tensor);
    else
      source[name] = public_tensor(tensor);
  ASSERT_TRUE(session->read(source));
  api::GenerateOptions options;
  options.most = static_cast<int64_t>(wanted.size()), options.temperature = 0;
  EXPECT_EQ(all_tokens(session->generate({.tokens = begin}, options)), wanted);
}

TEST(Timestamps, AreInTheObjectOfTheText) {
  const TemporaryDirectory folder;
  for (const char* name : {"config.json", "model.safetensors"})
    std::filesystem::copy(kSources + "/checkpoints/whisper/" + name, folder.path());
  folder.write("generation_config.json",
               R"({"decoder_start_token_id": 1, "eos_token_id": 15, "no_timestamps_token_id": 19,
                   "max_initial_timestamp_index": 3, "suppress_tokens": [5, 30], "begin_suppress_tokens": [7, 15]})");
  const NamedTensors texts = saved_arrays("/timestamps/texts.npz");
  const auto model = api::LanguageModel::open(folder.path(), {.model = {.threads = 1}, .cache = 72});
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->session();
  ASSERT_TRUE(session->read({{"input_features", public_tensor(texts.at("input_features.0"))}}));
  api::GenerateOptions options = penalized();
  options.timestamps = true;
  auto generation = session->generate({}, options);
  ASSERT_TRUE(generation) << generation.error().message();
  while (*generation->next()) continue;
  const auto json = nlohmann::json::parse(*generation->json());
  EXPECT_EQ(json["tokens"].get<Tokens>(), tokens_of_array(texts.at("tokens.0")));
  EXPECT_EQ(json["segments"], nlohmann::json::parse(R"([
      {"begin": 0.06, "end": 0.36, "tokens": [11], "text": null},
      {"begin": 0.36, "end": null, "tokens": [12, 7], "text": null}])"));
}

// ---- tokens of actions

const std::string kLetters = kSources + "/actions/letters";

TEST(Actions, AreThoseOfThePublishedTokenizer) {
  const auto cases = nlohmann::json::parse(read_text_file(kLetters + "/cases.json").value());
  const auto tokenizer = api::ActionTokenizer::open(kLetters);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message();
  EXPECT_EQ(tokenizer->shape().horizon, 4);
  EXPECT_EQ(tokenizer->shape().dims, 4);
  for (const auto& one : cases) {
    std::vector<double> wanted;
    for (const auto& row : one["decoded"]) wanted.insert(wanted.end(), row.begin(), row.end());
    const Tokens tokens = one["tokens"];
    const auto decoded = tokenizer->decode(tokens);
    ASSERT_TRUE(decoded) << decoded.error().message();
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR((*decoded)[i], wanted[i], 1e-12);
    Tokens written{3};
    for (int64_t token : tokens) written.push_back(300 - 1 - 20 - token);
    EXPECT_EQ(*tokenizer->decode_policy(written, 300, 20), *decoded);
    const auto tokens_again = tokenizer->encode(*decoded);
    ASSERT_TRUE(tokens_again) << tokens_again.error().message();
    EXPECT_EQ(*tokens_again, tokens);
  }
}

TEST(Actions, AreRefusedByTheirNumber) {
  const auto tokenizer = api::ActionTokenizer::open(kLetters);
  EXPECT_EQ(tokenizer->encode({1, 2}).error().kind(), api::Kind::usage);
  EXPECT_EQ(tokenizer->decode({1}).error().kind(), api::Kind::mismatch);
  double room[15];
  const int64_t token = 1;
  EXPECT_EQ(rung_action_tokenizer_decode(tokenizer->handle(), &token, 1, room, 15), RUNG_USAGE);
  EXPECT_THAT(rung_error(), HasSubstr("got room for 15 actions, wanted 16"));
  EXPECT_EQ(api::ActionTokenizer::open(kLetters, {5, 4}).error().kind(), api::Kind::mismatch);
  EXPECT_EQ(api::ActionTokenizer::open(kLetters, {-1, 4}).error().kind(), api::Kind::usage);
  EXPECT_EQ(api::ActionTokenizer::open(kSources).error().kind(), api::Kind::file);
}

TEST(Actions, OfAClosedTokenizerAreRefused) {
  rung_action_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(rung_action_tokenizer_open(kLetters.c_str(), nullptr, &tokenizer), RUNG_OK);
  rung_action_tokenizer_close(tokenizer);
  rung_tokens place{};
  EXPECT_EQ(rung_action_tokenizer_encode(tokenizer, nullptr, 0, &place), RUNG_USAGE);
  EXPECT_EQ(rung_action_tokenizer_shape(tokenizer).horizon, 0);
}

}  // namespace
}  // namespace rung
