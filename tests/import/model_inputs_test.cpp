// What a model takes for an input: the ids that its tables have, up to the last one and no further.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "huggingface_support.hpp"
#include "support/sample_inputs.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string bert(int64_t segments, int64_t vocabulary = 64) {
  return fmt::format(R"({{"model_type":"bert","num_hidden_layers":1,"hidden_size":32,"num_attention_heads":4,
    "vocab_size":{},"intermediate_size":64,"max_position_embeddings":24,"type_vocab_size":{}}})",
                     vocabulary, segments);
}

// A model of five tokens.
Model model_of(const std::string& config) {
  auto model = import_config_text(config, {.shapes = {{"input_ids", Shape{1, 5}}}});
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : Model{};
}

// Of an input that is zero but for its last element.
std::string error_of(const Model& model, const char* name, int64_t last) {
  Status status = check_input(model, name, Tensor::of<int64_t>({1, 5}, {0, 0, 0, 0, last}));
  return status ? "" : status.error().message;
}

TEST(Inputs, TakeIdsUpToTheirTablesLast) {
  Model model = model_of(bert(3));
  const std::pair<const char*, int64_t> last_of[] = {{"input_ids", 63}, {"token_type_ids", 2}, {"attention_mask", 1}};
  for (auto [name, last] : last_of) {
    EXPECT_EQ(error_of(model, name, last), "");
    EXPECT_THAT(error_of(model, name, last + 1), HasSubstr(fmt::format("got {}, wanted ", last + 1))) << name;
    EXPECT_THAT(error_of(model, name, last + 1), HasSubstr(fmt::format("from 0 to {}", last))) << name;
    EXPECT_THAT(error_of(model, name, -1), HasSubstr("got -1, wanted ")) << name;
  }
  EXPECT_EQ(error_of(model_of(bert(1)), "token_type_ids", 0), "");
  EXPECT_THAT(error_of(model_of(bert(1)), "token_type_ids", 1), HasSubstr("got 1, wanted "));
}

TEST(Inputs, AreCheckedWhereverTheyComeFrom) {
  Model model = model_of(bert(2));
  NamedTensors given{{"input_ids", Tensor({DType::i64, {1, 5}})},
                     {"token_type_ids", Tensor::of<int64_t>({1, 5}, {0, 0, 2, 0, 0})}};
  EXPECT_FALSE(complete_inputs(model, given));
  ASSERT_FALSE(freeze_inputs(model, given));
  EXPECT_EQ(model.graph.inputs().size(), 3u);
  given["token_type_ids"].as<int64_t>()[2] = 1;
  EXPECT_TRUE(complete_inputs(model, given));
  EXPECT_TRUE(freeze_inputs(model, given));
  EXPECT_EQ(model.graph.inputs().size(), 1u);
}

// Frozen values and a climb's inputs come this way.
TEST(Inputs, OfBoolsAreZeroAndOneOrRefused) {
  auto model = import_model(test_data("pi0_tiny"));
  ASSERT_TRUE(model) << model.error().message;
  Tensor mask = *model->defaults.at("token_mask").value;
  ASSERT_EQ(mask.dtype(), DType::boolean);
  EXPECT_TRUE(check_input(*model, "token_mask", mask));
  mask.data()[0] = std::byte{3};
  Status refused = check_input(*model, "token_mask", mask);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("input 'token_mask': got the byte 3 in bool"));
  EXPECT_FALSE(freeze_inputs(*model, {{"token_mask", mask}}));
  EXPECT_FALSE(complete_inputs(*model, {{"token_mask", mask}}));
}

TEST(Inputs, HaveSamplesOfAllTheirIds) {
  Model model = model_of(bert(2, 3));
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const NamedTensors sample = sample_inputs(model, seed);
    for (int64_t id : sample.at("input_ids").as<int64_t>()) seen.insert(id);
  }
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1, 2}));
}

TEST(Inputs, HaveSampleImagesBetweenMinusOneAndOne) {
  Model model = import_verified(test_data("pi0_tiny"));
  const NamedTensors sample = sample_inputs(model, 1);
  auto pixels = sample.at("images").as<float>();
  auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
  EXPECT_TRUE(*least >= -1 && *least < -0.9) << *least;
  EXPECT_TRUE(*most <= 1 && *most > 0.9) << *most;
}

TEST(BertConfig, TakesSizesUpToTheirLimits) {
  const std::tuple<const char*, int64_t, int64_t> limits[] = {
      {"num_hidden_layers", 1, 1000}, {"hidden_size", 32, 65536},         {"num_attention_heads", 4, 1024},
      {"vocab_size", 64, INT32_MAX},  {"intermediate_size", 64, 1 << 20}, {"max_position_embeddings", 24, 1 << 16},
      {"type_vocab_size", 2, 65536}};
  const std::string config = bert(2);
  for (auto [field, now, limit] : limits) {
    auto with = [&, name = field, old = now](int64_t value) {
      std::string text = replaced(config, fmt::format("\"{}\":{}", name, old), fmt::format("\"{}\":{}", name, value));
      return name == std::string("num_attention_heads") ? replaced(text, "\"hidden_size\":32", "\"hidden_size\":1024")
                                                        : text;
    };
    EXPECT_EQ(config_error(with(limit)), "no error") << field;
    EXPECT_THAT(config_error(with(limit + 1)), HasSubstr(fmt::format("field '{}': got {}", field, limit + 1)));
  }
}

TEST(BertConfig, HidesPaddingByItsTypesLowestNumber) {
  const std::pair<const char*, double> lowest[] = {
      {"float16", -65504.0}, {"bfloat16", -0x1.fep127}, {"float32", -0x1.fffffep127}};
  for (auto [type, wanted] : lowest) {
    Model model = model_of(replaced(bert(2), "{", fmt::format("{{\"torch_dtype\":\"{}\",", type)));
    double least = 0;
    for (NodeId id : model.graph.order()) {
      if (!model.graph.is_constant(id) || model.graph.type(id).elements() != 1) continue;
      auto value = model.graph.weight(id)->load();
      ASSERT_TRUE(value);
      least = std::min(least, static_cast<double>(convert(*value, DType::f32).as<float>()[0]));
    }
    EXPECT_EQ(least, wanted) << type;
  }
}

TEST(Bert, TakesFromOneTokenToAllItsPositions) {
  for (int64_t length : {1, 24})
    EXPECT_EQ(config_error(bert(2), {.shapes = {{"input_ids", Shape{1, length}}}}), "no error");
  for (int64_t length : {0, 25})
    EXPECT_THAT(config_error(bert(2), {.shapes = {{"input_ids", Shape{1, length}}}}), HasSubstr("S from 1 to"));
}

}  // namespace
}  // namespace rung
