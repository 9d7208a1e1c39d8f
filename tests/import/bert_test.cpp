// BERT against what PyTorch computed from the same checkpoint (tests/data/README.md).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "huggingface_support.hpp"
#include "ir/text.hpp"
#include "support/graphs.hpp"
#include "support/rows.hpp"

namespace rung {
namespace {

const ImportOptions kNineTokens{.shapes = {{"input_ids", Shape{1, 9}}}};

TEST(Bert, GivesPyTorchsStatesAndSentenceEmbedding) {
  Model model = import_verified(test_data("bert_tiny"), kNineTokens);
  auto expected = load_npz(test_data("bert_tiny/outputs.npz"));
  auto outputs = run_reference(model, load_npz(test_data("bert_tiny/inputs.npz")));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_LT(relative_error(outputs.at("last_hidden_state"), expected.at("last_hidden_state")), 1e-6);
  EXPECT_LT(relative_error(outputs.at("sentence_embedding"), expected.at("sentence_embedding")), 1e-6);
}

TEST(Bert, TakesMissingMaskAsOnesSegmentsAsZeros) {
  Model model = import_verified(test_data("bert_tiny"), kNineTokens);
  NamedTensors given = load_npz(test_data("bert_tiny/inputs.npz"));
  given.erase("attention_mask");
  given.erase("token_type_ids");
  auto expected = load_npz(test_data("bert_tiny/outputs.npz")).at("last_hidden_state_defaults");
  EXPECT_LT(relative_error(run_reference(model, given).at("last_hidden_state"), expected), 1e-6);
}

TEST(Bert, AsksForTheTokensThatAreLeftOut) {
  Model model = import_verified(test_data("bert_tiny"), kNineTokens);
  auto inputs = complete_inputs(model, {});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().message, "input 'input_ids' is missing: token ids, i64[1,9]");
}

TEST(Bert, TakesItsShapesFromTheGivenInputs) {
  for (const char* input : {"input_ids", "attention_mask", "token_type_ids"}) {
    auto model = import_model(test_data("bert_tiny"), {.given = {{input, Shape{1, 7}}, {"another", Shape{3}}}});
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->defaults.at("input_ids").type.shape, (Shape{1, 7})) << input;
  }
}

TEST(Bert, ReadsAsItsAuthorWroteIt) {
  Model model = import_verified(test_data("bert_tiny"), kNineTokens);
  std::string text = print(model.graph);
  const char* start = R"(graph "bert"
input_ids: i64[1,9] = input()
attention_mask: i64[1,9] = input()
token_type_ids: i64[1,9] = input()
%3: i64[1,9] = constant(name="embeddings.position_embeddings.position_ids", values=[0,1,2,3,4,5,6,7,8])
%4: f32[64,32] = constant(name="embeddings.word_embeddings.weight")
%5: f32[1,9,32] = gather(%4, input_ids)  # embeddings.word_embeddings
%6: f32[2,32] = constant(name="embeddings.token_type_embeddings.weight")
%7: f32[1,9,32] = gather(%6, token_type_ids)  # embeddings.token_type_embeddings
%8: f32[1,9,32] = add(%5, %7)  # embeddings
)";
  EXPECT_EQ(text.substr(0, std::string_view(start).size()), start);
  for (const char* line : {" = softmax(", " = gelu(", " = l2_normalize(", "# encoder.layer.1.attention.self.key\n",
                           "# encoder.layer.1.output.LayerNorm\n"})
    EXPECT_THAT(text, testing::HasSubstr(line));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("residual=true")));
}

TEST(Bert, DefaultsTo128TokensOrAllItsPositions) {
  EXPECT_EQ(import_verified(test_data("bert_tiny")).defaults.at("input_ids").type, (Type{DType::i64, {1, 24}}));
}

TEST(Bert, RefusesMoreTokensThanItHasPositions) {
  ImportOptions options{.shapes = {{"input_ids", Shape{1, 25}}}};
  EXPECT_EQ(import_error(test_data("bert_tiny"), options),
            "shape [1,25] for input_ids: wanted [B,S] with B from 1 to 1024, S from 1 to 24 (max_position_embeddings)");
}

TEST(Bert, RefusesBatchesOfNoneOrTooManyRows) {
  for (const Shape& shape : {Shape{0, 9}, Shape{1025, 9}, Shape{9}, Shape{1, 1, 9}})
    EXPECT_THAT(import_error(test_data("bert_tiny"), {.shapes = {{"input_ids", shape}}}),
                testing::HasSubstr("wanted [B,S] with B from 1 to 1024"));
}

