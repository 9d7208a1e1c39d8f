// Lowering: what becomes a launch, what only re-addresses, what is copied and what is shared.
// SPDX-License-Identifier: Apache-2.0
#include "plan/lower.hpp"

#include <nlohmann/json.hpp>

#include "plan/kernel_choice.hpp"
#include "plan/plan_json.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Lowering, ViewsCostNoLaunch) {
  Graph graph = graph_of("y = relu(reshape(slice(x:f32[4,8], axis=0, begin=1, end=3), shape=[16]))");
  EXPECT_THAT(kernels_of(plan_of(graph)), ElementsAre(StartsWith("unary")));
  expect_right(graph, {});
}

TEST(Lowering, CopiesOperandsThatNoKernelReadsStrided) {
  Graph graph = graph_of(
      "w: f32[16,8] = constant(name=\"w\")\n"
      "y = linear(transpose(x:f32[8,4], permutation=[1,0]), w)");
  EXPECT_THAT(kernels_of(plan_of(graph)), ElementsAre(StartsWith("reshape"), StartsWith("linear")));
  expect_right(graph, {});
}

TEST(Lowering, CopiesOnceForAllReaders) {
  const Graph graph = graph_of(
      "t = transpose(x:f32[8,4], permutation=[1,0])\n"
      "w: f32[16,8] = constant(name=\"w\")\nv: f32[9,8] = constant(name=\"v\")\n"
      "a = linear(t, w)\nb = linear(t, v)\nreturn a=a, b=b");
  EXPECT_THAT(kernels_of(plan_of(graph)),
              ElementsAre(StartsWith("reshape"), StartsWith("linear"), StartsWith("linear")));
  expect_right(graph, {});
}

