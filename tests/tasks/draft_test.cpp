// Texts with the guesses of a draft model: the text is the one without, whoever guesses, and a draft forgets what was
// not accepted.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/draft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "import/npz.hpp"
#include "measure/clock.hpp"
#include "support/longer_checkpoint.hpp"
#include "support/temporary_directory.hpp"
#include "tasks/decoder.hpp"
#include "tasks/generate.hpp"

namespace rung::tasks {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Tokens = std::vector<int64_t>;

const std::string kData = RUNG_TEST_DATA;
constexpr int64_t kVocabulary = 24;  // of all checkpoints
constexpr SamplingWishes kGreedy{.temperature = 0};

std::string saved(const std::string& name) { return kData + "/checkpoints/" + name; }

Tokens llamas_prompt() {
  const auto arrays = read_npz(saved("llama") + "/inputs.npz");
  EXPECT_TRUE(arrays) << arrays.error().message;
  const auto ids = arrays->at("input_ids").as<int64_t>();
  return {ids.begin(), ids.end()};
}

std::shared_ptr<Decoder> opened_at(const std::string& path, int64_t length) {
  auto decoder = open_decoder({.model = {.path = path, .threads = 1}, .length = length, .chunks = {1, 8}});
  EXPECT_TRUE(decoder) << decoder.error().message;
  return std::make_shared<Decoder>(std::move(*decoder));
}
std::shared_ptr<Decoder> opened(const std::string& name, int64_t length = 32) { return opened_at(saved(name), length); }

Sampler chooser(sampling::Settings settings) {
  return Sampler::make(kVocabulary, {.settings = settings, .seed = 3}).value();
}

// 18 tokens behind llama's prompt, with or without a draft.
GenerateTask task_with(const std::string& draft, SamplingWishes sampling) {
  GenerateTask task{.model = {.path = saved("llama"), .threads = 1}, .length = 32};
  const Tokens prompt = llamas_prompt();
  task.model.inputs =
      given_arrays({{"input_ids", Tensor::of<int64_t>({1, static_cast<int64_t>(prompt.size())}, prompt)}});
  task.options = {.most = 18, .sampling = sampling};
  if (draft.empty()) return task;
  task.draft = saved(draft);
  task.options.speculate = Speculate::on;
  return task;
}

Generated made_by(const GenerateTask& task) {
  auto made = generate(task);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : Generated{};
}

// Behind 12 tokens in caches of 32, three runs read 4 drafts each; then a chunk of 8 would reach beyond the caches.
TEST(Draft, OfTheModelItselfIsAlwaysRight) {
  for (const SamplingWishes& wishes : {kGreedy, SamplingWishes{.temperature = 2, .top_k = 0, .seed = 5},
                                       SamplingWishes{.temperature = 2, .repetition_penalty = 3, .seed = 6}}) {
    const Generated made = made_by(task_with("llama", wishes));
    EXPECT_EQ(made.tokens, made_by(task_with("", wishes)).tokens);
    EXPECT_EQ(made.drafted, 12);
    EXPECT_EQ(made.accepted, made.drafted) << "temperature " << *wishes.temperature;
    EXPECT_EQ(made.drafting, "kept");
  }
}

class DraftOf : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, DraftOf,
                         testing::Values("gemma3", "gpt2", "gpt_neox", "mistral", "olmo2", "qwen2", "smollm3"),
                         [](const auto& name) { return std::string(name.param); });

// Equal random numbers choose equal tokens with drafts and without, for every seed: so the distribution is the same.
TEST_P(DraftOf, LeavesTheTextAsItIs) {
  const Tokens greedy = made_by(task_with("", kGreedy)).tokens;
  EXPECT_EQ(made_by(task_with(GetParam(), kGreedy)).tokens, greedy);
  int64_t drafted = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const SamplingWishes wishes{
        .temperature = 2, .repetition_penalty = seed % 2 ? 1.5 : 1, .top_k = seed % 3 ? 0 : 6, .seed = seed};
    const Generated made = made_by(task_with(GetParam(), wishes));
    EXPECT_EQ(made.tokens, made_by(task_with("", wishes)).tokens) << "seed " << seed;
    EXPECT_EQ(made.tokens, made_by(task_with(GetParam(), wishes)).tokens) << "a second time";
    drafted += made.drafted, accepted += made.accepted;
  }
  EXPECT_GT(accepted, 0) << "by chance";
  EXPECT_LT(accepted, drafted);
}

