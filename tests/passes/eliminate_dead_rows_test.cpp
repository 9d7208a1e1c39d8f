// Rows that no output needs, and keys that a constant mask hides.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::eliminate_dead_rows;

TEST(EliminateDeadRows, SelectsBeforeComputing) {
  expect_rewrite(eliminate_dead_rows,
                 "w: f32[2,4] = constant()\ny = slice(linear(tanh(x:f32[5,4]), w), begin=1, end=3)",
                 "y = linear(tanh(slice(x, begin=1, end=3)), w)");
}
TEST(EliminateDeadRows, DropsPartsOfAConcat) {
  expect_rewrite(eliminate_dead_rows, "y = slice(exp(concat(a:f32[2,3], b:f32[4,3])), begin=3, end=5)",
                 "y = exp(slice(b, begin=1, end=3))");
}
TEST(EliminateDeadRows, FollowsRowsThroughTransposesAndReshapes) {
  expect_rewrite(
      eliminate_dead_rows,
      "y = slice(transpose(reshape(exp(x:f32[1,6,8]), shape=[1,6,2,4]), permutation=[0,2,1,3]), axis=2, end=2)",
      "y = transpose(reshape(exp(slice(x, axis=1, end=2)), shape=[1,2,2,4]), permutation=[0,2,1,3])");
}
TEST(EliminateDeadRows, ComputesTheUnionOfWhatItsReadersNeed) {
  expect_rewrite(
      eliminate_dead_rows,
      "h = exp(x:f32[6,2])\na = slice(h, begin=1, end=3)\nb = slice(h, begin=2, end=5)\nreturn a, b",
      "a = slice(exp(slice(x, begin=1, end=5)), end=2); b = slice(exp(slice(x, begin=1, end=5)), begin=1, end=4)");
}
TEST(EliminateDeadRows, KeepsRowsThatASoftmaxMixes) {
  expect_unchanged(eliminate_dead_rows, "y = slice(softmax(x:f32[6,4], axis=0), begin=1, end=3)");
}
TEST(EliminateDeadRows, KeepsRunningSums) {
  expect_unchanged(eliminate_dead_rows, "y = slice(cumsum(x:f32[6,4], axis=0), begin=1, end=3)");
}

constexpr const char* kMasked =
    "mask: f32[1,1,3,4] = constant(values=[0,-2e38,0,-2e38, 0,-2e38,0,-2e38, 0,-2e38,0,-2e38])\n"
    "w = softmax(add(matmul(q:f32[1,2,3,5], exp(kt:f32[1,2,5,4])), mask))\n"
    "y = matmul(w, tanh(v:f32[1,2,4,5]))";

TEST(EliminateDeadRows, SkipsKeysHiddenFromAllQueries) {
  PassRun run = run_pass(eliminate_dead_rows, graph_of(kMasked));
  EXPECT_EQ(expression(run.graph),
            "y = matmul(softmax(add(matmul(q, exp(gather(kt, rows, axis=3))), gather(mask, rows, axis=3))), "
            "tanh(gather(v, rows, axis=2)))");
  EXPECT_EQ(run.notes.at(0), "1 attention reads 2 of 4 keys: the others are masked");
  expect_same_values(graph_of(kMasked), run.graph);
}
TEST(EliminateDeadRows, KeepsAllKeysWhenAQuerySeesNone) {
  expect_unchanged(eliminate_dead_rows,
                   "mask: f32[1,1,2,3] = constant(values=[0,0,-2e38, -2e38,-2e38,-2e38])\n"
                   "y = matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), mask)), v:f32[1,2,3,5])");
}
TEST(EliminateDeadRows, SkipsKeysThatOnlyUnreadQueriesUse) {
  PassRun run =
      run_pass(eliminate_dead_rows, graph_of("mask: f32[1,1,2,3] = constant(values=[0,0,-2e38, -2e38,-2e38,-2e38])\n"
                                             "y = slice(matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), "
                                             "mask)), v:f32[1,2,3,5]), axis=2, end=1)"));
  EXPECT_EQ(expression(run.graph),
            "y = matmul(softmax(add(matmul(slice(q, axis=2, end=1), slice(kt, axis=3, end=2)), slice(slice(mask, "
            "axis=2, end=1), axis=3, end=2))), "
            "slice(v, axis=2, end=2))");
}
TEST(EliminateDeadRows, KeepsKeysWhereTheMaskIsAnInput) {
  expect_unchanged(
      eliminate_dead_rows,
      "y = matmul(softmax(add(matmul(q:f32[1,2,3,5], kt:f32[1,2,5,4]), mask:f32[1,1,3,4])), v:f32[1,2,4,5])");
}
TEST(EliminateDeadRows, KeepsKeysWhoseWeightsAnotherReaderSees) {
  std::string text = kMasked;
  expect_unchanged(eliminate_dead_rows, text + "\nreturn y, w");
}
TEST(EliminateDeadRows, TellsWhichInputsAreNotRead) {
  PassRun run =
      run_pass(eliminate_dead_rows, graph_of("y = slice(exp(concat(a:f32[2,3], b:f32[4,3])), begin=3, end=5)"));
  EXPECT_EQ(run.notes.at(0), "input 'a' is not read");
  EXPECT_EQ(run.notes.at(1), "of input 'b', 2 of 4 along axis 0 are read");
}

