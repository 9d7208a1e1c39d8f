// What a plan for a Hopper GPU has its kernels do; to build one takes no GPU.
// SPDX-License-Identifier: Apache-2.0
#include "import/model.hpp"
#include "kernels/gpu/kernel.hpp"
#include "plan/check.hpp"
#include "plan/kernel_choice.hpp"
#include "support.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

Target hopper() {
  gpu::GpuInfo card = testing::hopper_card();
  card.gemm_libraries = {&testing::any_gemm_library()};
  return {.kind = "cuda", .machine = Machine(cpu::CpuInfo{}, card), .kernels = gpu::all_kernels()};
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
      "s = linear(x, w, r, slots=residual)\n"
      "h = linear(rms_norm(s, g, out=bf16), u, gated=true, activation=gelu_tanh, out=bf16)\n"
      "z = linear(slice(h, axis=1, begin=1, end=9), v, slice(s, axis=1, begin=1, end=9), slots=residual)\n"
      "y = linear(rms_norm(z, g, out=bf16), u)");
  auto built = build_plan(graph, all_passes(), {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan), ::testing::Each("linear_skinny_sm90"));
  EXPECT_EQ(built->plan.steps.size(), 4u);
}

TEST(HopperPlan, OfOneTokenStreamsItsWeights) {
  const Target target = hopper();
  Graph graph = graph_of(
      "x: bf16[1,1,256] = input()\nr: f32[1,1,128] = input()\nw: bf16[128,256] = constant()\n"
      "g: f32[128] = constant()\nu: bf16[512,128] = constant()\nv: bf16[128,256] = constant()\n"
      "s = linear(x, w, r, slots=residual)\n"
      "h = linear(rms_norm(s, g, out=bf16), u, gated=true, activation=silu, out=bf16)\n"
      "z = linear(h, v, s, slots=residual)\ny = linear(rms_norm(z, g, out=bf16), u)");
  auto built = build_plan(graph, all_passes(), {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan), ::testing::Each("linear_stream_sm90"));
  EXPECT_EQ(built->plan.steps.size(), 4u);
}

// A decoder's layers without attention: heads that turn, a gated pair, and the two that feed norms.
TEST(HopperPlan, OfOneTokenStreamsWeightsInGroups) {
  const Target target = hopper();
  Graph graph = graph_of(
      "x: bf16[1,1,256] = input()\nr: f32[1,1,256] = input()\nc: f32[1,1,64] = input()\ns: f32[1,1,64] = input()\n"
      "q: bf16[384,256] = constant()\no: bf16[256,256] = constant()\ng: f32[256] = constant()\n"
      "u: bf16[1024,256] = constant()\nd: bf16[256,512] = constant()\n"
      "a = linear(x, o, r, slots=residual)\n"
      "h = linear(rms_norm(a, g, out=bf16), u, gated=true, activation=silu, out=bf16)\n"
      "b = linear(h, d, a, slots=residual)\n"
      "y = linear(rms_norm(b, g, out=bf16), q, c, s, rotated_heads=4, slots=cos+sin, out=bf16)");
  for (const DType to : {DType::u8, DType::i8}) {
    Recipe recipe = in_bf16();
    recipe.precision.push_back({.labels = "*", .weights = WeightForm{to, 32}});
    auto built = build_plan(graph, recipe, {.target = &target});
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_THAT(kernels_of(built->plan), ::testing::Each("linear_stream_sm90"));
    EXPECT_EQ(built->plan.steps.size(), 4u);
    size_t bytes = 0;
    for (const PlanWeight& weight : built->plan.weights) bytes += weight.bytes;
    const size_t weights = 384 * 256 + 256 * 256 + 1024 * 256 + 256 * 512, rows = 384 + 256 + 1024 + 256;
    const size_t of_groups = weights / 32 * (to == DType::u8 ? 2 : 1),
                 numbers = to == DType::u8 ? weights / 2 : weights;
    EXPECT_EQ(bytes, numbers + of_groups + rows * 4 + 256 * 4);
  }
}

TEST(HopperPlan, InBf16FusesActivationsThatF32LinearsRefuse) {
  const Target target = hopper();
  Graph graph = graph_of(
      "x: f32[128,384] = input()\ng: f32[384] = constant()\nb: f32[384] = constant()\n"
      "u: f32[1536,384] = constant()\nc: f32[1536] = constant()\nv: f32[384,1536] = constant()\n"
      "n = layer_norm(x, g, b)\nh = gelu(linear(n, u, c, slots=bias))\n"
      "s = add(linear(h, v, b, slots=bias), n)\ny = layer_norm(s, g, b)");
  auto built = build_plan(graph, in_bf16(), {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan),
              ::testing::ElementsAre("layer_norm_rows", "linear_skinny_sm90", "linear_skinny_sm90", "layer_norm_rows"));
}

