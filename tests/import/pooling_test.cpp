// Sentence embeddings: every pooling against the same worked out of the encoder's states.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "huggingface_support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using Values = std::vector<float>;

// The tiny BERT with these pooling flags in its config, and perhaps a Normalize module.
void write_model(const TemporaryDirectory& dir, const std::string& flags, bool normalize) {
  copy_model(test_data("bert_tiny"), dir, [](const std::string& name) { return name; });
  std::filesystem::create_directory(dir / "1_Pooling");
  dir.write("1_Pooling/config.json", "{" + flags + "}");
  dir.write("modules.json", std::string(R"([{"type":"sentence_transformers.models.Transformer","path":""},
    {"type":"sentence_transformers.models.Pooling","path":"1_Pooling"})") +
                                (normalize ? R"(,{"type":"sentence_transformers.models.Normalize"}])" : "]"));
}

NamedTensors outputs_of(const std::string& flags, bool normalize = false) {
  TemporaryDirectory dir;
  write_model(dir, flags, normalize);
  Model model = import_verified(dir.path(), {.shapes = {{"input_ids", Shape{1, 9}}}});
  NamedTensors inputs = load_npz(test_data("bert_tiny/inputs.npz"));
  inputs["attention_mask"] = Tensor::of<int64_t>({1, 9}, {1, 1, 1, 1, 0, 0, 0, 0, 0});
  return run_reference(model, inputs);
}

// What `flags` say, of the first four of nine tokens.
void expect_pooled(const std::string& flags, const std::function<float(const Values& tokens)>& pool) {
  NamedTensors outputs = outputs_of(flags);
  auto hidden = outputs.at("last_hidden_state").as<float>(), got = outputs.at("sentence_embedding").as<float>();
  ASSERT_EQ(got.size(), 32u);
  for (size_t d = 0; d < 32; ++d)
    EXPECT_NEAR(got[d], pool({hidden[d], hidden[32 + d], hidden[64 + d], hidden[96 + d]}), 1e-5) << flags << d;
}

float sum(const Values& tokens) { return tokens[0] + tokens[1] + tokens[2] + tokens[3]; }

TEST(Pooling, TakesFirstTokenMaximumOrMaskedMean) {
  expect_pooled(R"("pooling_mode_cls_token":true)", [](const Values& tokens) { return tokens[0]; });
  expect_pooled(R"("pooling_mode_max_tokens":true)",
                [](const Values& tokens) { return *std::max_element(tokens.begin(), tokens.end()); });
  expect_pooled(R"("pooling_mode_mean_tokens":true)", [](const Values& tokens) { return sum(tokens) / 4; });
  expect_pooled(R"("pooling_mode_mean_sqrt_len_tokens":true)", [](const Values& tokens) { return sum(tokens) / 2; });
}

TEST(Pooling, JoinsSeveralModesInTheirLibrarysOrder) {
  NamedTensors both = outputs_of(R"("pooling_mode_mean_tokens":true,"pooling_mode_cls_token":true)");
  auto joined = both.at("sentence_embedding").as<float>(), hidden = both.at("last_hidden_state").as<float>();
  ASSERT_EQ(joined.size(), 64u);
  EXPECT_EQ(joined[5], hidden[5]);
  EXPECT_NEAR(joined[37], (hidden[5] + hidden[37] + hidden[69] + hidden[101]) / 4, 1e-5);
}

TEST(Pooling, NormalizesWhereTheModelSaysSo) {
  NamedTensors embedding = outputs_of(R"("pooling_mode_cls_token":true)", true);
  double square = 0;
  for (float value : embedding.at("sentence_embedding").as<float>()) square += double{value} * value;
  EXPECT_NEAR(square, 1, 1e-6);
}

TEST(Pooling, RefusesWhatItDoesNotCompute) {
  const auto error = [](const std::string& flags) {
    TemporaryDirectory dir;
    write_model(dir, flags, false);
    return import_error(dir.path());
  };
  EXPECT_THAT(error(R"("pooling_mode_cls_token":false)"), HasSubstr("no supported pooling mode is set"));
  EXPECT_THAT(error(R"("pooling_mode_cls_token":true,"pooling_mode_lasttoken":true)"),
              HasSubstr("pooling_mode_lasttoken is not supported"));
  EXPECT_THAT(error(R"("pooling_mode_cls_token":true,"word_embedding_dimension":33)"),
              HasSubstr("word_embedding_dimension is 33, but the transformer's hidden_size is 32"));
}

}  // namespace
}  // namespace rung
