// Encoder-decoders as plans of one set: the encoder's run leaves what the decoder's chunks read.
// SPDX-License-Identifier: Apache-2.0
#include "import/decoder_support.hpp"
#include "plan/support.hpp"
#include "session/decoder.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kChunk = 4, kLength = 20, kSource = 9;

Plan plan_for(const std::string& name, std::optional<int64_t> chunk) {
  ImportOptions options{.cache = {.length = kLength, .largest_chunk = kChunk, .source = kSource}};
  if (chunk)
    options.shapes["decoder_input_ids"] = {1, *chunk};
  else
    options.cache.encodes = true;
  return plan_of(import_verified(decoder_path(name), options).graph, all_passes());
}

Decoder decoder_of(const std::string& name) {
  auto set = PlanSet::make({plan_for(name, kChunk), plan_for(name, 1), plan_for(name, std::nullopt)});
  EXPECT_TRUE(set) << set.error().message;
  auto decoder = Decoder::create(*set);
  EXPECT_TRUE(decoder) << decoder.error().message;
  return std::move(*decoder);
}

// One sequence of a batch, without the tokens that pad it.
NamedTensors source_of(const NamedTensors& inputs, size_t row) {
  if (inputs.contains("input_features")) {
    const Tensor& all = inputs.at("input_features");
    const Shape shape{1, all.shape()[1], all.shape()[2]};
    const auto size = static_cast<size_t>(shape[1] * shape[2]);
    const auto values = all.as<float>().subspan(row * size, size);
    return {{"input_features", Tensor::of<float>(shape, {values.begin(), values.end()})}};
  }
  const auto width = static_cast<size_t>(inputs.at("input_ids").shape()[1]);
  const auto ids = inputs.at("input_ids").as<int64_t>().subspan(row * width, width);
  const auto mask = inputs.at("attention_mask").as<int64_t>().subspan(row * width, width);
  const auto real = std::ranges::count(mask, 1);
  return {{"input_ids", Tensor::of<int64_t>({1, real}, {ids.begin(), ids.begin() + real})}};
}

class EncoderDecoderPlans : public ::testing::TestWithParam<std::string> {
 protected:
  double tolerance() const { return GetParam().ends_with("_bf16") ? 1.6e-2 : 1e-6; }
};
INSTANTIATE_TEST_SUITE_P(Models, EncoderDecoderPlans,
                         ::testing::Values("t5", "t5_gated", "t5_bf16", "whisper", "whisper_bf16", "bart", "mbart",
                                           "marian", "pegasus", "m2m_100", "m2m_100_bf16"),
                         [](const auto& model) { return model.param; });

// The second source is shorter than the plan's, and the first one is read again after it.
TEST_P(EncoderDecoderPlans, ScoreTextsAsTheLibraryDoes) {
  const NamedTensors inputs = load_npz(decoder_path(GetParam()) + "/inputs.npz");
  const Tensor wanted = load_npz(decoder_path(GetParam()) + "/outputs.npz").at("logits");
  const Tensor& texts = inputs.at("decoder_input_ids");
  const auto length = static_cast<size_t>(texts.shape()[1]);
  Decoder decoder = decoder_of(GetParam());
  ASSERT_TRUE(decoder.has_encoder());
  EXPECT_EQ(decoder.most_tokens(), kLength);
  for (const size_t row : {0, 1, 0}) {
    const Status read = decoder.read(source_of(inputs, row));
    ASSERT_TRUE(read) << read.error().message;
    const auto text = texts.as<int64_t>().subspan(row * length, length);
    for (size_t at = 0; const size_t count : {4, 1, 2}) {
      const Status taken = decoder.take(text.subspan(at, count));
      ASSERT_TRUE(taken) << taken.error().message;
      at += count;
      EXPECT_LE(relative_error(*decoder.logits(), logits_row(wanted, row * length + at - 1)), tolerance())
          << row << " " << at;
    }
  }
}

TEST_P(EncoderDecoderPlans, GoOnAboutTheSameSource) {
  const NamedTensors inputs = load_npz(decoder_path(GetParam()) + "/inputs.npz");
  Decoder decoder = decoder_of(GetParam());
  ASSERT_TRUE(decoder.read(source_of(inputs, 1)));
  const std::vector<int64_t> text{1, 9, 4, 12, 3, 7};
  ASSERT_TRUE(decoder.take(text));
  const Tensor wanted = *decoder.logits();
  for (const int64_t kept : {0, 3}) {
    ASSERT_TRUE(decoder.truncate(kept));
    ASSERT_TRUE(decoder.take(std::span(text).subspan(static_cast<size_t>(kept))));
    EXPECT_LE(relative_error(*decoder.logits(), wanted), 1e-6) << kept;
  }
}

// Keys and values of the source are written once, and no step of a text copies them.
TEST_P(EncoderDecoderPlans, CopyNothingInAStep) {
  for (const std::string& kernel : kernels_of(plan_for(GetParam(), 1)))
    EXPECT_FALSE(kernel.starts_with("copy") || kernel.starts_with("concat") || kernel.starts_with("transpose"))
        << kernel;
}

TEST(EncoderDecoder, RefusesSourcesThatItCannotRead) {
  Decoder text = decoder_of("t5"), sound = decoder_of("whisper");
  const auto error = [](Decoder& decoder, const NamedTensors& source) {
    const Status read = decoder.read(source);
    return read ? "no error" : read.error().message;
  };
  const std::vector<int64_t> token{1};
  EXPECT_THAT(text.take(token).error().message, HasSubstr("got tokens before a source"));
  EXPECT_THAT(error(text, {{"input_ids", Tensor({DType::i64, {1, 10}})}}),
              HasSubstr("input_ids: got i64[1,10], wanted i64[1,9], or fewer tokens"));
  EXPECT_THAT(error(text, {{"count", Tensor({DType::i64, {1}})}}), HasSubstr("got the input 'count'"));
  EXPECT_THAT(error(sound, {{"input_ids", Tensor({DType::i64, {1, 3}})}}), HasSubstr("got the input 'input_ids'"));
  EXPECT_THAT(error(sound, {{"input_features", Tensor({DType::f32, {1, 6, 17}})}}),
              HasSubstr("got f32[1,6,17], wanted f32[1,6,18]"));
  EXPECT_THAT(error(sound, {}), HasSubstr("input_features"));
  EXPECT_EQ(error(text, {{"input_ids", Tensor({DType::i64, {1, 2}})}}), "no error");
  EXPECT_TRUE(text.take(token));
}

TEST(EncoderDecoder, IsRefusedWithoutItsEncoder) {
  const auto alone = PlanSet::make({plan_for("t5", 1)});
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("is read before any plan writes it"));
  auto encoder = PlanSet::make({plan_for("t5", std::nullopt)});
  ASSERT_TRUE(encoder) << encoder.error().message;
  EXPECT_THAT(Decoder::create(*encoder).error().message, HasSubstr("got an encoder's plan alone"));
}

}  // namespace
}  // namespace rung
