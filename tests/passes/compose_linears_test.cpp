// compose_linears: what a linear may take into its weights, and what must stay outside.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::compose_linears;

constexpr const char* kMatrices =
    "w: f32[4,8] = constant()\nb: f32[4] = constant()\nu: f32[8,2] = constant()\na: f32[8] = constant()\n";
std::string with_matrices(const std::string& rest) { return kMatrices + rest; }

TEST(ComposeLinears, AFactorMovesIntoWeightsAndBias) {
  expect_rewrite(compose_linears,
                 with_matrices("c: f32[1] = constant(values=[-0.5])\ny = mul(linear(x:f32[3,8], w, b, slots=bias), c)"),
                 "y = linear(x, mul(w, reshape(-0.5)), mul(b, reshape(-0.5)), slots=bias)");
}
TEST(ComposeLinears, WeightsKeepTheirLabelsWhileTheGraphGrows) {
  for (int others = 0; others < 40; ++others) {
    std::string text = with_matrices("c: f32[1] = constant(values=[-0.5])\nz0 = relu(x:f32[3,8])\n");
    for (int i = 1; i <= others; ++i) text += fmt::format("z{} = relu(z{})\n", i, i - 1);
    text += fmt::format(
        "weights_with_a_long_name: f32[4,8] = constant()\n"
        "y = mul(linear(x, weights_with_a_long_name, b, slots=bias), c)\nreturn y, z{}",
        others);
    const PassRun run = run_pass(compose_linears, graph_of(text));
    size_t labelled = 0;
    for (NodeId id : run.graph.order()) labelled += run.graph[id].label == "weights_with_a_long_name";
    EXPECT_GE(labelled, 2u) << others;
  }
}
TEST(ComposeLinears, AFactorKeepsTheValues) {
  expect_equivalent(compose_linears,
                    with_matrices("c: f32[] = constant()\ny = mul(c, linear(x:f32[3,8], w, b, slots=bias))"));
}
TEST(ComposeLinears, AFactorForEachColumnMovesIntoWeights) {
  expect_rewrite(compose_linears,
                 with_matrices("c: f32[4] = constant()\ny = mul(linear(x:f32[3,8], w, b, slots=bias), c)"),
                 "y = linear(x, mul(w, reshape(c, shape=[4,1])), mul(b, c), slots=bias)");
  expect_equivalent(compose_linears,
                    with_matrices("c: f32[1,1,4] = constant()\ny = mul(c, linear(x:f32[2,3,8], w, b, slots=bias))"));
}
TEST(ComposeLinears, SharedWeightsAreNotScaledByColumn) {
  expect_unchanged(compose_linears,
                   "x: f32[2,3] = input()\nw: f32[4,3] = constant()\nc: f32[4] = constant()\nd: f32[4] = constant()\n"
                   "y = mul(linear(x, w), c)\nz = mul(linear(neg(x), w), d)\nreturn y, z");
}
TEST(ComposeLinears, AConstantRowMovesIntoTheBiases) {
  const std::string start =
      "x: f32[2,3,4] = input()\nc: f32[4] = constant()\nw: f32[5,4] = constant()\nb: f32[5] = constant()\n"
      "u: f32[3,4] = constant()\ns = ";
  const std::string readers = "\ny = linear(s, w, b, slots=bias)\nz = linear(s, u)\nreturn y, z";
  for (const char* sum : {"add(x, c)", "add(c, x)"}) {
    PassRun run = run_pass(compose_linears, graph_of(start + sum + readers));
    for (const Output& output : run.graph.outputs()) {
      ASSERT_TRUE(run.graph.as<Linear>(output.node)) << sum;
      EXPECT_TRUE(run.graph.as<Input>(run.graph[output.node].operands[0])) << sum;
    }
    expect_equivalent(compose_linears, start + sum + readers);
  }
  for (const char* other : {"\ny = linear(s, u)\nreturn y, s", "\ny = linear(s, u)\nz = neg(s)\nreturn y, z",
                            "\ny = linear(s, u)\nz = linear(s, u, activation=silu)\nreturn y, z"})
    expect_unchanged(compose_linears, start + "add(x, c)" + other);
  expect_unchanged(compose_linears, start + "add(x, mul(x, x))\ny = linear(s, u)\nreturn y");
  expect_unchanged(
      compose_linears,
      "x: f32[2,4] = input()\nc: f32[2,1] = constant()\nu: f32[3,4] = constant()\ny = linear(add(x, c), u)");
}
TEST(ComposeLinears, AFactorMovesIntoWeightsOf16Bits) {
  const auto text = [](const std::string& rest) {
    return "w: bf16[4,8] = constant()\nb: bf16[4] = constant()\nc: bf16[4] = constant()\na: bf16[8] = constant()\n" +
           rest;
  };
  const std::string scaled = text("y = mul(linear(x:bf16[3,8], w, b, slots=bias, out=bf16), c)");
  EXPECT_EQ(expression(run_pass(compose_linears, graph_of(scaled)).graph),
            "y = linear(x, mul(w, reshape(c, shape=[4,1])), mul(b, c), slots=bias, out=bf16)");
  expect_equivalent(compose_linears, scaled, 0x1.0p-8);
  expect_unchanged(compose_linears, text("y = linear(mul(x:bf16[3,8], a), w, out=bf16)"));
  expect_unchanged(compose_linears, text("d: f32[4] = constant()\ny = mul(linear(x:bf16[3,8], w, out=f32), d)"));
}
TEST(ComposeLinears, KeepsAFactorForEachRow) {
  expect_unchanged(compose_linears, with_matrices("c: f32[3,1] = constant()\ny = mul(linear(x:f32[3,8], w), c)"));
  expect_unchanged(compose_linears, with_matrices("c: f32[8,1] = constant()\ny = linear(mul(x:f32[8,8], c), w)"));
}
TEST(ComposeLinears, AFactorOfTheInputMovesIntoWeights) {
  expect_rewrite(compose_linears, with_matrices("y = linear(mul(x:f32[3,8], a), w, b, slots=bias)"),
                 "y = linear(x, mul(w, a), b, slots=bias)");
  expect_equivalent(compose_linears,
                    with_matrices("c: f32[] = constant()\ny = linear(mul(c, x:f32[2,3,8]), w, b, slots=bias)"));
}
TEST(ComposeLinears, KeepsAFactorOfASharedInput) {
  expect_unchanged(compose_linears, with_matrices("p = mul(x:f32[3,8], a)\ny = linear(p, w)\nreturn y, p"));
  expect_unchanged(compose_linears, with_matrices("y = linear(mul(x:f32[3,8], a), w, activation=silu)"));
}
TEST(ComposeLinears, MakesSiluOfAScaledSigmoid) {
  const std::string h = with_matrices("c: f32[] = constant(values=[1.75])\nh = linear(x:f32[3,8], w, b, slots=bias)\n");
  expect_rewrite(compose_linears, h + "y = mul(h, sigmoid(mul(h, c)))",
                 "y = mul(silu(linear(x, mul(w, 1.75), mul(b, 1.75), slots=bias)), 0.5714285969734192)");
  expect_equivalent(compose_linears, h + "y = mul(sigmoid(mul(c, h)), h)");
  expect_unchanged(compose_linears, h + "g = sigmoid(mul(h, c))\ny = mul(h, g)\nreturn y, h");
  expect_unchanged(compose_linears, h + "y = mul(h, tanh(mul(h, c)))");
  expect_unchanged(compose_linears, h + "y = mul(h, sigmoid(mul(h, b)))");
}
TEST(ComposeLinears, KeepsAFactorThatIsComputed) {
  expect_unchanged(compose_linears, with_matrices("y = mul(linear(x:f32[3,8], w), c:f32[])"));
}
TEST(ComposeLinears, KeepsAFactorAfterAnActivation) {
  expect_unchanged(compose_linears,
                   with_matrices("c: f32[] = constant()\ny = mul(linear(x:f32[3,8], w, activation=silu), c)"));
}
TEST(ComposeLinears, KeepsAFactorWhoseLinearHasAnotherReader) {
  expect_unchanged(compose_linears,
                   with_matrices("c: f32[] = constant()\nh = linear(x:f32[3,8], w)\ny = mul(h, c)\nreturn y, h"));
}

