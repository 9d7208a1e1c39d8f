// Plans of an encoder-decoder's steps for GPUs: no op is left to a fallback, and attentions of few queries have the row
// for them, over the text's own keys and over those of the source. To build one takes no GPU.
// SPDX-License-Identifier: Apache-2.0
#include "import/model.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

constexpr int64_t kTextLength = 448;

// The base sizes of both models.
constexpr const char* kT5 = R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 768,
    "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "vocab_size": 32128, "is_encoder_decoder": true})";
constexpr const char* kWhisper = R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"],
    "d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8,
    "decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "vocab_size": 51865,
    "is_encoder_decoder": true})";

struct SourceCase {
  const char *name, *config;
  int64_t layers;
  gpu::GpuInfo card;
  DType type;
};

void expect_no_fallback(const Plan& plan) {
  const auto rows = gpu::all_kernels();
  for (const Step& step : plan.steps) {
    const auto row = std::ranges::find(rows, step.choice.kernel, &Kernel::name);
    EXPECT_NE((*row)->role, Role::fallback) << step.problem;
  }
}
std::vector<gpu::GpuInfo> source_cards() {
  gpu::GpuInfo hopper = testing::hopper_card();
  hopper.gemm_libraries = {&testing::any_gemm_library()};
  return {hopper, testing::cdna_card(0x942)};
}

class SourceDecodingPlan : public ::testing::TestWithParam<SourceCase> {
 protected:
  Plan plan_for(ImportOptions options) const {
    options.cache.length = kTextLength, options.cache.largest_chunk = 8, options.cache.source = 512;
    options.random_seed = 7;
    const auto model = import_config_text(GetParam().config, options);
    EXPECT_TRUE(model) << model.error().message;
    Recipe recipe = GetParam().type == DType::f32 ? all_passes() : in_bf16();
    recipe.threads = 0;
    auto built = build_plan(model->graph, recipe, {.target = &target_, .contents = false});
    EXPECT_TRUE(built) << built.error().message;
    return built ? std::move(built->plan) : Plan{};
  }
  Plan chunk_of(int64_t tokens) const { return plan_for({.shapes = {{"decoder_input_ids", {1, tokens}}}}); }
  Plan encoder() const {
    ImportOptions options;
    options.cache.encodes = true;
    return plan_for(options);
  }
  const Target target_{.kind = GetParam().card.runtime,
                       .machine = Machine(cpu::CpuInfo{}, GetParam().card),
                       .kernels = gpu::all_kernels()};
};
std::vector<SourceCase> source_cases() {
  std::vector<SourceCase> cases;
  for (const gpu::GpuInfo& card : source_cards())
    for (const DType type : {DType::f32, DType::bf16}) {
      cases.push_back({"t5", kT5, 12, card, type});
      cases.push_back({"whisper", kWhisper, 6, card, type});
    }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Base, SourceDecodingPlan, ::testing::ValuesIn(source_cases()), [](const auto& at) {
  const SourceCase& one = at.param;
  return fmt::format("{}_{}_{}", one.name, name_of(one.type), one.card.runtime);
});

TEST_P(SourceDecodingPlan, HasNoFallback) {
  expect_no_fallback(chunk_of(1));
  expect_no_fallback(chunk_of(8));
  expect_no_fallback(encoder());
}

// Each layer has two attentions, over the text and over its source.
TEST_P(SourceDecodingPlan, AttendsWithTheRowForFewQueries) {
  for (const int64_t tokens : {1, 8}) {
    int64_t attentions = 0;
    for (const Step& step : chunk_of(tokens).steps) {
      if (!as<Attention>(step.op)) continue;
      ++attentions;
      EXPECT_EQ(step.choice.kernel, "attention_cache") << step.problem;
    }
    EXPECT_EQ(attentions, 2 * GetParam().layers) << tokens;
  }
}

// Keys and values of the source stay where the encoder's run has left them.
TEST_P(SourceDecodingPlan, CopiesNoKeysInAStep) {
  std::map<std::string, int> kernels;
  for (const std::string& kernel : kernels_of(chunk_of(1))) ++kernels[kernel];
  for (const auto& [kernel, count] : kernels)
    EXPECT_FALSE(kernel.starts_with("transpose") || kernel.starts_with("concat") || kernel.starts_with("slice"))
        << kernel;
  std::string all;
  for (const auto& [kernel, count] : kernels) all += fmt::format("{} {}, ", count, kernel);
  RecordProperty("kernels", all);
}

// A policy of the published sizes: its prefix, and a token of actions over 968 places and those before it.
TEST(ActionTokensPlan, HasNoFallback) {
  for (const gpu::GpuInfo& card : source_cards()) {
    const Target target{.kind = card.runtime, .machine = Machine(cpu::CpuInfo{}, card), .kernels = gpu::all_kernels()};
    for (const bool encodes : {true, false}) {
      const auto model = import_config_text(R"({"type": "pi0_fast", "dtype": "bfloat16"})",
                                            {.random_seed = 7, .cache = {.length = 256, .encodes = encodes}});
      ASSERT_TRUE(model) << model.error().message;
      auto built = build_plan(model->graph, in_bf16(), {.target = &target, .contents = false});
      ASSERT_TRUE(built) << built.error().message;
      expect_no_fallback(built->plan);
      std::map<std::string, int> kernels;
      for (const std::string& kernel : kernels_of(built->plan)) ++kernels[kernel];
      std::string all;
      for (const auto& [kernel, count] : kernels) all += fmt::format("{} {}, ", count, kernel);
      RecordProperty(card.runtime + (encodes ? "_prefix" : "_step"), all);
    }
  }
}

}  // namespace
}  // namespace rung
