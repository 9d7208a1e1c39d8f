// cse: one node per value.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::cse;

TEST(Cse, KeepsOneOfEqualChains) {
  PassRun run = run_pass(cse, graph_of("a = tanh(exp(x:f32[4]))\nb = tanh(exp(x))\ny = add(a, b)"));
  EXPECT_EQ(run.graph.size(), 4u);
  EXPECT_EQ(run.notes.at(0), "merged 2 equal values");
}
TEST(Cse, SeesThroughTheOrderOfCommutingOperands) {
  PassRun run = run_pass(cse, graph_of("a = add(x:f32[4], z:f32[4])\nb = add(z, x)\ny = mul(a, b)"));
  EXPECT_EQ(count_ops(run.graph, "add"), 1u);
}
TEST(Cse, KeepsSubtractionsOfSwappedOperandsApart) {
  expect_unchanged(cse, "y = mul(sub(x:f32[4], z:f32[4]), sub(z, x))");
  PassRun run = run_pass(cse, graph_of("y = mul(sub(x:f32[4], z:f32[4]), sub(z, x))"));
  EXPECT_EQ(count_ops(run.graph, "sub"), 2u);
}
TEST(Cse, ComparesLiteralsByValueAndType) {
  PassRun run = run_pass(cse, graph_of("a: f32[1] = constant(values=[2])\nb: f32[1] = constant(values=[2])\n"
                                       "c: f32[1,1] = constant(values=[2])\ny = mul(mul(mul(x:f32[1,4], a), b), c)"));
  EXPECT_EQ(count_ops(run.graph, "constant"), 2u);
}
TEST(Cse, KeepsOpsOfDifferentFieldsApart) {
  PassRun run = run_pass(cse, graph_of("y = add(softmax(x:f32[4,4], axis=0), softmax(x, axis=1))"));
  EXPECT_EQ(count_ops(run.graph, "softmax"), 2u);
}
TEST(Cse, KeepsWhatDoesNotCommuteApart) {
  for (const char* kind : {"div", "pow", "max", "min", "lt", "ge"}) {
    PassRun run = run_pass(cse, graph_of(fmt::format("a = {0}(x:f32[4], z:f32[4])\nb = {0}(z, x)\nreturn a, b", kind)));
    EXPECT_EQ(count_ops(run.graph, kind), 2u) << kind;  // of NaN and a number, max may give either
  }
}
TEST(Cse, KeepsLiteralsThatDifferInOneElement) {
  PassRun run = run_pass(cse, graph_of("a: f32[3] = constant(values=[1,2,3])\nb: f32[3] = constant(values=[1,2,4])\n"
                                       "y = mul(mul(x:f32[3], a), b)"));
  EXPECT_EQ(count_ops(run.graph, "constant"), 2u);
}
TEST(Cse, KeepsLiteralsOfEqualBytesAndOtherTypes) {
  PassRun run = run_pass(cse, graph_of("a: f32[1] = constant(values=[0])\nb: i32[1] = constant(values=[0])\n"
                                       "y = add(add(x:f32[1], a), cast(add(z:i32[1], b), to=f32))"));
  EXPECT_EQ(count_ops(run.graph, "constant"), 2u);
}
TEST(Cse, KeepsFieldsThatDifferInTheLastBit) {
  PassRun run = run_pass(cse, graph_of("w: f32[4] = constant()\ny = add(rms_norm(x:f32[4], w, eps=1e-06), "
                                       "rms_norm(x, w, eps=1.0000001e-06))"));
  EXPECT_EQ(count_ops(run.graph, "rms_norm"), 2u);
}
TEST(Cse, KeepsInputsApart) {
  PassRun run = run_pass(cse, graph_of("y = add(exp(x:f32[4]), exp(z:f32[4]))"));
  EXPECT_EQ(count_ops(run.graph, "exp"), 2u);
}

}  // namespace
}  // namespace rung::test
