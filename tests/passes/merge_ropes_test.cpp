// merge_ropes: rotary embeddings of one projection's heads become one.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::merge_ropes;

// q: 4 heads of 8, k: 2 heads of 8, of one value with 64 columns.
std::string two_ropes(const std::string& k_begin, const std::string& k_end, const std::string& k_cos = "cos") {
  return "x: f32[1,3,64] = input()\ncos: f32[1,3,1,8] = input()\nsin: f32[1,3,1,8] = input()\n"
         "q = rope(reshape(slice(x, axis=2, end=32), shape=[1,3,4,8]), cos, sin)\n"
         "k = rope(reshape(slice(x, axis=2, begin=" +
         k_begin + ", end=" + k_end + "), shape=[1,3,2,8]), " + k_cos + ", sin)\nreturn q, k";
}

TEST(MergeRopes, RotatesQueriesAndKeysAtOnce) {
  PassRun run = run_pass(merge_ropes, graph_of(two_ropes("32", "48")));
  EXPECT_EQ(count_ops(run.graph, "rope"), 1u);
  expect_equivalent(merge_ropes, two_ropes("32", "48"));
}
TEST(MergeRopes, KeepsRopesOfOtherPrecision) {
  const Graph graph = graph_of(
      "x: f32[1,3,64] = input()\ncos: f32[1,3,1,8] = input()\nsin: f32[1,3,1,8] = input()\n"
      "q = rope(reshape(slice(x, axis=2, end=32), shape=[1,3,4,8]), cos, sin)  # a.q\n"
      "k = rope(reshape(slice(x, axis=2, begin=32, end=48), shape=[1,3,2,8]), cos, sin)  # a.k\nreturn q, k");
  for (const auto& [labels, ropes] : {std::pair{"a", 1u}, {"a.q", 2u}}) {
    PassRun run = run_pass(merge_ropes, graph, {}, {{.labels = labels, .values = DType::bf16}});
    EXPECT_EQ(count_ops(run.graph, "rope"), ropes) << labels;
  }
}
TEST(MergeRopes, KeepsHeadsThatAreNotNeighbours) { expect_unchanged(merge_ropes, two_ropes("40", "56")); }
TEST(MergeRopes, KeepsRopesOfOtherAngles) { expect_unchanged(merge_ropes, two_ropes("32", "48", "sin")); }
TEST(MergeRopes, KeepsAnglesThatDifferByHead) {
  expect_unchanged(merge_ropes,
                   "x: f32[1,3,32] = input()\ncos: f32[1,3,2,8] = input()\nsin: f32[1,3,2,8] = input()\n"
                   "q = rope(reshape(slice(x, axis=2, end=16), shape=[1,3,2,8]), cos, sin)\n"
                   "k = rope(reshape(slice(x, axis=2, begin=16, end=32), shape=[1,3,2,8]), cos, sin)\nreturn q, k");
}
TEST(MergeRopes, KeepsRopesOfOtherSinesOrHeadSizes) {
  const std::string start =
      "x: f32[1,3,64] = input()\ncos: f32[1,3,1,1] = input()\nsin: f32[1,3,1,1] = input()\n"
      "q = rope(reshape(slice(x, axis=2, end=32), shape=[1,3,4,8]), cos, sin)\n";
  expect_unchanged(merge_ropes, start +
                                    "k = rope(reshape(slice(x, axis=2, begin=32, end=48), shape=[1,3,2,8]), cos, cos)\n"
                                    "return q, k");
  expect_unchanged(merge_ropes, start +
                                    "k = rope(reshape(slice(x, axis=2, begin=32, end=48), shape=[1,3,4,4]), cos, sin)\n"
                                    "return q, k");
}
std::string ropes_of_heads(const std::string& begin, const std::string& axis = "2") {
  return "x: f32[1,6,6,8] = input()\ncos: f32[1,1,1,8] = input()\nsin: f32[1,1,1,8] = input()\n"
         "q = rope(slice(x, axis=" +
         axis + ", end=3), cos, sin)\nk = rope(slice(x, axis=" + axis + ", begin=" + begin +
         ", end=6), cos, sin)\nreturn q, k";
}
TEST(MergeRopes, RotatesHeadsOfOneValueAtOnce) {
  for (const char* begin : {"3", "4"})
    EXPECT_EQ(count_ops(run_pass(merge_ropes, graph_of(ropes_of_heads(begin))).graph, "rope"), *begin == '3' ? 1u : 2u);
  expect_equivalent(merge_ropes, ropes_of_heads("3"));
  expect_unchanged(merge_ropes, ropes_of_heads("3", "1"));
}
TEST(MergeRopes, TakesHeadsInEitherOrder) {
  const std::string text =
      "x: f32[1,3,64] = input()\ncos: f32[1,3,1,8] = input()\nsin: f32[1,3,1,8] = input()\n"
      "k = rope(reshape(slice(x, axis=2, begin=32, end=48), shape=[1,3,2,8]), cos, sin)\n"
      "q = rope(reshape(slice(x, axis=2, end=32), shape=[1,3,4,8]), cos, sin)\nreturn q, k";
  EXPECT_EQ(count_ops(run_pass(merge_ropes, graph_of(text)).graph, "rope"), 1u);
  expect_equivalent(merge_ropes, text);
}
TEST(MergeRopes, KeepsHeadsOfSteppedColumnsOrRows) {
  const std::string start = "x: f32[1,32,32] = input()\ncos: f32[1,1,1,8] = input()\nsin: f32[1,1,1,8] = input()\n";
  expect_unchanged(merge_ropes,
                   start +
                       "q = rope(reshape(slice(x, axis=2, end=16, step=2), shape=[1,32,1,8]), cos, sin)\n"
                       "k = rope(reshape(slice(x, axis=2, begin=16, end=32, step=2), shape=[1,32,1,8]), cos, sin)\n"
                       "return q, k");
  expect_unchanged(merge_ropes,
                   start +
                       "q = rope(reshape(slice(x, axis=1, end=16), shape=[1,16,4,8]), cos, sin)\n"
                       "k = rope(reshape(slice(x, axis=1, begin=16, end=32), shape=[1,16,4,8]), cos, sin)\n"
                       "return q, k");
}

}  // namespace
}  // namespace rung::test
