// What a plan for a Hopper GPU has its kernels do; to build one takes no GPU.
// SPDX-License-Identifier: Apache-2.0
#include "import/model.hpp"
#include "kernels/gpu/kernel.hpp"
#include "support.hpp"

namespace rung {
namespace {

Target hopper() {
  gpu::GpuInfo card;
  card.architecture = 90;
  card.clusters = true;
  card.library_gemm = true;
  return {.kind = "cuda", .machine = Machine(cpu::CpuInfo{}, card), .kernels = gpu::all_kernels()};
}

Recipe in_bf16() {
  Recipe recipe = all_passes();
  recipe.rungs.insert("precision");
  recipe.precision = DType::bf16;
  recipe.threads = 0;
  return recipe;
}

std::map<std::string, int> norms_of(const Graph& graph) {
  std::map<std::string, int> norms;
  for (NodeId id : graph.order())
    if (graph.as<RmsNorm>(id)) ++norms[to_string(graph.type(id))];
  return norms;
}

TEST(HopperPlan, OfFewTokensHasNoNormBetweenLinears) {
  const Target target = hopper();
  Graph graph = graph_of(
      "x: bf16[1,9,256] = input()\nr: f32[1,9,128] = input()\nw: bf16[128,256] = constant()\n"
      "g: f32[128] = constant()\nu: bf16[512,128] = constant()\nv: bf16[128,256] = constant()\n"
      "s = linear(x, w, r, has_residual=true)\n"
      "h = linear(rms_norm(s, g, out=bf16), u, gated=true, activation=gelu_tanh, out=bf16)\n"
      "z = linear(slice(h, axis=1, begin=1, end=9), v, slice(s, axis=1, begin=1, end=9), has_residual=true)\n"
      "y = linear(rms_norm(z, g, out=bf16), u)");
  auto built = build_plan(graph, all_passes(), {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan), testing::Each("linear_skinny_sm90"));
  EXPECT_EQ(built->plan.steps.size(), 4u);
}

TEST(HopperPlan, InBf16MovesActivationsThatNoLinearInF32Takes) {
  const Target target = hopper();
  Graph graph = graph_of(
      "x: f32[128,384] = input()\ng: f32[384] = constant()\nb: f32[384] = constant()\n"
      "u: f32[1536,384] = constant()\nc: f32[1536] = constant()\nv: f32[384,1536] = constant()\n"
      "n = layer_norm(x, g, b)\nh = gelu(linear(n, u, c, has_bias=true))\n"
      "s = add(linear(h, v, b, has_bias=true), n)\ny = layer_norm(s, g, b)");
  auto built = build_plan(graph, in_bf16(), {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan),
              testing::ElementsAre("layer_norm_rows", "linear_wide_sm90", "linear_cublaslt", "layer_norm_rows"));
}

// Norms of the prefix's 816 tokens stay, as do the first of each step, which no linear feeds, and the last, which is
// read in f32.
TEST(HopperPlan, OfPi0NormsTheExpertsTokensInItsLinears) {
  const Target target = hopper();
  auto model = import_config_text(R"({"type": "pi0", "views": 3, "prompt": 48, "horizon": 50, "action_dim": 32,
      "steps": 2, "image": 224, "patch": 14, "vision": [2, 1152, 4304, 16], "prefix": [18, 2048, 16384, 8, 1, 256],
      "expert": [18, 1024, 4096, 8, 1, 256], "vocab": 257152})",
                                  {.random_seed = 7});
  ASSERT_TRUE(model) << model.error().message;
  auto graph = apply_passes(model->graph, in_bf16(), nullptr, {.target = &target});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(norms_of(*graph),
            (std::map<std::string, int>{{"bf16[1,816,2048]", 35}, {"bf16[1,51,1024]", 2}, {"f32[1,50,1024]", 2}}));
}

}  // namespace
}  // namespace rung
