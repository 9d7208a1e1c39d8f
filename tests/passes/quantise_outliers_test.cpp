// quantise_products: columns that keep their type beside those of 8 bits.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kRounding = 0.02;

const std::string kGatedMlp =
    "x: bf16[6,64] = input()\ng: bf16[64] = constant()\nw: bf16[96,64] = constant()\nv: bf16[32,48] = constant()\n"
    "n = rms_norm(x, g, out=bf16)\nh = linear(n, w, gated=true, activation=gelu_tanh, out=bf16)  # up\n"
    "y = linear(h, v, out=f32)  # down\n";
const Precision kBeside{{.labels = "*", .products = DType::i8, .values = DType::bf16, .outliers = 2}};

struct WithColumns {
  Graph graph;
  std::vector<std::string> notes;
};
WithColumns with_columns(const std::string& text, const OutlierColumns& outliers, const Calibration& calibration = {},
                         const KernelQuery& has_kernel = {}) {
  static constexpr Pass kPass{"quantise_products", "precision", "", passes::quantise_products};
  WithColumns made{graph_of(text), {}};
  auto report = run_passes(made.graph,
                           {.rungs = {"precision"},
                            .disabled = {},
                            .has_kernel = has_kernel,
                            .precision = kBeside,
                            .calibration = calibration,
                            .channels = {},
                            .outliers = outliers,
                            .dump_directory = {}},
                           std::span(&kPass, 1));
  EXPECT_TRUE(report) << report.error().message;
  if (report) made.notes = report->rows.back().notes;
  return made;
}

TEST(QuantiseOutliers, LeavesColumnsOutOfBothOperands) {
  const WithColumns made = with_columns(kGatedMlp + "return y", {{"up", {0, 63}}});
  size_t with_outliers = 0, plain = 0;
  for (NodeId id : made.graph.order())
    if (const auto* op = made.graph.as<Quantize>(id)) {
      op->outliers.empty() ? ++plain : ++with_outliers;
      EXPECT_TRUE(op->outliers.empty() || op->outliers == Columns({0, 63}));
    } else if (const auto* product = made.graph.as<Linear>(id); product && product->epilogue.gated) {
      EXPECT_TRUE(product->has(LinearSlot::x_outliers));
      EXPECT_EQ(made.graph.type(*product->slots.find(made.graph[id].operands, LinearSlot::w_outliers)),
                (Type{DType::bf16, {96, 2}}));
    }
  EXPECT_EQ(with_outliers, 2u) << "of what is multiplied, and of the weights";
  EXPECT_EQ(plain, 2u) << "of the product whose columns are not known";
  EXPECT_THAT(made.notes, ElementsAre("2 products read 8 bits by a scale for each row",
                                      "1 product reads some columns in their own type beside 8 bits"));
  expect_same_values(graph_of(kGatedMlp + "return y"), made.graph, kRounding);
}

// The first channel is 1024 times as large, and its weights as much smaller: in 8 bits nothing would be left of others.
TEST(QuantiseOutliers, LetOthersKeepTheirDigits) {
  const std::string text =
      "x: bf16[6,64] = input()\nw: bf16[96,64] = constant()\n"
      "a = pointwise(slice(x, axis=1, begin=0, end=1), program=\"r1=mul(r0,1024)\", out=bf16)\n"
      "b = pointwise(slice(w, axis=1, begin=0, end=1), program=\"r1=mul(r0,0.0009765625)\", out=bf16)\n"
      "far = concat(a, slice(x, axis=1, begin=1, end=64), axis=1)\n"
      "near = concat(b, slice(w, axis=1, begin=1, end=64), axis=1)\n"
      "y = linear(far, near, out=f32)  # up\nreturn y";
  const WithColumns made = with_columns(text, {{"up", {0}}});
  expect_same_values(graph_of(text), made.graph, kRounding);
}

// A measured scale serves rows of 8 bits alone: a producer that divides by it would divide the outliers, too.
TEST(QuantiseOutliers, TakeNoMeasuredScale) {
  const Calibration calibration{{"up", 4.0f}, {"down", 900.0f}};
  EXPECT_THAT(with_columns(kGatedMlp + "return y", {}, calibration).notes,
              ElementsAre("2 products read 8 bits by measured scales"));
  EXPECT_THAT(with_columns(kGatedMlp + "return y", {{"up", {3}}}, calibration).notes,
              ElementsAre("1 product reads 8 bits by measured scales", "1 product reads 8 bits by a scale for each row",
                          "1 product reads some columns in their own type beside 8 bits"));
}

TEST(QuantiseOutliers, StayWideWhereNoKernelTakesThem) {
  const auto refuses = [](const Op& op, std::span<const Type>) {
    const auto* linear = as<Linear>(op);
    return linear && linear->has(LinearSlot::x_outliers) ? reject("it takes no outliers") : accept();
  };
  const WithColumns made = with_columns(kGatedMlp + "return y", {{"up", {3}}}, {}, refuses);
  EXPECT_THAT(made.notes, ElementsAre("not in 8 bits: linear: it takes no outliers",
                                      "1 product reads 8 bits by a scale for each row"));
}

}  // namespace
}  // namespace rung::test
