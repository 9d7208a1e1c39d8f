// quantise_products: products read 8 bits where the precision asks for it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::quantise_products;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Relative L2 after both products: each rounding to four digits of a mantissa adds 2.6 %, and six of them meet.
constexpr double kFloat8 = 0.08, kInteger8 = 0.02;
constexpr double kInteger4 = 0.12;  // 4 bits add 7 to 9 %, and two such products follow each other

Precision products_of(DType type, const std::string& labels = "*") { return {{.labels = labels, .products = type}}; }

const std::string kMlp =
    "x: f32[6,64] = input()\ng: f32[64] = constant()\nb: f32[64] = constant()\nw: f32[96,64] = constant()\n"
    "v: f32[32,48] = constant()\n"
    "n = layer_norm(x, g, b)\nh = linear(n, w, gated=true, activation=gelu_tanh)  # up\ny = linear(h, v)  # down\n";

struct Quantised {
  Graph graph;
  std::vector<std::string> notes;
};
Quantised quantise(const std::string& text, const Precision& precision, const Calibration& calibration = {},
                   const KernelQuery& has_kernel = {}) {
  static constexpr Pass kPass{"quantise_products", "precision", "", quantise_products};
  Quantised made{graph_of(text), {}};
  auto report = run_passes(made.graph,
                           {.rungs = {"precision"},
                            .disabled = {},
                            .has_kernel = has_kernel,
                            .precision = precision,
                            .calibration = calibration,
                            .dump_directory = {}},
                           std::span(&kPass, 1));
  EXPECT_TRUE(report) << report.error().message;
  if (report) made.notes = report->rows.back().notes;
  return made;
}

size_t count_operands(const Graph& graph, DType type) {
  size_t found = 0;
  for (NodeId id : graph.order())
    if (graph.as<Linear>(id)) found += graph.type(graph[id].operands[0]).dtype == type;
  return found;
}

TEST(QuantiseProducts, GivesEachRowAScaleWithoutCalibration) {
  for (const auto& [type, tolerance] : {std::pair(DType::f8e4m3fn, kFloat8), std::pair(DType::i8, kInteger8)}) {
    const Quantised made = quantise(kMlp + "return y", products_of(type));
    EXPECT_EQ(count_operands(made.graph, type), 2u);
    EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by a scale for each row"));
    expect_same_values(graph_of(kMlp + "return y"), made.graph, tolerance);
  }
}

// The sum before a norm has three results, and each reader gets them from the one product of 8 bits.
TEST(QuantiseProducts, LeavesNoProductForOtherResults) {
  const std::string text =
      "x: bf16[1,64] = input()\nr: f32[1,64] = input()\nw: bf16[64,64] = constant()\ng: f32[64] = constant()\n"
      "v: bf16[32,64] = constant()\ns = linear(x, w, r, g, slots=residual+norm_weight, norm_run=8)\n"
      "y = linear(result(s), v, result(s, index=2), slots=squares)\nz = neg(s)\nreturn y, z";
  const PartPrecision weights{.weights = WeightForm{DType::f8e4m3fn}}, grouped{.weights = WeightForm{DType::u8, 32}};
  for (const auto& [precision, tolerance] :
       {std::pair(products_of(DType::f8e4m3fn), kFloat8), std::pair(Precision{weights}, kFloat8),
        std::pair(Precision{grouped}, kInteger4)}) {
    const Quantised made = quantise(text, precision);
    EXPECT_EQ(count_ops(made.graph, "linear"), 2u);
    for (NodeId id : made.graph.order())
      if (const auto* op = made.graph.as<Linear>(id)) EXPECT_TRUE(op->has(LinearSlot::scale));
    expect_same_values(graph_of(text), made.graph, tolerance);
  }
}

TEST(QuantiseProducts, FoldsMeasuredScalesIntoProducers) {
  const Quantised made = quantise(kMlp + "return y", products_of(DType::f8e4m3fn), {{"up", 4.0f}, {"down", 900.0f}});
  EXPECT_EQ(count_ops(made.graph, "quantize"), 2u) << "of the two weights";
  EXPECT_EQ(count_operands(made.graph, DType::f8e4m3fn), 2u);
  EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by measured scales"));
  for (NodeId id : made.graph.order())
    if (const auto* op = made.graph.as<Linear>(id); op && op->epilogue.gated) {
      EXPECT_EQ(op->epilogue.factor, 0.125f) << "900 and some more divided by 8 are at most 448";
      EXPECT_EQ(op->out, DType::f8e4m3fn);
    }
  expect_same_values(graph_of(kMlp + "return y"), made.graph, kFloat8);
}

