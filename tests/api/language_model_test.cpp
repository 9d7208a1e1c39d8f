// Language models through the C++ interface: texts as they are made, sessions that remember them, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/support.hpp"
#include "base/atomic_file.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Tokens = std::vector<int64_t>;

const std::string kData = RUNG_TEST_DATA;
const std::string kLlama = kData + "/checkpoints/llama";
const Tokens kGreedy{11, 10, 16, 10, 16, 10, 16, 16, 16};  // the published library's

Tokens known_prompt() {
  const auto arrays = read_npz(kLlama + "/inputs.npz");
  EXPECT_TRUE(arrays);
  const auto ids = arrays->at("input_ids").as<int64_t>();
  return {ids.begin(), ids.end()};
}

api::LanguageModel open(const std::string& path = kLlama, int64_t cache = 0) {
  auto model = api::LanguageModel::open(path, {.model = {.threads = 1}, .cache = cache});
  if (!model) throw std::runtime_error(model.error().message());
  return *model;
}

api::TextSession session_over(const api::LanguageModel& model, const Tokens& text = {}) {
  auto session = model.session();
  if (!session) throw std::runtime_error(session.error().message());
  if (!text.empty()) {
    EXPECT_TRUE(session->feed(text));
  }
  return std::move(*session);
}

// All pieces of a generation.
std::vector<api::Piece> pieces(api::Result<api::Generation> generation) {
  if (!generation) throw std::runtime_error(generation.error().message());
  std::vector<api::Piece> all;
  for (;;) {
    auto piece = generation->next();
    if (!piece) throw std::runtime_error(piece.error().message());
    if (!*piece) return all;
    all.push_back(**piece);
  }
}

Tokens tokens_of(const std::vector<api::Piece>& pieces) {
  Tokens tokens;
  for (const api::Piece& piece : pieces) tokens.push_back(piece.token);
  return tokens;
}

// The checkpoint with a tokenizer: token 2 begins a text, 3 to 22 are the letters a to t, and 23 ends a text.
class Letters : public testing::Test {
 protected:
  Letters() {
    for (const char* from : {"/checkpoints/llama", "/letters"})
      std::filesystem::copy(kData + from, folder.path(), std::filesystem::copy_options::recursive);
  }
  TemporaryDirectory folder;
};

TEST(LanguageModel, MakesThePublishedLibrarysTokens) {
  const api::LanguageModel model = open();
  EXPECT_EQ(model.vocabulary(), 24);
  EXPECT_EQ(model.most_tokens(), 32) << "the model's positions";
  auto generation = model.generate({.tokens = known_prompt()}, {.most = 9, .temperature = 0});
  ASSERT_TRUE(generation) << generation.error().message();
  Tokens made;
  for (size_t i = 0; i < kGreedy.size(); ++i) made.push_back((*generation->next())->token);
  EXPECT_EQ(made, kGreedy);
  EXPECT_FALSE(*generation->next());
  const auto told = nlohmann::json::parse(*generation->json());
  EXPECT_EQ(told["tokens"], nlohmann::json(kGreedy));
  EXPECT_EQ(told["prompt_tokens"], 12);
  EXPECT_EQ(told["stopped_by"], "count");
  EXPECT_TRUE(told["text"].is_null());
  EXPECT_GT(told["prefill_ms"], 0);
  EXPECT_GT(told["decode_ms"]["median"], 0);
  EXPECT_GT(told["bytes_per_token"], 0);
}

TEST_F(Letters, StreamTheirText) {
  const api::LanguageModel model = open(folder.path());
  const api::Prompt prompt{.tokens = known_prompt()};
  std::string text;
  for (const api::Piece& piece : pieces(model.generate(prompt, {.most = 9, .temperature = 0}))) text += piece.text;
  EXPECT_EQ(text, *model.decode(kGreedy));
  EXPECT_EQ(text, "ihnhnhnnn");
  auto stopped = model.generate(prompt, {.most = 9, .temperature = 0, .stops = {"nhnn"}});
  text.clear();
  while (auto piece = *stopped->next()) text += piece->text;
  EXPECT_EQ(text, "ihnh");
  const auto told = nlohmann::json::parse(*stopped->json());
  EXPECT_EQ(told["text"], "ihnh");
  EXPECT_EQ(told["stopped_by"], "stop string");
}

