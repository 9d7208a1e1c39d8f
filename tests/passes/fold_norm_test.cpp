// fold_norm: linears on both sides of a norm take it over.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::fold_norm;

constexpr double kBf16 = 6e-3;  // of results that were rounded to bf16 in another order

const std::string kOperands =
    "x: bf16[1,6,24] = input()\nr: f32[1,6,64] = input()\nw: bf16[64,24] = constant()\ng: f32[64] = constant()\n"
    "k: f32[64] = constant()\nv: bf16[64,96] = constant()\nu: bf16[96,64] = constant()\nt: bf16[32,64] = constant()\n";

// Two sums, a norm and a linear after each.
const std::string kChain = kOperands +
                           "s = linear(x, w, r, slots=residual)\n"
                           "h = linear(rms_norm(s, g, weight_offset=1, out=bf16), u, out=bf16)\n"
                           "z = linear(h, v, s, slots=residual)\n"
                           "y = linear(rms_norm(z, k, eps=0.01, out=bf16), t, activation=silu)\nreturn y";

using Form = bool (*)(const Linear&);
bool feeds_norm(const Linear& op) { return op.has(LinearSlot::norm_weight); }
bool normed(const Linear& op) { return op.has(LinearSlot::squares); }

size_t count_linears(const Graph& graph, Form form) {
  size_t found = 0;
  for (NodeId id : graph.order()) found += graph.as<Linear>(id) && form(*graph.as<Linear>(id));
  return found;
}