TEST(ComposeLinears, KeepsAFactorAfterALargeLinear) {
  expect_unchanged(compose_linears,
                   "w: f32[8193,1024] = constant()\nc: f32[] = constant()\n"
                   "y = mul(linear(x:f32[1,1024], w), c)");
}

TEST(ComposeLinears, TurnsAConstantInputPartIntoABias) {
  expect_rewrite(compose_linears,
                 with_matrices("t: f32[1,3] = constant()\ntime = broadcast(t, shape=[3,3])\n"
                               "y = linear(concat(x:f32[3,5], time, axis=1), w, b, slots=bias)"),
                 "y = linear(x, slice(w, axis=1, end=5), reshape(linear(t, slice(w, axis=1, begin=5, end=8), b, "
                 "slots=bias), shape=[4]), slots=bias)");
}
TEST(ComposeLinears, ConstantPartsKeepTheValues) {
  expect_equivalent(
      compose_linears,
      with_matrices("s: f32[1,1,2] = constant()\nt: f32[1] = constant()\nfirst = broadcast(s, shape=[1,3,2])\n"
                    "last = broadcast(t, shape=[1,3,1])\nr: f32[1,3,4] = constant()\n"
                    "y = linear(concat(first, x:f32[1,3,3], z:f32[1,3,2], last, axis=2), w, r, slots=residual, "
                    "activation=gelu)"));
}
TEST(ComposeLinears, KeepsAConstantPartWhoseRowsDiffer) {
  expect_unchanged(compose_linears,
                   with_matrices("t: f32[3,3] = constant()\ny = linear(concat(x:f32[3,5], t, axis=1), w)"));
}
TEST(ComposeLinears, KeepsConstantRows) {
  expect_unchanged(compose_linears,
                   with_matrices("t: f32[1,8] = constant()\ny = linear(concat(x:f32[3,8], t, axis=0), w)"));
}
TEST(ComposeLinears, KeepsConstantPartsBelowF32) {
  expect_unchanged(compose_linears,
                   "w: bf16[4,8] = constant()\nt: bf16[1,3] = constant()\n"
                   "y = linear(concat(x:bf16[1,5], t, axis=1), w)");
}