// A causal mask of few rows of wide heads stays a table for attention_wgmma; elsewhere it is a span, as in a decoder's
// graph.
TEST(HopperPlan, ReadsMasksWhereItsBestRowDoes) {
  const Target target = hopper();
  const KernelQuery query = kernel_query(target, 1);
  const auto asked = [&](int64_t rows, int64_t width, KeySpan span) {
    const std::vector<Type> operands(3, Type{DType::bf16, Shape{1, rows, 8, width}});
    return query(Attention{.span = span}, operands);
  };
  EXPECT_EQ(asked(63, 128, {.after = 0}).reason, "attention_wgmma reads masks alone");
  EXPECT_TRUE(asked(64, 128, {.after = 0}).yes);
  EXPECT_TRUE(asked(63, 128, {}).yes);
  EXPECT_TRUE(asked(63, 64, {.after = 0}).yes);
}

// The portable row would store 8 bits, but takes far longer than the row that does not.
TEST(HopperPlan, KeepsTheTypeThatItsBestRowStores) {
  const Target target = hopper();
  const KernelQuery query = kernel_query(target, 1);
  const auto refusal = [&](int64_t width, Attention op) {
    const std::vector<Type> operands(3, Type{DType::bf16, Shape{1, 64, 8, width}});
    return query(op, operands).reason;
  };
  const std::string slower = "attention_mma stores no other type than q's";
  EXPECT_EQ(refusal(64, {.out = DType::f8e4m3fn}), slower);
  EXPECT_EQ(refusal(64, {.factor = 2}), slower);
  EXPECT_EQ(refusal(64, {}), "");
  EXPECT_EQ(refusal(72, {.factor = 2, .out = DType::f8e4m3fn}), "");
}

// A policy whose products are in 8 bits by measured scales: no launch stands between an attention and the product that
// reads it, of vision, prefix and expert.
TEST(HopperPlan, OfPi0HasItsAttentionsStore8Bits) {
  const Target target = hopper();
  auto model = import_config_text(R"({"type": "pi0", "views": 3, "prompt": 48, "horizon": 50, "action_dim": 32,
      "steps": 2, "image": 224, "patch": 14, "vision": [2, 1152, 4304, 16], "prefix": [3, 2048, 16384, 8, 1, 256],
      "expert": [3, 1024, 4096, 8, 1, 256], "vocab": 257152})",
                                  {.random_seed = 7});
  ASSERT_TRUE(model) << model.error().message;
  Recipe recipe = in_bf16();
  auto graph = apply_passes(model->graph, recipe, nullptr, {.target = &target});
  ASSERT_TRUE(graph) << graph.error().message;
  recipe.precision.push_back({.labels = "*", .products = DType::f8e4m3fn});
  for (NodeId id : graph->order())
    if (graph->as<Linear>(id)) recipe.calibration[(*graph)[id].label] = 8;
  auto built = build_plan(model->graph, recipe, {.target = &target, .contents = false});
  ASSERT_TRUE(built) << built.error().message;
  std::map<std::string, int> stored;
  for (const Step& step : built->plan.steps)
    if (as<Attention>(step.op))
      ++stored[fmt::format("{} {}", step.choice.kernel, Type{step.output.view.dtype, step.output.view.shape})];
  EXPECT_THAT(stored, ::testing::ElementsAre(std::pair("attention_split_kv f8e4m3fn[1,50,8,256]", 2),
                                             std::pair("attention_split_kv f8e4m3fn[1,51,8,256]", 4),
                                             std::pair("attention_wgmma f8e4m3fn[1,816,8,256]", 2),
                                             std::pair("attention_wgmma f8e4m3fn[3,256,16,72]", 2)));
}