TEST(EliminateDeadRows, KeepsKeysThatOneHeadSees) {
  const char* text =
      "mask: f32[1,2,2,3] = constant(values=[0,-2e38,-2e38, 0,-2e38,-2e38, 0,0,-2e38, 0,0,-2e38])\n"
      "y = matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), mask)), v:f32[1,2,3,5])";
  PassRun run = run_pass(eliminate_dead_rows, graph_of(text));
  EXPECT_EQ(run.notes.at(0), "1 attention reads 2 of 3 keys: the others are masked");
  expect_same_values(graph_of(text), run.graph);
}
TEST(EliminateDeadRows, KeepsKeysOfAMaskThatIsMultiplied) {
  expect_unchanged(eliminate_dead_rows,
                   "mask: f32[1,1,1,3] = constant(values=[1,1,-2e38])\n"
                   "y = matmul(softmax(mul(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), mask)), v:f32[1,2,3,5])");
}
TEST(EliminateDeadRows, KeepsAllKeysOfABroadcastMask) {
  expect_unchanged(eliminate_dead_rows,
                   "mask: f32[1,1,2,1] = constant(values=[-2e38,0])\n"
                   "y = matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), mask)), v:f32[1,2,3,5])");
}
TEST(EliminateDeadRows, KeepsKeysOfASoftmaxOverQueries) {
  expect_unchanged(eliminate_dead_rows,
                   "mask: f32[1,1,1,3] = constant(values=[0,0,-2e38])\n"
                   "y = matmul(softmax(add(matmul(q:f32[1,2,3,5], kt:f32[1,2,5,3]), mask), axis=2), v:f32[1,2,3,5])");
}
TEST(EliminateDeadRows, KeepsAReshapeThatCutsItsRowsElsewhere) {
  expect_unchanged(eliminate_dead_rows, "y = slice(reshape(exp(x:f32[4,6]), shape=[6,4]), begin=1, end=3)");
  expect_unchanged(eliminate_dead_rows, "y = slice(reshape(exp(x:f32[4,6]), shape=[2,2,6]), axis=1, end=1)");
}
TEST(EliminateDeadRows, SelectsAttentionQueriesAndTheirMaskRows) {
  expect_rewrite(eliminate_dead_rows,
                 "y = slice(attention(q:f32[1,5,2,4], m:f32[5,3], k:f32[1,3,2,4], v:f32[1,3,2,4], slots=mask), "
                 "axis=1, begin=1, end=3)",
                 "y = attention(slice(q, axis=1, begin=1, end=3), slice(m, begin=1, end=3), k, v, slots=mask)");
  expect_rewrite(eliminate_dead_rows,
                 "y = slice(attention(q:f32[1,5,2,4], m:f32[2,1,3], k:f32[1,3,2,4], v:f32[1,3,2,4], slots=mask), "
                 "axis=1, begin=1, end=3)",
                 "y = attention(slice(q, axis=1, begin=1, end=3), m, k, v, slots=mask)");
}
TEST(EliminateDeadRows, KeepsHeadsOfAnAttention) {
  expect_unchanged(eliminate_dead_rows,
                   "y = slice(attention(q:f32[1,5,2,4], k:f32[1,3,1,4], v:f32[1,3,1,4]), axis=2, end=1)");
}
TEST(EliminateDeadRows, KeepsColumnsThatARowMixes) {
  for (const char* row : {"rope(x:f32[3,4], c:f32[3,4], s:f32[3,4])", "layer_norm(x:f32[3,4], w:f32[4], b:f32[4])",
                          "rms_norm(x:f32[3,4], w:f32[4])", "l2_normalize(x:f32[3,4])",
                          "linear(x:f32[3,4], u:f32[4,4])", "softmax(x:f32[3,4])"})
    expect_unchanged(eliminate_dead_rows, fmt::format("y = slice({}, axis=1, end=2)", row));
}
TEST(EliminateDeadRows, SelectsRowsOfWhatMixesColumns) {
  expect_rewrite(eliminate_dead_rows, "y = slice(rope(x:f32[3,4], c:f32[3,4], s:f32[4]), end=2)",
                 "y = rope(slice(x, end=2), slice(c, end=2), s)");
  expect_rewrite(eliminate_dead_rows,
                 "y = slice(layer_norm(x:f32[3,4], r:f32[3,4], w:f32[4], b:f32[4], slots=residual), end=2)",
                 "y = layer_norm(slice(x, end=2), slice(r, end=2), w, b, slots=residual)");
  expect_rewrite(eliminate_dead_rows, "y = slice(linear(x:f32[3,4], w:f32[3,4], r:f32[3,3], slots=residual), end=2)",
                 "y = linear(slice(x, end=2), w, slice(r, end=2), slots=residual)");
}
TEST(EliminateDeadRows, KeepsPixelsThatWindowsShare) {
  expect_unchanged(eliminate_dead_rows, "y = slice(conv(x:f32[1,4,4,3], w:f32[4,2,2,3]), axis=1, end=2)");
  expect_unchanged(eliminate_dead_rows, "y = slice(im2col(x:f32[1,4,4,4], patch=2), axis=1, end=2)");
}
TEST(EliminateDeadRows, FollowsRowsBesideTheOneThatIsReduced) {
  expect_rewrite(eliminate_dead_rows, "y = slice(reduce(x:f32[3,5,4], axis=1), axis=1, end=2)",
                 "y = reduce(slice(x, axis=2, end=2), axis=1)");
  expect_rewrite(eliminate_dead_rows, "y = slice(reduce(x:f32[3,5,4], axis=1, keep_dim=true), axis=2, end=2)",
                 "y = reduce(slice(x, axis=2, end=2), axis=1, keep_dim=true)");
  expect_rewrite(eliminate_dead_rows, "y = slice(reduce(x:f32[3,5,4], axis=1), axis=0, end=2)",
                 "y = reduce(slice(x, end=2), axis=1)");
}
TEST(EliminateDeadRows, FollowsRowsThroughAGatherOfManyDimensions) {
  expect_rewrite(eliminate_dead_rows, "y = slice(gather(x:f32[4,2,6], i:i64[3,2], axis=1), axis=3, begin=4, end=6)",
                 "y = gather(slice(x, axis=2, begin=4, end=6), i, axis=1)");
  expect_rewrite(eliminate_dead_rows, "y = slice(gather(x:f32[4,2,6], i:i64[3,2], axis=1), axis=1, begin=1, end=3)",
                 "y = gather(x, slice(i, begin=1, end=3), axis=1)");
}
TEST(EliminateDeadRows, KeepsAGatherThatRepeatsOrTurnsRows) {
  expect_equivalent(eliminate_dead_rows,
                    "i: i64[3] = constant(values=[1,1,2])\ny = gather(slice(exp(x:f32[5,2]), begin=1, end=4), i)");
  expect_unchanged(eliminate_dead_rows, "i: i64[3] = constant(values=[1,1,2])\ny = gather(exp(x:f32[3,2]), i)");
  expect_unchanged(eliminate_dead_rows, "i: i64[2] = constant(values=[2,0])\ny = gather(exp(x:f32[3,2]), i)");
  expect_unchanged(eliminate_dead_rows, "i: i64[2] = constant(values=[2,3])\ny = gather(exp(x:f32[3,2]), i)");
}
TEST(EliminateDeadRows, SelectsEveryStepth) {
  expect_rewrite(eliminate_dead_rows, "y = slice(exp(slice(x:f32[9,2], begin=1, end=9, step=2)), begin=1, end=3)",
                 "y = exp(gather(x, rows))");
}
TEST(EliminateDeadRows, KeepsABroadcastOperandOfOneRow) {
  expect_rewrite(eliminate_dead_rows, "y = slice(add(x:f32[3,4], b:f32[1,4]), end=2)", "y = add(slice(x, end=2), b)");
  expect_rewrite(eliminate_dead_rows, "y = slice(matmul(x:f32[3,2,4], b:f32[1,4,5]), end=2)",
                 "y = matmul(slice(x, end=2), b)");
}

}  // namespace
}  // namespace rung::test
