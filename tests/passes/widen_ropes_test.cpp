// widen_ropes: whole heads rotate where an author rotates a part of them.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::widen_ropes;

// Queries, keys and values of 4 tokens in 2 heads of 8 columns, of which the first 4 rotate.
struct Written {
  std::string q = "linear(x, w, b, slots=bias)", k = "linear(x, u)", v = "linear(x, t)";
  std::string turned_k = "concat(rope(slice(hk, axis=3, end=4), cos, sin), slice(hk, axis=3, begin=4, end=8), axis=3)";
  std::string keys = "ck", results = "y";

  std::string text() const {
    return "x: f32[1,4,6] = input()\ncos: f32[1,4,1,4] = input()\nsin: f32[1,4,1,4] = input()\n"
           "m: f32[1,2,4,4] = input()\nn: f32[16,6] = input()\nw: f32[16,6] = constant()\nb: f32[16] = constant()\n"
           "u: f32[16,6] = constant()\nt: f32[16,6] = constant()\nhq = reshape(" +
           q + ", shape=[1,4,2,8])\nlk = " + k + "\nhk = reshape(lk, shape=[1,4,2,8])\nhv = reshape(" + v +
           ", shape=[1,4,2,8])\nrq = rope(slice(hq, axis=3, end=4), cos, sin)\n"
           "cq = concat(rq, slice(hq, axis=3, begin=4, end=8), axis=3)\nck = " +
           turned_k + "\ny = attention(cq, m, " + keys + ", hv, slots=mask, scale=0.3)\nreturn " + results;
  }
};

TEST(WidenRopes, TurnsWholeHeads) {
  PassRun run = run_pass(widen_ropes, graph_of(Written{}.text()));
  EXPECT_EQ(run.notes, std::vector<std::string>{"whole heads of 1 attention rotate"});
  for (NodeId id : run.graph.order()) {
    if (run.graph.as<Attention>(id))
      for (const size_t i : {0, 2}) EXPECT_TRUE(run.graph.as<Rope>(run.graph[id].operands[i]));
    if (run.graph.as<Rope>(id)) EXPECT_EQ(run.graph.shape(id), (Shape{1, 4, 2, 8}));
  }
  expect_equivalent(widen_ropes, Written{}.text());
}
TEST(WidenRopes, SharesAnglesOfQueriesAndKeys) {
  PassRun run = run_pass(widen_ropes, graph_of(Written{}.text()));
  std::set<std::pair<NodeId, NodeId>> angles;
  for (NodeId id : run.graph.order())
    if (run.graph.as<Rope>(id)) angles.emplace(run.graph[id].operands[1], run.graph[id].operands[2]);
  EXPECT_EQ(angles.size(), 1u);
}

// Heads of 24 columns of one product: queries, keys and values, 8 each.
const char* const kPacked =
    "x: f32[1,4,6] = input()\ncos: f32[1,4,1,2] = input()\nsin: f32[1,4,1,2] = input()\nw: f32[48,6] = constant()\n"
    "b: f32[48] = constant()\nh = reshape(linear(x, w, b, slots=bias), shape=[1,4,2,24])\n"
    "q = concat(rope(slice(h, axis=3, end=2), cos, sin), slice(h, axis=3, begin=2, end=8), axis=3)\n"
    "k = concat(rope(slice(h, axis=3, begin=8, end=10), cos, sin), slice(h, axis=3, begin=10, end=16), axis=3)\n"
    "y = attention(q, k, slice(h, axis=3, begin=16, end=24), scale=0.3)\nreturn y";

TEST(WidenRopes, TakesPackedHeadsApart) {
  PassRun run = run_pass(widen_ropes, graph_of(kPacked));
  EXPECT_EQ(count_ops(run.graph, "linear"), 3u);
  expect_equivalent(widen_ropes, kPacked);
}
TEST(WidenRopes, TakesRunsOfAProductApart) {
  const char* text =
      "x: f32[1,4,6] = input()\ncos: f32[1,4,1,4] = input()\nsin: f32[1,4,1,4] = input()\nw: f32[32,6] = constant()\n"
      "h = linear(x, w)\nhq = reshape(slice(h, axis=2, end=16), shape=[1,4,2,8])\n"
      "hk = reshape(slice(h, axis=2, begin=16, end=24), shape=[1,4,1,8])\n"
      "hv = reshape(slice(h, axis=2, begin=24, end=32), shape=[1,4,1,8])\n"
      "q = concat(rope(slice(hq, axis=3, end=4), cos, sin), slice(hq, axis=3, begin=4, end=8), axis=3)\n"
      "k = concat(rope(slice(hk, axis=3, end=4), cos, sin), slice(hk, axis=3, begin=4, end=8), axis=3)\n"
      "y = attention(q, k, hv, scale=0.3)\nreturn y";
  EXPECT_EQ(count_ops(run_pass(widen_ropes, graph_of(text)).graph, "concat"), 4u) << "weights and angles alone";
  expect_equivalent(widen_ropes, text);
}
TEST(WidenRopes, KeepsKeysThatRotateOtherwise) {
  Written less{.turned_k =
                   "concat(rope(slice(hk, axis=3, end=2), slice(cos, axis=3, end=2), slice(sin, axis=3, "
                   "end=2)), slice(hk, axis=3, begin=2, end=8), axis=3)"};
  expect_unchanged(widen_ropes, less.text());
}
TEST(WidenRopes, KeepsColumnsInAnotherOrder) {
  expect_unchanged(
      widen_ropes,
      Written{.turned_k = "concat(slice(hk, axis=3, begin=4, end=8), rope(slice(hk, axis=3, end=4), cos, sin), axis=3)"}
          .text());
}
TEST(WidenRopes, KeepsHeadsThatOthersRead) {
  expect_unchanged(widen_ropes, Written{.results = "y, ck"}.text());
  expect_unchanged(widen_ropes, Written{.results = "y, rq"}.text());
  expect_unchanged(widen_ropes, Written{.results = "y, hk"}.text());
  expect_unchanged(widen_ropes, Written{.results = "y, lk"}.text());
  expect_unchanged(widen_ropes, Written{.v = "neg(lk)"}.text());
}
TEST(WidenRopes, KeepsWeightsOfEachRun) { expect_unchanged(widen_ropes, Written{.k = "linear(x, n)"}.text()); }
TEST(WidenRopes, KeepsProductsThatAreNotPlain) {
  expect_unchanged(widen_ropes, Written{.k = "linear(x, u, activation=silu)"}.text());
}
TEST(WidenRopes, WantsKernelsForWhatItMakes) {
  const Graph graph = graph_of(Written{}.text());
  PassRun run = run_pass(widen_ropes, graph, [](const Op& op, std::span<const Type> operands) {
    return as<Rope>(op) && operands[0].shape.back() == 8 ? reject("it does not turn them") : accept();
  });
  EXPECT_EQ(run.graph.size(), graph.size());
}

}  // namespace
}  // namespace rung::test
