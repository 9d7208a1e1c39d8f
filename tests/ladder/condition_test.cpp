// The tolerance of models that magnify rounding: right ones pass, and planted mistakes do not, however ill the
// condition.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/condition.hpp"

#include "ladder/rungs.hpp"
#include "ladder/workbench.hpp"
#include "reference/evaluate.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kLayers = 10;
constexpr float kLarge = 1, kSmall = 0.125F;  // of weights: each layer makes an error about 2 x as large, or smaller

// Layers of tanh(x w' + b), then attention among the rows. `mistake` is what its author got wrong.
std::string text_with(const std::string& mistake) {
  std::string text, h = "x";
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i);
    text += "w" + n + ": f32[64,64] = constant(name=\"w" + n + "\")\n";
    text += "b" + n + ": f32[64] = constant(name=\"b" + n + "\")\n";
  }
  text += "t: f32[1] = constant(name=\"t\")\n";
  text += "x: f32[8,64] = input()\nmask: f32[8,8] = input()\n";
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i), w = "w" + n;
    const bool wrong = i == kLayers - 2;
    const std::string weight = wrong && mistake == "weight" ? "transpose(" + w + ", permutation=[1,0])" : w;
    const std::string product = "linear(" + h + ", " + weight + ")";
    const std::string sum = wrong && mistake == "bias" ? product : "add(" + product + ", b" + n + ")";
    text += "h" + n + " = tanh(" + sum + ")\n";
    h = "h" + n;
  }
  if (mistake == "row") {
    text += "r = concat(slice(" + h + ", axis=0, begin=1, end=8), slice(" + h + ", axis=0, begin=0, end=1), axis=0)\n";
    h = "r";
  }
  text += "s = mul(matmul(" + h + ", transpose(" + h + ", permutation=[1,0])), t)\n";
  const std::string mask = mistake == "mask" ? "transpose(mask, permutation=[1,0])" : "mask";
  text += "p = softmax(add(s, " + mask + "))\n";
  return text + "y = matmul(p, " + h + ")\nreturn y=y";
}