TEST_F(Letters, TakePromptsInEveryForm) {
  const api::LanguageModel model = open(folder.path());
  EXPECT_THAT(*model.tokens({.text = "abt"}), ElementsAre(2, 3, 4, 22));
  EXPECT_THAT(*model.tokens({.chat = R"([{"role": "user", "content": "ab"}])"}), ElementsAre(2, 3, 4, 23));
  EXPECT_THAT(*model.tokens({.tokens = {5, 6}}), ElementsAre(5, 6));
  EXPECT_THAT(model.tokens({}).error().message(), HasSubstr("got 0 prompts, wanted one"));
  EXPECT_THAT(model.tokens({.text = "a", .tokens = {5}}).error().message(), HasSubstr("got 2 prompts, wanted one"));
  api::TextSession session = session_over(model);
  ASSERT_TRUE(session.generate({.text = "ab"}));
  EXPECT_THAT(*session.tokens(), ElementsAre(2, 3, 4));
  ASSERT_TRUE(session.generate({.text = "c"}));
  EXPECT_THAT(*session.tokens(), ElementsAre(2, 3, 4, 5)) << "a text that goes on begins only once";
  EXPECT_THAT(session.generate({.chat = "[]"}).error().message(), HasSubstr("got a chat behind a text of 4 tokens"));
}

TEST(TextSession, GivesTheScoresBehindItsText) {
  const api::LanguageModel model = open();
  const Tokens prompt = known_prompt();
  api::TextSession session = session_over(model);
  const auto scores = session.feed(prompt);
  ASSERT_TRUE(scores) << scores.error().message();
  EXPECT_EQ(scores->size(), 24u);
  EXPECT_EQ(std::ranges::max_element(*scores) - scores->begin(), kGreedy[0]);
  EXPECT_EQ(*session.feed({}), *scores) << "nothing was added";
  EXPECT_EQ(*session.tokens(), prompt);
}

TEST(TextSession, GoesBackAndOn) {
  const api::LanguageModel model = open();
  const Tokens prompt = known_prompt();
  api::TextSession session = session_over(model, prompt);
  const auto wanted = *session.feed({5});
  ASSERT_TRUE(session.feed({6, 7}));
  ASSERT_TRUE(session.truncate(12));
  EXPECT_EQ(*session.feed({5}), wanted);
  ASSERT_TRUE(session.feed({6}));
  ASSERT_TRUE(session.truncate(13));
  EXPECT_EQ(*session.feed({}), wanted) << "the last token is read again";
  EXPECT_EQ(session.tokens()->size(), 13u);
  ASSERT_TRUE(session.reset());
  EXPECT_EQ(session.tokens()->size(), 0u);
  ASSERT_TRUE(session.feed(prompt));
  EXPECT_EQ(*session.feed({5}), wanted);
}

TEST(TextSession, ForksDoNotDisturbEachOther) {
  const api::LanguageModel model = open();
  const Tokens prompt = known_prompt();
  api::TextSession first = session_over(model, prompt);
  auto second = first.fork();
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(*second->tokens(), prompt);
  // In turns, so that caches that both wrote would show.
  std::vector<float> of_first, of_second;
  for (int64_t token : {3, 4, 5}) {
    of_first = *first.feed({token});
    of_second = *second->feed({token + 10});
  }
  api::TextSession alone = session_over(model, prompt);
  std::vector<float> wanted_first, wanted_second;
  for (int64_t token : {3, 4, 5}) wanted_first = *alone.feed({token});
  ASSERT_TRUE(alone.truncate(12));
  for (int64_t token : {13, 14, 15}) wanted_second = *alone.feed({token});
  EXPECT_EQ(of_first, wanted_first);
  EXPECT_EQ(of_second, wanted_second);
  EXPECT_NE(of_first, of_second);
  EXPECT_TRUE(first.truncate(3));
  EXPECT_EQ(second->tokens()->size(), 15u);
}