// Three rows: the published inputs, other tokens with padding and segments of their own, and nothing but padding.
NamedTensors three_rows() {
  NamedTensors first = load_npz(test_data("bert_tiny/inputs.npz")), all;
  for (const auto& [name, row] : first) {
    Tensor rows({DType::i64, {3, 9}});
    auto to = rows.as<int64_t>();
    std::ranges::copy(row.as<int64_t>(), to.begin());
    for (int64_t i = 0; i < 9; ++i) {
      to[9 + i] = name == "input_ids" ? 3 + 5 * i : name == "attention_mask" ? i < 4 : i > 2;
      to[18 + i] = name == "input_ids" ? 60 - i : name == "attention_mask" ? 0 : i % 2;
    }
    all.emplace(name, std::move(rows));
  }
  return all;
}

// A row of a batch does not know of the others.
void expect_rows_as_alone(const Model& batch, const Model& single) {
  NamedTensors inputs = three_rows();
  auto together = run_reference(batch, inputs);
  ASSERT_FALSE(together.empty());
  for (int64_t row = 0; row < 3; ++row) {
    NamedTensors mine;
    for (const auto& [name, value] : inputs) mine.emplace(name, row_of(value, row));
    for (const auto& [name, alone] : run_reference(single, mine))
      EXPECT_LT(relative_l2(row_of(together.at(name), row), alone), 1e-6) << name << " of row " << row;
  }
}

const ImportOptions kThreeRows{.shapes = {{"input_ids", Shape{3, 9}}}};

TEST(Bert, GivesEachBatchedRowItsOwnAnswer) {
  Model batch = import_verified(test_data("bert_tiny"), kThreeRows);
  expect_rows_as_alone(batch, import_verified(test_data("bert_tiny"), kNineTokens));
  auto published = load_npz(test_data("bert_tiny/outputs.npz"));
  auto outputs = run_reference(batch, three_rows());
  for (const char* name : {"last_hidden_state", "sentence_embedding"})
    EXPECT_LT(relative_error(row_of(outputs.at(name), 0), published.at(name)), 1e-6) << name;
}

TEST(Bert, PoolsEachRowSeparatelyInEveryMode) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  dir.write("modules.json", R"([{"type":"sentence_transformers.models.Pooling","path":"1_Pooling"}])");
  std::filesystem::create_directory(dir / "1_Pooling");
  dir.write("1_Pooling/config.json",
            R"({"word_embedding_dimension": 32, "pooling_mode_cls_token": true, "pooling_mode_max_tokens": true,
                "pooling_mode_mean_tokens": true, "pooling_mode_mean_sqrt_len_tokens": true})");
  Model batch = import_verified(dir.path(), kThreeRows);
  EXPECT_EQ(batch.graph.type(batch.graph.outputs()[1].node), (Type{DType::f32, {3, 4 * 32}}));
  expect_rows_as_alone(batch, import_verified(dir.path(), kNineTokens));
}

TEST(Bert, RunsItsPoolerOnEachRowsFirstToken) {
  TemporaryDirectory dir;
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  Model batch = import_verified(dir.path(), kThreeRows);
  EXPECT_EQ(batch.graph.outputs()[1].name, "pooler_output");
  expect_rows_as_alone(batch, import_verified(dir.path(), kNineTokens));
}

// Numbers from PyTorch 2.15.0 and transformers 5.23.0 (eager attention, f32) for "The quick brown fox jumps over the
// lazy dog." padded to 16 tokens, on sentence-transformers/all-MiniLM-L6-v2.
TEST(Bert, GivesMiniLmsPublishedEmbedding) {
  const char* directory = std::getenv("RUNG_MODEL_DIR");
  if (!directory) GTEST_SKIP() << "RUNG_MODEL_DIR does not name a directory with all-MiniLM-L6-v2";
  Model model = import_verified(directory, {.shapes = {{"input_ids", Shape{1, 16}}}});
  NamedTensors given;
  given["input_ids"] = Tensor::of<int64_t>(
      {1, 16}, {101, 1996, 4248, 2829, 4419, 14523, 2058, 1996, 13971, 3899, 1012, 102, 0, 0, 0, 0});
  given["attention_mask"] = Tensor::of<int64_t>({1, 16}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0});
  auto outputs = run_reference(model, given);
  auto embedding = outputs.at("sentence_embedding").as<float>();
  const float expected[] = {0.043933551f, 0.058934416f, 0.048178367f,  0.077548056f,
                            0.026744417f, -0.03762959f, -0.002605151f, -0.059943027f};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_NEAR(embedding[i], expected[i], 1e-6);
  EXPECT_NEAR(embedding[383], 0.10206393f, 1e-6);
  const float first_token[] = {0.046444006f, 0.33806180f, 0.20820532f, 0.64679729f, -0.19570943f, -0.037073384f};
  auto hidden = outputs.at("last_hidden_state").as<float>();
  for (size_t i = 0; i < std::size(first_token); ++i) EXPECT_NEAR(hidden[i], first_token[i], 2e-6);
}

}  // namespace
}  // namespace rung
