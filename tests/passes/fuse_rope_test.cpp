// fuse_rope: a projection turns its own heads.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fuse_rope;

// A projection to 4 heads of 8 columns, of which the first `turned` are rotated and the others are values.
std::string projection(const std::string& linear, const std::string& turned = "3", const std::string& end = "24") {
  return "x: f32[1,5,16] = input()\ncos: f32[1,5,1,8] = input()\nsin: f32[1,5,1,8] = input()\nr: f32[1,5,32] = "
         "input()\n"
         "w: f32[32,16] = constant()\nb: f32[32] = constant()\nh = " +
         linear + "\nq = rope(reshape(slice(h, axis=2, end=" + end + "), shape=[1,5," + turned +
         ",8]), cos, sin)\nv = reshape(slice(h, axis=2, begin=24, end=32), shape=[1,5,1,8])\nreturn q, v";
}

TEST(FuseRope, LetsTheProjectionTurnItsFirstHeads) {
  PassRun run = run_pass(fuse_rope, graph_of(projection("linear(x, w)")));
  EXPECT_EQ(count_ops(run.graph, "rope"), 0u);
  EXPECT_EQ(run.notes, std::vector<std::string>{"1 rotary embedding moved into the projection before"});
  expect_equivalent(fuse_rope, projection("linear(x, w)"));
  expect_equivalent(fuse_rope, projection("linear(x, w, b, slots=bias)"));
}
TEST(FuseRope, TurnsAWholeProjection) {
  const char* text =
      "x: f32[5,16] = input()\ncos: f32[5,1,8] = input()\nsin: f32[5,1,8] = input()\nw: f32[32,16] = constant()\n"
      "y = rope(reshape(linear(x, w), shape=[5,4,8]), cos, sin)";
  expect_rewrite(
      fuse_rope, text,
      "y = reshape(linear(x, w, reshape(cos, shape=[5,8]), reshape(sin, shape=[5,8]), slots=cos+sin, rotated_heads=4), "
      "shape=[5,4,8])");
  expect_equivalent(fuse_rope, text);
}
TEST(FuseRope, KeepsWhatHappensAfterTheProduct) {
  expect_unchanged(fuse_rope, projection("linear(x, w, activation=silu)"));
  expect_unchanged(fuse_rope, projection("linear(x, w, r, slots=residual)"));
}
TEST(FuseRope, KeepsHeadsThatAreReadUnturnedAsWell) {
  expect_unchanged(fuse_rope, projection("linear(x, w)", "4", "32"));
}
TEST(FuseRope, KeepsHeadsThatComeAfterOthers) {
  expect_unchanged(fuse_rope,
                   "x: f32[5,16] = input()\ncos: f32[5,1,8] = input()\nsin: f32[5,1,8] = input()\n"
                   "w: f32[32,16] = constant()\nh = linear(x, w)\n"
                   "k = rope(reshape(slice(h, axis=1, begin=24, end=32), shape=[5,1,8]), cos, sin)\n"
                   "v = slice(h, axis=1, end=24)\nreturn k, v");
}
TEST(FuseRope, KeepsAnglesThatSeveralRowsShare) {
  expect_unchanged(fuse_rope,
                   "x: f32[2,5,16] = input()\ncos: f32[1,5,1,8] = input()\nsin: f32[1,5,1,8] = input()\n"
                   "w: f32[32,16] = constant()\ny = rope(reshape(linear(x, w), shape=[2,5,4,8]), cos, sin)");
}
std::string whole(const std::string& linear, const std::string& rest) {
  return "x: f32[5,16] = input()\ncos: f32[5,1,8] = input()\nsin: f32[5,1,8] = input()\nw: f32[32,16] = constant()\n"
         "h = " +
         linear + "\n" + rest;
}
TEST(FuseRope, KeepsAnglesOfEachHead) {
  expect_unchanged(fuse_rope, whole("linear(x, w)",
                                    "c: f32[5,4,8] = input()\n"
                                    "y = rope(reshape(h, shape=[5,4,8]), c, c)\nreturn y"));
}
TEST(FuseRope, KeepsAProjectionThatIsReadWhole) {
  const std::string rope = "y = rope(reshape(h, shape=[5,4,8]), cos, sin)\n";
  expect_unchanged(fuse_rope, whole("linear(x, w)", rope + "return y, h"));
  expect_unchanged(fuse_rope, whole("linear(x, w)", rope + "z = neg(h)\nreturn y, z"));
  expect_unchanged(fuse_rope, whole("linear(x, w)",
                                    "v = reshape(h, shape=[5,4,8])\ny = rope(v, cos, sin)\n"
                                    "return y, v"));
}
TEST(FuseRope, KeepsAProjectionOfWhichSomethingReadsRows) {
  expect_unchanged(fuse_rope,
                   "x: f32[32,16] = input()\ncos: f32[32,1,8] = input()\nsin: f32[32,1,8] = input()\n"
                   "w: f32[32,16] = constant()\nh = linear(x, w)\n"
                   "q = rope(reshape(slice(h, axis=1, end=24), shape=[32,3,8]), cos, sin)\n"
                   "v = slice(h, axis=0, begin=24, end=32)\nreturn q, v");
}
TEST(FuseRope, MovesAnglesBeforeTheProjection) {
  const std::string text = whole("linear(x, w)",
                                 "three: f32[] = constant()\nlate = exp(mul(cos, three))\n"
                                 "y = rope(reshape(h, shape=[5,4,8]), late, exp(late))\nreturn y, late");
  EXPECT_EQ(count_ops(run_pass(fuse_rope, graph_of(text)).graph, "rope"), 0u);
  expect_equivalent(fuse_rope, text);
}
TEST(FuseRope, KeepsAnglesThatDependOnTheProjection) {
  expect_unchanged(fuse_rope,
                   "x: f32[5,16] = input()\ncos: f32[5,1,8] = input()\nw: f32[32,16] = constant()\nh = linear(x, w)\n"
                   "late = exp(reshape(slice(h, axis=1, begin=24, end=32), shape=[5,1,8]))\n"
                   "y = rope(reshape(slice(h, axis=1, end=24), shape=[5,3,8]), cos, late)\nreturn y");
}
TEST(FuseRope, KeepsAnglesThatAreDeclaredLater) {
  expect_unchanged(fuse_rope, whole("linear(x, w)",
                                    "late: f32[5,1,8] = input()\ny = rope(reshape(h, shape=[5,4,8]), late, sin)\n"
                                    "return y"));
}
TEST(FuseRope, KeepsAGatedProjection) {
  expect_unchanged(fuse_rope, whole("linear(x, w, gated=true)",
                                    "y = rope(reshape(h, shape=[5,2,8]), cos, sin)\n"
                                    "return y"));
}
TEST(FuseRope, WantsAKernelThatTurnsHeads) {
  Graph graph = graph_of(projection("linear(x, w)"));
  PassRun run = run_pass(fuse_rope, graph, [](const Op& op, std::span<const Type>) {
    return as<Linear>(op) && as<Linear>(op)->epilogue.rotated_heads > 0 ? reject("it does not turn heads") : accept();
  });
  EXPECT_EQ(count_ops(run.graph, "rope"), 1u);
  EXPECT_EQ(run.notes, std::vector<std::string>{"not fused into linear: it does not turn heads"});
}

}  // namespace
}  // namespace rung::test
