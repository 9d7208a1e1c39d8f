// simplify: what does nothing goes, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::simplify;

TEST(Simplify, DropsMultiplicationByOne) {
  expect_rewrite(simplify, "one: f32[1] = constant(values=[1])\ny = tanh(mul(one, x:f32[4]))", "y = tanh(x)");
}
TEST(Simplify, KeepsMultiplicationByOneThatBroadcasts) {
  expect_unchanged(simplify, "one: f32[2,1] = constant(values=[1,1])\ny = mul(x:f32[4], one)");
}
TEST(Simplify, DropsAdditionOfZero) {
  expect_rewrite(simplify, "zero: f32[1] = constant(values=[0])\ny = tanh(sub(add(x:f32[4], zero), zero))",
                 "y = tanh(x)");
}
TEST(Simplify, KeepsSubtractionFromZero) {
  expect_unchanged(simplify, "zero: f32[1] = constant(values=[0])\ny = sub(zero, x:f32[4])");
}
TEST(Simplify, DropsCastToTheSameType) { expect_rewrite(simplify, "y = tanh(cast(x:f32[4], to=f32))", "y = tanh(x)"); }
TEST(Simplify, DropsCastThroughAWiderType) {
  expect_rewrite(simplify, "y = tanh(cast(cast(x:bf16[4]), to=bf16))", "y = tanh(x)");
}
TEST(Simplify, KeepsCastThroughANarrowerType) {
  expect_unchanged(simplify, "y = cast(cast(x:f32[4], to=bf16), to=f32)");
}
TEST(Simplify, JoinsReshapes) {
  expect_rewrite(simplify, "y = tanh(reshape(reshape(x:f32[4,6], shape=[2,12]), shape=[24]))",
                 "y = tanh(reshape(x, shape=[24]))");
  expect_rewrite(simplify, "y = tanh(reshape(reshape(x:f32[4,6], shape=[2,12]), shape=[4,6]))", "y = tanh(x)");
}
TEST(Simplify, JoinsTransposes) {
  expect_rewrite(simplify, "y = tanh(transpose(transpose(x:f32[2,3,4], permutation=[1,2,0]), permutation=[1,0,2]))",
                 "y = tanh(transpose(x, permutation=[2,1,0]))");
  expect_rewrite(simplify, "y = tanh(transpose(transpose(x:f32[2,3,4], permutation=[1,2,0]), permutation=[2,0,1]))",
                 "y = tanh(x)");
}
TEST(Simplify, JoinsSlicesOfOneAxis) {
  expect_rewrite(simplify, "y = slice(slice(x:f32[9,4], begin=1, end=9, step=2), begin=1, end=3)",
                 "y = slice(x, begin=3, end=6, step=2)");
  expect_unchanged(simplify, "y = slice(slice(x:f32[9,4], begin=1, end=9), axis=1, begin=1, end=3)");
}
TEST(Simplify, SlicesThePartOfAConcatThatHoldsIt) {
  expect_rewrite(simplify, "y = slice(concat(a:f32[2,3], b:f32[4,3]), begin=3, end=5)", "y = slice(b, begin=1, end=3)");
  expect_rewrite(simplify, "y = tanh(slice(concat(a:f32[2,3], b:f32[4,3]), begin=2, end=6))", "y = tanh(b)");
  expect_unchanged(simplify, "y = slice(concat(a:f32[2,3], b:f32[4,3]), begin=1, end=5)");
}
TEST(Simplify, JoinsNeighbouringSlices) {
  expect_rewrite(simplify, "y = concat(slice(x:f32[6,2], end=2), slice(x, begin=2, end=5))", "y = slice(x, end=5)");
  expect_unchanged(simplify, "y = concat(slice(x:f32[6,2], begin=2, end=5), slice(x, end=2))");
}
TEST(Simplify, GathersARunAsASlice) {
  expect_rewrite(simplify, "i: i64[3] = constant(values=[2,3,4])\ny = gather(x:f32[6,2], i)",
                 "y = slice(x, begin=2, end=5)");
  expect_unchanged(simplify, "i: i64[3] = constant(values=[2,4,3])\ny = gather(x:f32[6,2], i)");
}
TEST(Simplify, KeepsAGatherThatIsOutOfRange) {
  expect_unchanged(simplify, "i: i64[3] = constant(values=[4,5,6])\ny = gather(x:f32[6,2], i)");
}
TEST(Simplify, DecidesASelectOfAConstant) {
  expect_rewrite(simplify, "t: bool[1] = constant(values=[1])\ny = tanh(select(t, a:f32[3], b:f32[3]))", "y = tanh(a)");
  expect_unchanged(simplify, "t: bool[2] = constant(values=[1,0])\ny = tanh(select(t, a:f32[2], b:f32[2]))");
}
TEST(Simplify, BroadcastsImplicitly) {
  expect_rewrite(simplify, "y = add(broadcast(a:f32[1,3], shape=[2,3]), b:f32[2,3])", "y = add(a, b)");
  expect_unchanged(simplify, "y = add(broadcast(a:f32[1,3], shape=[2,3]), b:f32[1,3])");
}

}  // namespace
}  // namespace rung::test