TEST(Lowering, CopiesViewsThatAreMisalignedForTheKernel) {
  Kernel picky = *cpu_target().kernels_for("unary").front();
  picky.supports = [](const Problem&, const Machine&) { return accept(); };
  picky.alignment = 16;
  std::vector<const Kernel*> rows{&picky};
  for (const Kernel* row : cpu_target().kernels_for("reshape")) rows.push_back(row);
  Target target = cpu_target();
  target.kernels = rows;
  auto kernels = [&](const char* text) {
    auto built = build_plan(graph_of(text), {}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    return built ? kernels_of(built->plan) : std::vector<std::string>{};
  };
  EXPECT_THAT(kernels("y = relu(slice(x:f32[16], axis=0, begin=4, end=12))"), ElementsAre(StartsWith("unary")));
  EXPECT_THAT(kernels("y = relu(slice(x:f32[16], axis=0, begin=1, end=9))"),
              ElementsAre(StartsWith("reshape"), StartsWith("unary")));
}

// The strided operand decides that there is no kernel for the op as it stands; the one for its copy wants the other
// operand moved too.
TEST(Lowering, CopiesWhatTheFinalKernelCannotRead) {
  Kernel picky = *cpu_target().kernels_for("binary").front();
  picky.supports = [](const Problem& problem, const Machine&) {
    return problem.inputs[0].contiguous() ? accept() : reject("strides");
  };
  picky.alignment = 16;
  std::vector<const Kernel*> rows{&picky};
  for (const Kernel* row : cpu_target().kernels_for("reshape")) rows.push_back(row);
  Target target = cpu_target();
  target.kernels = rows;
  auto built = build_plan(graph_of("x: f32[4,4] = input()\n"
                                   "p: f32[20] = input()\n"
                                   "part = reshape(slice(p, axis=0, begin=1, end=17), shape=[4,4])\n"
                                   "y = add(transpose(x, permutation=[1,0]), part)"),
                          {}, {.target = &target});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_THAT(kernels_of(built->plan), ElementsAre(StartsWith("reshape"), StartsWith("reshape"), StartsWith("binary")));
  for (const PlanOperand& operand : built->plan.steps.back().inputs) EXPECT_EQ(operand.offset % 16, 0u);
}

TEST(Lowering, NamesAnOpWithoutAKernel) {
  Target target = cpu_target();
  auto error = [&](const char* text) {
    auto built = build_plan(graph_of(text), {}, {.target = &target});
    EXPECT_FALSE(built);
    return built ? "" : built.error().message;
  };
  target.kernels = {};
  EXPECT_THAT(error("y = softmax(x:f32[4,8])  # the.weights"), HasSubstr("the.weights: cpu has no kernel for softmax"));
  target.kernels = cpu_target().kernels_for("softmax");
  EXPECT_THAT(error("y = transpose(softmax(x:f32[4,8]), permutation=[1,0])"),
              HasSubstr("cpu has no kernel for reshape"));
}

TEST(Lowering, CopiesWhereAReshapeCutsAcrossStrides) {
  Graph graph = graph_of("y = relu(reshape(transpose(x:f32[4,6], permutation=[1,0]), shape=[3,8]))");
  EXPECT_THAT(kernels_of(plan_of(graph)), ElementsAre(StartsWith("reshape"), StartsWith("unary")));
  expect_right(graph, {});
}

TEST(Lowering, GivesEveryOutputABufferOfItsOwn) {
  Graph graph = graph_of(
      "x: f32[4,8] = input()\n"
      "c: f32[8] = constant(name=\"c\")\n"
      "y: f32[4,8] = relu(x)\n"
      "t: f32[8,4] = transpose(y, permutation=[1,0])\n"
      "s: f32[2,8] = slice(x, axis=0, begin=2, end=4)\n"
      "d: f32[8] = add(c, c)\n"
      "return y=y, again=y, input=x, part=s, turned=t, constant=c, computed=d");
  Plan plan = plan_of(graph);
  std::set<uint32_t> buffers;
  for (const auto& output : plan.outputs) buffers.insert(output.buffer);
  for (const auto& input : plan.inputs) buffers.insert(input.buffer);
  EXPECT_EQ(buffers.size(), plan.outputs.size() + plan.inputs.size());
  expect_right(graph, {});
  expect_right(graph, all_passes());
}

TEST(Lowering, SharesWeightsBetweenEqualUses) {
  const char* text =
      "w: f32[8,8] = constant(name=\"w\")\n"
      "x: f32[4,8] = input()\n"
      "y: f32[4,8] = linear(linear(x, w), w)\n";
  EXPECT_EQ(plan_of(text).weights.size(), 1u);
  EXPECT_EQ(plan_of(text, all_passes()).weights.size(), 1u);
}

TEST(Lowering, TakesLibraryBeforeTuningAndPreferredRowsAfter) {
  const char* text = "w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)";
  EXPECT_THAT(kernels_of(plan_of(text)), ElementsAre("linear_onednn"));
  Plan tuned = plan_of(text, {.tuned_kernels = true});
  EXPECT_NE(tuned.steps[0].choice.kernel, "linear_onednn");
  Recipe recipe{.tuned_kernels = true};
  recipe.choices[tuned.steps[0].problem] = {"linear_openblas", {}};
  EXPECT_THAT(kernels_of(plan_of(text, recipe)), ElementsAre("linear_openblas"));
}

class BadChoice : public ::testing::TestWithParam<std::pair<KernelChoice, const char*>> {};

TEST_P(BadChoice, IsRefusedByName) {
  Graph graph = graph_of("w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)");
  Recipe recipe{.tuned_kernels = true};
  recipe.choices[plan_of(graph).steps[0].problem] = GetParam().first;
  auto built = build_plan(graph, recipe);
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    , BadChoice,
    ::testing::Values(std::pair{KernelChoice{"linear_gone", {}}, "there is no linear kernel 'linear_gone'"},
                      std::pair{KernelChoice{"softmax_fallback", {}}, "there is no linear kernel 'softmax_fallback'"},
                      std::pair{KernelChoice{"linear_avx2", {{"columns", 0}}}, "columns=0"}));

TEST(Choice, ThatCannotRunHereYieldsToTheNext) {
  Graph graph = graph_of("w: f32[64,64] = constant(name=\"w\")\ny = linear(x:f32[4,64], w)");
  Recipe recipe{.tuned_kernels = true};
  Plan tuned = plan_of(graph, recipe);
  recipe.choices[tuned.steps[0].problem] = {"linear_amx_bf16", {}};  // of other types
  auto built = build_plan(graph, recipe);
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(kernels_of(built->plan), kernels_of(tuned));
  EXPECT_EQ(built->plan.recipe, recipe) << "on a machine that can, the plan would run by it";
}

TEST(KernelQuery, RefusesAnOpThatOnlyAFallbackRuns) {
  const Type heads{DType::f32, {1, 4, 2, 16}};
  const std::vector<Type> operands(3, heads);
  Target target = cpu_target();
  const auto runs = [&] { return kernel_query(target, 1)(Attention{}, operands); };
  EXPECT_TRUE(runs()) << runs().reason;
  const std::array rows{target.row_of("attention", Role::fallback)};
  target.kernels = rows;
  EXPECT_EQ(runs().reason, "no fast kernel row for it");
}

class NotFinite : public Weight {
 public:
  explicit NotFinite(Type type) : Weight("layer.weight", type) {}
  Result<Tensor> load() const override {
    Tensor tensor(type());
    tensor.as<float>()[3] = NAN;
    return tensor;
  }
};

class WeightWithNaN : public ::testing::TestWithParam<const char*> {};

TEST_P(WeightWithNaN, IsNamedWithTheCount) {
  auto graph = parse_graph(GetParam(), [](const auto&, const Type& type) { return std::make_shared<NotFinite>(type); });
  ASSERT_TRUE(graph) << graph.error().message;
  auto built = build_plan(*graph, {});
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message, HasSubstr("'layer.weight'"));
  EXPECT_THAT(built.error().message, HasSubstr("1 NaN"));
}

INSTANTIATE_TEST_SUITE_P(, WeightWithNaN,
                         ::testing::Values("w: f32[8,8] = constant(name=\"w\")\ny = linear(x:f32[4,8], w)",
                                           "w: f32[8,8] = constant(name=\"w\")\n"
                                           "y = add(x:f32[8,8], relu(transpose(mul(w, w), permutation=[1,0])))"));

TEST(Build, GivesTheSamePlanTwice) {
  Graph graph = graph_of(
      "w: f32[16,8] = constant(name=\"w\")\n"
      "y = softmax(linear(gelu(x:f32[4,8]), w))");
  EXPECT_EQ(plan_to_json(plan_of(graph, all_passes())), plan_to_json(plan_of(graph, all_passes())));
}

}  // namespace
}  // namespace rung