// A part of the guesses is accepted, and the caches of the rest are forgotten, rings of a window among them.
TEST_P(DraftOf, GuessesAsIfItReadTheTextAlone) {
  DraftModel draft(opened(GetParam()), 4);
  Sampler chooses = chooser({.temperature = 2});
  Tokens text = llamas_prompt();
  for (size_t accepted = 0; accepted < 4; ++accepted) {
    const auto guesses = draft.guess(text, 4, chooses);
    ASSERT_TRUE(guesses) << guesses.error().message;
    ASSERT_THAT(*guesses, SizeIs(4));
    EXPECT_EQ(*guesses, DraftModel(opened(GetParam()), 4).guess(text, 4, chooses).value()) << accepted << " accepted";
    text.insert(text.end(), guesses->begin(), guesses->begin() + static_cast<int64_t>(accepted));
    text.push_back((*guesses)[accepted] == 5 ? 6 : 5);
  }
}

TEST_P(DraftOf, FollowsATextThatBecameShorter) {
  DraftModel draft(opened(GetParam()), 4);
  Sampler chooses = chooser({.temperature = 2});
  const Tokens prompt = llamas_prompt();
  ASSERT_TRUE(draft.read(prompt));
  for (const size_t length : {11, 6, 1}) {
    const auto text = std::span(prompt).first(length);
    EXPECT_EQ(draft.guess(text, 4, chooses).value(), DraftModel(opened(GetParam()), 4).guess(text, 4, chooses).value())
        << length;
  }
}

TEST(Draft, ReadsOnlyWhatIsNew) {
  const auto decoder = opened("qwen2");
  DraftModel draft(decoder, 4);
  Sampler chooses = chooser({.temperature = 0});
  Tokens text = llamas_prompt();
  ASSERT_TRUE(draft.read(text));
  const int64_t runs = decoder->runs();
  const Tokens guesses = draft.guess(text, 4, chooses).value();
  EXPECT_EQ(decoder->runs(), runs + 3) << "the last guess is not read";
  text.insert(text.end(), {guesses[0], guesses[1], guesses[2] == 5 ? 6 : 5});
  ASSERT_TRUE(draft.guess(text, 4, chooses));
  EXPECT_EQ(decoder->runs(), runs + 3 + 1 + 3) << "two guesses were read before";
}

TEST(Draft, GuessesNoMoreThanIsWanted) {
  DraftModel draft(opened("qwen2", 14), 4);
  Sampler chooses = chooser({.temperature = 0});
  Tokens text = llamas_prompt();
  ASSERT_THAT(text, SizeIs(12));
  EXPECT_THAT(draft.guess(text, 2, chooses).value(), SizeIs(2));
  EXPECT_THAT(draft.guess(text, 0, chooses).value(), IsEmpty());
  EXPECT_THAT(draft.guess(text, 9, chooses).value(), SizeIs(3)) << "two of them are read, and its caches are full";
  text.insert(text.end(), {3, 4});
  EXPECT_THAT(draft.guess(text, 9, chooses).value(), SizeIs(1));
  text.push_back(5);
  EXPECT_THAT(draft.guess(text, 9, chooses).value(), IsEmpty());
}

TEST(Draft, OfShorterTextsLeavesTheRestAlone) {
  const auto text = ModelText::of_directory(saved("llama"));
  ASSERT_TRUE(text) << text.error().message;
  auto generation = TextGeneration::begin(
      *text, opened("llama"), llamas_prompt(),
      {.most = 18, .sampling = kGreedy, .speculate = Speculate::on, .draft = opened("llama", 15)});
  ASSERT_TRUE(generation) << generation.error().message;
  for (int i = 0; i < 18; ++i) ASSERT_TRUE(generation->next().value()) << i;
  EXPECT_EQ(generation->made()->tokens, made_by(task_with("", kGreedy)).tokens);
  EXPECT_EQ(generation->made()->drafted, 3) << "behind 13 tokens there is room for two, and one is not read";
}

