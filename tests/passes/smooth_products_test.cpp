// smooth_products: size moves from channels into weights, and every product stays the number that it was.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"
#include "reference/evaluate.hpp"

namespace rung::test {
namespace {

using passes::smooth_products;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kHalf = 0.5;

Precision smoothed(double alpha = kHalf) { return {{.labels = "*", .products = DType::i8, .smooth = alpha}}; }

struct Smoothed {
  Graph graph;
  std::vector<std::string> notes;
  std::vector<Miss> misses;
};
Smoothed smooth(const std::string& text, const ChannelCalibration& channels, const Precision& precision = smoothed()) {
  static constexpr Pass kPass{"smooth_products", "precision", "", smooth_products};
  Smoothed made{graph_of(text), {}, {}};
  const PassOptions options{.rungs = {"precision"}, .precision = precision, .channels = channels, .dump_directory = {}};
  auto report = run_passes(made.graph, options, std::span(&kPass, 1));
  EXPECT_TRUE(report) << report.error().message;
  if (report) made.notes = report->rows.back().notes, made.misses = report->rows.back().misses;
  return made;
}

// Every channel as large as the next, but for one.
std::vector<float> sizes(size_t channels, size_t large = 1, float size = 64) {
  std::vector<float> all(channels, 1.0f);
  all[large] = size;
  return all;
}

// Returns the values of the constant that an operand is.
std::vector<float> constant(const Graph& graph, NodeId id) {
  Graph alone = graph;
  for (const Output& output : std::vector<Output>(alone.outputs())) alone.set_output(output.name, id);
  std::map<std::string, Tensor, std::less<>> inputs;
  for (NodeId input : alone.inputs()) inputs[alone.as<Input>(input)->name] = Tensor(alone.type(input));
  auto values = evaluate(alone, inputs);
  EXPECT_TRUE(values) << values.error().message;
  const Tensor wide = convert(values->front(), DType::f32);
  return {wide.as<float>().begin(), wide.as<float>().end()};
}
NodeId first_of(const Graph& graph, std::string_view op, size_t skipped = 0) {
  for (NodeId id : graph.order())
    if (name_of(graph[id].op) == op && skipped-- == 0) return id;
  return kNoNode;
}

const std::string kNorm =
    "x: f32[6,16] = input()\ng: f32[16] = constant()\nb: f32[16] = constant()\nw: f32[24,16] = constant()\n"
    "n = layer_norm(x, g, b)\ny = linear(n, w)  # up\n";

TEST(SmoothProducts, MovesSizeFromANormIntoWeights) {
  const Smoothed made = smooth(kNorm + "return y", {{"up", sizes(16)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  expect_same_values(graph_of(kNorm + "return y"), made.graph);
  const Graph before = graph_of(kNorm + "return y");
  const NodeId old_norm = first_of(before, "layer_norm"), norm = first_of(made.graph, "layer_norm");
  for (const size_t operand : {1, 2}) {
    const auto was = constant(before, before[old_norm].operands[operand]);
    const auto is = constant(made.graph, made.graph[norm].operands[operand]);
    EXPECT_GE(std::abs(was[1] / is[1]), 4 * std::abs(was[0] / is[0])) << "64 times the size, to the power of 1/2";
    EXPECT_LE(std::abs(was[1] / is[1]), 16 * std::abs(was[0] / is[0]));
  }
}

// Products of powers of two round nothing: the same bits, in 16 bits too.
TEST(SmoothProducts, ChangesNoDigitOfWeights) {
  const std::string text =
      "x: bf16[6,16] = input()\ng: bf16[16] = constant()\nw: bf16[24,16] = constant()\n"
      "n = rms_norm(x, g, out=bf16)\ny = linear(n, w, out=f32)  # up\nreturn y";
  const Smoothed made = smooth(text, {{"up", sizes(16, 3, 100)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  const Graph before = graph_of(text);
  const auto was = constant(before, before[first_of(before, "linear")].operands[1]);
  const auto is = constant(made.graph, made.graph[first_of(made.graph, "linear")].operands[1]);
  for (size_t i = 0; i < was.size(); ++i) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(is[i] / was[i], &exponent), 0.5f) << i;
  }
  expect_same_values(before, made.graph, 0);
}

TEST(SmoothProducts, TakesAnOffsetIntoTheNormsWeights) {
  const std::string text =
      "x: f32[6,16] = input()\ng: bf16[16] = constant()\nw: f32[24,16] = constant()\n"
      "n = rms_norm(x, g, weight_offset=1)\ny = linear(n, w)  # up\nreturn y";
  const Smoothed made = smooth(text, {{"up", sizes(16)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  EXPECT_EQ(made.graph.as<RmsNorm>(first_of(made.graph, "rms_norm"))->weight_offset, 0);
  expect_same_values(graph_of(text), made.graph);
}

// A residual behind the norm needs it as it is.
TEST(SmoothProducts, LeavesOtherReadersTheNormAsItWas) {
  const std::string text = kNorm + "z = neg(n)\nreturn y, z";
  const Smoothed made = smooth(text, {{"up", sizes(16)}});
  EXPECT_EQ(count_ops(made.graph, "layer_norm"), 2u);
  expect_same_values(graph_of(text), made.graph);
}

TEST(SmoothProducts, FactorsServeAllReadersOfANorm) {
  const std::string text = kNorm +
                           "v: f32[8,16] = constant()\nz = linear(slice(n, axis=0, begin=2, end=6), v)  # other\n"
                           "return y, z";
  const Smoothed made = smooth(text, {{"up", sizes(16)}, {"other", sizes(16, 5)}});
  EXPECT_EQ(count_ops(made.graph, "layer_norm"), 1u);
  EXPECT_THAT(made.notes, ElementsAre("2 products read smoothed channels"));
  expect_same_values(graph_of(text), made.graph);
}

const std::string kGated =
    "x: f32[6,16] = input()\nw: f32[48,16] = constant()\nc: f32[48] = constant()\nd: f32[16,24] = constant()\n"
    "h = linear(x, w, c, slots=bias, gated=true, activation=silu)  # mlp\ny = linear(h, d)  # down\n";

TEST(SmoothProducts, DividesTheFactorBehindAGate) {
  const Smoothed made = smooth(kGated + "return y", {{"down", sizes(24)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  const Graph before = graph_of(kGated + "return y");
  expect_same_values(before, made.graph);
  const auto was = constant(before, before[first_of(before, "linear")].operands[1]);
  const auto is = constant(made.graph, made.graph[first_of(made.graph, "linear")].operands[1]);
  for (size_t i = 0; i < was.size() / 2; ++i) ASSERT_EQ(was[i], is[i]) << "rows of the gate";
  EXPECT_NE(was[size_t{24 + 1} * 16], is[size_t{24 + 1} * 16]) << "the row of the large channel";
}

TEST(SmoothProducts, LeavesWhatAFunctionBends) {
  const std::string text =
      "x: f32[6,16] = input()\nw: f32[24,16] = constant()\nd: f32[16,24] = constant()\n"
      "h = linear(x, w, activation=gelu)  # up\ny = linear(h, d)  # down\nreturn y";
  const Smoothed made = smooth(text, {{"down", sizes(24)}});
  EXPECT_EQ(expression(made.graph), expression(graph_of(text)));
  ASSERT_EQ(made.misses.size(), 1u);
  EXPECT_EQ(made.misses[0].label, "down");
}

TEST(SmoothProducts, PassesThroughARelu) {
  const std::string text =
      "x: f32[6,16] = input()\nw: f32[24,16] = constant()\nd: f32[16,24] = constant()\n"
      "h = linear(x, w, activation=relu)  # up\ny = linear(h, d)  # down\nreturn y";
  const Smoothed made = smooth(text, {{"down", sizes(24)}});
  EXPECT_EQ(made.misses.size(), 0u);
  expect_same_values(graph_of(text), made.graph);
}

// Four heads of queries share two of values.
const std::string kSharedHeads =
    "x: f32[1,6,16] = input()\nw: f32[64,16] = constant()\nc: f32[64] = constant()\no: f32[16,32] = constant()\n"
    "p = linear(x, w, c, slots=bias)  # qkv\n"
    "q = reshape(slice(p, axis=2, end=32), shape=[1,6,4,8])\n"
    "k = reshape(slice(p, axis=2, begin=32, end=48), shape=[1,6,2,8])\n"
    "v = reshape(slice(p, axis=2, begin=48, end=64), shape=[1,6,2,8])\n"
    "a = reshape(attention(q, k, v, scale=0.3), shape=[1,6,32])\ny = linear(a, o)  # out\n";

TEST(SmoothProducts, PassesThroughAnAttention) {
  const Smoothed made = smooth(kSharedHeads + "return y", {{"out", sizes(32, 17)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  const Graph before = graph_of(kSharedHeads + "return y");
  expect_same_values(before, made.graph);
  const auto was = constant(before, before[first_of(before, "linear")].operands[1]);
  const auto is = constant(made.graph, made.graph[first_of(made.graph, "linear")].operands[1]);
  for (size_t i = 0; i < size_t{48} * 16; ++i) ASSERT_EQ(was[i], is[i]) << "rows of queries and keys";
  // Channel 17 is column 1 of the third head of queries, which reads the second of values.
  const auto ratio = [&](size_t row) { return was[row * 16] / is[row * 16]; };
  EXPECT_GE(ratio(48 + 8 + 1), 4 * ratio(48 + 8 + 2));
}

// Attention in 16 bits beside values in 32 has casts around it.
TEST(SmoothProducts, PassesThroughCasts) {
  const std::string text =
      "x: f32[1,6,16] = input()\nw: f32[48,16] = constant()\no: f32[16,16] = constant()\np = linear(x, w)  # qkv\n"
      "q = cast(reshape(slice(p, axis=2, end=16), shape=[1,6,2,8]), to=bf16)\n"
      "k = cast(reshape(slice(p, axis=2, begin=16, end=32), shape=[1,6,2,8]), to=bf16)\n"
      "v = cast(reshape(slice(p, axis=2, begin=32, end=48), shape=[1,6,2,8]), to=bf16)\n"
      "a = reshape(cast(attention(q, k, v, scale=0.3), to=f32), shape=[1,6,16])\ny = linear(a, o)  # out\nreturn y";
  const Smoothed made = smooth(text, {{"out", sizes(16, 9)}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads smoothed channels"));
  expect_same_values(graph_of(text), made.graph, 0);
}

TEST(SmoothProducts, LeavesValuesThatOthersRead) {
  for (const char* also :
       {"return y, v", "z = neg(a)\nreturn y, z", "z = neg(slice(p, axis=2, begin=40, end=50))\nreturn y, z"}) {
    const Smoothed made = smooth(kSharedHeads + also, {{"out", sizes(32)}});
    EXPECT_EQ(expression(made.graph), expression(graph_of(kSharedHeads + also)));
    EXPECT_EQ(made.misses.size(), 1u);
  }
}

TEST(SmoothProducts, SmoothsOnlyWhatIsAskedFor) {
  const Precision weights{{.labels = "*", .weights = WeightForm{DType::i8}, .smooth = kHalf}};
  Precision later = smoothed();
  later.push_back({.labels = "up", .products = DType::i8});
  for (const Precision& precision : {weights, later, smoothed(0)})
    EXPECT_EQ(expression(smooth(kNorm + "return y", {{"up", sizes(16)}}, precision).graph),
              expression(graph_of(kNorm + "return y")));
  EXPECT_EQ(expression(smooth(kNorm + "return y", {{"down", sizes(16)}}).graph),
            expression(graph_of(kNorm + "return y")))
      << "its channels are not known";
}

TEST(SmoothProducts, RefusesChannelsOfAnotherModel) {
  static constexpr Pass kPass{"smooth_products", "precision", "", smooth_products};
  Graph graph = graph_of(kNorm + "return y");
  const auto report = run_passes(
      graph, {.rungs = {"precision"}, .precision = smoothed(), .channels = {{"up", sizes(8)}}, .dump_directory = {}},
      std::span(&kPass, 1));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("'channel_calibration': 'up': got 8 channels, wanted 16"));
}

// Channels that were never seen, and columns of weights without any, have no size.
TEST(SmoothProducts, KeepsChannelsOfZeros) {
  std::vector<float> none(16, 0.0f);
  for (const auto& channels : {none, sizes(16, 2, 0), sizes(16, 2, 1e-38f), sizes(16, 2, 3e38f)})
    expect_same_values(graph_of(kNorm + "return y"), smooth(kNorm + "return y", {{"up", channels}}).graph);
}

}  // namespace
}  // namespace rung::test