Graph model(float scale, const std::string& mistake = "") {
  auto graph = parse_graph(text_with(mistake), [&](const std::string& name, const Type& type) {
    Tensor values = random_tensor(name, type);
    for (float& value : values.as<float>()) value = name == "t" ? 0.05F : value * scale;
    return std::make_shared<Literal>(name, std::move(values));
  });
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

NamedTensors inputs_of(const Graph& graph) {
  NamedTensors inputs = random_inputs(graph);
  Tensor mask({DType::f32, {8, 8}});  // each row sees itself and those before it
  for (size_t i = 0; i < 64; ++i) mask.as<float>()[i] = i % 8 > i / 8 ? -INFINITY : 0;
  inputs["mask"] = std::move(mask);
  return inputs;
}

// The judgement of the plan that `graph` makes, by the reference of the right model.
class Condition : public ::testing::Test {
 protected:
  Attempt judged(float scale, const std::string& mistake = "") {
    subject.reference = model(scale);
    subject.model.graph = model(scale, mistake);
    for (NodeId id : subject.model.graph.inputs())
      subject.model.defaults[subject.model.graph.as<Input>(id)->name].type = subject.model.graph.type(id);
    auto made = Workbench::create(subject, {inputs_of(subject.reference)}, {.database_path = ""}, budget);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    bench = std::move(*made);
    auto attempt = bench->attempt_as_is(baseline_recipe(1));
    EXPECT_TRUE(attempt) << attempt.error().message;
    return attempt ? std::move(*attempt) : Attempt{};
  }
  double by_length() const { return tolerance_for(DType::f32, longest_reduction_path(subject.reference)).rel_l2; }
  Budget budget{60};
  Subject subject;
  std::unique_ptr<Workbench> bench;
};

TEST_F(Condition, LetsARightModelOfLargeWeightsPass) {
  const Attempt attempt = judged(kLarge);
  EXPECT_TRUE(attempt.right) << attempt.reason;
  EXPECT_GT(attempt.rel_l2, 3 * by_length()) << "its length alone would refuse it";
  EXPECT_THAT(bench->judge().account(attempt),
              StartsWith("1 input against the scalar evaluator in f64, where rounding alone moves the answers by"));
}

TEST_F(Condition, IsNotNeededWhereTheLengthIsEnough) {
  const Attempt attempt = judged(kSmall);
  EXPECT_TRUE(attempt.right) << attempt.reason;
  EXPECT_LT(attempt.rel_l2, by_length());
  EXPECT_EQ(bench->judge().account(attempt), "1 input against the scalar evaluator in f64");
  EXPECT_EQ(bench->judge().tolerance_for_recipe({})->rel_l2, by_length());
}

TEST_F(Condition, LetsNoMistakePass) {
  for (float scale : {kLarge, kSmall})
    for (const char* mistake : {"weight", "bias", "row", "mask"}) {
      const Attempt attempt = judged(scale, mistake);
      EXPECT_FALSE(attempt.right) << mistake << " at " << scale << ": " << attempt.rel_l2;
      EXPECT_THAT(attempt.reason, StartsWith("y: ")) << mistake;
    }
}

// A mistake that is only some hundred roundings large is magnified as rounding is, and stands out all the same.
TEST_F(Condition, LetsNoSmallMistakePass) {
  for (float scale : {kLarge, kSmall}) {
    ASSERT_TRUE(judged(scale).right);
    const Graph& reference = subject.reference;
    const NamedTensors inputs = inputs_of(reference);
    auto wanted = evaluate(reference, {inputs.begin(), inputs.end()});
    ASSERT_TRUE(wanted);
    auto sway = rounding_sway(reference, {SequenceRun{inputs, *wanted}});
    ASSERT_TRUE(sway) << sway.error().message;
    NamedTensors off = inputs;
    off["x"] = Tensor::of<float>({8, 64}, {inputs.at("x").as<float>().begin(), inputs.at("x").as<float>().end()});
    for (float& value : off["x"].as<float>()) value *= 1 + 1e-3F;
    auto got = evaluate(reference, {off.begin(), off.end()});
    ASSERT_TRUE(got);
    const Tolerance length = tolerance_for(DType::f32, longest_reduction_path(reference));
    EXPECT_FALSE(compare("y", (*got)[0], (*wanted)[0], tolerance_for_sway(length, *sway)).passed) << scale;
  }
}

TEST(Sway, IsLargerWhereAModelMagnifiesRounding) {
  const auto sway_at = [](float scale) {
    const Graph graph = model(scale);
    const NamedTensors inputs = inputs_of(graph);
    auto wanted = evaluate(graph, {inputs.begin(), inputs.end()});
    auto sway = rounding_sway(graph, {SequenceRun{inputs, *wanted}});
    return sway ? sway->rel_l2 : INFINITY;
  };
  EXPECT_GT(sway_at(kLarge), 20 * sway_at(kSmall));
  EXPECT_EQ(sway_at(kLarge), sway_at(kLarge)) << "the same model, the same tolerance";
}

TEST(Sway, MovesNothingThatOnlyMovesValues) {
  const Graph graph = graph_of("y = transpose(x:f32[4,8], permutation=[1,0])\nreturn y=y");
  const NamedTensors inputs = random_inputs(graph);
  auto wanted = evaluate(graph, {inputs.begin(), inputs.end()});
  EXPECT_EQ(rounding_sway(graph, {SequenceRun{inputs, *wanted}})->rel_l2, 0);
}

TEST(Sway, WidensATolerance) {
  const Tolerance length{1e-6, 4e-6};
  EXPECT_EQ(tolerance_for_sway(length, {1e-7, 1e-7}).rel_l2, 1e-6) << "and never narrows it";
  EXPECT_EQ(tolerance_for_sway(length, {1e-7, 1e-7}).element, 4e-6);
  EXPECT_DOUBLE_EQ(tolerance_for_sway(length, {1e-4, 3e-4}).rel_l2, 4e-4);
  EXPECT_DOUBLE_EQ(tolerance_for_sway(length, {1e-4, 3e-4}).element, 12e-4);
  EXPECT_DOUBLE_EQ(tolerance_for_sway(length, {5e-3, 0.1}).rel_l2, kMostSway) << "what is further off is wrong";
  EXPECT_DOUBLE_EQ(tolerance_for_sway(length, {5e-3, 0.1}).element, kMostSway);
  EXPECT_EQ(tolerance_for_sway(length, {0.02, 0.02}).rel_l2, 1e-6) << "cannot be judged";
  EXPECT_EQ(tolerance_for_sway(length, {NAN, NAN}).rel_l2, 1e-6);
}

// Weights so large that the answer is a matter of rounding.
TEST_F(Condition, SaysWhereF32CannotJudge) {
  const Attempt attempt = judged(8);
  if (attempt.rel_l2 > kMostSway) GTEST_SKIP() << "its answer is further off than any tolerance";
  EXPECT_FALSE(attempt.right);
  EXPECT_THAT(attempt.reason, HasSubstr("too far to judge them in f32"));
}

// Values that are rounded to steps move by whole steps where they are next to a tie, and by none elsewhere.
TEST(RoundingSway, MovesNoStepOfRoundedValues) {
  const Graph graph = graph_of(
      "x: f32[16,64] = input()\nw: f32[16,64] = constant()\nfine: f32[1] = constant(values=[20])\n"
      "units: f32[1] = constant(values=[12582912])\nleast: f32[1] = constant(values=[-128])\n"
      "most: f32[1] = constant(values=[127])\nmiddle: f32[1] = constant(values=[128])\n"
      "step: f32[1] = constant(values=[0.05])\nq = sub(add(mul(x, fine), units), units)\n"
      "c = min(max(q, least), most)\nu = cast(add(select(eq(c, c), c, least), middle), to=u8)\nd = mul(sub(cast(u, "
      "to=f32), middle), step)\n"
      "y = linear(d, w)\nreturn y=y");
  const auto exact = evaluate_sequence(graph, {random_inputs(graph)});
  ASSERT_TRUE(exact) << exact.error().message;
  const auto sway = rounding_sway(graph, *exact);
  ASSERT_TRUE(sway) << sway.error().message;
  EXPECT_LT(sway->rel_l2, 1e-3);
  EXPECT_GT(sway->rel_l2, 0);
}

}  // namespace
}  // namespace rung
