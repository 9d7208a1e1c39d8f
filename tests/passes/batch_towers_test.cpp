// batch_towers: equal towers run as one batch, and those that only look equal do not.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::batch_towers;

constexpr const char* kTowers =
    "w: f32[4,4] = constant()\nb: f32[4] = constant()\n"
    "s0 = reshape(slice(x:f32[2,3,4], begin=0, end=1), shape=[1,3,2,2])\ns1 = reshape(slice(x, begin=1, end=2), "
    "shape=[1,3,2,2])\n"
    "h0 = linear(reshape(exp(s0), shape=[1,3,4]), w, b, slots=bias)\nh1 = linear(reshape(exp(s1), shape=[1,3,4]), "
    "w, b, slots=bias)\n"
    "y = concat(add(h0, tanh(h0)), add(h1, tanh(h1)), axis=1)";

TEST(BatchTowers, EqualTowersOverSlicesRunOnce) {
  PassRun run = run_pass(batch_towers, graph_of(kTowers));
  EXPECT_EQ(count_ops(run.graph, "linear"), 1u);
  EXPECT_EQ(count_ops(run.graph, "tanh"), 1u);
  EXPECT_EQ(run.notes.at(0), "2 towers run as one batch");
  expect_same_values(graph_of(kTowers), run.graph);
}
TEST(BatchTowers, KeepsTowersOfOtherPrecision) {
  const Graph graph = graph_of(
      "w: f32[4,4] = constant()\na: f32[1,3,4] = input()\nb: f32[1,3,4] = input()\n"
      "p = linear(a, w)  # camera.0\nq = linear(b, w)  # camera.1\ny = concat(p, q, axis=1)\nreturn y=y");
  for (const auto& [labels, linears] : {std::pair{"camera", 1u}, {"camera.1", 2u}}) {
    PassRun run = run_pass(batch_towers, graph, {}, {{.labels = labels, .products = DType::bf16}});
    EXPECT_EQ(count_ops(run.graph, "linear"), linears) << labels;
  }
}
TEST(BatchTowers, LeavesOtherPartsOfTheConcatAlone) {
  expect_equivalent(
      batch_towers,
      "w: f32[4,4] = constant()\ny = concat(linear(a:f32[1,3,4], w), linear(b:f32[1,3,4], w), c:f32[1,2,4], axis=1)");
}
TEST(BatchTowers, KeepsTowersOfDifferentWeights) {
  expect_unchanged(batch_towers,
                   "w: f32[4,4] = constant()\nv: f32[4,4] = constant()\ny = concat(linear(a:f32[1,3,4], w), "
                   "linear(b:f32[1,3,4], v), axis=1)");
}
TEST(BatchTowers, KeepsTowersWithValuesReadOutside) {
  expect_unchanged(batch_towers,
                   "w: f32[4,4] = constant()\nh = linear(a:f32[1,3,4], w)\ny = concat(tanh(h), "
                   "tanh(linear(b:f32[1,3,4], w)), axis=1)\nreturn y, h");
}
TEST(BatchTowers, KeepsConcatsThatSaveNoProduct) {
  expect_unchanged(batch_towers, "y = concat(exp(a:f32[1,3,4]), exp(b:f32[1,3,4]), axis=1)");
}

std::string with_weights(const std::string& rest) {
  return "w: f32[4,4] = constant()\nv: f32[4,4] = constant()\ng: f32[4] = constant()\n" + rest;
}
void expect_kept(const std::string& text) { expect_unchanged(batch_towers, with_weights(text)); }
// The towers meet where they begin to differ in kind: what is below stays as it is.
void expect_kept_values(const std::string& text) {
  Graph graph = graph_of(with_weights(text));
  expect_same_values(graph, run_pass(batch_towers, graph).graph);
}