TEST(ComposeLinears, ALinearOfALinearBecomesOne) {
  expect_rewrite(
      compose_linears,
      with_matrices("y = linear(linear(x:f32[3,2], u, a, slots=bias), w, b, slots=bias, activation=silu)"),
      "y = linear(x, linear(w, transpose(u, permutation=[1,0])), reshape(linear(reshape(a, shape=[1,8]), w, b, "
      "slots=bias), shape=[4]), "
      "slots=bias, activation=silu)");
}
TEST(ComposeLinears, ALinearOfALinearKeepsTheValues) {
  expect_equivalent(compose_linears, with_matrices("y = linear(linear(x:f32[3,2], u, a, slots=bias), w, r:f32[3,4], "
                                                   "slots=residual)"));
  expect_equivalent(compose_linears, with_matrices("y = linear(linear(x:f32[3,2], u), w, b, slots=bias)"));
}
TEST(ComposeLinears, AllThreeMeetInOneLinear) {
  const auto step = with_matrices(
      "v: f32[8,16] = constant()\nt: f32[1,1,8] = constant()\ntime = broadcast(t, shape=[1,3,8])\n"
      "h = linear(x:f32[1,3,2], u, a, slots=bias)\n"
      "c: f32[] = constant(values=[0.5])\ny = mul(linear(concat(h, time, axis=2), v), c)");
  PassRun run = run_pass(compose_linears, graph_of(step));
  EXPECT_EQ(count_ops(run.graph, "concat"), 0u);
  EXPECT_TRUE(run.graph.as<Linear>(run.graph.outputs()[0].node));
  expect_equivalent(compose_linears, step);
}
TEST(ComposeLinears, KeepsABottleneck) {
  expect_unchanged(compose_linears,
                   "u: f32[1,8] = constant()\nw: f32[8,1] = constant()\n"
                   "y = linear(linear(x:f32[3,8], u), w)");
}
TEST(ComposeLinears, KeepsPairsThatTakeLongToCompose) {
  expect_unchanged(compose_linears,
                   "u: f32[2000,1100] = constant()\nw: f32[1000,2000] = constant()\n"
                   "y = linear(linear(x:f32[1,1100], u), w)");
}
TEST(ComposeLinears, KeepsALinearThatHasAnotherReader) {
  expect_unchanged(compose_linears, with_matrices("h = linear(x:f32[3,2], u)\ny = linear(h, w)\nreturn y, h"));
}
TEST(ComposeLinears, KeepsWhatHasAnActivationBetween) {
  expect_unchanged(compose_linears, with_matrices("y = linear(linear(x:f32[3,2], u, activation=relu), w)"));
}
TEST(ComposeLinears, KeepsLinearsBelowF32) {
  expect_unchanged(compose_linears,
                   "w: bf16[4,8] = constant()\nu: bf16[8,2] = constant()\n"
                   "y = linear(linear(x:bf16[3,2], u, out=bf16), w, out=bf16)");
}
TEST(ComposeLinears, KeepsLinearsOfComputedWeights) {
  expect_unchanged(compose_linears, with_matrices("y = linear(linear(x:f32[3,2], v:f32[8,2]), w)"));
}
TEST(ComposeLinears, TellsWhatItSaves) {
  PassRun run = run_pass(compose_linears, graph_of(with_matrices("y = linear(linear(x:f32[3,2], u), w)")));
  // 2 x 3 x (2 x 8 + 8 x 4 - 2 x 4) flops; 3 x 8 floats written and read, and 16 + 32 - 8 weights
  EXPECT_EQ(run.notes, (std::vector<std::string>{"1 linear of a linear became one, up to the rounding of f32",
                                                 "0.00024 MFLOP and 0.000352 MB less"}));
}
TEST(ComposeLinears, KeepsAFactorThatMakesMoreRows) {
  expect_unchanged(compose_linears,
                   with_matrices("c: f32[1,1,1] = constant(values=[2])\ny = mul(linear(x:f32[3,8], w), c)"));
}
TEST(ComposeLinears, KeepsWhatStandsBetween) {
  const std::string weights = with_matrices("t: f32[16,2] = constant()\ns: f32[3,8] = input()\n");
  expect_unchanged(compose_linears, weights + "y = linear(linear(x:f32[3,2], u, s, slots=residual), w)\nreturn y");
  expect_unchanged(compose_linears, weights + "y = linear(linear(x:f32[3,2], t, gated=true), w)\nreturn y");
  expect_unchanged(compose_linears,
                   weights +
                       "y = linear(linear(x:f32[3,2], u, p:f32[3,4], p, slots=cos+sin, rotated_heads=1), w)\n"
                       "return y");
}
TEST(ComposeLinears, KeepsABiasThatIsComputed) {
  expect_unchanged(compose_linears, with_matrices("y = linear(linear(x:f32[3,2], u, c:f32[8], slots=bias), w)"));
  expect_unchanged(compose_linears,
                   with_matrices("t: f32[1,3] = constant()\ny = linear(concat(x:f32[1,5], t, axis=1), w, c:f32[4], "
                                 "slots=bias)"));
}
TEST(ComposeLinears, KeepsAConstantThatFillsEveryColumn) {
  expect_unchanged(compose_linears, with_matrices("t: f32[3,1] = constant()\ncolumn = broadcast(t, shape=[3,3])\n"
                                                  "y = linear(concat(x:f32[3,5], column, axis=1), w)"));
}
TEST(ComposeLinears, KeepsAnInputThatIsAllConstant) {
  expect_unchanged(compose_linears, with_matrices("s: f32[1,5] = constant()\nt: f32[1,3] = constant()\n"
                                                  "y = add(linear(concat(s, t, axis=1), w), x:f32[1,4])"));
}
TEST(ComposeLinears, KeepsTheValuesOfAGatedLinear) {
  expect_equivalent(compose_linears,
                    with_matrices("y = linear(linear(x:f32[3,2], u, a, slots=bias), w, b, slots=bias, gated=true, "
                                  "activation=silu)"));
}

}  // namespace
}  // namespace rung::test
