// What a plan for AMD's CDNA has its kernels do, beside the plan for a Hopper; to build one takes no GPU.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "import/model.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/check.hpp"
#include "support.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

Target target_of(const gpu::GpuInfo& card) {
  return {.kind = card.runtime, .machine = Machine(cpu::CpuInfo{}, card), .kernels = gpu::all_kernels()};
}

// The policy that the measurements are of, with no values in its weights.
Plan pi0_for(const gpu::GpuInfo& card) {
  static const auto model = import_config_text(R"({"type": "pi0", "views": 3, "prompt": 48, "horizon": 50,
      "action_dim": 32, "steps": 10, "image": 224, "patch": 14, "vision": [27, 1152, 4304, 16],
      "prefix": [18, 2048, 16384, 8, 1, 256], "expert": [18, 1024, 4096, 8, 1, 256], "vocab": 257152})",
                                               {.random_seed = 7});
  EXPECT_TRUE(model) << model.error().message;
  const Target target = target_of(card);
  auto built = build_plan(model->graph, in_bf16(), {.target = &target, .contents = false});
  EXPECT_TRUE(built) << built.error().message;
  return built ? std::move(built->plan) : Plan{};
}

// Launches of a plan: what splits keys or columns of K has a second one, and scratch for what that adds up.
size_t launches_of(const Plan& plan) {
  const auto has_two = [](const Step& step) { return step.choice.kernel.ends_with("_cdna") && step.scratch; };
  return plan.steps.size() + static_cast<size_t>(std::ranges::count_if(plan.steps, has_two));
}

class CdnaPlan : public ::testing::TestWithParam<int> {
 protected:
  const gpu::GpuInfo card = testing::cdna_card(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, CdnaPlan, ::testing::Values(0x942, 0x950),
                         [](const auto& card) { return fmt::format("gfx{:x}", card.param); });

TEST_P(CdnaPlan, OfPi0HasTheLaunchesOfAHoppers) {
  gpu::GpuInfo hopper = testing::hopper_card();
  hopper.gemm_libraries = {&testing::any_gemm_library()};
  const size_t theirs = launches_of(pi0_for(hopper)), ours = launches_of(pi0_for(card));
  EXPECT_GT(theirs, 1000u);
  EXPECT_LE(ours, theirs + theirs / 10);
  RecordProperty("launches", fmt::format("{} of {}", ours, theirs));
}

TEST_P(CdnaPlan, OfPi0HasNoFallback) {
  for (const Step& step : pi0_for(card).steps) {
    const auto rows = gpu::all_kernels();
    const auto row = std::ranges::find(rows, step.choice.kernel, &Kernel::name);
    EXPECT_NE((*row)->role, Role::fallback) << step.problem;
  }
}

TEST_P(CdnaPlan, OfPi0MultipliesInMatrixInstructions) {
  std::set<std::string> rows;
  for (const Step& step : pi0_for(card).steps)
    if (op_family(step.op) == "attention" ||
        (op_family(step.op) == "linear" && step.problem.find("x=bf16") != std::string::npos))
      rows.insert(step.choice.kernel);
  EXPECT_THAT(rows, ::testing::ElementsAre("attention_cdna", "linear_skinny_cdna", "linear_wide_cdna"));
}

// Keys are split where a recipe asks for it; the launch that adds up needs what the blocks leave.
TEST_P(CdnaPlan, OfSplitAttentionHasItsScratch) {
  const Target target = target_of(card);
  const Graph graph = graph_of(
      "q: bf16[1,51,8,256] = input()\nk: bf16[1,867,1,256] = input()\nv: bf16[1,867,1,256] = input()\n"
      "y = attention(q, k, v, scale=0.0625)");
  Recipe recipe = in_bf16();
  auto plain = build_plan(graph, recipe, {.target = &target});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(launches_of(plain->plan), 1u);
  recipe.choices[plain->plan.steps[0].problem] = {"attention_cdna", {{"splits", 4}}};
  auto split = build_plan(graph, recipe, {.target = &target});
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(launches_of(split->plan), 2u);
  EXPECT_TRUE(check_plan(split->plan));
  ASSERT_TRUE(split->plan.steps[0].scratch);
  EXPECT_EQ(split->plan.buffers[*split->plan.steps[0].scratch].bytes, 4u * 408 * 258 * 4);
}

}  // namespace
}  // namespace rung
