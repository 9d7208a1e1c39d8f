// Texts of the decoders' test checkpoints: the published library's tokens, whatever chunks they are read in, and what
// is refused.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "import/npz.hpp"
#include "support/temporary_directory.hpp"
#include "tasks/decoder.hpp"

namespace rung::tasks {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const std::string kCheckpointFolder = std::string(RUNG_TEST_DATA) + "/checkpoints/";

constexpr int64_t kEnd = 23;  // ends a text, as every checkpoint's config.json says

std::string checkpoint(const std::string& name) { return kCheckpointFolder + name; }

std::vector<std::string> decoders() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kCheckpointFolder))
    if (std::filesystem::exists(entry.path() / "greedy.npz")) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::vector<int64_t> tokens_of(const std::string& file, const std::string& name) {
  const auto arrays = read_npz(file);
  EXPECT_TRUE(arrays) << arrays.error().message;
  const auto values = arrays->at(name).as<int64_t>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> prompt_of(const std::string& name) {
  return tokens_of(checkpoint(name) + "/inputs.npz", "input_ids");
}

GenerateTask task_of(const std::string& name, std::vector<int64_t> prompt, int64_t most) {
  GenerateTask task{.model = {.path = checkpoint(name), .threads = 1}};
  task.options.most = most;
  const auto length = static_cast<int64_t>(prompt.size());
  task.model.inputs = given_arrays({{"input_ids", Tensor::of<int64_t>({1, length}, prompt)}});
  return task;
}

Decoder open(const std::string& name, int64_t length, std::vector<int64_t> chunks, int64_t scored_chunk = 0) {
  auto decoder = open_decoder({.model = {.path = checkpoint(name), .threads = 1},
                               .length = length,
                               .chunks = std::move(chunks),
                               .scored_chunk = scored_chunk});
  EXPECT_TRUE(decoder) << decoder.error().message;
  return std::move(*decoder);
}

std::vector<float> scores(const Decoder& decoder) {
  const auto values = decoder.logits()->as<float>();
  return {values.begin(), values.end()};
}

auto near(const std::vector<float>& wanted, float tolerance = 2e-4f) {
  return testing::Pointwise(testing::FloatNear(tolerance), wanted);
}

class Generate : public testing::TestWithParam<std::string> {
 protected:
  // In bf16 the last layer's sum is rounded where the row of a chunk's last token is looked up, and not for one token:
  // scores may differ by two roundings of the largest one.
  static auto near(const std::vector<float>& wanted) {
    if (!GetParam().ends_with("_bf16")) return tasks::near(wanted);
    const auto [least, most] = std::ranges::minmax(wanted);
    return tasks::near(wanted, 0x1p-7f * std::max(-least, most));
  }
};
INSTANTIATE_TEST_SUITE_P(Checkpoints, Generate, testing::ValuesIn(decoders()),
                         [](const auto& name) { return name.param; });

// The library was told to go on behind the token that ends a text.
TEST_P(Generate, MakesThePublishedLibrarysTokens) {
  auto wanted = tokens_of(checkpoint(GetParam()) + "/greedy.npz", "tokens");
  const auto end = std::ranges::find(wanted, kEnd);
  const bool ends = end != wanted.end();
  GenerateTask task = task_of(GetParam(), prompt_of(GetParam()), static_cast<int64_t>(wanted.size()));
  task.options.sampling.temperature = 0;
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  if (ends) wanted.erase(end + 1, wanted.end());
  EXPECT_THAT(made->tokens, ElementsAreArray(wanted));
  EXPECT_EQ(made->stopped_by, ends ? "stop token" : "count");
  EXPECT_EQ(made->prompt_tokens, static_cast<int64_t>(prompt_of(GetParam()).size()));
  EXPECT_GT(made->bytes_per_token, 0);
}

TEST(GeneratedBytes, AreThoseOfTheTextAlone) {
  GenerateTask task = task_of("llama", prompt_of("llama"), 2);
  task.length = 16;
  const auto little = generate(task);
  task.length = 32;
  const auto much = generate(task);
  ASSERT_TRUE(little && much);
  EXPECT_EQ(little->bytes_per_token, much->bytes_per_token);
}

// A directory's plans for chunks of 1 and 8 tokens share all weights but small constants of their own.
TEST(GeneratedBytes, OfWeightsAreThoseOfOneChunk) {
  GenerateTask task = task_of("llama", prompt_of("llama"), 2);
  const auto both = generate(task);
  ASSERT_TRUE(both);
  const Decoder one = open("llama", both->prompt_tokens + 2, {1});
  EXPECT_LT(static_cast<double>(both->weight_bytes), 1.2 * static_cast<double>(one.weight_bytes()));
}

TEST_P(Generate, ScoresAlikeInChunksOfAnySize) {
  const auto text = prompt_of(GetParam());
  const auto length = static_cast<int64_t>(text.size()) + 8;
  Decoder steps = open(GetParam(), length, {1}), chunks = open(GetParam(), length, {1, 3, 8});
  ASSERT_TRUE(chunks.take(text));
  for (int64_t token : text) ASSERT_TRUE(steps.take({&token, 1}));
  EXPECT_THAT(scores(chunks), near(scores(steps)));
  EXPECT_LT(chunks.runs(), steps.runs());
}

TEST_P(Generate, GoesOnFromATruncatedText) {
  const auto text = prompt_of(GetParam());
  const auto length = static_cast<int64_t>(text.size()) + 8;
  Decoder decoder = open(GetParam(), length, {1, 4});
  const std::span all(text);
  ASSERT_TRUE(decoder.take(all.first(6)));
  const auto wanted = scores(decoder);
  ASSERT_TRUE(decoder.take(all.subspan(6, 2)));
  const Status truncated = decoder.truncate(5);
  ASSERT_TRUE(truncated) << truncated.error().message;
  EXPECT_EQ(decoder.length(), 5);
  EXPECT_EQ(decoder.logits(), nullptr);
  ASSERT_TRUE(decoder.take(all.subspan(5, 1)));
  EXPECT_THAT(scores(decoder), near(wanted));
  ASSERT_TRUE(decoder.reset());
  ASSERT_TRUE(decoder.take(all.first(6)));
  EXPECT_THAT(scores(decoder), near(wanted));
}

TEST_P(Generate, ReadsDraftsAheadAndForgetsWrongOnes) {
  const auto text = prompt_of(GetParam());
  const auto length = static_cast<int64_t>(text.size()) + 8;
  Decoder steps = open(GetParam(), length, {1}), ahead = open(GetParam(), length, {1, 4}, 4);
  const std::span all(text);
  ASSERT_TRUE(ahead.take(all.first(6)) && steps.take(all.first(7)));
  ahead.append(text[6]);
  EXPECT_EQ(ahead.logits(), nullptr) << "it is not read";
  EXPECT_EQ(ahead.most_drafts(), 3);
  const int64_t wrong = text[8] == 5 ? 6 : 5;
  ASSERT_TRUE(ahead.take_ahead(std::vector{text[7], wrong, wrong}));
  EXPECT_EQ(ahead.length(), 7) << "drafts are not the text's";
  EXPECT_THAT(scores(ahead), near(scores(steps)));
  const int64_t runs = ahead.runs();
  ahead.append(text[7]);
  ASSERT_TRUE(steps.take(all.subspan(7, 1)));
  EXPECT_THAT(scores(ahead), near(scores(steps)));
  EXPECT_EQ(ahead.runs(), runs) << "a draft that is right needs no run";
  ahead.append(text[8]);
  EXPECT_EQ(ahead.logits(), nullptr);
  ASSERT_TRUE(ahead.take({}) && steps.take(all.subspan(8, 1)));
  EXPECT_THAT(scores(ahead), near(scores(steps)));
  EXPECT_EQ(ahead.accepted(), 1);
}

// A text beyond the window: rejected drafts stand in places of the ring that the next tokens write.
TEST_P(Generate, ReadsDraftsAheadBeyondAWindow) {
  auto text = prompt_of(GetParam());
  for (size_t i = 0; text.size() < 24; ++i) text.push_back(text[i]);
  Decoder steps = open(GetParam(), 32, {1}), ahead = open(GetParam(), 32, {1, 4}, 4);
  ASSERT_TRUE(ahead.take(std::span(text).first(8)) && steps.take(std::span(text).first(8)));
  for (size_t i = 8; i < text.size(); ++i) {
    ahead.append(text[i]);
    ASSERT_EQ(ahead.most_drafts(), 3) << "the ring has room for a chunk";
    const int64_t wrong = i + 1 < text.size() && text[i + 1] == 5 ? 6 : 5;
    ASSERT_TRUE(ahead.take_ahead(std::vector<int64_t>{wrong, 6, 7}) && steps.take({&text[i], 1}));
    EXPECT_THAT(scores(ahead), near(scores(steps))) << "behind " << i + 1;
  }
}

TEST_P(Generate, MakesTheSameTextWithDrafts) {
  for (const double temperature : {0.0, 0.5}) {
    std::vector<int64_t> texts[2];
    for (const Speculate speculate : {Speculate::off, Speculate::on}) {
      GenerateTask task = task_of(GetParam(), prompt_of(GetParam()), 18);
      task.options.sampling = {.temperature = temperature, .seed = 3};
      task.options.speculate = speculate;
      const auto made = generate(task);
      ASSERT_TRUE(made) << made.error().message;
      texts[speculate == Speculate::on] = made->tokens;
      EXPECT_LE(made->accepted, made->drafted);
      if (speculate == Speculate::off) {
        EXPECT_EQ(made->drafted, 0);
      } else if (temperature == 0 && GetParam() == "llama") {
        EXPECT_GE(made->accepted, 4) << "its text repeats itself";
      }
    }
    EXPECT_EQ(texts[0], texts[1]) << "temperature " << temperature;
  }
}

TEST(Decoder, RefusesDraftsThatItCannotRead) {
  Decoder decoder = open("llama", 10, {1, 4}, 4), last_alone = open("llama", 10, {1, 4});
  const std::vector<int64_t> drafts{3, 4};
  ASSERT_TRUE(decoder.take(std::vector<int64_t>{1, 2}) && last_alone.take(std::vector<int64_t>{1, 2}));
  EXPECT_THAT(decoder.take_ahead(drafts).error().message, HasSubstr("got 2 drafts behind 0 tokens"));
  decoder.append(3), last_alone.append(3);
  EXPECT_THAT(decoder.take_ahead(std::vector<int64_t>(4, 1)).error().message, HasSubstr("wanted at most 3"));
  EXPECT_EQ(last_alone.most_drafts(), 0);
  ASSERT_TRUE(decoder.take(std::vector<int64_t>{4, 5, 6, 7, 8}));
  decoder.append(9);
  EXPECT_EQ(decoder.most_drafts(), 0) << "a chunk of 4 would reach beyond the caches";
}

// Caches of 8 bits are copied, cut short and begun again, full ones and rings of a window, as others are. What a chunk
// stores is what single tokens store, so scores differ as sums in another order do.
TEST(Decoder, RemembersInCachesOf8Bits) {
  for (const char* name : {"llama", "mistral", "gemma3"}) {
    const auto narrow = [&](std::vector<int64_t> chunks) {
      auto decoder = open_decoder({.model = {.path = checkpoint(name), .threads = 1},
                                   .length = 32,
                                   .chunks = std::move(chunks),
                                   .recipe = Recipe{.rungs = {"attention", "fusion", "precision"},
                                                    .precision = {{.labels = "*", .cache = DType::f8e4m3fn}}}});
      EXPECT_TRUE(decoder) << decoder.error().message;
      return std::move(*decoder);
    };
    std::vector<int64_t> text;
    for (int64_t i = 0; i < 30; ++i) text.push_back(i * i * 7 % 22);
    const std::span all(text);
    Decoder steps = narrow({1}), decoder = narrow({1, 4}), wide = open(name, 32, {1});
    for (const int64_t token : text) ASSERT_TRUE(steps.take({&token, 1}));
    const std::vector<float> wanted = scores(steps);
    ASSERT_TRUE(wide.take(text));
    EXPECT_NE(wanted, scores(wide)) << name << ": 8 bits are no 32";
    ASSERT_TRUE(decoder.take(all.first(27)));
    auto fork = decoder.fork();
    ASSERT_TRUE(fork) << fork.error().message;
    ASSERT_TRUE(fork->take(all.subspan(27)));
    EXPECT_THAT(scores(*fork), near(wanted)) << name;
    ASSERT_TRUE(decoder.take(std::vector<int64_t>{1, 2}));
    ASSERT_TRUE(decoder.truncate(27)) << name;
    ASSERT_TRUE(decoder.take(all.subspan(27)));
    EXPECT_THAT(scores(decoder), near(wanted)) << name;
    ASSERT_TRUE(decoder.truncate(0));
    ASSERT_TRUE(decoder.take(text));
    EXPECT_THAT(scores(decoder), near(wanted)) << name << " begun again";
  }
}

// A fork begins with the drafts, too.
TEST(Decoder, ForksInTheMiddleOfDrafts) {
  Decoder decoder = open("llama", 16, {1, 4}, 4), steps = open("llama", 16, {1});
  ASSERT_TRUE(decoder.take(std::vector<int64_t>{1, 2}) && steps.take(std::vector<int64_t>{1, 2, 3, 4, 9}));
  decoder.append(3);
  ASSERT_TRUE(decoder.take_ahead(std::vector<int64_t>{4, 5}));
  auto fork = decoder.fork();
  ASSERT_TRUE(fork) << fork.error().message;
  decoder.append(8);
  ASSERT_TRUE(decoder.take({}));
  fork->append(4);
  ASSERT_NE(fork->logits(), nullptr);
  fork->append(9);
  ASSERT_TRUE(fork->take({}));
  EXPECT_THAT(scores(*fork), near(scores(steps)));
}

TEST(Decoder, RefusesTokensAndKeepsItsText) {
  Decoder decoder = open("llama", 10, {1, 4});
  const std::vector<int64_t> text{1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(decoder.take(text));
  EXPECT_THAT(decoder.take({}).error().message, HasSubstr("got no tokens"));
  EXPECT_THAT(decoder.take(text).error().message, HasSubstr("got 6 tokens behind a text of 6: there is room for 10"));
  const std::vector<int64_t> unknown{1, 999999};
  EXPECT_THAT(decoder.take(unknown).error().message, HasSubstr("token 1 of 2 is 999999: wanted 0 to"));
  EXPECT_THAT(decoder.truncate(7).error().message, HasSubstr("got a length of 7, wanted 0 to 6"));
  EXPECT_EQ(decoder.length(), 6);
  const auto wanted = scores(decoder);
  ASSERT_TRUE(decoder.truncate(5));
  ASSERT_TRUE(decoder.take(std::span(text).subspan(5)));
  EXPECT_THAT(scores(decoder), near(wanted));
}

// A window of a few tokens: what the ring has overwritten cannot be gone back to.
TEST(Decoder, RefusesToGoBackBehindAWindow) {
  Decoder decoder = open("mistral", 26, {1, 2});
  const auto text = prompt_of("mistral");
  std::vector<int64_t> all = text;
  while (all.size() < 24) all.push_back(all.back());
  ASSERT_TRUE(decoder.take(all));
  EXPECT_THAT(decoder.truncate(6).error().message, HasSubstr("a text of 24 tokens cannot end at 6"));
  EXPECT_EQ(decoder.length(), 24);
  EXPECT_TRUE(decoder.truncate(0));
}

// All layers of it have windows, so that only the tables of positions bound its text.
TEST(Decoder, RefusesATextBeyondItsPositions) {
  Decoder decoder = open("mistral", 14, {1, 2});
  EXPECT_EQ(decoder.most_tokens(), 14);
  const auto text = prompt_of("mistral");
  ASSERT_TRUE(decoder.take(text));
  const auto wanted = scores(decoder);
  EXPECT_THAT(decoder.take(text).error().message, HasSubstr("got 12 tokens behind a text of 12: there is room for 14"));
  EXPECT_EQ(decoder.length(), 12);
  EXPECT_THAT(scores(decoder), near(wanted));
  EXPECT_TRUE(decoder.take(std::span(text).first(2)));
}

TEST(Decoder, IsNotOpenedOverOtherPlans) {
  const auto made = open_decoder({.model = {.path = checkpoint("roberta")}, .length = 8, .chunks = {1}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("cache"));
}

TEST(Generation, RepeatsASeedsTokens) {
  const auto tokens = [](uint64_t seed) {
    GenerateTask task = task_of("llama", prompt_of("llama"), 12);
    task.options.sampling = {.temperature = 2, .top_k = 0, .seed = seed};
    const auto made = generate(task);
    EXPECT_TRUE(made) << made.error().message;
    return made->tokens;
  };
  EXPECT_EQ(tokens(1), tokens(1));
  EXPECT_NE(tokens(1), tokens(2));
}

// All tokens are as good as equally likely.
TEST(Generation, DrawsEachTokenAnew) {
  GenerateTask task = task_of("llama", prompt_of("llama"), 12);
  task.options.sampling = {.temperature = 1e6, .top_k = 0};
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GT(std::set<int64_t>(made->tokens.begin(), made->tokens.end()).size(), 3u);
}

TEST(Generation, SpeculatesWhereAPlanGivesAllScores) {
  Decoder decoder = open("llama", 20, {1, 4});
  const auto text = ModelText::of_directory(checkpoint("llama"));
  ASSERT_TRUE(text) << text.error().message;
  const auto made = TextGeneration::begin(*text, std::make_shared<Decoder>(std::move(decoder)), prompt_of("llama"),
                                          {.speculate = Speculate::on});
  EXPECT_THAT(made.error().message, HasSubstr("build them with --scored-chunk"));
}

TEST(Generation, EndsWhereTheCachesAreFull) {
  GenerateTask task = task_of("llama", prompt_of("llama"), 30);
  task.length = task.model.inputs.types.at("input_ids").shape[1] + 3;
  task.options.sampling.temperature = 0;
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->tokens.size(), 4u) << "the last one needs no room";
  EXPECT_EQ(made->stopped_by, "full cache");
}

TEST(Generation, EndsWhereTheModelsPositionsDo) {
  GenerateTask task = task_of("llama", prompt_of("llama"), 128);
  task.options.sampling.temperature = 0;
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->tokens.size(), 21u) << "behind 12 of 32, and the last one needs no room";
  EXPECT_EQ(made->stopped_by, "full cache");
  task = task_of("llama", std::vector<int64_t>(33, 3), 128);
  EXPECT_THAT(generate(task).error().message, HasSubstr("wanted 1 to 32 (max_position_embeddings)"));
}

// config.json alone may name the token.
TEST(Generation, EndsWithTheTokenThatTheModelNames) {
  const TemporaryDirectory folder;
  std::filesystem::copy(checkpoint("llama") + "/model.safetensors", folder.path());
  auto config = nlohmann::json::parse(read_text_file(checkpoint("llama") + "/config.json").value());
  config["eos_token_id"] = 16;
  folder.write("config.json", config.dump());
  GenerateTask task = task_of("llama", prompt_of("llama"), 12);
  task.model.path = folder.path();
  const auto made = generate(task);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->tokens, testing::ElementsAre(11, 10, 16));
  EXPECT_EQ(made->stopped_by, "stop token");
}

TEST(Generation, NeedsOnePrompt) {
  GenerateTask task{.model = {.path = checkpoint("llama")}};
  EXPECT_THAT(generate(task).error().message, HasSubstr("got 0 prompts, wanted one"));
  task = task_of("llama", prompt_of("llama"), 2);
  task.text = "and a text";
  EXPECT_THAT(generate(task).error().message, HasSubstr("got 2 prompts, wanted one"));
  task = GenerateTask{.model = {.path = checkpoint("llama")}, .text = "a text"};
  EXPECT_THAT(generate(task).error().message, HasSubstr("no tokenizer"));
}

// What the path is comes before what its files lack.
TEST(Generation, NamesModelsThatMakeNoText) {
  const auto refusal = [](const std::string& path) {
    const auto made = generate({.model = {.path = path}, .text = "a text"});
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(refusal(checkpoint("vit")), "'" + checkpoint("vit") + "' (vit) is no decoder language model");
  EXPECT_THAT(refusal("/no/such/model"), HasSubstr("'/no/such/model' is not a model"));
  EXPECT_THAT(refusal(checkpoint("README.md")), HasSubstr("README.md' is not a model"));
}

}  // namespace
}  // namespace rung::tasks
