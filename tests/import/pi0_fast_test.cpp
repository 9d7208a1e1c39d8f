// Pi0-FAST policies against the scores and tokens that PyTorch computed from the same checkpoint
// (tests/data/pi0_fast_tiny).
// SPDX-License-Identifier: Apache-2.0
#include "huggingface_support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// The token that begins the actions, and all that follow it but the last.
std::vector<int64_t> read_tokens(const NamedTensors& outputs) {
  std::vector<int64_t> tokens{2};
  const auto made = outputs.at("tokens").as<int64_t>();
  tokens.insert(tokens.end(), made.begin(), made.end() - 1);
  return tokens;
}

TEST(Pi0Fast, ScoresTokensAsPyTorchDoes) {
  const std::string directory = test_data("pi0_fast_tiny");
  const NamedTensors outputs = load_npz(directory + "/outputs.npz");
  const std::vector<int64_t> tokens = read_tokens(outputs);
  const Shape shape{1, static_cast<int64_t>(tokens.size())};
  const Model model = import_verified(directory, {.shapes = {{"decoder_input_ids", shape}}});
  NamedTensors inputs = load_npz(directory + "/inputs.npz");
  inputs.insert_or_assign("decoder_input_ids", Tensor::of<int64_t>(shape, tokens));
  EXPECT_LT(relative_error(run_reference(model, inputs).at("logits"), outputs.at("logits")), 1e-5);
  EXPECT_THAT(model.notes, testing::IsEmpty());
}

TEST(Pi0Fast, ReadsPublishedSizes) {
  const auto model = import_config_text(
      R"({"type": "pi0_fast", "paligemma_variant": "gemma_2b", "dtype": "bfloat16", "tokenizer_max_length": 200})",
      {.cache = {.length = 256, .largest_chunk = 1}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph.type(model->graph.input_named("prefix_keys.17")),
            (Type{DType::bf16, {3 * 256 + 200, 1, 256}}));
  EXPECT_EQ(model->graph.type(model->graph.input_named("keys.0")), (Type{DType::bf16, {256, 1, 256}}));
}

TEST(Pi0Fast, RefusesChunksThatItCannotTake) {
  const auto error = [](const ImportOptions& options) { return import_error(test_data("pi0_fast_tiny"), options); };
  EXPECT_THAT(error({.shapes = {{"decoder_input_ids", {2, 1}}}}), HasSubstr("wanted [1,S] with S from 1 to 65536"));
  EXPECT_THAT(error({.shapes = {{"decoder_input_ids", {1, 5}}}, .cache = {.length = 8, .largest_chunk = 4}}),
              HasSubstr("wanted [1,S] with S from 1 to 4"));
  EXPECT_THAT(error({.cache = {.length = 8, .largest_chunk = 9}}), HasSubstr("wanted 1 to 8, which the cache holds"));
  EXPECT_THAT(error({.cache = {.length = -1}}), HasSubstr("a cache of -1 tokens: wanted 1 to 65536"));
  const auto small = import_config_text(
      R"({"type": "pi0_fast", "views": 1, "prompt": 6, "image": 28, "patch": 14, "vision": [2, 48, 80, 4],
          "prefix": [3, 64, 128, 4, 1, 16], "vocab": 2})");
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("a vocabulary of 2 tokens, wanted more than 2"));
}

}  // namespace
}  // namespace rung