// The library has no epilogue that multiplies the halves.
TEST(HopperPlan, GatesWideProductsInTheirEpilogue) {
  const Target target = hopper();
  const auto row_of = [&](const char* gated) {
    Graph graph =
        graph_of(fmt::format("x: bf16[512,256] = input()\nw: bf16[1024,256] = constant()\n"
                             "y = linear(x, w{}, out=bf16)",
                             gated));
    auto built = build_plan(graph, in_bf16(), {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    return built ? kernels_of(built->plan) : std::vector<std::string>{};
  };
  EXPECT_THAT(row_of(""), ::testing::ElementsAre("linear_cublaslt"));
  EXPECT_THAT(row_of(", gated=true, activation=silu"), ::testing::ElementsAre("linear_wide_sm90"));
  EXPECT_THAT(row_of(", gated=true, activation=relu"), ::testing::ElementsAre("linear_cublaslt"));
}

TEST(HopperPlan, HasRowsForSpansOfADecoder) {
  const Target target = hopper();
  const auto row_of = [&](int tokens, int width) {
    Graph graph = graph_of(
        fmt::format("q: bf16[1,{1},8,{0}] = input()\nk: bf16[1,{1},1,{0}] = input()\nv: bf16[1,{1},1,{0}] = input()\n"
                    "y = attention(q, k, v, after=0)",
                    width, tokens));
    auto built = build_plan(graph, in_bf16(), {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    return built ? kernels_of(built->plan) : std::vector<std::string>{};
  };
  for (const int width : {64, 128, 256}) {
    EXPECT_THAT(row_of(7, width), ::testing::ElementsAre("attention_mma"));
    EXPECT_THAT(row_of(32, width), ::testing::ElementsAre("attention_wgmma"));
  }
}

// Norms of the prefix's 816 tokens stay, as do the first of each step, which no linear feeds, and the last, which is
// read in f32.
TEST(HopperPlan, OfPi0NormsExpertTokensInItsLinears) {
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

// What loads a plan proves of a GPU's rows what it proves of a processor's.
class HopperAccess : public ::testing::Test {
 protected:
  const Target target = hopper();
  Plan plan;

  HopperAccess() {
    Graph graph = graph_of(
        "x: bf16[128,384] = input()\nw: bf16[384,384] = constant()\nb: f32[384] = constant()\n"
        "y = softmax(linear(x, w, b, slots=bias, out=bf16))");
    Recipe recipe = all_passes();
    recipe.threads = 0;
    recipe.choices["linear m=128 n=384 k=384 x=bf16 w=bf16 out=bf16 bias=f32"] = {"linear_cublaslt", {}};
    auto built = build_plan(graph, recipe, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    if (built) plan = std::move(built->plan);
  }
  Step& linear() { return plan.steps[0]; }
  std::string error() const {
    Status status = check_plan(plan);
    return status ? "" : status.error().message;
  }
};

TEST_F(HopperAccess, OfWhatWasBuiltIsRight) {
  ASSERT_EQ(linear().choice.kernel, "linear_cublaslt");
  ASSERT_EQ(plan.weights[1].bytes, 384 * 2) << "the bias, which its row converts";
  EXPECT_EQ(error(), "");
}

TEST_F(HopperAccess, ToAConvertedBiasHasItsConvertedSize) {
  plan.weights[1].bytes = 384 * 4;
  EXPECT_THAT(error(), ::testing::HasSubstr("packed weight 1: got 1536 bytes from 0, wanted 768"));
}

TEST_F(HopperAccess, ToAConstantIsToAWeight) {
  linear().inputs[2].view.constant = false;
  EXPECT_THAT(error(), ::testing::HasSubstr("marked as constant or lies in a weight"));
}

TEST_F(HopperAccess, BeginsWhereTheRowReads) {
  Buffer& x = plan.buffers[linear().inputs[0].index];
  plan.inputs[0].type.shape = {129, 384};
  x.offset = (plan.arena_bytes + 255) / 256 * 256, x.bytes = 129 * 384 * 2;
  plan.arena_bytes = x.offset + x.bytes;
  linear().inputs[0].offset = 8;
  EXPECT_THAT(error(), ::testing::HasSubstr("begins at byte 8, wanted a multiple of 16"));
  linear().inputs[0].offset = 16;
  EXPECT_EQ(error(), "");
}

TEST_F(HopperAccess, ToScratchHasTheRowsSize) {
  ASSERT_TRUE(linear().scratch);
  plan.buffers[*linear().scratch].bytes -= 256;
  EXPECT_THAT(error(), ::testing::HasSubstr("bytes, wanted"));
  linear().scratch.reset();
  EXPECT_THAT(error(), ::testing::HasSubstr("got no scratch"));
}

TEST_F(HopperAccess, StaysInTheValueThatABufferHolds) {
  plan.steps[1].inputs[0].view.strides[0] = 385;
  EXPECT_THAT(error(), ::testing::HasSubstr("reaches past its 98304 bytes"));
}

TEST_F(HopperAccess, IsCountedIn31Bits) {
  Operand& x = plan.steps[1].inputs[0].view;
  x.shape = plan.steps[1].output.view.shape = {int64_t{1} << 31, 1};
  x.strides = {0, 1};
  plan.steps[1].output.view.strides = {1, 1};
  EXPECT_THAT(error(), ::testing::HasSubstr("does not count in 31 bits"));
}

TEST_F(HopperAccess, IsOfNoThreads) {
  plan.recipe.threads = 2;
  EXPECT_THAT(error(), ::testing::HasSubstr("got 2 threads, wanted 0 for a GPU"));
}

}  // namespace
}  // namespace rung