// The prompt is read in two runs by each of the two.
TEST(Draft, MayBeInterruptedWhileItReads) {
  const auto text = ModelText::of_directory(saved("llama"));
  ASSERT_TRUE(text) << text.error().message;
  int asked = 0;
  const auto generation = TextGeneration::begin(*text, opened("llama"), llamas_prompt(),
                                                {.draft = opened("llama"), .interrupted = [&] { return ++asked > 3; }});
  EXPECT_EQ(generation.error().kind, ErrorKind::interrupted);
  EXPECT_THAT(generation.error().message, HasSubstr("the draft: interrupted after 8 tokens"));
}

// An encoder-decoder's draft reads the same source by an encoder of its own.
TEST(Draft, OfAnEncoderDecoderReadsTheSource) {
  for (const auto& [model, other] : {std::pair{"t5", "t5_gated"}, {"bart", "mbart"}, {"whisper", "whisper"}}) {
    const auto made = [&, name = model](const char* draft) {
      GenerateTask task{.model = {.path = saved(name), .threads = 1}, .length = 32};
      task.model.inputs = given_arrays(*read_npz(task.model.path + "/source.npz"));
      task.options = {.most = 16, .sampling = {.temperature = 2, .top_k = 0, .seed = 5}};
      if (!draft) return made_by(task);
      task.draft = saved(draft);
      task.options.speculate = Speculate::on;
      return made_by(task);
    };
    const Generated plain = made(nullptr), own = made(model), others = made(other);
    EXPECT_EQ(own.tokens, plain.tokens) << model;
    EXPECT_EQ(others.tokens, plain.tokens) << model;
    EXPECT_GT(own.drafted, 4) << model;
    EXPECT_EQ(own.accepted, own.drafted) << model;
  }
}

// What it guesses is counted as the text's only while it guesses.
TEST(Draft, LeavesTheSamplerAsItWas) {
  Sampler chooses = chooser({.temperature = 1, .repetition = 2}), other = chooser({.temperature = 1, .repetition = 2});
  std::vector<float> values(kVocabulary);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5);
  const Tensor scores = Tensor::of<float>({1, kVocabulary}, values);
  Tokens guessed, chosen;
  for (int i = 0; i < 8; ++i) guessed.push_back(chooses.guess(scores, guessed).value());
  EXPECT_EQ(chooses.drawn(), 0);
  EXPECT_THAT(chooses.seen(), testing::Each(0));
  for (int i = 0; i < 8; ++i) chosen.push_back(other.next(scores).value());
  EXPECT_EQ(guessed, chosen);
}

