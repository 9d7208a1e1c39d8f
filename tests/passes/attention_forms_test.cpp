// Attention in the forms that have another shape than softmax(q k') v: values of another width, extra scores, masks
// that hide, weights from the right, and batches whose heads are one axis with them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fuse_attention;

// Expects one attention in place of the softmax, with the same values.
void expect_attention(std::string_view text) {
  const Graph before = graph_of(text);
  const PassRun run = run_pass(fuse_attention, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "attention"), 1u) << text;
  EXPECT_EQ(count_ops(run.graph, "softmax"), 0u) << text;
  expect_same_values(before, run.graph);
}

TEST(FuseAttention, PadsValuesOfFewerColumns) {
  expect_rewrite(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), v:f32[1,2,5,3])",
                 "y = transpose(slice(attention(transpose(q, permutation=[0,2,1,3]), transpose(kt, "
                 "permutation=[0,3,1,2]), concat(transpose(v, permutation=[0,2,1,3]), broadcast(0, shape=[1,5,2,1]), "
                 "axis=3)), axis=3, end=3), permutation=[0,2,1,3])");
  expect_attention("y = matmul(softmax(matmul(q:f32[2,2,6,4], kt:f32[2,2,4,5])), v:f32[2,2,5,3])");
}
TEST(FuseAttention, PadsQueriesAndKeysOfFewerColumns) {
  expect_attention("y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), v:f32[1,2,5,7])");
}
TEST(FuseAttention, PadsEachSegmentOfValuesOfFewerColumns) {
  const PassRun run =
      run_pass(fuse_attention, graph_of("k = concat(kc:f32[1,2,3,4], kn:f32[1,2,2,4], axis=2)\n"
                                        "v = concat(vc:f32[1,2,3,2], vn:f32[1,2,2,2], axis=2)\n"
                                        "s = matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))\n"
                                        "y = matmul(softmax(s), v)"));
  const auto order = run.graph.order();
  const auto attention = std::ranges::find_if(order, [&](NodeId id) { return run.graph.as<Attention>(id); });
  ASSERT_NE(attention, order.end());
  EXPECT_EQ(run.graph.as<Attention>(*attention)->segments, 2);
}

constexpr const char* kExtra =
    "half: f32[] = constant(values=[0.5])\n"
    "s = add(mul(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), half), mask:f32[1,1,6,5])\n"
    "joined = concat(s, broadcast(extra:f32[1,2,1,1], shape=[1,2,6,1]), axis=3)\n";

TEST(FuseAttention, TakesExtraScoresAsKeysWithoutValues) {
  expect_attention(std::string(kExtra) + "y = matmul(slice(softmax(joined), axis=3, end=5), v:f32[1,2,5,4])");
  expect_attention(std::string(kExtra) +
                   "shifted = sub(joined, reduce(joined, kind=max, axis=3, keep_dim=true))\n"
                   "y = matmul(slice(softmax(shifted), axis=3, end=5), v:f32[1,2,5,4])");
  expect_attention(
      "joined = concat(matmul(q:f32[2,2,6,4], kt:f32[2,2,4,5]), extra:f32[2,2,6,1], axis=3)\n"
      "y = matmul(slice(softmax(joined), axis=3, end=5), v:f32[2,2,5,3])");
}
TEST(FuseAttention, JoinsExtraKeysWhereNoKernelReadsSegments) {
  const std::string text = std::string(kExtra) + "y = matmul(slice(softmax(joined), axis=3, end=5), v:f32[1,2,5,4])";
  const KernelQuery one_segment = [](const Op& op, std::span<const Type>) {
    const auto* attention = std::get_if<Attention>(&op);
    return attention && attention->segments > 1 ? reject("one segment only") : accept();
  };
  const PassRun run = run_pass(fuse_attention, graph_of(text), one_segment);
  EXPECT_EQ(count_ops(run.graph, "attention"), 1u);
  expect_same_values(graph_of(text), run.graph);
}
TEST(FuseAttention, KeepsWeightsThatLoseOthers) {
  for (const char* kept : {"axis=3, begin=1, end=6", "axis=3, end=4", "axis=2, end=6"}) {
    const bool fewer = std::string_view(kept) == "axis=3, end=4";
    const std::string rows = std::string_view(kept) == "axis=2, end=6" ? "6" : fewer ? "4" : "5";
    expect_unchanged(fuse_attention, std::string(kExtra) + "y = matmul(slice(softmax(joined), " + kept +
                                         "), v:f32[1,2," + rows + ",4])");
  }
  expect_unchanged(fuse_attention,
                   "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,6])\n"
                   "y = matmul(slice(softmax(s), axis=3, end=5), v:f32[1,2,5,4])");
}
TEST(FuseAttention, DropsTheLargestScore) {
  expect_attention(
      "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\n"
      "y = matmul(softmax(sub(s, reduce(s, kind=max, axis=3, keep_dim=true))), v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention,
                   "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\n"
                   "y = matmul(softmax(sub(s, reduce(s, kind=max, axis=2, keep_dim=true))), "
                   "v:f32[1,2,5,4])");
}