TEST(BatchTowers, KeepsTowersThatDifferInOneWeightRow) {
  expect_unchanged(batch_towers,
                   "w: f32[1,4] = constant()\nv: f32[1,4] = constant()\ny = concat(linear(a:f32[1,3,4], w), "
                   "linear(b:f32[1,3,4], v), axis=1)");
  expect_unchanged(batch_towers,
                   "w: f32[1,4] = constant()\np: f32[1] = constant()\nq: f32[1] = constant()\ny = "
                   "concat(linear(a:f32[1,3,4], w, p, slots=bias), linear(b:f32[1,3,4], w, q, slots=bias), "
                   "axis=1)");
}
TEST(BatchTowers, KeepsOperandsWhoseFirstAxisIsNoBatch) {
  expect_kept("y = concat(add(linear(a:f32[1,2,4], w), p:f32[1,4]), add(linear(b:f32[1,2,4], w), q:f32[1,4]), axis=1)");
}
TEST(BatchTowers, KeepsMatricesWhoseFirstAxisIsNoBatch) {
  expect_kept(
      "y = concat(linear(matmul(a:f32[1,2,1], p:f32[1,4]), w), linear(matmul(b:f32[1,2,1], q:f32[1,4]), w), axis=1)");
}
TEST(BatchTowers, KeepsTowersThatReadTheirPlacesDifferently) {
  expect_kept(
      "p = linear(a:f32[1,3,4], w)\nq = linear(b:f32[1,3,4], w)\nr = linear(c:f32[1,3,4], w)\n"
      "y = concat(add(p, p), add(q, r), axis=1)");
}
TEST(BatchTowers, KeepsTowersOfDifferentFields) {
  expect_kept("y = concat(linear(a:f32[1,3,4], w, activation=relu), linear(b:f32[1,3,4], w, activation=silu), axis=1)");
}
TEST(BatchTowers, KeepsTowersOfSeveralRows) {
  expect_kept("y = concat(linear(a:f32[2,3,4], w), linear(b:f32[2,3,4], w), axis=1)");
  expect_kept("y = concat(linear(a:f32[1,3,4], w), linear(b:f32[1,3,4], w), axis=2)");
}
TEST(BatchTowers, KeepsTowersOfDifferentShapes) {
  expect_kept("y = concat(linear(a:f32[1,3,4], w), linear(b:f32[1,2,4], w), axis=1)");
}
TEST(BatchTowers, KeepsTowersThatReadNothingOfTheirOwn) {
  expect_kept("s: f32[1,3,4] = input()\ny = concat(linear(exp(s), w), linear(exp(s), w), axis=1)\nreturn y");
}
TEST(BatchTowers, KeepsTowersThatDifferBesideASharedValue) {
  expect_kept(
      "x: f32[1,3,4] = input()\ny = concat(linear(x, w, p:f32[1,3,4], slots=residual), "
      "linear(x, w, q:f32[1,3,4], slots=residual), axis=1)\nreturn y");
  expect_kept(
      "x: f32[1,3,4] = input()\nr: f32[1,3,4] = input()\nt = linear(x, w)\n"
      "y = concat(linear(gated_mul(a:f32[1,3,4], x), w), linear(gated_mul(b:f32[1,3,4], x), w), axis=1)\n"
      "return y");
}
TEST(BatchTowers, NeverMixesTheTowers) {
  expect_kept_values(
      "y = concat(linear(transpose(a:f32[1,1,4], permutation=[1,0,2]), w), "
      "linear(transpose(b:f32[1,1,4], permutation=[1,0,2]), w), axis=1)");
  expect_kept_values(
      "y = concat(linear(softmax(a:f32[1,3,4], axis=0), w), linear(softmax(b:f32[1,3,4], axis=0), w), "
      "axis=1)");
  expect_kept_values(
      "y = concat(linear(reduce(a:f32[1,3,4], axis=0, keep_dim=true), w), "
      "linear(reduce(b:f32[1,3,4], axis=0, keep_dim=true), w), axis=1)");
  expect_kept_values(
      "y = concat(linear(cumsum(a:f32[1,3,4], axis=0), w), linear(cumsum(b:f32[1,3,4], axis=0), w), "
      "axis=1)");
  expect_kept_values(
      "y = concat(linear(broadcast(a:f32[3,4], shape=[1,3,4]), w), "
      "linear(broadcast(b:f32[3,4], shape=[1,3,4]), w), axis=1)");
  expect_kept_values("y = concat(matmul(a:f32[1,4], w), matmul(b:f32[1,4], w), axis=1)");
}
TEST(BatchTowers, BatchesResidualsNormsMasksAndAttention) {
  const std::string text = with_weights(
      "c: f32[1,3,1,2] = input()\nm: f32[1,1,3,3] = input()\n"
      "n0 = layer_norm(a:f32[1,3,4], p:f32[1,3,4], g, g, slots=residual)\n"
      "n1 = layer_norm(b:f32[1,3,4], q:f32[1,3,4], g, g, slots=residual)\n"
      "h0 = rope(reshape(linear(n0, w, p, slots=residual), shape=[1,3,2,2]), c, c)\n"
      "h1 = rope(reshape(linear(n1, w, q, slots=residual), shape=[1,3,2,2]), c, c)\n"
      "y = concat(attention(h0, m, h0, h0, slots=mask), attention(h1, m, h1, h1, slots=mask), axis=1)\nreturn y");
  EXPECT_EQ(count_ops(run_pass(batch_towers, graph_of(text)).graph, "attention"), 1u);
  expect_equivalent(batch_towers, text);
}

}  // namespace
}  // namespace rung::test