// A clock on which a run of the model takes 10 us and one of its draft as long as a test says.
class RunClock {
 public:
  RunClock(std::shared_ptr<Decoder> model, std::shared_ptr<Decoder> draft, int64_t ns_of_draft) {
    model_ = std::move(model), draft_ = std::move(draft), ns_of_draft_ = ns_of_draft;
    clock_ns = [] { return model_->runs() * 10'000 + draft_->runs() * ns_of_draft_; };
  }
  ~RunClock() { clock_ns = steady_ns, model_.reset(), draft_.reset(); }
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

 private:
  static inline std::shared_ptr<Decoder> model_, draft_;
  static inline int64_t ns_of_draft_ = 0;
};

// 40 tokens behind llama's prompt on that clock, with the usual use of a draft.
Generated timed_with(const std::string& name, int64_t ns_of_draft) {
  constexpr int64_t kLength = 64;
  const TemporaryDirectory folder;
  const auto open = [&](const std::string& checkpoint) {
    return opened_at(longer_checkpoint(folder, checkpoint, kLength), kLength);
  };
  const auto text = ModelText::of_directory(saved("llama"));
  const auto model = open("llama"), draft = open(name);
  const RunClock clock(model, draft, ns_of_draft);
  auto generation =
      TextGeneration::begin(*text, model, llamas_prompt(), {.most = 40, .sampling = kGreedy, .draft = draft});
  EXPECT_TRUE(generation) << generation.error().message;
  while (generation->next().value()) continue;
  return *generation->made();
}

TEST(Draft, StopsWhereItIsSlower) {
  const Generated wrong = timed_with("qwen2", 1'000);
  EXPECT_EQ(wrong.accepted, 0) << "it is never right";
  EXPECT_EQ(wrong.drafting, "stopped");
  EXPECT_EQ(wrong.drafted, 16) << "of four runs";
  const Generated dear = timed_with("llama", 20'000);
  EXPECT_EQ(dear.accepted, dear.drafted) << "it is always right";
  EXPECT_EQ(dear.drafting, "stopped") << "five tokens for the time of nine";
}

TEST(Draft, GoesOnWhereItIsFaster) {
  const Generated made = timed_with("llama", 1'000);
  EXPECT_EQ(made.drafting, "kept");
  EXPECT_GT(made.drafted, 16);
}

TEST(Draft, IsNotUsedWhereDraftsAreOff) {
  GenerateTask task = task_with("llama", kGreedy);
  task.options.speculate = Speculate::off;
  const Generated made = made_by(task);
  EXPECT_EQ(made.drafted, 0);
  EXPECT_EQ(made.drafting, "off");
}

TEST(Draft, GuessesAsManyTokensAsAsked) {
  GenerateTask task = task_with("llama", kGreedy);
  task.options.draft_tokens = 7;
  EXPECT_EQ(made_by(task).drafted, 14) << "of two runs";
  const auto refusal = [&](int64_t tokens) {
    task.options.draft_tokens = tokens;
    return generate(task).error().message;
  };
  EXPECT_EQ(refusal(8), "got 8 draft tokens, wanted 1 to 7: one run gives the scores of 8 tokens at most");
  EXPECT_THAT(refusal(-1), HasSubstr("got -1 draft tokens"));
  task.draft.clear();
  EXPECT_EQ(refusal(2), "got 2 draft tokens, and no draft that makes them");
}

// ---- vocabularies of the same tokens that are padded to other sizes

// A directory with the config of a checkpoint for that many tokens, and the tokenizer of letters, which has 24. Its
// random weights would write the others as often, which no text can have.
std::string padded(const TemporaryDirectory& folder, const std::string& name, int64_t vocabulary) {
  const std::string path = folder / fmt::format("{}_{}", name, vocabulary);
  std::filesystem::copy(kData + "/letters", path, std::filesystem::copy_options::recursive);
  auto config = nlohmann::json::parse(read_text_file(saved(name) + "/config.json").value());
  config["vocab_size"] = vocabulary;
  const std::string name_of_folder = std::filesystem::path(path).filename().string();
  folder.write(name_of_folder + "/config.json", config.dump());
  nlohmann::json padding = nlohmann::json::array();
  for (int64_t token = kVocabulary; token < vocabulary; ++token) padding.push_back(token);
  folder.write(name_of_folder + "/generation_config.json", nlohmann::json{{"suppress_tokens", padding}}.dump());
  return path;
}

Generated made_with_padding(const std::string& model, const std::string& draft, uint64_t seed) {
  GenerateTask task{.model = {.path = model, .threads = 1, .random_weights = 1}, .length = 32};
  task.model.inputs = given_arrays({{"input_ids", Tensor::of<int64_t>({1, 6}, {1, 2, 3, 4, 5, 6})}});
  task.options = {.most = 18, .sampling = {.temperature = 2, .top_k = 0, .seed = seed}};
  if (!draft.empty()) task.draft = draft, task.options.speculate = Speculate::on;
  return made_by(task);
}

class PaddedDraft : public testing::TestWithParam<std::pair<int, int>> {};
INSTANTIATE_TEST_SUITE_P(Sizes, PaddedDraft, testing::Values(std::pair{24, 40}, std::pair{40, 24}, std::pair{33, 25}),
                         [](const auto& sizes) {
                           return fmt::format("ModelOf{}DraftOf{}", sizes.param.first, sizes.param.second);
                         });

TEST_P(PaddedDraft, LeavesTheTextAsItIs) {
  const TemporaryDirectory folder;
  const auto [ours, others] = GetParam();
  const std::string model = padded(folder, "llama", ours), draft = padded(folder, "qwen2", others);
  int64_t drafted = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Generated made = made_with_padding(model, draft, seed);
    EXPECT_EQ(made.tokens, made_with_padding(model, "", seed).tokens) << "seed " << seed;
    drafted += made.drafted;
  }
  EXPECT_GT(drafted, 0);
}

TEST(Draft, OfFewerTokensKeepsToThem) {
  const TemporaryDirectory folder;
  auto decoder = open_decoder({.model = {.path = padded(folder, "qwen2", 24), .threads = 1, .random_weights = 1},
                               .length = 32,
                               .chunks = {1, 8}});
  ASSERT_TRUE(decoder) << decoder.error().message;
  DraftModel draft(std::make_shared<Decoder>(std::move(*decoder)), 4);
  Sampler chooses = Sampler::make(40, {.settings = {.temperature = 50}}).value();
  EXPECT_THAT(draft.guess(Tokens{1, 23}, 4, chooses).value(), SizeIs(4));
  EXPECT_THAT(draft.guess(Tokens{1, 24}, 4, chooses).value(), IsEmpty());
  for (int64_t token = 3; token < 20; ++token)
    EXPECT_THAT(draft.guess(Tokens{1, 23, token}, 4, chooses).value(), testing::Each(testing::Lt(24)))
        << "40 tokens would be alike where scores hardly count";
}

// ---- what is no draft

class RefusedDraft : public testing::Test {
 protected:
  // Returns why the model in a directory is no draft for the other.
  static std::string refusal(const std::string& draft, const std::string& model = saved("llama"),
                             OpenOptions options = {.threads = 1}) {
    const auto text = ModelText::of_directory(model);
    EXPECT_TRUE(text) << text.error().message;
    const auto made = open_draft(draft, options, {model, *text, *opened("llama")});
    return made ? "" : made.error().message;
  }
  // Copies a checkpoint and the tokenizer of letters, whose tokens a replacement changes.
  std::string letters(const std::string& name, const std::string& from = "", const std::string& to = "") const {
    const std::string path = folder / (name + from);
    for (const std::string& source : {saved(name), kData + "/letters"})
      std::filesystem::copy(source, path, std::filesystem::copy_options::recursive);
    std::string json = read_text_file(path + "/tokenizer.json").value();
    if (!from.empty()) json.replace(json.find(from), from.size(), to);
    EXPECT_TRUE(folder.write(name + from + "/tokenizer.json", json).starts_with(path));
    return path;
  }
  TemporaryDirectory folder;
};

TEST_F(RefusedDraft, KnowsAnotherNumberOfTokens) {
  auto config = nlohmann::json::parse(read_text_file(saved("llama") + "/config.json").value());
  config["vocab_size"] = 25;
  folder.write("config.json", config.dump());
  EXPECT_EQ(refusal(folder.path(), saved("llama"), {.threads = 1, .random_weights = 1}),
            "the draft '" + folder.path() + "' knows 25 tokens, and '" + saved("llama") +
                "' knows 24: wanted equally many, or tokenizers of both that say that the same tokens have the same "
                "numbers");
}

TEST_F(RefusedDraft, HasOtherTokens) {
  const std::string model = letters("llama"), same = letters("qwen2"), other = letters("gpt2", "\"t\":22", "\"T\":22");
  EXPECT_EQ(refusal(same, model), "");
  EXPECT_EQ(refusal(saved("qwen2"), model), "") << "it has no tokenizer";
  EXPECT_EQ(refusal(other, model),
            "the draft '" + other + "' and '" + model + "' have another token 22: wanted the same tokens");
  const std::string fewer = letters("gpt_neox", ",\"t\":22", "");
  EXPECT_THAT(refusal(fewer, model), HasSubstr("another token 22"));
  EXPECT_THAT(refusal(same, fewer), HasSubstr("another token 22"));
}

TEST_F(RefusedDraft, ReadsNoTextByItself) {
  EXPECT_EQ(refusal(saved("t5")), "the draft '" + saved("t5") + "' has an encoder, and '" + saved("llama") +
                                      "' has none: wanted a model that reads the text alone");
  EXPECT_THAT(refusal(saved("roberta")), HasSubstr("the draft: a cache of 32 tokens: roberta has no keys"));
  EXPECT_THAT(refusal(folder / "nothing"), HasSubstr(folder / "nothing"));
}

TEST(Draft, HasRoomForItsPositions) {
  const TemporaryDirectory folder;
  auto config = nlohmann::json::parse(read_text_file(saved("llama") + "/config.json").value());
  config["max_position_embeddings"] = 20;
  folder.write("config.json", config.dump());
  const auto text = ModelText::of_directory(saved("llama"));
  const auto draft =
      open_draft(folder.path(), {.threads = 1, .random_weights = 1}, {folder.path(), *text, *opened("llama")});
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->most_tokens(), 20);
}

}  // namespace
}  // namespace rung::tasks