TEST(FuseAttention, TakesMasksThatHide) {
  for (const char* low : {"-inf", "-1e38", "-1e8"})
    expect_attention(
        "low: f32[] = constant(values=[" + std::string(low) +
        "])\n"
        "hidden: bool[6,5] = constant(values=[0,1,1,1,1,0,0,1,1,1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,1,0,0,0,0])\n"
        "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\n"
        "y = matmul(softmax(select(broadcast(hidden, shape=[1,2,6,5]), low, s)), v:f32[1,2,5,4])");
}
// Scores of some hundreds would show beside the number itself, whose neighbours are 64 away.
TEST(FuseAttention, SeesAllKeysAlikeWhereAllAreHidden) {
  expect_attention(
      "low: f32[] = constant(values=[-1e9])\n"
      "hundred: f32[] = constant(values=[100])\n"
      "hidden: bool[2,5] = constant(values=[0,0,1,1,1,1,1,1,1,1])\n"
      "s = mul(matmul(q:f32[1,2,2,4], kt:f32[1,2,4,5]), hundred)\n"
      "y = matmul(softmax(select(broadcast(hidden, shape=[1,2,2,5]), low, s)), v:f32[1,2,5,4])");
}
TEST(FuseAttention, DropsWeightsThatTheirMaskMadeZero) {
  constexpr const char* kText =
      "low: f32[] = constant(values=[-inf])\n"
      "zero: f32[] = constant(values=[0])\n"
      "hidden: bool[6,5] = constant(values=[0,1,1,1,1,0,0,1,1,1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,1,0,0,0,0])\n"
      "other: bool[6,5] = constant(values=[1,0,1,1,1,0,0,1,1,1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,0,1,0,0,0,0])\n"
      "h = broadcast(hidden, shape=[1,2,6,5])\n"
      "o = broadcast(other, shape=[1,2,6,5])\n"
      "s = add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), bias:f32[1,2,6,5])\n"
      "p = softmax(select(h, low, s))\n";
  expect_attention(std::string(kText) + "y = matmul(select(h, zero, p), v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention, std::string(kText) + "y = matmul(select(o, zero, p), v:f32[1,2,5,4])");
}

TEST(FuseAttention, TurnsWeightsThatStandOnTheRight) {
  expect_attention(
      "s = matmul(q:f32[1,6,4], kt:f32[1,4,5])\n"
      "y = matmul(v:f32[1,4,5], transpose(softmax(s), permutation=[0,2,1]))");
  expect_attention(
      "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\n"
      "y = matmul(v:f32[1,2,4,5], transpose(softmax(s), permutation=[0,1,3,2]))");
  expect_unchanged(fuse_attention,
                   "s = matmul(q:f32[5,2,6,4], kt:f32[5,2,4,5])\n"
                   "y = matmul(v:f32[5,2,4,5], transpose(softmax(s), permutation=[3,1,0,2]))");
}

TEST(FuseAttention, TakesBatchesAndHeadsApart) {
  expect_attention(
      "q = reshape(a:f32[2,3,6,4], shape=[6,6,4])\n"
      "kt = reshape(b:f32[2,3,4,5], shape=[6,4,5])\n"
      "v = reshape(c:f32[2,3,5,4], shape=[6,5,4])\n"
      "s = add(reshape(matmul(q, kt), shape=[2,3,6,5]), mask:f32[2,1,6,5])\n"
      "y = matmul(softmax(reshape(s, shape=[6,6,5])), v)");
  expect_attention(
      "low: f32[] = constant(values=[-inf])\n"
      "kept: bool[1,6,5] = constant(values=[1,0,0,0,0,1,1,0,0,0,1,1,1,0,0,1,1,1,1,0,1,1,1,1,1,1,1,1,1,1])\n"
      "s = matmul(q:f32[3,6,4], kt:f32[3,4,5])\n"
      "y = matmul(softmax(select(kept, s, low)), v:f32[3,5,4])");
}

TEST(FuseAttention, AddsMasksOfWindows) {
  const std::string scores = "s = matmul(q:f32[6,2,4,8], kt:f32[6,2,8,5])\n";
  const auto masked = [&](const char* apart, const char* mask) {
    return scores + "m = add(reshape(s, shape=" + apart + "), " + mask +
           ")\n"
           "y = matmul(softmax(reshape(m, shape=[6,2,4,5])), v:f32[6,2,5,8])";
  };
  expect_attention(masked("[1,6,2,4,5]", "mask:f32[1,6,1,4,5]"));
  expect_attention(masked("[2,3,2,4,5]", "mask:f32[1,3,1,4,5]"));
  expect_attention(masked("[2,3,2,4,5]", "mask:f32[3,1,4,5]"));
  expect_attention(masked("[2,3,2,4,5]", "mask:f32[2,3,2,4,5]"));
  expect_attention(masked("[2,3,2,4,5]", "mask:f32[2,1,1,1,5]"));
  expect_attention(masked("[2,3,2,4,5]", "mask:f32[4,5]"));
}

}  // namespace
}  // namespace rung::test
