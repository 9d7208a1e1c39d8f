// merge_projections: linears of one value become one.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::merge_projections;

TEST(MergeProjections, ConcatenatesWeightsAndSlicesTheResult) {
  expect_rewrite(merge_projections,
                 "wq: f32[4,8] = constant()\nwk: f32[2,8] = constant()\n"
                 "q = linear(x:f32[1,3,8], wq)\nk = linear(x, wk)\nreturn q, k",
                 "q = slice(linear(x, concat(wq, wk)), axis=2, end=4); k = slice(linear(x, concat(wq, wk)), axis=2, "
                 "begin=4, end=6)");
}
TEST(MergeProjections, ConcatenatesBiases) {
  PassRun run = run_pass(
      merge_projections,
      graph_of(
          "wq: f32[4,8] = constant()\nbq: f32[4] = constant()\nq = tanh(linear(x:f32[1,3,8], wq, bq, slots=bias))\n"
          "wk: f32[2,8] = constant()\nbk: f32[2] = constant()\nk = linear(x, wk, bk, slots=bias)\nreturn q, k"));
  EXPECT_EQ(count_ops(run.graph, "linear"), 1u);
  EXPECT_EQ(count_ops(run.graph, "concat"), 2u);
}
TEST(MergeProjections, KeepsValuesWhenWeightsAreDeclaredLate) {
  expect_equivalent(merge_projections,
                    "wq: f32[4,8] = constant()\nq = tanh(linear(x:f32[1,3,8], wq))\n"
                    "wk: f32[2,8] = constant()\nk = linear(x, exp(wk))\nreturn q, k");
}
TEST(MergeProjections, MergesEqualWeightsOnceForSeveralReaders) {
  PassRun run = run_pass(merge_projections, graph_of("wq: f32[4,8] = constant()\nwk: f32[4,8] = constant()\n"
                                                     "a = add(linear(x:f32[3,8], wq), linear(x, wk))\nb = "
                                                     "add(linear(z:f32[3,8], wq), linear(z, wk))\nreturn a, b"));
  EXPECT_EQ(count_ops(run.graph, "concat"), 1u);
  EXPECT_EQ(count_ops(run.graph, "linear"), 2u);
}
TEST(MergeProjections, SharesWeightsWithReadersThatStandBefore) {
  expect_equivalent(merge_projections,
                    "wq: f32[4,8] = constant()\nwk: f32[4,8] = constant()\nx = exp(u:f32[3,8])\nz = exp(x)\n"
                    "c = linear(z, wq)\nd = linear(z, wk)\na = linear(x, wq)\nb = linear(x, wk)\nreturn a, b, c, d");
}
TEST(MergeProjections, KeepsLinearsOfDifferentValues) {
  expect_unchanged(merge_projections,
                   "w: f32[4,8] = constant()\nv: f32[4,8] = constant()\nq = linear(x:f32[3,8], w)\nk = "
                   "linear(z:f32[3,8], v)\nreturn q, k");
}
TEST(MergeProjections, GivesZerosToALinearWithoutABias) {
  const char* text =
      "w: f32[4,8] = constant()\nv: f32[2,8] = constant()\nb: f32[2] = constant()\nu: f32[4,8] = constant()\n"
      "q = linear(x:f32[3,8], w)\nk = linear(x, v, b, slots=bias)\nt = linear(x, u)\nreturn q, k, t";
  PassRun run = run_pass(merge_projections, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "linear"), 1u);
  expect_equivalent(merge_projections, text);
}
TEST(MergeProjections, ConcatenatesScalesOfBytes) {
  const std::string bytes =
      "x: i8[3,8] = input()\nwq: i8[4,8] = constant()\nwk: i8[2,8] = constant()\nsq: f32[4] = constant()\n"
      "sk: f32[2] = constant()\nb: i32[4] = constant()\n";
  const std::string first = "q = linear(x, wq, b, sq, slots=bias+scale)\n";
  const Graph before = graph_of(bytes + first + "k = linear(x, wk, sk, slots=scale)\nreturn q, k");
  const Graph after = run_pass(merge_projections, before).graph;
  EXPECT_EQ(count_ops(after, "linear"), 1u);
  expect_same_values(before, after);
  expect_unchanged(merge_projections,
                   bytes + first + "t: f32[2] = input()\nk = linear(x, wk, t, slots=scale)\nreturn q, k");
  expect_unchanged(merge_projections,
                   bytes + first + "k = linear(x, wk, sk, r:f32[3], slots=scale+x_scale)\nreturn q, k");
  expect_unchanged(merge_projections,
                   "x: f32[3,8] = input()\nwq: f32[4,8] = constant()\nwk: f32[2,8] = constant()\n"
                   "sq: f32[4] = constant()\nq = linear(x, wq, sq, slots=scale)\nk = linear(x, wk)\nreturn q, k");
}
TEST(MergeProjections, KeepsLinearsWhoseBiasesAreOfOtherTypes) {
  expect_unchanged(
      merge_projections,
      "w: f32[4,8] = constant()\nv: f32[4,8] = constant()\na: f32[4] = constant()\nb: bf16[4] = constant()\n"
      "q = linear(x:f32[3,8], w, a, slots=bias)\nk = linear(x, v, b, slots=bias)\nreturn q, k");
}
TEST(MergeProjections, KeepsLinearsWithComputedWeights) {
  expect_unchanged(merge_projections,
                   "w: f32[4,8] = constant()\nq = linear(x:f32[3,8], w)\nk = linear(x, v:f32[4,8])\nreturn q, k");
}
TEST(MergeProjections, KeepsLinearsOfOtherPrecisionApart) {
  const Graph graph = graph_of(
      "x: f32[1,3,8] = input()\nwq: f32[4,8] = constant()\nwk: f32[4,8] = constant()\nwv: f32[4,8] = constant()\n"
      "q = linear(x, wq)  # self.query\nk = linear(x, wk)  # self.key\nv = linear(x, wv)  # self.value\nreturn q, k, "
      "v");
  const auto linears_by = [&](const char* labels) {
    PassRun run = run_pass(merge_projections, graph, {}, {{.labels = labels, .products = DType::bf16}});
    return count_ops(run.graph, "linear");
  };
  EXPECT_EQ(linears_by("self"), 1u);
  EXPECT_EQ(linears_by("self.value"), 2u) << "query and key alone";
  EXPECT_EQ(linears_by("self.query"), 3u) << "the first is none of theirs";
}
TEST(MergeProjections, KeepsLinearsThatDoMoreThanTheProduct) {
  const std::string weights =
      "w: f32[4,8] = constant()\nv: f32[4,8] = constant()\nr: f32[3,4] = constant()\nc: f32[3,2] = constant()\n"
      "x: f32[3,8] = input()\n";
  const std::pair<const char*, const char*> forms[] = {{"", "gated=true"},
                                                       {"", "activation=relu"},
                                                       {"r, ", "slots=residual"},
                                                       {"c, c, ", "slots=cos+sin, rotated_heads=1"}};
  for (auto [operands, fields] : forms)
    expect_unchanged(
        merge_projections,
        fmt::format("{0}a = linear(x, w, {1}{2})\nb = linear(x, v, {1}{2})\nreturn a, b", weights, operands, fields));
}
TEST(MergeProjections, KeepsLinearsOfDifferentTypes) {
  expect_unchanged(merge_projections,
                   "w: f32[4,8] = constant()\nv: f32[4,8] = constant()\n"
                   "a = linear(x:f32[3,8], w)\nb = linear(x, v, out=bf16)\nreturn a, b");
  expect_unchanged(merge_projections,
                   "w: f32[4,8] = constant()\nv: bf16[4,8] = constant()\n"
                   "a = linear(x:f32[3,8], w)\nb = linear(x, v)\nreturn a, b");
}
TEST(MergeProjections, KeepsLinearsThatReadTheValueAsWeights) {
  expect_unchanged(merge_projections,
                   "x: f32[8,8] = constant()\nw: f32[8,8] = constant()\n"
                   "a = linear(x, w)\nb = linear(z:f32[8,8], x)\nreturn a, b");
}

}  // namespace
}  // namespace rung::test
