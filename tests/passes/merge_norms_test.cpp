// merge_norms: the norms of queries' and keys' heads become one.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::merge_norms;

// q: 4 heads of 8, k: 2 heads of 8, of one value with 64 columns.
std::string two_norms(const std::string& begin, const std::string& end, const std::string& settings = "",
                      const std::string& k_weight = "u") {
  return "x: f32[1,3,64] = input()\nw: f32[8] = constant()\n"
         "q = rms_norm(reshape(slice(x, axis=2, end=32), shape=[1,3,4,8]), w)\nu: f32[8] = constant()\n"
         "k = rms_norm(reshape(slice(x, axis=2, begin=" +
         begin + ", end=" + end + "), shape=[1,3,2,8]), " + k_weight + settings + ")\nreturn q, k";
}

TEST(MergeNorms, NormalisesQueriesAndKeysAtOnce) {
  PassRun run = run_pass(merge_norms, graph_of(two_norms("32", "48")));
  EXPECT_EQ(count_ops(run.graph, "rms_norm"), 0u);
  EXPECT_EQ(count_ops(run.graph, "region"), 1u);
  EXPECT_EQ(run.notes, std::vector<std::string>{"1 pair of norms of heads became one"});
  expect_equivalent(merge_norms, two_norms("32", "48"));
}
TEST(MergeNorms, TakesHeadsInEitherOrder) {
  const char* text =
      "x: bf16[3,24] = input()\nw: f32[8] = constant()\nu: f32[8] = constant()\n"
      "k = rms_norm(reshape(slice(x, axis=1, begin=16, end=24), shape=[3,1,8]), u, weight_offset=1, out=bf16)\n"
      "q = rms_norm(reshape(slice(x, axis=1, end=16), shape=[3,2,8]), w, weight_offset=1, out=bf16)\nreturn q, k";
  EXPECT_EQ(count_ops(run_pass(merge_norms, graph_of(text)).graph, "region"), 1u);
  expect_equivalent(merge_norms, text, 1e-2);
}
TEST(MergeNorms, KeepsHeadsThatAreNotNeighbours) { expect_unchanged(merge_norms, two_norms("40", "56")); }
TEST(MergeNorms, KeepsNormsOfOtherSettings) {
  expect_unchanged(merge_norms, two_norms("32", "48", ", eps=0.5"));
  expect_unchanged(merge_norms, two_norms("32", "48", ", weight_offset=1"));
}
TEST(MergeNorms, KeepsWeightsThatDependOnTheFirstNorm) {
  expect_unchanged(merge_norms, two_norms("32", "48", "",
                                          "add(u, reshape(slice(slice(slice(q, axis=0, end=1), axis=1, "
                                          "end=1), axis=2, end=1), shape=[8]))"));
}
TEST(MergeNorms, WantsAKernel) {
  const Graph graph = graph_of(two_norms("32", "48"));
  PassRun run = run_pass(merge_norms, graph, [](const Op& op, std::span<const Type>) {
    return as<Region>(op) ? reject("there is no compiler") : accept();
  });
  EXPECT_EQ(run.graph.size(), graph.size());
}

}  // namespace
}  // namespace rung::test
