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
TEST(Simplify, PartsBatchesThatWereMergedForAProduct) {
  expect_rewrite(simplify,
                 "p = matmul(reshape(a:f32[2,3,4,5], shape=[6,4,5]), reshape(b:f32[2,3,5,7], shape=[6,5,7]))\n"
                 "y = tanh(reshape(p, shape=[2,3,4,7]))",
                 "y = tanh(matmul(a, b))");
}
TEST(Simplify, SlicesAProjectionBeforeItsHeadsPart) {
  expect_rewrite(simplify,
                 "heads = reshape(x:f32[1,9,96], shape=[1,9,3,4,8])\n"
                 "y = tanh(reshape(slice(heads, axis=2, begin=1, end=2), shape=[1,9,4,8]))",
                 "y = tanh(reshape(slice(x, axis=2, begin=32, end=64), shape=[1,9,4,8]))");
}
TEST(Simplify, KeepsSlicesOfOtherParts) {
  expect_unchanged(simplify, "y = tanh(slice(reshape(x:f32[1,9,96], shape=[1,9,3,4,8]), axis=3, begin=1, end=2))");
  expect_unchanged(simplify, "y = tanh(slice(reshape(x:f32[1,9,96], shape=[9,3,32]), axis=1, begin=1, end=2))");
  expect_unchanged(simplify, "y = tanh(slice(reshape(x:f32[9,8], shape=[3,3,8]), axis=0, begin=1, end=2))");
  expect_unchanged(simplify, "y = tanh(slice(reshape(x:f32[9,8], shape=[9,4,2]), axis=1, begin=0, end=4, step=2))");
}
TEST(Simplify, PartsBatchesOfRepeatedHeads) {
  expect_rewrite(simplify,
                 "b5 = broadcast(b:f32[2,3,1,5,7], shape=[2,3,2,5,7])\n"
                 "y = tanh(reshape(matmul(reshape(a:f32[2,6,4,5], shape=[12,4,5]), reshape(b5, shape=[12,5,7])), "
                 "shape=[2,6,4,7]))",
                 "y = tanh(matmul(a, reshape(broadcast(b, shape=[2,3,2,5,7]), shape=[2,6,5,7])))");
}
TEST(Simplify, KeepsBatchesThatArePartedInAnotherWay) {
  expect_unchanged(simplify,
                   "p = matmul(reshape(a:f32[2,3,4,5], shape=[6,4,5]), reshape(b:f32[2,3,5,7], shape=[6,5,7]))\n"
                   "y = tanh(reshape(p, shape=[3,2,4,7]))");
  expect_unchanged(simplify,
                   "p = matmul(reshape(a:f32[2,3,4,5], shape=[2,12,5]), reshape(b:f32[1,2,5,7], shape=[2,5,7]))\n"
                   "y = tanh(reshape(p, shape=[1,2,12,7]))");
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
TEST(Simplify, SlicesOnlyThePartOfAConcatNeeded) {
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
TEST(Simplify, KeepsDivisionOfOneAndByOthers) {
  const std::string numbers = "one: f32[1] = constant(values=[1])\nzero: f32[1] = constant(values=[0])\n";
  for (const char* kept : {"div(one, x:f32[4])", "mul(x:f32[4], zero)", "add(x:f32[4], one)", "div(x:f32[4], zero)",
                           "max(x:f32[4], zero)", "pow(x:f32[4], zero)"})
    expect_unchanged(simplify, numbers + "y = " + kept);
}
TEST(Simplify, KeepsNumbersThatAreNotAllNeutral) {
  expect_unchanged(simplify, "n: f32[4] = constant(values=[1,1,1,2])\ny = mul(x:f32[4], n)");
  expect_unchanged(simplify, "n: i64[2] = constant(values=[0,9007199254740993])\ny = add(x:i64[2], n)");
}
TEST(Simplify, KeepsCastsThatLoseValues) {
  for (const char* type : {"f16", "bf16", "i32", "i8", "bool"})
    expect_unchanged(simplify, fmt::format("y = cast(cast(x:f32[4], to={}), to=i64)", type));
  expect_unchanged(simplify, "y = cast(cast(x:i64[4], to=f32), to=i64)");
  expect_unchanged(simplify, "y = cast(cast(x:i32[4], to=f32), to=i64)");
  expect_unchanged(simplify, "y = cast(cast(x:f16[4], to=bf16), to=f32)");
  expect_unchanged(simplify, "y = cast(cast(x:u8[4], to=i8), to=f32)");
}
TEST(Simplify, KeepsSlicesThatAreNoNeighbours) {
  for (const char* parts : {"slice(x:f32[6,6], end=2), slice(z:f32[6,6], begin=2, end=5)",
                            "slice(x:f32[6,6], end=2), slice(x, begin=3, end=5)",
                            "slice(x:f32[6,6], end=2), slice(x, begin=2, end=6, step=2)",
                            "slice(x:f32[6,6], end=3), slice(x, begin=2, end=5)"})
    expect_unchanged(simplify, fmt::format("y = concat({})", parts));
  expect_unchanged(simplify, "y = concat(slice(x:f32[6,6], end=2), slice(x, begin=2, end=4), axis=1)");
}
TEST(Simplify, PartsBatchesBeforeItTurnsMatrices) {
  expect_rewrite(simplify,
                 "y = reshape(transpose(reshape(x:f32[2,3,4,5], shape=[6,4,5]), permutation=[0,2,1]), shape=[1,6,5,4])",
                 "y = transpose(reshape(x, shape=[1,6,4,5]), permutation=[0,1,3,2])");
  expect_rewrite(simplify,
                 "y = reshape(transpose(reshape(x:f32[2,3,4,5], shape=[6,4,5]), permutation=[0,2,1]), shape=[2,3,5,4])",
                 "y = transpose(x, permutation=[0,1,3,2])");
  for (const char* other : {"y = reshape(transpose(x:f32[6,4,5], permutation=[0,2,1]), shape=[6,1,20])",
                            "y = reshape(transpose(x:f32[6,4,5], permutation=[0,2,1]), shape=[2,3,4,5])",
                            "y = reshape(transpose(x:f32[6,4,5], permutation=[1,0,2]), shape=[2,2,6,5])"})
    expect_unchanged(simplify, other);
}

TEST(Simplify, KeepsSlicesOfAConcatAlongAnotherAxis) {
  expect_unchanged(simplify, "y = slice(concat(a:f32[2,3], b:f32[2,4], axis=1), begin=1, end=2)");
  expect_unchanged(simplify, "y = slice(concat(a:f32[2,3], b:f32[4,3]), begin=2, end=6, step=2)");
}
TEST(Simplify, ReadsRunsAndSingleRowsWhereTheyStand) {
  expect_rewrite(simplify, "i: i64[1,3] = constant(values=[2,3,4])\ny = gather(x:f32[6,2], i)",
                 "y = reshape(slice(x, begin=2, end=5), shape=[1,3,2])");
  expect_rewrite(simplify, "i: i64[] = constant(values=[3])\ny = gather(x:f32[2,6,5], i, axis=1)",
                 "y = reshape(slice(x, axis=1, begin=3, end=4), shape=[2,5])");
  expect_rewrite(simplify, "i: i64[2] = constant(values=[0,1])\ny = gather(x:f32[2,6], i)\nz = tanh(y)", "z = tanh(x)");
}
TEST(Simplify, KeepsGathersOfNoRun) {
  for (const char* values : {"-1,0,1", "2,4,5", "4,3,2", "4,5,6"})
    expect_unchanged(simplify, "i: i64[3] = constant(values=[" + std::string(values) + "])\ny = gather(x:f32[6,2], i)");
}
TEST(Simplify, DecidesASelectByItsCondition) {
  expect_rewrite(simplify, "t: bool[1] = constant(values=[0])\ny = tanh(select(t, a:f32[3], b:f32[3]))", "y = tanh(b)");
  expect_rewrite(simplify, "y = tanh(select(c:bool[3], a:f32[3], a))", "y = tanh(a)");
  expect_unchanged(simplify, "y = select(c:bool[3], a:f32[1], a)");
  expect_unchanged(simplify, "t: bool[1] = constant(values=[1])\ny = select(t, a:f32[1], b:f32[3])");
}
TEST(Simplify, CancelsOnlyWhatUndoesItself) {
  expect_rewrite(simplify, "y = tanh(neg(neg(x:f32[3])))", "y = tanh(x)");
  expect_rewrite(simplify, "y = and(b:bool[3], not(not(a:bool[3])))", "y = and(b, a)");
  for (const char* kept :
       {"neg(abs(x:f32[3]))", "abs(abs(x:f32[3]))", "tanh(tanh(x:f32[3]))", "reciprocal(reciprocal(x:f32[3]))"})
    expect_unchanged(simplify, fmt::format("y = {}", kept));
}
TEST(Simplify, ComputesBeforeItBroadcasts) {
  expect_rewrite(simplify, "y = tanh(broadcast(x:f32[1,3], shape=[2,3]))", "y = broadcast(tanh(x), shape=[2,3])");
  expect_rewrite(simplify, "y = broadcast(broadcast(x:f32[1,3], shape=[2,3]), shape=[4,2,3])",
                 "y = broadcast(x, shape=[4,2,3])");
}

}  // namespace
}  // namespace rung::test
