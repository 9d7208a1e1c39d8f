// Decoder language models: what their graphs are made of, and that runs with a cache say what one run over a text says.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "import/decoder_support.hpp"
#include "reference/sequence.hpp"

namespace rung {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Returns the logits of the last run.
Tensor last_logits(const Model& model, const std::vector<NamedTensors>& runs) {
  const auto all = evaluate_sequence(model.graph, runs);
  EXPECT_TRUE(all) << all.error().message;
  return all ? all->back().outputs[0] : Tensor({DType::f32, {1}});
}

int64_t likeliest(const Tensor& logits) {
  const auto values = logits.as<float>();
  return std::ranges::max_element(values) - values.begin();
}

class Decoder : public testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kLength = 26, kChunk = 5;
  static constexpr double kTolerance = 1e-6;  // the judge rounds the same values
  std::string path() const { return decoder_path(GetParam()); }
  Model model(int64_t chunk) const {
    return import_verified(
        path(), {.shapes = {{"input_ids", Shape{1, chunk}}}, .cache = {.length = kLength, .largest_chunk = kChunk}});
  }
  std::vector<int64_t> prompt() const { return token_values(load_npz(path() + "/inputs.npz").at("input_ids")); }
};

TEST_P(Decoder, SaysInChunksWhatItSaysAtOnce) {
  const NamedTensors inputs = load_npz(path() + "/inputs.npz");
  const Model whole = import_verified(path(), {.given = {{"input_ids", inputs.at("input_ids").shape()}}});
  const Tensor wanted = run_reference(whole, inputs).at("logits");
  const Model chunks = model(kChunk), steps = model(1);
  const auto text = prompt();
  for (const size_t tokens : {size_t{3}, size_t{7}, text.size()}) {
    const std::vector<int64_t> part(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(tokens));
    const Tensor row = logits_row(wanted, tokens - 1);
    EXPECT_LE(relative_error(last_logits(chunks, in_chunks(part, {5}, kChunk)), row), kTolerance) << tokens;
    EXPECT_LE(relative_error(last_logits(chunks, in_chunks(part, {2, 5, 1}, kChunk)), row), kTolerance) << tokens;
    EXPECT_LE(relative_error(last_logits(steps, in_chunks(part, {1}, 1)), row), kTolerance) << tokens;
  }
}

TEST_P(Decoder, GeneratesTheLibrarysTokens) {
  if (GetParam().ends_with("_bf16")) GTEST_SKIP() << "the library rounds scores to 16 bits, which makes some equal";
  const Model steps = model(1);
  std::vector<int64_t> text = prompt();
  for (const int64_t token : token_values(load_npz(path() + "/greedy.npz").at("tokens"))) {
    ASSERT_EQ(likeliest(last_logits(steps, in_chunks(text, {1}, 1))), token) << text.size();
    text.push_back(token);
  }
}

TEST(Decoders, RefuseCachesThatTheyCannotHave) {
  const auto error = [](const char* name, const ImportOptions& options) {
    return import_error(decoder_path(name), options);
  };
  EXPECT_THAT(error("llama", {.cache = {.length = 33}}), HasSubstr("a cache of 33 tokens: wanted 1 to 32"));
  EXPECT_THAT(error("llama", {.cache = {.length = -1}}), HasSubstr("a cache of -1 tokens"));
  EXPECT_THAT(error("llama", {.cache = {.length = 8, .largest_chunk = 9}}), HasSubstr("chunks of up to 9 tokens"));
  EXPECT_THAT(error("llama", {.shapes = {{"input_ids", Shape{1, 3}}}, .cache = {.length = 8, .largest_chunk = 2}}),
              HasSubstr("S from 1 to 2 (the largest chunk)"));
  EXPECT_THAT(error("llama", {.shapes = {{"input_ids", Shape{2, 1}}}, .cache = {.length = 8}}),
              HasSubstr("B from 1 to 1"));
  EXPECT_THAT(error("roberta", {.cache = {.length = 8}}), HasSubstr("roberta has no keys and values to remember"));
}

TEST(Decoders, RefuseToWriteBehindTheirCache) {
  const Model model = import_verified(decoder_path("llama"), {.cache = {.length = 4}});
  const auto runs = evaluate_sequence(model.graph, in_chunks({3, 4, 5, 6, 7}, {1}, 1));
  ASSERT_FALSE(runs);
  EXPECT_THAT(runs.error().message, HasSubstr("index"));
}

TEST(Decoders, KeepAWindowAndAChunk) {
  const Model model = import_verified(decoder_path("gemma3"), {.cache = {.length = 20, .largest_chunk = 3}});
  const auto slots = [&](const char* name) { return model.graph.shape(model.graph.input_named(name))[0]; };
  EXPECT_EQ(slots("keys.0"), 4 + 3);
  EXPECT_EQ(slots("values.0"), 4 + 3);
  EXPECT_EQ(slots("keys.1"), 20);
  EXPECT_EQ(model.graph.states().size(), 5u);
}