// Integers have no room to spare: their scale fits what was measured, and the norm's weights take it in f32.
TEST(QuantiseProducts, FoldsScalesOfIntegersIntoProducers) {
  const std::string text =
      "x: bf16[6,64] = input()\ng: bf16[64] = constant()\nw: bf16[96,64] = constant()\n"
      "n = rms_norm(x, g, weight_offset=2, out=bf16)\ny = linear(n, w, out=f32)  # up\nreturn y";
  const float largest = 12;
  const Quantised made = quantise(text, products_of(DType::i8), {{"up", largest}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads 8 bits by measured scales"));
  EXPECT_EQ(count_operands(made.graph, DType::i8), 1u);
  for (NodeId id : made.graph.order())
    if (const auto* op = made.graph.as<RmsNorm>(id)) {
      EXPECT_EQ(op->out, DType::i8);
      EXPECT_EQ(made.graph.type(made.graph[id].operands[1]).dtype, DType::f32);
    }
  expect_same_values(graph_of(text), made.graph, kInteger8);
}

// A norm's weights divided by such a scale would be infinite.
TEST(QuantiseProducts, ScalesRowsWhereMeasuredValuesVanish) {
  for (const DType type : {DType::f8e4m3fn, DType::i8}) {
    const Quantised made = quantise(kMlp + "return y", products_of(type), {{"up", 1e-42f}, {"down", 1e-42f}});
    EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by a scale for each row"));
    expect_same_values(graph_of(kMlp + "return y"), made.graph, kFloat8);
  }
}

TEST(QuantiseProducts, KeepsAProducerThatOthersRead) {
  const std::string text = kMlp + "z = neg(n)  # up\nreturn y, z";
  const Quantised made = quantise(text, products_of(DType::f8e4m3fn), {{"up", 4.0f}, {"down", 900.0f}});
  EXPECT_THAT(made.notes, ElementsAre("1 product reads 8 bits by measured scales",
                                      "1 product reads 8 bits by a scale for each row"));
  expect_same_values(graph_of(text), made.graph, kFloat8);
}

TEST(QuantiseProducts, QuantisesWeightsAlone) {
  const Precision weights{{.labels = "down", .weights = WeightForm{DType::i8}}};
  const Quantised made = quantise(kMlp + "return y", weights);
  EXPECT_THAT(made.notes, ElementsAre("1 product reads weights of 8 bits"));
  EXPECT_EQ(count_operands(made.graph, DType::f32), 2u);
  expect_same_values(graph_of(kMlp + "return y"), made.graph, kInteger8);
}

TEST(QuantiseProducts, QuantisesWeightsInGroups) {
  for (const DType to : {DType::i8, DType::u8}) {
    const Precision weights{{.labels = "*", .weights = WeightForm{to, 8}}};
    const Quantised made = quantise(kMlp + "return y", weights);
    EXPECT_THAT(made.notes, ElementsAre("2 products read weights in groups of columns"));
    EXPECT_EQ(count_ops(made.graph, "quantize"), 2u) << "of the two weights";
    expect_same_values(graph_of(kMlp + "return y"), made.graph, to == DType::u8 ? 0.15 : kInteger8);
  }
}

TEST(QuantiseProducts, LeavesWeightsThatGroupsDoNotDivide) {
  const Precision weights{{.labels = "*", .weights = WeightForm{DType::u8, 4096}}};
  const Quantised made = quantise(kMlp + "return y", weights);
  EXPECT_EQ(count_ops(made.graph, "quantize"), 0u);
  EXPECT_THAT(made.notes, Each(HasSubstr("not in 8 bits: linear: weights of ")));
}

TEST(QuantiseProducts, TurnsTheNormThatALinearLeaves) {
  const std::string text =
      "x: bf16[6,24] = input()\nw: bf16[64,24] = constant()\ng: f32[64] = constant()\nu: bf16[96,64] = constant()\n"
      "s = linear(x, w, g, slots=norm_weight, norm_run=32)\nn = result(s)\nm = result(s, index=2)\n"
      "a = linear(n, u, m, slots=squares, out=f32)  # first\n"
      "b = linear(slice(n, axis=0, begin=2, end=6), u, slice(m, axis=0, begin=2, end=6), "
      "slots=squares, out=f32)  # second\nreturn s, a, b";
  Precision precision = products_of(DType::f8e4m3fn, "first");
  precision.push_back(products_of(DType::f8e4m3fn, "second")[0]);
  const Quantised made = quantise(text, precision, {{"first", 40.0f}, {"second", 30.0f}});
  EXPECT_EQ(count_operands(made.graph, DType::f8e4m3fn), 2u);
  EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by measured scales"));
  expect_same_values(graph_of(text), made.graph, kFloat8);
}

// Heads are merged before the products that read them, all rows or some.
const std::string kHeads =
    "q: bf16[1,6,4,16] = input()\nk: bf16[1,9,2,16] = input()\nv: bf16[1,9,2,16] = input()\n"
    "w: bf16[48,64] = constant()\na = attention(q, k, v, scale=0.25, factor=0.5)\nh = reshape(a, shape=[1,6,64])\n"
    "y = linear(h, w, out=f32)  # first\n"
    "z = linear(slice(h, axis=1, begin=2, end=6), w, out=f32)  # second\n";
const Calibration kOfHeads{{"first", 4.0f}, {"second", 3.0f}};

TEST(QuantiseProducts, FoldsMeasuredScalesIntoAttentions) {
  const Quantised made = quantise(kHeads + "return y, z", products_of(DType::f8e4m3fn), kOfHeads);
  EXPECT_EQ(count_ops(made.graph, "quantize"), 1u) << "of the weight";
  EXPECT_EQ(count_operands(made.graph, DType::f8e4m3fn), 2u);
  EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by measured scales"));
  for (NodeId id : made.graph.order())
    if (const auto* op = made.graph.as<Attention>(id)) {
      EXPECT_EQ(op->factor, 16.0f) << "twice 4, times 32, is at most 448";
      EXPECT_EQ(op->out, DType::f8e4m3fn);
    }
  expect_same_values(graph_of(kHeads + "return y, z"), made.graph, kFloat8);
}

TEST(QuantiseProducts, KeepsAnAttentionThatCannotStore8Bits) {
  const KernelQuery wide = [](const Op& op, std::span<const Type>) {
    const auto* attention = as<Attention>(op);
    return attention && attention->out ? reject("none here") : accept();
  };
  for (const auto& [results, has_kernel] :
       {std::pair("return y, z, x=neg(a)", KernelQuery()), std::pair("return y, z", wide)}) {
    const Quantised made = quantise(kHeads + results, products_of(DType::f8e4m3fn), kOfHeads, has_kernel);
    EXPECT_EQ(count_operands(made.graph, DType::f8e4m3fn), 2u);
    EXPECT_EQ(made.notes.back(), "2 products read 8 bits by a scale for each row");
    EXPECT_EQ(made.notes.size(), has_kernel ? 2u : 1u);
    expect_same_values(graph_of(kHeads + results), made.graph, kFloat8);
  }
}

TEST(QuantiseProducts, LeavesProductsWithoutAKernel) {
  const KernelQuery none = [](const Op&, std::span<const Type>) { return reject("none here"); };
  const Quantised made = quantise(kMlp + "return y", products_of(DType::i8), {}, none);
  EXPECT_EQ(count_ops(made.graph, "quantize"), 0u);
  EXPECT_THAT(made.notes, ElementsAre("not in 8 bits: linear: none here"));
}

TEST(QuantiseProducts, LeavesOtherLabelsAndProductsOfComputedValues) {
  const std::string text = "x: f32[6,64] = input()\nw: f32[6,64] = input()\ny = linear(x, w)\nreturn y";
  EXPECT_EQ(count_ops(quantise(text, products_of(DType::i8)).graph, "quantize"), 0u);
  EXPECT_EQ(count_ops(quantise(kMlp + "return y", products_of(DType::i8, "decoder")).graph, "quantize"), 0u);
}

}  // namespace
}  // namespace rung::test
