// Rows that no output needs, and keys that a constant mask hides.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::batch_towers;
using passes::drop_unread_rows;

TEST(DropUnreadRows, SelectsBeforeComputing) {
  expect_rewrite(drop_unread_rows, "w: f32[2,4] = constant()\ny = slice(linear(tanh(x:f32[5,4]), w), begin=1, end=3)",
                 "y = linear(tanh(slice(x, begin=1, end=3)), w)");
}
TEST(DropUnreadRows, DropsPartsOfAConcat) {
  expect_rewrite(drop_unread_rows, "y = slice(exp(concat(a:f32[2,3], b:f32[4,3])), begin=3, end=5)",
                 "y = exp(slice(b, begin=1, end=3))");
}
TEST(DropUnreadRows, FollowsRowsThroughTransposesAndReshapes) {
  expect_rewrite(
      drop_unread_rows,
      "y = slice(transpose(reshape(exp(x:f32[1,6,8]), shape=[1,6,2,4]), permutation=[0,2,1,3]), axis=2, end=2)",
      "y = transpose(reshape(exp(slice(x, axis=1, end=2)), shape=[1,2,2,4]), permutation=[0,2,1,3])");
}
TEST(DropUnreadRows, ComputesTheUnionOfWhatItsReadersNeed) {
  expect_rewrite(
      drop_unread_rows, "h = exp(x:f32[6,2])\na = slice(h, begin=1, end=3)\nb = slice(h, begin=2, end=5)\nreturn a, b",
      "a = slice(exp(slice(x, begin=1, end=5)), end=2); b = slice(exp(slice(x, begin=1, end=5)), begin=1, end=4)");
}
TEST(DropUnreadRows, KeepsRowsThatASoftmaxMixes) {
  expect_unchanged(drop_unread_rows, "y = slice(softmax(x:f32[6,4], axis=0), begin=1, end=3)");
}
TEST(DropUnreadRows, KeepsRunningSums) {
  expect_unchanged(drop_unread_rows, "y = slice(cumsum(x:f32[6,4], axis=0), begin=1, end=3)");
}

constexpr const char* kMasked =
    "mask: f32[1,1,3,4] = constant(values=[0,-2e38,0,-2e38, 0,-2e38,0,-2e38, 0,-2e38,0,-2e38])\n"
    "w = softmax(add(matmul(q:f32[1,2,3,5], exp(kt:f32[1,2,5,4])), mask))\n"
    "y = matmul(w, tanh(v:f32[1,2,4,5]))";

TEST(DropUnreadRows, SkipsKeysThatAMaskHidesFromAllQueries) {
  PassRun run = run_pass(drop_unread_rows, graph_of(kMasked));
  EXPECT_EQ(expression(run.graph),
            "y = matmul(softmax(add(matmul(q, exp(gather(kt, rows, axis=3))), gather(mask, rows, axis=3))), "
            "tanh(gather(v, rows, axis=2)))");
  EXPECT_EQ(run.notes.at(0), "1 attentions read 2 of 4 keys: the others are masked");
  expect_same_values(graph_of(kMasked), run.graph);
}
TEST(DropUnreadRows, KeepsAllKeysWhenAQuerySeesNone) {
  expect_unchanged(drop_unread_rows,
                   "mask: f32[1,1,2,3] = constant(values=[0,0,-2e38, -2e38,-2e38,-2e38])\n"
                   "y = matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), mask)), v:f32[1,2,3,5])");
}
TEST(DropUnreadRows, SkipsKeysWhenTheQueryThatSeesNoneIsNotRead) {
  PassRun run =
      run_pass(drop_unread_rows, graph_of("mask: f32[1,1,2,3] = constant(values=[0,0,-2e38, -2e38,-2e38,-2e38])\n"
                                          "y = slice(matmul(softmax(add(matmul(q:f32[1,2,2,5], kt:f32[1,2,5,3]), "
                                          "mask)), v:f32[1,2,3,5]), axis=2, end=1)"));
  EXPECT_EQ(expression(run.graph),
            "y = matmul(softmax(add(matmul(slice(q, axis=2, end=1), slice(kt, axis=3, end=2)), slice(slice(mask, "
            "axis=2, end=1), axis=3, end=2))), "
            "slice(v, axis=2, end=2))");
}
TEST(DropUnreadRows, KeepsKeysOfAMaskThatIsAnInput) {
  expect_unchanged(
      drop_unread_rows,
      "y = matmul(softmax(add(matmul(q:f32[1,2,3,5], kt:f32[1,2,5,4]), mask:f32[1,1,3,4])), v:f32[1,2,4,5])");
}
TEST(DropUnreadRows, KeepsKeysWhoseWeightsAnotherReaderSees) {
  std::string text = kMasked;
  expect_unchanged(drop_unread_rows, text + "\nreturn y, w");
}
TEST(DropUnreadRows, TellsWhichInputsAreNotRead) {
  PassRun run = run_pass(drop_unread_rows, graph_of("y = slice(exp(concat(a:f32[2,3], b:f32[4,3])), begin=3, end=5)"));
  EXPECT_EQ(run.notes.at(0), "input 'a' is not read");
  EXPECT_EQ(run.notes.at(1), "of input 'b', 2 of 4 along axis 0 are read");
}

constexpr const char* kTowers =
    "w: f32[4,4] = constant()\nb: f32[4] = constant()\n"
    "s0 = reshape(slice(x:f32[2,3,4], begin=0, end=1), shape=[1,3,2,2])\ns1 = reshape(slice(x, begin=1, end=2), "
    "shape=[1,3,2,2])\n"
    "h0 = linear(reshape(exp(s0), shape=[1,3,4]), w, b, has_bias=true)\nh1 = linear(reshape(exp(s1), shape=[1,3,4]), "
    "w, b, has_bias=true)\n"
    "y = concat(add(h0, tanh(h0)), add(h1, tanh(h1)), axis=1)";

TEST(BatchTowers, EqualTowersOverSlicesRunOnce) {
  PassRun run = run_pass(batch_towers, graph_of(kTowers));
  EXPECT_EQ(count_ops(run.graph, "linear"), 1u);
  EXPECT_EQ(count_ops(run.graph, "tanh"), 1u);
  EXPECT_EQ(run.notes.at(0), "2 towers run as one batch");
  expect_same_values(graph_of(kTowers), run.graph);
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

}  // namespace
}  // namespace rung::test