TEST(TextSession, ForksOutliveWhatTheyCameFrom) {
  auto fork = [] {
    const api::LanguageModel model = open();
    return session_over(model, known_prompt()).fork();
  }();
  ASSERT_TRUE(fork);
  EXPECT_EQ(tokens_of(pieces(fork->generate({}, {.most = 9, .temperature = 0}))), kGreedy);
}

TEST(Generation, GoesOnWhereTheLastOneEnded) {
  const api::LanguageModel model = open();
  const api::GenerateOptions few{.most = 3, .temperature = 0}, rest{.most = 6, .temperature = 0};
  api::TextSession session = session_over(model);
  Tokens made = tokens_of(pieces(session.generate({.tokens = known_prompt()}, few)));
  EXPECT_EQ(session.tokens()->size(), 15u) << "new tokens are part of the text";
  std::ranges::copy(tokens_of(pieces(session.generate({}, rest))), std::back_inserter(made));
  EXPECT_EQ(made, kGreedy);
}

// One that is given up in the middle leaves a text that a fork goes on from.
TEST(Generation, MayBeGivenUp) {
  const api::LanguageModel model = open();
  api::TextSession session = session_over(model);
  auto generation = session.generate({.tokens = known_prompt()}, {.most = 9, .temperature = 0});
  ASSERT_TRUE(generation);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(generation->next());
  auto fork = session.fork();
  ASSERT_TRUE(fork);
  EXPECT_EQ(tokens_of(pieces(fork->generate({}, {.most = 5, .temperature = 0}))),
            Tokens(kGreedy.begin() + 4, kGreedy.end()));
  EXPECT_EQ((*generation->next())->token, kGreedy[4]) << "the fork did not disturb it";
  ASSERT_TRUE(session.truncate(12));
  EXPECT_THAT(generation->next().error().message(), HasSubstr("another call changed it"));
}

TEST(Generation, RepeatsASeedsTokens) {
  const api::LanguageModel model = open();
  const auto made = [&](uint64_t seed) {
    return tokens_of(
        pieces(model.generate({.tokens = known_prompt()}, {.most = 12, .temperature = 2, .top_k = 0, .seed = seed})));
  };
  EXPECT_EQ(made(1), made(1));
  EXPECT_NE(made(1), made(2));
}

// The text that was there before counts, too.
TEST(Generation, PenalizesTokensOfTheWholeText) {
  const api::LanguageModel model = open();
  const api::GenerateOptions options{.most = 6, .temperature = 0, .repetition_penalty = 5};
  const Tokens prompt = known_prompt();
  api::TextSession session = session_over(model, Tokens(prompt.begin(), prompt.begin() + 8));
  const Tokens made = tokens_of(pieces(model.generate({.tokens = prompt}, options)));
  EXPECT_EQ(tokens_of(pieces(session.generate({.tokens = Tokens(prompt.begin() + 8, prompt.end())}, options))), made);
  ASSERT_THAT(prompt, testing::Contains(kGreedy[0]));
  EXPECT_NE(made[0], kGreedy[0]);
}

TEST(Generation, EndsWhereItIsInterrupted) {
  const api::LanguageModel model = open();
  api::TextSession session = session_over(model, {3, 4});
  const auto refused = session.generate({.tokens = known_prompt()}, {.goes_on = [] { return false; }});
  EXPECT_EQ(refused.error().kind(), api::Kind::interrupted);
  EXPECT_THAT(*session.tokens(), ElementsAre(3, 4));
  EXPECT_TRUE(session.feed({5}));
}

// The callback runs while the session works.
TEST(Generation, RefusesASecondCallInItsSession) {
  const api::LanguageModel model = open();
  api::TextSession session = session_over(model);
  api::Status second;
  const auto made = session.generate({.tokens = known_prompt()}, {.goes_on = [&] {
                                       if (second) second = session.feed({3}).error();
                                       return true;
                                     }});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(second.kind(), api::Kind::usage);
  EXPECT_THAT(second.message(), HasSubstr("in use by another thread"));
  EXPECT_EQ(*session.tokens(), known_prompt());
}

