// Texts that a GPU makes by itself, several tokens at a time: they are those that the host makes token by token,
// whatever the size of the device's graphs.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "import/npz.hpp"
#include "open/open_model.hpp"
#include "session/generation.hpp"
#include "support/gpu_word.hpp"
#include "tasks/decoder.hpp"
#include "tasks/generate.hpp"

namespace rung::tasks {
namespace {

const std::string kDecoders = std::string(RUNG_TEST_DATA) + "/checkpoints/";

GenerateTask task_on(const std::string& device, const std::string& name, int64_t most) {
  GenerateTask task{.model = {.path = kDecoders + name, .device = *parse_device(device), .threads = 1},
                    .options = {.most = most}};
  task.model.inputs = given_arrays({{"input_ids", read_npz(task.model.path + "/inputs.npz")->at("input_ids")}});
  return task;
}
bool is_there(const std::string& device) { return open_target(*parse_device(device)).has_value(); }

std::vector<int64_t> text_of(GenerateTask task, int64_t steps) {
  task.options.steps = steps;
  const auto made = generate(task);
  EXPECT_TRUE(made) << made.error().message;
  return made ? made->tokens : std::vector<int64_t>{};
}

// Compares texts of graphs of all sizes with that whose tokens the host chooses.
void expect_equal_texts(const GenerateTask& task, std::initializer_list<int64_t> steps) {
  const auto wanted = text_of(task, 0);
  EXPECT_FALSE(wanted.empty());
  for (int64_t each : steps) EXPECT_EQ(text_of(task, each), wanted) << each << " steps";
}
void expect_equal_texts_of_all_settings(const std::string& device, std::initializer_list<int64_t> steps) {
  if (!is_there(device)) GTEST_SKIP() << "no device " << device;
  GenerateTask task = task_on(device, "llama", 12);
  task.options.sampling = {.temperature = 0};
  expect_equal_texts(task, steps);
  task.options.sampling = {.temperature = 1.5, .top_p = 0.95, .top_k = 0, .seed = 7};
  expect_equal_texts(task, steps);
  task.options.sampling = {.temperature = 1, .repetition_penalty = 1.7, .top_k = 8, .seed = 3};
  expect_equal_texts(task, steps);
}
TEST(GenerateOnGpu, MakesTheHostsTextsWhateverTheSteps) { expect_equal_texts_of_all_settings(gpu_word(), {1, 4, 16}); }
TEST(GenerateEmulated, MakesTheHostsTextsWhateverTheSteps) { expect_equal_texts_of_all_settings("emu:gfx942", {1, 4}); }

void expect_the_published_librarys_tokens(const std::string& device, const std::string& name, int64_t most) {
  if (!is_there(device)) GTEST_SKIP() << "no device " << device;
  const auto all = read_npz(kDecoders + name + "/greedy.npz")->at("tokens");
  const auto wanted = all.as<int64_t>();
  const auto made = text_of(
      [&] {
        GenerateTask task = task_on(device, name, most);
        task.options.sampling.temperature = 0;
        return task;
      }(),
      4);
  ASSERT_FALSE(made.empty());
  ASSERT_LE(made.size(), wanted.size());
  EXPECT_THAT(made, testing::ElementsAreArray(wanted.first(made.size())));
  constexpr int64_t kEnd = 23;  // which ends a text, as every checkpoint's config.json says
  EXPECT_TRUE(static_cast<int64_t>(made.size()) == most || made.back() == kEnd);
}
class GenerateFamilies : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Checkpoints, GenerateFamilies,
                         testing::Values("gemma2", "gemma3", "gpt2", "gpt_neox", "granite", "llama", "mistral", "olmo2",
                                         "phi", "phi3", "qwen2", "qwen3", "smollm3", "stablelm"),
                         [](const auto& name) { return std::string(name.param); });
TEST_P(GenerateFamilies, OnGpu) { expect_the_published_librarys_tokens(gpu_word(), GetParam(), 12); }
TEST_P(GenerateFamilies, Emulated) { expect_the_published_librarys_tokens("emu:gfx942", GetParam(), 6); }

Result<Decoder> open_on(const std::string& device, const std::string& name) {
  return open_decoder({.model = {.path = kDecoders + name, .device = *parse_device(device), .threads = 1},
                       .length = 28,
                       .chunks = {1, 4}});
}
Result<Decoder> open_llama(const std::string& device) { return open_on(device, "llama"); }
int64_t likeliest(const Decoder& decoder) {
  const auto scores = decoder.logits()->as<float>();
  return std::ranges::max_element(scores) - scores.begin();
}

// The device runs ahead of what is asked for; what it made behind that is no part of the text.
void expect_to_go_on_within_a_graph(const std::string& device) {
  if (!is_there(device)) GTEST_SKIP() << "no device " << device;
  auto opened = open_llama(device);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto decoder = std::make_shared<Decoder>(std::move(*opened));
  const std::vector<int64_t> prompt{3, 5, 7}, more{9, 2};
  ASSERT_TRUE(decoder->take(prompt));
  Generation first(decoder, *Sampler::make(decoder->vocabulary(), {}), {.stops = {}, .most = 8, .steps = 4});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(first.next().value());
  ASSERT_TRUE(decoder->take(more));
  EXPECT_EQ(decoder->length(), 8);
  EXPECT_THAT(first.next().error().message, testing::HasSubstr("another call changed it"));
  Generation second(decoder, *Sampler::make(decoder->vocabulary(), {}), {.stops = {}, .most = 6, .steps = 4});
  std::vector<int64_t> text = decoder->tokens();
  for (int i = 0; i < 6; ++i) {
    auto anew = open_llama(device);
    ASSERT_TRUE(anew->take(text));
    text.push_back(likeliest(*anew));
    EXPECT_EQ(second.next().value(), text.back()) << i;
  }
  EXPECT_EQ(decoder->tokens(), text);
}
TEST(GenerateOnGpu, GoesOnFromTheMidstOfAGraph) { expect_to_go_on_within_a_graph(gpu_word()); }
TEST(GenerateEmulated, GoesOnFromTheMidstOfAGraph) { expect_to_go_on_within_a_graph("emu:gfx942"); }

// A draft on the same device whose guesses are hardly ever right ends after four runs, or a few more if something
// disturbed the plain ones. From the second token behind them on, a graph makes four tokens.
void expect_graphs_behind_drafts(const std::string& device) {
  if (!is_there(device)) GTEST_SKIP() << "no device " << device;
  auto opened = open_llama(device), plain = open_llama(device);
  ASSERT_TRUE(opened && plain);
  auto draft = open_on(device, "qwen2");
  ASSERT_TRUE(draft) << draft.error().message;
  const auto decoder = std::make_shared<Decoder>(std::move(*opened));
  const std::vector<int64_t> prompt{3, 5, 7};
  ASSERT_TRUE(decoder->take(prompt) && plain->take(prompt));
  Generation generation(decoder, *Sampler::make(decoder->vocabulary(), {}),
                        {.most = 21,
                         .speculate = Speculate::automatic,
                         .draft = std::make_shared<DraftModel>(std::make_shared<Decoder>(std::move(*draft)), 3),
                         .steps = 4});
  for (int i = 0; i < 21; ++i) {
    const int64_t token = likeliest(*plain);
    EXPECT_EQ(generation.next().value(), token) << i;
    ASSERT_TRUE(plain->take({&token, 1}));
  }
  EXPECT_EQ(generation.speculation().outcome(), "stopped");
  const int64_t without_graphs = 1 + 20 - generation.accepted();  // the prompt's run, and one for each further token
  EXPECT_LE(decoder->runs(), without_graphs - 3) << "a graph of four tokens is one run";
}
TEST(GenerateOnGpu, MakesGraphsBehindDraftsThatStopped) { expect_graphs_behind_drafts(gpu_word()); }
TEST(GenerateEmulated, MakesGraphsBehindDraftsThatStopped) { expect_graphs_behind_drafts("emu:gfx942"); }

}  // namespace
}  // namespace rung::tasks