TEST(Decoders, TakeTheLongFactorsForLongCaches) {
  // Short texts alone would have the short factors; a cache may hold long ones.
  const auto text = token_values(load_npz(decoder_path("phi3/inputs.npz")).at("input_ids"));
  const std::vector<int64_t> part(text.begin(), text.begin() + 8);
  const auto logits = [&](int64_t length) {
    return last_logits(import_verified(decoder_path("phi3"), {.cache = {.length = length}}), in_chunks(part, {1}, 1));
  };
  const Tensor long_cache = logits(9), row = logits_row(load_npz(decoder_path("phi3/outputs.npz")).at("logits"), 7);
  EXPECT_LE(relative_error(long_cache, row), 1e-6);
  EXPECT_GT(relative_error(logits(8), row), 1e-3);
}

TEST(Decoders, ReadGemma3sShortConfig) {
  const std::string config =
      R"({"model_type":"gemma3","architectures":["Gemma3ForConditionalGeneration"],"torch_dtype":"bfloat16",)"
      R"("text_config":{"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,)"
      R"("rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024}})";
  const auto model = import_config_text(config, {.cache = {.length = 4096, .largest_chunk = 64}});
  ASSERT_TRUE(model) << model.error().message;
  const auto keys = [&](const char* name) { return model->graph.type(model->graph.input_named(name)); };
  EXPECT_EQ(keys("keys.4"), (Type{DType::bf16, {1024 + 64, 4, 256}}));
  EXPECT_EQ(keys("keys.5"), (Type{DType::bf16, {4096, 4, 256}}));
}

TEST(Decoders, RefuseMoreTokensThanCanBeCounted) {
  const std::string config =
      R"({"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":2,"head_dim":2,"vocab_size":2147483647,)"
      R"("num_hidden_layers":1,"num_attention_heads":1024,"intermediate_size":1,"max_position_embeddings":16777216})";
  const auto error = [&](const Shape& shape) { return config_error(config, {.shapes = {{"input_ids", shape}}}); };
  EXPECT_THAT(error({1024, 16777216}), HasSubstr("a value of shape [1024,16777216,2147483647] has more than"));
  EXPECT_THAT(error({8, 16384}), HasSubstr("no error"));
  EXPECT_THAT(error({1, 131072}), HasSubstr("no error"));
  EXPECT_THAT(config_error(config, {.cache = {.length = 1048576, .largest_chunk = 1048576}}),
              HasSubstr("a value of shape [1,1048576,2147483647]"));
}

// The config of older releases: one number for the base, and an object or null for the scaling.
TEST(Decoders, ReadTheFirstFormOfRotaryPositions) {
  const auto expect_same = [](const std::string& name, const std::function<void(json&)>& edit) {
    std::ifstream file(decoder_path(name) + "/config.json");
    json config = json::parse(file);
    const json rotary = config["rope_parameters"];
    config.erase("rope_parameters");
    config["rope_scaling"] = rotary;
    edit(config);
    TemporaryDirectory dir;
    copy_model(decoder_path(name), dir, [](const std::string& tensor) { return tensor; });
    std::filesystem::remove(dir / "config.json");
    dir.write("config.json", config.dump());
    const NamedTensors inputs = load_npz(decoder_path(name) + "/inputs.npz");
    const Model model = import_verified(dir.path(), {.shapes = {{"input_ids", inputs.at("input_ids").shape()}}});
    EXPECT_LE(relative_error(run_reference(model, inputs).at("logits"),
                             load_npz(decoder_path(name) + "/outputs.npz").at("logits")),
              1e-6)
        << name;
  };
  expect_same("llama", [](json& config) {
    config["rope_theta"] = config["rope_scaling"]["rope_theta"];
    config["rope_scaling"].erase("rope_theta");
    config["rope_scaling"]["type"] = config["rope_scaling"]["rope_type"];
    config["rope_scaling"].erase("rope_type");
  });
  expect_same("phi3", [](json& config) {
    config["rope_theta"] = 10000.0;
    config["rope_scaling"]["type"] = "su";
    for (const char* field : {"rope_type", "rope_theta", "original_max_position_embeddings", "partial_rotary_factor"})
      config["rope_scaling"].erase(field);
  });
  expect_same("gpt_neox", [](json& config) {
    config["rotary_emb_base"] = 1000;
    config["rotary_pct"] = 0.5;
    config["rope_scaling"] = nullptr;
  });
  expect_same("gemma3", [](json& config) {
    config["rope_theta"] = 1000000.0;
    config["rope_local_base_freq"] = 10000.0;
    config["rope_scaling"] = nullptr;
  });
}

INSTANTIATE_TEST_SUITE_P(Models, Decoder, testing::ValuesIn(decoder_names()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace rung