const std::string kQwen = kData + "/checkpoints/qwen2";

// Nothing is behind the scores that a shorter text lacks, so that its first run reads no drafts.
TEST(Generation, DraftsBehindATruncatedText) {
  const api::LanguageModel model = open();
  api::TextSession session = session_over(model, known_prompt());
  for (const api::LanguageModel* draft : {static_cast<const api::LanguageModel*>(nullptr), &model}) {
    ASSERT_TRUE(session.feed(kGreedy) && session.truncate(17));
    EXPECT_EQ(tokens_of(pieces(session.generate(
                  {}, {.most = 4, .temperature = 0, .speculate = api::Speculate::on, .draft = draft}))),
              Tokens(kGreedy.begin() + 5, kGreedy.end()));
    ASSERT_TRUE(session.truncate(12));
  }
}

// What a generation tells, at its end.
nlohmann::json told_by(api::Result<api::Generation> generation) {
  if (!generation) throw std::runtime_error(generation.error().message());
  for (;;) {
    auto piece = generation->next();
    if (!piece) throw std::runtime_error(piece.error().message());
    if (!*piece) break;
  }
  return nlohmann::json::parse(*generation->json());
}

TEST(DraftModel, GuessesTokensOfTheSameText) {
  const api::LanguageModel model = open(), other = open(kQwen);
  const api::Prompt prompt{.tokens = known_prompt()};
  const auto greedy = [](const api::LanguageModel& draft, api::Speculate speculate, int64_t tokens = 0) {
    return api::GenerateOptions{
        .most = 9, .temperature = 0, .speculate = speculate, .draft = &draft, .draft_tokens = tokens};
  };
  const auto own = told_by(model.generate(prompt, greedy(model, api::Speculate::on, 3)));
  EXPECT_EQ(own["tokens"], nlohmann::json(kGreedy));
  EXPECT_EQ(own["drafted"], 6) << "of two runs";
  EXPECT_EQ(own["accepted"], 6);
  const auto wrong = told_by(model.generate(prompt, greedy(other, api::Speculate::on)));
  EXPECT_EQ(wrong["tokens"], nlohmann::json(kGreedy));
  EXPECT_LT(wrong["accepted"], wrong["drafted"]);
  EXPECT_NE(told_by(model.generate(prompt, greedy(model, api::Speculate::usual)))["drafting"], "off");
  EXPECT_EQ(told_by(model.generate(prompt, greedy(model, api::Speculate::off)))["drafted"], 0);
  EXPECT_EQ(told_by(model.generate(prompt, {.most = 9, .temperature = 0}))["drafting"], "off");
}

// A session goes on with the draft's caches, whose text another draft's does not disturb.
TEST(DraftModel, FollowsASession) {
  const api::LanguageModel model = open(), other = open(kQwen);
  api::TextSession session = session_over(model);
  Tokens made;
  const auto go_on = [&](const api::Prompt& prompt, const api::LanguageModel* draft) {
    const api::GenerateOptions few{.most = 3, .temperature = 0, .speculate = api::Speculate::on, .draft = draft};
    const auto told = told_by(session.generate(prompt, few));
    for (int64_t token : told["tokens"]) made.push_back(token);
    return told["accepted"].get<int>();
  };
  EXPECT_EQ(go_on({.tokens = known_prompt()}, &model), 1) << "of the run behind the first token";
  go_on({}, &other);
  EXPECT_EQ(go_on({}, &model), 2);
  EXPECT_EQ(made, kGreedy);
  ASSERT_TRUE(session.truncate(12));
  made.clear();
  go_on({}, &model);
  EXPECT_EQ(made, Tokens(kGreedy.begin(), kGreedy.begin() + 3));
}