TEST(FoldNorm, FoldsNormsIntoBothNeighbouringLinears) {
  const std::string text = kOperands + "s = linear(x, w)\ny = linear(rms_norm(s, g, eps=0.01, out=bf16), t)\nreturn y";
  EXPECT_EQ(expression(run_pass(fold_norm, graph_of(text)).graph),
            "y = linear(result(linear(x, w, g, slots=norm_weight, norm_run=8)), t, "
            "result(linear(x, w, g, slots=norm_weight, norm_run=8), index=2), slots=squares, eps=0.01)");
  expect_equivalent(fold_norm, text, kBf16);
}
TEST(FoldNorm, CarriesTheSumFromLinearToLinear) {
  PassRun run = run_pass(fold_norm, graph_of(kChain));
  EXPECT_EQ(count_ops(run.graph, "rms_norm"), 0u);
  EXPECT_EQ(count_linears(run.graph, feeds_norm), 2u);
  EXPECT_EQ(count_linears(run.graph, normed), 2u);
  EXPECT_EQ(run.notes, std::vector<std::string>{"the norms of 2 sums moved into the linears around them"});
  expect_equivalent(fold_norm, kChain, kBf16);
}
TEST(FoldNorm, KeepsNormsNotBetweenTwoLinears) {
  const std::string text = kOperands +
                           "s = linear(rms_norm(r, g, out=bf16), t, out=bf16)\nz = linear(slice(s, axis=2, end=24), w, "
                           "r, slots=residual)\ny = linear(rms_norm(z, g, out=bf16), u, out=bf16)\n"
                           "q = linear(y, v, z, slots=residual)\np = rms_norm(q, k)\nreturn p";
  PassRun run = run_pass(fold_norm, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "rms_norm"), 2u);
  EXPECT_EQ(count_linears(run.graph, feeds_norm), 1u);
  expect_equivalent(fold_norm, text, kBf16);
}
TEST(FoldNorm, ServesSeveralReadersAlsoOfSomeRows) {
  const std::string text = kOperands +
                           "p: f32[64] = constant()\nc: f32[1,5,16] = input()\ns = linear(x, w, r, slots=residual)\n"
                           "n = rms_norm(s, p, out=bf16)\na = linear(n, u, out=bf16)\n"
                           "b = linear(slice(n, axis=1, begin=1, end=6), t, c, c, slots=cos+sin, rotated_heads=1, "
                           "out=bf16)\n"
                           "z = linear(slice(a, axis=1, begin=1, end=6), v, slice(s, axis=1, begin=1, end=6), "
                           "slots=residual)\nreturn b, z";
  PassRun run = run_pass(fold_norm, graph_of(text));
  EXPECT_EQ(count_ops(run.graph, "rms_norm"), 0u);
  EXPECT_EQ(count_linears(run.graph, normed), 2u);
  expect_equivalent(fold_norm, text, kBf16);
}
TEST(FoldNorm, ReadsTheSameRowsOfEveryResult) {
  EXPECT_EQ(
      expression(run_pass(fold_norm, graph_of(kOperands + "n = rms_norm(linear(x, w), g, out=bf16)\n"
                                                          "y = linear(slice(n, axis=1, begin=1, end=6), t)\nreturn y"))
                     .graph),
      "y = linear(slice(result(linear(x, w, g, slots=norm_weight, norm_run=8)), axis=1, begin=1, end=6), t, "
      "slice(result(linear(x, w, g, slots=norm_weight, norm_run=8), index=2), axis=1, begin=1, end=6), "
      "slots=squares)");
}
TEST(FoldNorm, FindsWeightsThatAreDeclaredBehindTheSum) {
  expect_equivalent(fold_norm,
                    "x: bf16[6,24] = input()\nw: bf16[64,24] = constant()\nt: bf16[32,64] = constant()\n"
                    "s = linear(x, w)\ng: bf16[64] = constant()\n"
                    "y = linear(rms_norm(s, g, weight_offset=1, out=bf16), t)\nreturn y",
                    kBf16);
}
TEST(FoldNorm, LeavesTheSumToWhateverElseReadsIt) {
  const std::string text = kOperands + "s = linear(x, w, r, slots=residual)\ny = linear(rms_norm(s, g, out=bf16), t)\n";
  for (const char* others : {"return y, s", "z = neg(s)\nreturn y, z", "z = linear(s, t)\nreturn y, z",
                             "z = linear(x, w, slice(concat(s, s, axis=2), axis=2, begin=32, end=96), "
                             "slots=residual)\nreturn y, z"}) {
    EXPECT_EQ(count_ops(run_pass(fold_norm, graph_of(text + others)).graph, "rms_norm"), 0u) << others;
    expect_equivalent(fold_norm, text + others, kBf16);
  }
}
TEST(FoldNorm, KeepsTheNormThatSomethingElseReads) {
  const std::string text = kOperands + "n = rms_norm(linear(x, w), g, out=bf16)\ny = linear(n, t)\n";
  expect_unchanged(fold_norm, text + "return y, n");
  expect_unchanged(fold_norm, text + "z = neg(n)\nreturn y, z");
  expect_unchanged(fold_norm, text + "z = neg(slice(n, axis=1, begin=1, end=6))\nreturn y, z");
}
TEST(FoldNorm, KeepsNormsThatAreNotRounded) {
  expect_unchanged(fold_norm, kOperands + "y = linear(rms_norm(linear(x, w), g), t)\nreturn y");
}
TEST(FoldNorm, KeepsSumsThatAreRounded) {
  expect_unchanged(fold_norm, kOperands + "y = linear(rms_norm(linear(x, w, out=bf16), g, out=bf16), t)\nreturn y");
}
TEST(FoldNorm, WantsAKernelForEveryLinear) {
  for (Form refused : {feeds_norm, normed}) {
    PassRun run = run_pass(fold_norm, graph_of(kChain), [refused](const Op& op, std::span<const Type>) {
      return as<Linear>(op) && refused(*as<Linear>(op)) ? reject("it does not") : accept();
    });
    EXPECT_EQ(count_ops(run.graph, "rms_norm"), 2u);
    EXPECT_EQ(run.notes[0], "not fused into linear: it does not");
  }
}
// Squares of eight columns together are eight for the reader.
TEST(FoldNorm, TakesTheRunThatBothSidesHave) {
  const auto refuses_eight = [](const Op& op, std::span<const Type> operands) {
    const Type* squares = as<Linear>(op) ? as<Linear>(op)->slots.find(operands, LinearSlot::squares) : nullptr;
    return squares && squares->shape.back() == 8 ? reject("it does not") : accept();
  };
  const std::string text = kOperands + "s = linear(x, w)\ny = linear(rms_norm(s, g, out=bf16), t)\nreturn y";
  EXPECT_EQ(expression(run_pass(fold_norm, graph_of(text), refuses_eight).graph),
            "y = linear(result(linear(x, w, g, slots=norm_weight, norm_run=32)), t, "
            "result(linear(x, w, g, slots=norm_weight, norm_run=32), index=2), slots=squares)");
}
TEST(FoldNorm, TakesOneOfTheNormsThatDiffer) {
  const std::string text = kOperands + "s = linear(x, w, r, slots=residual)\ny = linear(rms_norm(s, g, out=bf16), t)\n";
  for (const char* other : {"rms_norm(s, k, out=bf16)", "rms_norm(s, g, eps=0.01, out=bf16)",
                            "rms_norm(s, g, weight_offset=1, out=bf16)", "rms_norm(s, g)"}) {
    const std::string both = text + fmt::format("z = linear({}, t)\nreturn y, z", other);
    PassRun run = run_pass(fold_norm, graph_of(both));
    EXPECT_EQ(count_ops(run.graph, "rms_norm"), 1u) << other;
    EXPECT_EQ(count_linears(run.graph, normed), 1u) << other;
    expect_equivalent(fold_norm, both, kBf16);
  }
}
TEST(FoldNorm, JoinsNormsThatAreAlike) {
  const std::string text = kOperands +
                           "s = linear(x, w, r, slots=residual)\ny = linear(rms_norm(s, g, eps=0.01, out=bf16), t)\n"
                           "z = linear(rms_norm(s, g, eps=0.01, out=bf16), t)\nreturn y, z";
  EXPECT_EQ(count_ops(run_pass(fold_norm, graph_of(text)).graph, "rms_norm"), 0u);
  expect_equivalent(fold_norm, text, kBf16);
}
TEST(FoldNorm, KeepsWeightsThatAreComputed) {
  expect_unchanged(fold_norm, kOperands +
                                  "q: f32[64] = input()\ny = linear(rms_norm(linear(x, w), q, out=bf16), t)\n"
                                  "return y");
}
TEST(FoldNorm, KeepsLinearsThatCannotFeedANorm) {
  const std::string end = "y = linear(rms_norm(s, g, out=bf16), t)\nreturn y";
  expect_unchanged(fold_norm, kOperands + "d: bf16[128,24] = constant()\ns = linear(x, d, gated=true)\n" + end);
  expect_unchanged(fold_norm, kOperands +
                                  "c: f32[1,6,32] = input()\n"
                                  "s = linear(x, w, c, c, slots=cos+sin, rotated_heads=1)\n" +
                                  end);
  expect_unchanged(fold_norm,
                   "x: bf16[6,24] = input()\nw: bf16[36,24] = constant()\nt: bf16[32,36] = constant()\n"
                   "g: f32[36] = constant()\ns = linear(x, w)\n" +
                       end);
}
TEST(FoldNorm, KeepsSlicedColumnsOfSumsAndNorms) {
  expect_unchanged(fold_norm, kOperands +
                                  "n = rms_norm(linear(x, w), g, out=bf16)\ny = linear(n, t)\n"
                                  "z = linear(slice(n, axis=2, end=24), w)\nreturn y, z");
  expect_unchanged(fold_norm, kOperands +
                                  "p: f32[32] = constant()\nm: bf16[8,32] = constant()\n"
                                  "y = linear(rms_norm(slice(linear(x, w), axis=2, end=32), p, out=bf16), m)\n"
                                  "return y");
}
TEST(FoldNorm, KeepsANormThatALinearAdds) {
  expect_unchanged(fold_norm, kOperands +
                                  "q: bf16[64,64] = constant()\nn = rms_norm(linear(x, w), g, out=bf16)\n"
                                  "y = linear(n, q, n, slots=residual)\nreturn y");
}
TEST(FoldNorm, LetsOneLinearReadSumAndNorm) {
  const std::string text = kOperands +
                           "q: bf16[64,64] = constant()\ns = linear(x, w)\nn = rms_norm(s, g, eps=0.01, out=bf16)\n"
                           "y = linear(n, q, s, slots=residual)\nreturn y";
  EXPECT_EQ(count_ops(run_pass(fold_norm, graph_of(text)).graph, "rms_norm"), 0u);
  expect_equivalent(fold_norm, text, kBf16);
}

}  // namespace
}  // namespace rung::test
