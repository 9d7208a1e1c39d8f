// The phases of a prompt and its new tokens, and what the climbs of their plans begin with.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/text_mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ladder/workbench.hpp"
#include "open/inputs.hpp"
#include "support/longer_checkpoint.hpp"
#include "tasks/text_start.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using testing::HasSubstr;

const std::string kCheckpoints = std::string(RUNG_TEST_DATA) + "/checkpoints/";

OpenOptions model_of(const std::string& path, int64_t cache = 0) {
  return {.path = path, .threads = 1, .cache = {.length = cache}, .command_line = true};
}

std::string refusal(const OpenOptions& model, const TextMix& mix) {
  const auto phases = phases_of(model, mix);
  EXPECT_FALSE(phases);
  if (phases) return {};
  EXPECT_EQ(phases.error().kind, ErrorKind::usage);
  return phases.error().message;
}

TEST(TextMix, IsReadInEqualChunks) {
  const TemporaryDirectory folder;
  const OpenOptions model = model_of(longer_checkpoint(folder, "llama", 4'096));
  const auto shorter = phases_of(model, {512, 128}), longer = phases_of(model, {2'001, 1});
  ASSERT_TRUE(shorter && longer);
  EXPECT_EQ(shorter->chunks, 1);
  EXPECT_EQ(shorter->chunk, 512);
  EXPECT_EQ(shorter->cache, 640);
  EXPECT_EQ(shorter->chunk_before, 0);
  EXPECT_EQ(shorter->token_before, 575) << "half of the further tokens";
  EXPECT_EQ(longer->chunks, 4);
  EXPECT_EQ(longer->chunk, 501);
  EXPECT_EQ(longer->cache, 2'004) << "the last chunk's padding takes places, too";
  EXPECT_EQ(longer->chunk_before, 751) << "the average chunk's";
  EXPECT_EQ(longer->token_before, 2'001);
  const auto plans = options_of(model, *longer);
  EXPECT_EQ(plans[0].shapes.at("input_ids"), (Shape{1, 501}));
  EXPECT_EQ(plans[1].shapes.at("input_ids"), (Shape{1, 1}));
  for (const OpenOptions& plan : plans) EXPECT_EQ(plan.cache.largest_chunk, 501) << "rings have room for it in all";
}

TEST(TextMix, IsReadInLongChunksOnGpus) {
  const TemporaryDirectory folder;
  OpenOptions model = model_of(longer_checkpoint(folder, "llama", 8'192));
  for (const char* device : {"cuda", "hip:1", "emu:gfx942"}) {
    model.device = *parse_device(device);
    const auto whole = phases_of(model, {4'096, 1}), cut = phases_of(model, {4'097, 1});
    ASSERT_TRUE(whole && cut) << device;
    EXPECT_EQ(whole->chunk, 4'096) << device;
    EXPECT_EQ(cut->chunks, 2) << device;
    EXPECT_EQ(cut->chunk, 2'049) << device;
  }
}

TEST(TextMix, RefusesWhatNoTextCanBe) {
  const std::string llama = kCheckpoints + "llama";
  EXPECT_EQ(refusal(model_of(llama), {0, 8}), "--prompt: got 0, wanted at least 2 tokens of a prompt");
  EXPECT_EQ(refusal(model_of(llama), {-3, 8}), "--prompt: got -3, wanted at least 2 tokens of a prompt");
  EXPECT_EQ(refusal(model_of(llama), {8, 0}), "--new: got 0, wanted at least 1 new token");
  EXPECT_EQ(refusal(model_of(llama), {30, 8}),
            "--prompt 30 and --new 8: got 38 tokens, wanted at most 32, the model's positions");
  EXPECT_THAT(refusal(model_of(llama), {INT64_MAX, INT64_MAX}), HasSubstr("wanted at most 32, the model's positions"));
  EXPECT_EQ(refusal(model_of(llama, 12), {8, 8}), "--prompt 8 and --new 8: got --cache 12, wanted at least 16");
  OpenOptions shaped = model_of(llama, 32);
  shaped.shapes["input_ids"] = {1, 4};
  EXPECT_THAT(refusal(shaped, {8, 8}), HasSubstr("got --prompt and --shape: wanted one of them"));
  OpenOptions given = model_of(llama);
  given.inputs = given_arrays({{"input_ids", Tensor::of<int64_t>({1, 2}, {3, 4})}});
  EXPECT_THAT(refusal(given, {8, 8}), HasSubstr("got --prompt and --inputs: wanted one of them"));
  EXPECT_THAT(refusal(model_of(kCheckpoints + "vit"), {8, 8}), HasSubstr("(vit) is no decoder language model"));
  EXPECT_THAT(refusal(model_of(kCheckpoints + "t5"), {8, 8}), HasSubstr("(t5) is no decoder language model"));
}

TEST(TextMix, AddsUpItsPhases) {
  const TextMix mix{1'000, 11};
  ClimbResult chunk, token;
  chunk.final_ms = 20, chunk.floor_ms = 15, token.final_ms = 3, token.floor_ms = 2;
  const MixTimes times = times_of(mix, {.chunk = 500, .chunks = 2}, chunk, token);
  EXPECT_EQ(times.prefill_ms, 40);
  EXPECT_EQ(times.prefill_floor_ms, 30);
  EXPECT_EQ(times.decode_ms, 3);
  EXPECT_EQ(times.total_ms, 40 + 10 * 3) << "the prompt gives the first new token";
  EXPECT_EQ(times.floor_ms, 30 + 10 * 2);
  EXPECT_EQ(to_json(times)["decode_floor_ms"], 2);
}

// Climb tasks of one token, and the models opened for them.
class TextStart : public testing::Test {
 protected:
  void open(const std::string& name, int64_t cache, int64_t chunk, int64_t text_before) {
    ClimbTask task{.model = model_of(kCheckpoints + name, cache), .text_before = text_before};
    task.model.cache.largest_chunk = chunk;
    task.model.cache.source = 6;
    task.model.shapes[name == "llama" || name == "mistral" ? "input_ids" : "decoder_input_ids"] = {1, chunk};
    auto model = open_model(task.model);
    ASSERT_TRUE(model) << model.error().message;
    tasks.push_back(std::move(task));
    opened.push_back(std::move(*model));
  }
  // Judges the plan of a recipe; its session is then where the sequence of runs begins.
  Attempt judged(const Recipe& recipe = {}) {
    Budget budget(20);
    auto bench = Workbench::create(*opened[0].subject, verification_inputs(opened[0]), {}, budget);
    EXPECT_TRUE(bench) << bench.error().message;
    if (!bench) return {};
    auto attempt = (*bench)->attempt_as_is(recipe);
    EXPECT_TRUE(attempt) << attempt.error().message;
    return attempt ? std::move(*attempt) : Attempt{};
  }

  std::vector<ClimbTask> tasks;
  std::vector<Opened> opened;
};

int64_t position_of(Session& session) { return session.state("position").value().as<int64_t>()[0]; }

TEST_F(TextStart, IsBehindAsManyTokensAsWanted) {
  for (const int64_t before : {11, 4}) open("llama", 16, 1, before);
  ASSERT_TRUE(begin_behind_texts(tasks, opened));
  EXPECT_EQ(opened[0].subject->start.states.at("position").as<int64_t>()[0], 11);
  EXPECT_EQ(opened[1].subject->start.states.at("position").as<int64_t>()[0], 4);
  EXPECT_EQ(opened[0].subject->start.runs, 5u);
  // The longer text begins with the shorter one.
  const auto longer = opened[0].subject->start.states.at("keys.0").as<float>();
  const auto shorter = opened[1].subject->start.states.at("keys.0").as<float>();
  EXPECT_THAT(shorter.first(4 * 16), testing::ElementsAreArray(longer.first(4 * 16)));
  EXPECT_NE(longer[10 * 16], 0) << "the 11th token's";

  const Attempt attempt = judged();
  EXPECT_TRUE(attempt.right) << attempt.reason;
  EXPECT_EQ(position_of(*attempt.session), 11);
}

// A step that attended to the beginning alone would be right at a text's beginning.
TEST_F(TextStart, DecidesTheAnswers) {
  open("llama", 16, 1, 11);
  const Attempt beginning = judged();
  ASSERT_TRUE(begin_behind_texts(tasks, opened));
  const Attempt behind = judged();
  const NamedTensors token{{"input_ids", Tensor::of<int64_t>({1, 1}, {7})}};
  const auto logits = [&](const Attempt& attempt) {
    const auto outputs = attempt.session->infer(token);
    EXPECT_TRUE(outputs) << outputs.error().message;
    const auto values = (*outputs)[0].second.as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  EXPECT_NE(logits(beginning), logits(behind));
}

TEST_F(TextStart, OfAChunkThatFillsTheCache) {
  open("llama", 8, 8, 0);
  EXPECT_EQ(opened[0].subject->start.runs, 1u);
  const Attempt attempt = judged();
  EXPECT_TRUE(attempt.right) << attempt.reason;
  EXPECT_EQ(attempt.verdicts.size(), 3u) << "each begins a text";
}

TEST_F(TextStart, OfAnEncodersDecoderHasASource) {
  for (const char* name : {"t5", "whisper"}) {
    tasks.clear(), opened.clear();
    open(name, 12, 4, 0);
    ASSERT_TRUE(begin_behind_texts(tasks, opened)) << name;
    EXPECT_TRUE(opened[0].subject->start.states.contains("cross_keys.0")) << name;
    const Attempt attempt = judged();
    EXPECT_TRUE(attempt.right) << name << ": " << attempt.reason;
  }
}

TEST(VerifiedChunk, OfAnEncodersDecoderReadsASource) {
  for (const char* name : {"t5", "whisper"}) {
    VerifyTask task{.model = model_of(kCheckpoints + name, 12)};
    task.model.cache.largest_chunk = 4;
    task.model.shapes["decoder_input_ids"] = {1, 4};
    const auto verified = verify(task);
    ASSERT_TRUE(verified) << name << ": " << verified.error().message;
    EXPECT_TRUE(verified->verification.passed) << name << ": " << verified->verification.reason;
  }
}

// The states that an encoder leaves for its decoder are judged as its outputs are.
TEST_F(TextStart, OfAnEncoderIsNone) {
  ClimbTask task{.model = model_of(kCheckpoints + "t5", 12)};
  task.model.cache.source = 6;
  task.model.cache.encodes = true;
  auto model = open_model(task.model);
  ASSERT_TRUE(model) << model.error().message;
  tasks.push_back(std::move(task));
  opened.push_back(std::move(*model));
  ASSERT_TRUE(begin_behind_texts(tasks, opened));
  const Attempt attempt = judged();
  EXPECT_TRUE(attempt.right) << attempt.reason;
  std::set<std::string> names;
  for (const auto& output : attempt.verdicts[0].outputs) names.insert(output.name);
  EXPECT_TRUE(names.contains("cross_values.0")) << testing::PrintToString(names);
}

}  // namespace
}  // namespace rung::tasks