TEST(DraftModel, IsRefusedWhereItIsNone) {
  const TemporaryDirectory letters, others;
  for (const TemporaryDirectory* folder : {&letters, &others})
    for (const char* from : {"/checkpoints/llama", "/letters"})
      std::filesystem::copy(kData + from, folder->path(), std::filesystem::copy_options::recursive);
  std::string json = *read_text_file(others / "tokenizer.json");
  json.replace(json.find("\"t\":22"), 6, "\"T\":22");
  others.write("tokenizer.json", json);
  const api::LanguageModel model = open(letters.path()), draft = open(others.path());
  api::TextSession session = session_over(model);
  const auto refusal = [&](const api::GenerateOptions& options) {
    return session.generate({.tokens = known_prompt()}, options).error();
  };
  EXPECT_EQ(refusal({.draft = &draft}).kind(), api::Kind::mismatch);
  EXPECT_EQ(refusal({.draft = &draft}).message(), "the draft '" + others.path() + "' and '" + letters.path() +
                                                      "' have another token 22: wanted the same tokens");
  EXPECT_THAT(refusal({.draft = &model, .draft_tokens = 8}).message(), HasSubstr("wanted 1 to 7"));
  EXPECT_EQ(refusal({.draft_tokens = 2}).kind(), api::Kind::usage);
  EXPECT_EQ(session.tokens()->size(), 0u);
  EXPECT_EQ(
      tokens_of(pieces(session.generate({.tokens = known_prompt()}, {.most = 9, .temperature = 0, .draft = &model}))),
      kGreedy);
}

TEST(LanguageModel, RefusesWhatIsNone) {
  const auto refusal = [](const std::string& path, const api::LanguageOptions& options = {}) {
    return api::LanguageModel::open(path, options).error().message();
  };
  EXPECT_THAT(refusal(kModel), HasSubstr("is no decoder language model"));
  EXPECT_THAT(refusal(std::string(RUNG_TEST_DATA) + "/exported/bert.pt2"), HasSubstr("cache: got 0 for"));
  EXPECT_THAT(refusal("/no/such/model"), HasSubstr("'/no/such/model' is not a model"));
  EXPECT_THAT(refusal(kLlama, {.cache = 33}), HasSubstr("wanted 1 to 32"));
  EXPECT_THAT(refusal(kLlama, {.cache = -1}), HasSubstr("cache: got -1"));
  EXPECT_THAT(refusal(kLlama, {.model = {.shapes = {{"input_ids", {1, 4}}}}}), HasSubstr("got shapes"));
  const TemporaryDirectory folder;
  auto plan = api::Model::open(kModel, kOptions);
  ASSERT_TRUE(plan && plan->save(folder / "plan.rung"));
  EXPECT_THAT(refusal(folder / "plan.rung"), HasSubstr("not a decoder's that remembers its text"));
  EXPECT_THAT(refusal(folder / "plan.rung", {.cache = 8}), HasSubstr("cache: got 8 for a plan file"));
}

TEST(TextSession, KeepsItsTextWhereItRefuses) {
  const api::LanguageModel model = open();
  api::TextSession session = session_over(model);
  EXPECT_THAT(session.feed({}).error().message(), HasSubstr("got no tokens"));
  EXPECT_THAT(session.generate().error().message(), HasSubstr("got 0 prompts"));
  ASSERT_TRUE(session.feed({3, 4}));
  EXPECT_THAT(session.feed({3, 24}).error().message(), HasSubstr("token 1 of 2 is 24: wanted 0 to 23"));
  EXPECT_THAT(session.feed(Tokens(31, 3)).error().message(), HasSubstr("there is room for 32"));
  EXPECT_THAT(session.truncate(3).message(), HasSubstr("got a length of 3, wanted 0 to 2"));
  EXPECT_THAT(session.generate({}, {.most = 0}).error().message(), HasSubstr("got 0 new tokens"));
  EXPECT_THAT(session.generate({}, {.top_p = 3}).error().message(), HasSubstr("top_p: got 3"));
  EXPECT_THAT(session.generate({}, {.top_k = -2}).error().message(), HasSubstr("top_k: got -2"));
  EXPECT_THAT(session.generate({}, {.stops = {"a"}}).error().message(), HasSubstr("no tokenizer"));
  EXPECT_THAT(*session.tokens(), ElementsAre(3, 4));
}

