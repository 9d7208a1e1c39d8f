// Decoder language models as plans: chunks and single tokens run by plans of one set, which share what they remember.
// SPDX-License-Identifier: Apache-2.0
#include "import/decoder_support.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/joined.hpp"
#include "plan/support.hpp"
#include "session/set_session.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

class DecoderPlans : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kChunk = 5;
  std::string path() const { return decoder_path(GetParam()); }
  Plan plan(int64_t chunk) const {
    const Model model = import_verified(
        path(), {.shapes = {{"input_ids", Shape{1, chunk}}}, .cache = {.length = 26, .largest_chunk = kChunk}});
    return plan_of(model.graph, all_passes());
  }
  // As far as two orders of the same sums differ, in the type of the weights.
  double tolerance() const { return GetParam().ends_with("_bf16") ? 1.6e-2 : 1e-6; }
};

TEST_P(DecoderPlans, RememberAcrossChunksAndSteps) {
  const NamedTensors inputs = load_npz(path() + "/inputs.npz");
  const Model whole = import_verified(path(), {.given = {{"input_ids", inputs.at("input_ids").shape()}}});
  const Tensor wanted = run_reference(whole, inputs).at("logits");
  auto set = PlanSet::make({plan(kChunk), plan(1)});
  ASSERT_TRUE(set) << set.error().message;
  auto session = SetSession::create(*set);
  ASSERT_TRUE(session) << session.error().message;
  const auto text = token_values(inputs.at("input_ids"));
  for (int repeat = 0; repeat < 2; ++repeat) {
    size_t at = 0;
    for (const size_t count : {5, 2, 1, 1, 3}) {
      const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
      const auto outputs =
          session->infer(run_of({from, from + static_cast<std::ptrdiff_t>(count)}, count > 1 ? kChunk : 1));
      ASSERT_TRUE(outputs) << outputs.error().message;
      ASSERT_EQ(outputs->size(), 1u) << "states are no caller's";
      at += count;
      EXPECT_LE(relative_error(outputs->front().second, logits_row(wanted, at - 1)), tolerance()) << at;
    }
    ASSERT_EQ(at, text.size());
    ASSERT_TRUE(session->reset_states());
  }
}

// Keys and values are written where they are kept, and attention reads them there.
TEST_P(DecoderPlans, CopyNothingInAStep) {
  const Plan step = plan(1);
  for (const std::string& kernel : kernels_of(step))
    EXPECT_FALSE(kernel.starts_with("copy") || kernel.starts_with("concat") || kernel.starts_with("transpose"))
        << kernel;
}

// For each of two layers: queries, keys and values as one product, gate and up as one, and one attention.
TEST(DecoderPlan, HasFourProductsAndOneAttentionPerLayer) {
  for (const char* name : {"llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "granite", "olmo2"}) {
    const Model model = import_verified(decoder_path(name), {.cache = {.length = 26}});
    const auto kernels = kernels_of(plan_of(model.graph, all_passes()));
    const auto count = [&](std::string_view word) {
      return std::ranges::count_if(kernels, [&](const std::string& kernel) { return kernel.starts_with(word); });
    };
    EXPECT_EQ(count("linear"), 2 * 4 + 1) << name;
    EXPECT_EQ(count("attention"), 2) << name;
    EXPECT_EQ(count("scatter"), 4) << name;
  }
}

// On Hopper the last launch of a token's layers ends with its scores: its norm is a part of the products beside it. One
// look-up gives the angles, and the position moves where it stands.
TEST(DecoderPlan, OfOneTokenEndsWithItsScores) {
  const Target target{.kind = "cuda", .machine = testing::hopper(), .kernels = gpu::all_kernels()};
  Recipe recipe = in_bf16();
  recipe.rungs.insert("regions"), recipe.joined = true;
  const auto model = import_config_text(
      R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "rms_norm_eps": 1e-05,
          "torch_dtype": "bfloat16", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512, "max_position_embeddings": 64})",
      {.shapes = {{"input_ids", Shape{1, 1}}}, .cache = {.length = 26}});
  ASSERT_TRUE(model) << model.error().message;
  const auto built = build_plan(model->graph, recipe, {.target = &target, .contents = false});
  ASSERT_TRUE(built) << built.error().message;
  const auto& steps = built->plan.steps;
  const auto counts = steps_of_launches(built->plan);
  ASSERT_GE(counts.size(), 2u);
  EXPECT_EQ(counts[counts.size() - 2], 4u) << "output, gate and up, down, head";
  EXPECT_EQ(steps[steps.size() - 2].label, "lm_head");
  EXPECT_THAT(steps[steps.size() - 2].problem, ::testing::HasSubstr("normed="));
  EXPECT_EQ(steps.back().label, "position");
  EXPECT_EQ(steps.back().output.index, steps.back().inputs[0].index) << "the state is its own next value";
  const auto look_ups = std::ranges::count_if(steps, [](const Step& step) { return as<Gather>(step.op) != nullptr; });
  EXPECT_EQ(look_ups, 2) << "of the token and of its angles";
}

// Steps of two layers on a GPU: norms and rotations of heads, casts of queries and keys, and writes to two caches are
// one launch of a layer, and on Hopper attention is the same launch. The last numbers are without these passes.
TEST(DecoderPlan, OfAGpuFillsCachesInOneLaunch) {
  const Target target{.kind = "cuda", .machine = testing::hopper(), .kernels = gpu::all_kernels()};
  struct Steps {
    const char* model;
    size_t with, apart, without;
  };
  for (const auto& [name, with, apart, without] :
       {Steps{"llama_bf16", 20, 22, 24}, Steps{"qwen3", 20, 22, 32}, Steps{"gemma3", 22, 24, 34}}) {
    const Model model = import_verified(decoder_path(name), {.cache = {.length = 26}});
    Recipe recipe = in_bf16();
    recipe.rungs.insert("regions");
    const auto steps = [&] {
      const auto built = build_plan(model.graph, recipe, {.target = &target, .contents = false});
      EXPECT_TRUE(built) << built.error().message;
      return built ? built->plan.steps.size() : 0;
    };
    EXPECT_EQ(steps(), with) << name;
    recipe.precision[0].cache = DType::f8e4m3fn;
    EXPECT_EQ(steps(), with) << name << ": nothing is rounded to 8 bits in a launch of its own";
    recipe.disabled_passes.insert("fuse_cached_attention");
    EXPECT_EQ(steps(), apart) << name;
    recipe.precision[0].cache.reset();
    EXPECT_EQ(steps(), apart) << name;
    recipe.disabled_passes.insert("fuse_caches");
    EXPECT_EQ(steps(), without) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderPlans, ::testing::ValuesIn(decoder_names()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace rung