TEST(CLanguageModel, TakesADraft) {
  rung_language_model *model = nullptr, *draft = nullptr;
  rung_text_session* session = nullptr;
  rung_generation* generation = nullptr;
  ASSERT_EQ(rung_language_model_open(kLlama.c_str(), nullptr, &model), RUNG_OK) << rung_error();
  ASSERT_EQ(rung_language_model_open(kLlama.c_str(), nullptr, &draft), RUNG_OK) << rung_error();
  ASSERT_EQ(rung_text_session_open(model, &session), RUNG_OK) << rung_error();
  const Tokens tokens = known_prompt();
  rung_prompt prompt RUNG_PROMPT_INIT;
  prompt.tokens = tokens.data();
  prompt.token_count = tokens.size();
  rung_generate_options options RUNG_GENERATE_OPTIONS_INIT;
  options.most = 9;
  options.temperature = 0;
  options.draft = draft;
  options.speculate = RUNG_SPECULATE_ON;
  ASSERT_EQ(rung_generation_open(session, &prompt, &options, &generation), RUNG_OK) << rung_error();
  rung_language_model_close(draft);
  rung_piece piece{};
  for (const int64_t token : kGreedy) {
    ASSERT_EQ(rung_generation_next(generation, &piece), RUNG_OK) << "it keeps its draft";
    EXPECT_EQ(piece.token, token);
  }
  char* json = nullptr;
  ASSERT_EQ(rung_generation_json(generation, &json), RUNG_OK);
  EXPECT_EQ(nlohmann::json::parse(json)["accepted"], 6);
  rung_free(json);
  EXPECT_EQ(rung_generation_open(session, nullptr, &options, &generation), RUNG_USAGE);
  EXPECT_THAT(rung_error(), HasSubstr("draft"));
  rung_generation_close(generation), rung_text_session_close(session), rung_language_model_close(model);
}

TEST(CLanguageModel, RefusesNullAndClosedHandles) {
  rung_language_model* model = nullptr;
  rung_text_session* session = nullptr;
  rung_generation* generation = nullptr;
  EXPECT_EQ(rung_language_model_open(nullptr, nullptr, &model), RUNG_USAGE);
  EXPECT_EQ(rung_language_model_open(kLlama.c_str(), nullptr, nullptr), RUNG_USAGE);
  ASSERT_EQ(rung_language_model_open(kLlama.c_str(), nullptr, &model), RUNG_OK) << rung_error();
  ASSERT_EQ(rung_text_session_open(model, &session), RUNG_OK) << rung_error();
  rung_language_model_close(model);
  EXPECT_EQ(rung_language_model_vocabulary(model), 0);
  EXPECT_EQ(rung_text_session_open(model, &session), RUNG_USAGE);
  const int64_t text[] = {3, 4};
  float logits[24];
  EXPECT_EQ(rung_text_session_feed(session, text, 2, logits, 23), RUNG_USAGE);
  EXPECT_STREQ(rung_error(), "got room for 23 logits, wanted 24, the vocabulary");
  EXPECT_EQ(rung_text_session_feed(session, nullptr, 2, logits, 24), RUNG_USAGE);
  EXPECT_EQ(rung_text_session_feed(session, text, 2, nullptr, 0), RUNG_OK) << rung_error();
  int64_t place[2];
  rung_tokens little{place, 1, 0};
  EXPECT_EQ(rung_text_session_tokens(session, &little), RUNG_OK);
  EXPECT_EQ(little.count, 2u);
  ASSERT_EQ(rung_generation_open(session, nullptr, nullptr, &generation), RUNG_OK) << rung_error();
  rung_text_session_close(session);
  EXPECT_EQ(rung_text_session_truncate(session, 0), RUNG_USAGE);
  rung_piece piece{};
  EXPECT_EQ(rung_generation_next(generation, &piece), RUNG_OK) << "it keeps its session";
  EXPECT_EQ(rung_generation_next(generation, nullptr), RUNG_USAGE);
  rung_generation_close(generation);
  EXPECT_EQ(rung_generation_next(generation, &piece), RUNG_USAGE);
  rung_generation_close(nullptr), rung_text_session_close(nullptr), rung_language_model_close(nullptr);
}

}  // namespace
}  // namespace rung
