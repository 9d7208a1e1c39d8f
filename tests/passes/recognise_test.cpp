// Norms, activations and pooling written out in elementary ops.
// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using namespace passes;

TEST(RecogniseRmsNorm, DecomposedFormWithOffsetWeightBecomesOneOp) {
  expect_rewrite(
      recognise_rms_norm,
      "w: f32[4] = constant()\none: f32[] = constant(values=[1])\neps: f32[] = constant(values=[0.5])\n"
      "r = rsqrt(add(reduce(square(x:f32[2,3,4]), kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), add(one, w))",
      "y = rms_norm(x, w, eps=0.5, weight_offset=1)");
}
TEST(RecogniseRmsNorm, TakesTheCastsOnBothSides) {
  PassRun run =
      run_pass(recognise_rms_norm,
               graph_of("w: bf16[4] = constant()\neps: f32[] = constant(values=[0.5])\nwide = cast(x:bf16[3,4])\n"
                        "r = rsqrt(add(reduce(square(wide), kind=mean, keep_dim=true), eps))\n"
                        "y = cast(mul(cast(w), mul(r, wide)), to=bf16)"));
  EXPECT_EQ(expression(run.graph), "y = rms_norm(x, w, eps=0.5, out=bf16)");
}
TEST(RecogniseRmsNorm, TakesAWeightThatScalesNarrowedValues) {
  const std::string start =
      "w: bf16[4] = constant()\nu: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\nx: bf16[3,4] = input()\n"
      "wide = cast(x)\nr = rsqrt(add(reduce(square(wide), kind=mean, keep_dim=true), eps))\nn = mul(wide, r)\n";
  PassRun run = run_pass(recognise_rms_norm, graph_of(start + "y = mul(w, cast(n, to=bf16))"));
  EXPECT_EQ(expression(run.graph), "y = rms_norm(x, w, eps=0.5, out=bf16)");
  for (const char* other :
       {"narrow = cast(n, to=bf16)\ny = mul(w, narrow)\nz = neg(narrow)\nreturn y, z",
        "y = add(w, cast(n, to=bf16))\nreturn y", "y = mul(cast(mul(u, cast(n)), to=bf16), w)\nreturn y"})
    expect_unchanged(recognise_rms_norm, start + other);
}
TEST(RecogniseRmsNorm, TakesEverySpellingOfTheRoot) {
  const std::string start =
      "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\none: f32[] = constant(values=[1])\n"
      "two: f32[] = constant(values=[2])\nx: f32[3,4] = input()\n"
      "s = sqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\n";
  for (const char* form :
       {"y = mul(mul(x, reciprocal(s)), w)", "y = mul(w, mul(div(one, s), x))", "y = mul(div(x, s), w)"})
    EXPECT_EQ(expression(run_pass(recognise_rms_norm, graph_of(start + form)).graph), "y = rms_norm(x, w, eps=0.5)")
        << form;
  for (const char* form : {"y = mul(mul(div(two, s), x), w)", "y = mul(div(w, s), x)", "y = mul(mul(x, s), w)",
                           "y = mul(div(x, s), w)\nz = neg(s)\nreturn y, z"})
    expect_unchanged(recognise_rms_norm, start + form);
}
TEST(RecogniseRmsNorm, RoundsBeforeAnotherCast) {
  PassRun run =
      run_pass(recognise_rms_norm,
               graph_of("w: bf16[4] = constant()\neps: f32[] = constant(values=[0.5])\nwide = cast(x:bf16[3,4])\n"
                        "r = rsqrt(add(reduce(square(wide), kind=mean, keep_dim=true), eps))\n"
                        "y = cast(mul(w, cast(mul(wide, r), to=bf16)), to=f32)"));
  EXPECT_EQ(expression(run.graph), "y = cast(rms_norm(x, w, eps=0.5, out=bf16))");
}
TEST(RecogniseRmsNorm, KeepsTheMeanOverAnotherAxis) {
  expect_unchanged(
      recognise_rms_norm,
      "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\n"
      "r = rsqrt(add(reduce(square(x:f32[4,4]), axis=0, kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), w)");
}
TEST(RecogniseRmsNorm, KeepsASumInPlaceOfTheMean) {
  expect_unchanged(recognise_rms_norm,
                   "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\n"
                   "r = rsqrt(add(reduce(square(x:f32[3,4]), kind=sum, keep_dim=true), eps))\ny = mul(mul(x, r), w)");
}

TEST(RecogniseRmsNorm, KeepsWhatIsNoNormOfItsRows) {
  const std::string start =
      "w: f32[4] = constant()\neps: f32[] = constant(values=[0.5])\nx: f32[4,4] = input()\nz: f32[4,4] = input()\n";
  for (const char* rest :
       {"r = rsqrt(add(reduce(square(x), kind=mean), eps))\ny = mul(mul(x, r), w)\nreturn y",
        "r = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\ny = mul(mul(z, r), w)\nreturn y",
        "r = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), z)\nreturn y",
        "r = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), e:f32[4,1]))\ny = mul(mul(x, r), w)\nreturn y",
        "g: f32[1] = constant()\nr = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\n"
        "y = mul(mul(x, r), g)\nreturn y",
        "g: f32[1,4] = constant()\nr = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\n"
        "y = mul(mul(x, r), g)\nreturn y",
        "g: f32[2,4,4] = constant()\nr = rsqrt(add(reduce(square(x), kind=mean, keep_dim=true), eps))\n"
        "y = mul(mul(x, r), add(g, w))\nreturn y"})
    expect_unchanged(recognise_rms_norm, start + rest);
}
TEST(RecogniseRmsNorm, KeepsAMeanBelowF32) {
  expect_unchanged(recognise_rms_norm,
                   "w: bf16[4] = constant()\neps: bf16[] = constant(values=[0.5])\n"
                   "r = rsqrt(add(reduce(square(x:bf16[3,4]), kind=mean, keep_dim=true), eps))\ny = mul(mul(x, r), w)");
}
TEST(RecogniseRmsNorm, KeepsAnOffsetThatDiffersByColumn) {
  expect_rewrite(recognise_rms_norm,
                 "w: f32[4] = constant()\no: f32[4] = constant(values=[1,2,3,4])\neps: f32[] = constant(values=[0.5])\n"
                 "r = rsqrt(add(reduce(square(x:f32[3,4]), kind=mean, keep_dim=true), eps))\n"
                 "y = mul(mul(x, r), add(o, w))",
                 "y = rms_norm(x, add(o, w), eps=0.5)");
}
TEST(RecogniseActivations, SiluAndBothGelus) {
  expect_rewrite(recognise_activations, "y = mul(x:f32[9], sigmoid(x))", "y = silu(x)");
  constexpr const char* kGeluNumbers =
      "half: f32[] = constant(values=[0.5])\none: f32[] = constant(values=[1])\nroot: f32[] = "
      "constant(values=[1.41421356])\n"
      "c: f32[] = constant(values=[0.044715])\nthree: f32[] = constant(values=[3])\np: f32[] = "
      "constant(values=[0.79788456])\n";
  expect_rewrite(recognise_activations,
                 std::string(kGeluNumbers) + "y = mul(mul(x:f32[9], half), add(one, erf(div(x, root))))",
                 "y = gelu(x)");
  expect_rewrite(recognise_activations,
                 std::string(kGeluNumbers) + "y = mul(mul(x:f32[9], add(erf(div(x, root)), one)), half)",
                 "y = gelu(x)");
  expect_rewrite(
      recognise_activations,
      std::string(kGeluNumbers) + "y = mul(mul(half, x:f32[9]), add(one, tanh(mul(p, add(x, mul(c, pow(x, three)))))))",
      "y = gelu_tanh(x)");
}
TEST(RecogniseActivations, KeepsProductsWithOtherNumbers) {
  expect_unchanged(recognise_activations,
                   "half: f32[] = constant(values=[0.6])\none: f32[] = constant(values=[1])\nroot: f32[] = "
                   "constant(values=[1.41421356])\n"
                   "y = mul(mul(x:f32[9], half), add(one, erf(div(x, root))))");
  expect_unchanged(recognise_activations, "y = mul(z:f32[9], sigmoid(x:f32[9]))");
}

std::string gelu(const std::string& half, const std::string& one, const std::string& inner) {
  return fmt::format(
      "half: f32[] = constant(values=[{}])\none: f32[] = constant(values=[{}])\n"
      "y = mul(mul(x:f32[9], half), add(one, {}))",
      half, one, inner);
}
std::string number(const std::string& name, const std::string& value) {
  return fmt::format("{}: f32[] = constant(values=[{}])\n", name, value);
}
TEST(RecogniseActivations, KeepsWhatOnlyLooksLikeGelu) {
  const std::string root = number("r", "1.41421356"), inverse = number("r", "0.70710678");
  expect_rewrite(recognise_activations, inverse + gelu("0.5", "1", "erf(mul(x, r))"), "y = gelu(x)");
  expect_unchanged(recognise_activations, root + gelu("0.5", "1.001", "erf(div(x, r))"));
  expect_unchanged(recognise_activations, root + gelu("0.5", "1", "erf(mul(x, r))"));
  expect_unchanged(recognise_activations, inverse + gelu("0.5", "1", "erf(div(x, r))"));
  expect_unchanged(recognise_activations, root + gelu("0.5", "1", "erf(div(z:f32[9], r))"));
  expect_unchanged(recognise_activations, root + gelu("0.5", "1", "tanh(div(x, r))"));
}
TEST(RecogniseActivations, KeepsWhatOnlyLooksLikeGeluTanh) {
  const auto text = [](const std::string& coefficient, const std::string& power, const std::string& root,
                       const std::string& cube) {
    return number("c", coefficient) + number("n", power) + number("p", root) +
           gelu("0.5", "1", fmt::format("tanh(mul(p, add(x, mul(c, {}))))", cube));
  };
  const std::string c = "0.044715", p = "0.79788456";
  expect_rewrite(recognise_activations, text(c, "3", p, "pow(x, n)"), "y = gelu_tanh(x)");
  for (const char* cube : {"mul(square(x), x)", "mul(x, square(x))", "mul(mul(x, x), x)"})
    EXPECT_EQ(expression(run_pass(recognise_activations, graph_of(text(c, "3", p, cube))).graph), "y = gelu_tanh(x)")
        << cube;
  for (const char* other : {"mul(square(n), x)", "mul(square(x), n)", "mul(mul(x, n), x)", "square(x)"})
    expect_unchanged(recognise_activations, text(c, "3", p, other));
  expect_unchanged(recognise_activations, text("0.0447", "3", p, "pow(x, n)"));
  expect_unchanged(recognise_activations, text(c, "2", p, "pow(x, n)"));
  expect_unchanged(recognise_activations, text(c, "3", "0.8", "pow(x, n)"));
  expect_unchanged(recognise_activations, text(c, "3", p, "mul(x, n)"));
}
TEST(RecogniseActivations, TakesNumbersAsTheirTypeHasThem) {
  const auto text = [](const std::string& type, const std::string& coefficient) {
    const auto number = [&](const std::string& name, const std::string& value) {
      return name + ": " + type + "[] = constant(values=[" + value + "])\n";
    };
    return number("c", coefficient) + number("p", "0.79788456") + number("half", "0.5") + number("one", "1") +
           "x: " + type +
           "[9] = input()\ny = mul(mul(x, half), add(tanh(mul(add(x, mul(mul(square(x), x), c)), p)), one))";
  };
  for (const char* type : {"f32", "bf16", "f16"})
    EXPECT_EQ(expression(run_pass(recognise_activations, graph_of(text(type, "0.044715"))).graph), "y = gelu_tanh(x)");
  for (const char* type : {"f32", "bf16", "f16"}) expect_unchanged(recognise_activations, text(type, "0.045"));
}
TEST(RecogniseActivations, KeepsNumbersThatMakeMoreRows) {
  expect_unchanged(recognise_activations, number("one", "1") + number("r", "1.41421356") +
                                              "half: f32[2,1] = constant(values=[0.5,0.5])\n"
                                              "y = mul(mul(x:f32[9], half), add(one, erf(div(x, r))))");
  expect_unchanged(recognise_activations,
                   number("one", "1") + number("c", "0.044715") + number("n", "3") + number("p", "0.79788456") +
                       "half: f32[2,1] = constant(values=[0.5,0.5])\n"
                       "y = mul(mul(x:f32[9], half), add(one, tanh(mul(p, add(x, mul(c, pow(x, n)))))))");
}
constexpr const char* kPooling =
    "eps: f32[] = constant(values=[1e-9])\n"
    "m = cast(broadcast(reshape(mask:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
    "y = div(reduce(mul(x:f32[2,3,4], m), axis=1), max(reduce(m, axis=1), eps))";

TEST(FuseMaskedMean, MaskedSumOverCountBecomesOneOp) {
  expect_rewrite(fuse_masked_mean, kPooling, "y = masked_mean(x, cast(mask))");
}
TEST(FuseMaskedMean, AlsoAfterSimplify) {
  PassRun simple = run_pass(simplify, graph_of(kPooling));
  PassRun run = run_pass(fuse_masked_mean, simple.graph);
  EXPECT_EQ(count_ops(run.graph, "masked_mean"), 1u);
  expect_same_values(graph_of(kPooling), run.graph);
}
TEST(FuseMaskedMean, KeepsACountOfAnotherMask) {
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[] = constant(values=[1e-9])\n"
                   "m = cast(broadcast(reshape(mask:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
                   "n = cast(broadcast(reshape(other:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
                   "y = div(reduce(mul(x:f32[2,3,4], m), axis=1), max(reduce(n, axis=1), eps))");
}
TEST(FuseMaskedMean, KeepsWeightsPerElement) {
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[] = constant(values=[1e-9])\n"
                   "y = div(reduce(mul(x:f32[2,3,4], m:f32[2,3,4]), axis=1), max(reduce(m, axis=1), eps))");
}

std::string pooling(const std::string& sum, const std::string& count,
                    const std::string& eps = "f32[] = constant(values=[1e-9])") {
  return fmt::format(
      "eps: {}\nm = cast(broadcast(reshape(mask:i64[2,3], shape=[2,3,1]), shape=[2,3,4]), to=f32)\n"
      "y = div({}, max({}, eps))\nreturn y",
      eps, sum, count);
}
TEST(FuseMaskedMean, KeepsWhatIsNoMeanOverTokens) {
  const std::string product = "mul(x:f32[2,3,4], m)";
  expect_rewrite(fuse_masked_mean, pooling("reduce(mul(m, x:f32[2,3,4]), axis=1)", "reduce(m, axis=-2)"),
                 "y = masked_mean(x, cast(mask))");
  expect_unchanged(fuse_masked_mean, pooling("reduce(" + product + ", axis=1, kind=mean)", "reduce(m, axis=1)"));
  expect_unchanged(fuse_masked_mean, pooling("reduce(" + product + ", axis=1)", "reduce(m, axis=1, kind=max)"));
  expect_unchanged(fuse_masked_mean,
                   pooling("reduce(" + product + ", axis=1, keep_dim=true)", "reduce(m, axis=1, keep_dim=true)"));
  expect_unchanged(fuse_masked_mean, pooling("reduce(" + product + ", axis=2)", "reduce(m, axis=2)"));
  expect_unchanged(fuse_masked_mean,
                   pooling("reduce(" + product + ", axis=1)", "reduce(m, axis=1)", "f32[2,4] = input()"));
}
TEST(FuseMaskedMean, KeepsAnEpsilonThatMakesMoreRows) {
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[2,4] = constant(values=[1,1,1,1,1,1,1,1])\nm = reshape(mask:f32[1,3], shape=[1,3,1])\n"
                   "y = div(reduce(mul(x:f32[1,3,4], m), axis=1), max(reduce(m, axis=1), eps))");
}
TEST(FuseMaskedMean, KeepsAMaskForEachColumn) {
  expect_unchanged(
      fuse_masked_mean,
      "eps: f32[] = constant(values=[1e-9])\ncount = reduce(reshape(mask:f32[1,4], shape=[1,4,1]), axis=1)\n"
      "y = div(reduce(mul(x:f32[1,4,4], mask), axis=1), max(count, eps))");
  expect_unchanged(fuse_masked_mean,
                   "eps: f32[] = constant(values=[1e-9])\nm = broadcast(reshape(mask:f32[2,4], shape=[2,1,4]), "
                   "shape=[2,3,4])\ny = div(reduce(mul(x:f32[2,3,4], m), axis=1), max(reduce(m, axis=1), eps))");
}
TEST(FusePointwise, ChainBecomesOneSweep) {
  expect_rewrite(fuse_pointwise, "two: f32[] = constant(values=[2])\ny = tanh(add(mul(x:f32[2,3], two), b:f32[3]))",
                 "y = pointwise(b, x, program=\"r2=mul(r1,2);r3=add(r2,r0);r4=tanh(r3)\")");
}
TEST(FusePointwise, HoldsF32BetweenTheOpsThatItJoins) {
  PassRun run = run_pass(fuse_pointwise, graph_of("y = exp(mul(x:bf16[5], z:bf16[5]))"));
  EXPECT_EQ(expression(run.graph), "y = pointwise(x, z, program=\"r2=mul(r0,r1);r3=exp(r2)\", out=bf16)");
}
TEST(FusePointwise, RoundsWhereTheAuthorCasts) {
  expect_equivalent(fuse_pointwise, "y = exp(cast(cast(mul(x:f32[5], z:f32[5]), to=bf16), to=f32))", 0.0);
}
TEST(FusePointwise, HoldsFlagsAsNumbers) {
  expect_equivalent(fuse_pointwise, "y = select(and(lt(a:f32[4], b:f32[4]), c:bool[4]), a, exp(b))");
}
TEST(FusePointwise, StopsAtValuesThatOthersRead) {
  expect_unchanged(fuse_pointwise, "h = exp(x:f32[4])\ny = tanh(h)\nreturn y, h");
}
TEST(FusePointwise, TakesValuesThatOnlyMembersRead) {
  expect_rewrite(fuse_pointwise, "s = exp(mul(x:f32[2,4], x))\ny = mul(tanh(s), s)",
                 "y = pointwise(x, program=\"r1=mul(r0,r0);r2=exp(r1);r3=tanh(r2);r4=mul(r3,r2)\")");
}
TEST(FusePointwise, KeepsValuesThatAnotherOpReadsToo) {
  expect_rewrite(fuse_pointwise, "s = exp(x:f32[2,4])\ny = mul(tanh(s), s)\nz = reduce(s)\nreturn y=y, z=z",
                 "y = pointwise(exp(x), program=\"r1=tanh(r0);r2=mul(r1,r0)\"); z = reduce(exp(x))");
}
TEST(FusePointwise, KeepsSharedValuesOfAnotherShape) {
  expect_rewrite(fuse_pointwise, "s = exp(x:f32[4])\ny = add(tanh(mul(z:f32[2,4], s)), s)",
                 "y = pointwise(exp(x), z, program=\"r2=mul(r1,r0);r3=tanh(r2);r4=add(r3,r0)\")");
}
TEST(FusePointwise, KeepsIntegerArithmetic) { expect_unchanged(fuse_pointwise, "y = add(mul(a:i64[4], b:i64[4]), a)"); }
TEST(FusePointwise, KeepsSmallerOperandsThatAreComputed) {
  expect_unchanged(fuse_pointwise, "y = add(exp(a:f32[4]), b:f32[3,4])");
}
std::string sum_of(int operands) {
  std::string text = "s0 = add(a0:f32[4], b:f32[4])\n";
  for (int i = 1; i < operands - 1; ++i)
    text += "s" + std::to_string(i) + " = add(s" + std::to_string(i - 1) + ", a" + std::to_string(i) + ":f32[4])\n";
  return text;
}
TEST(FusePointwise, ReadsAtMostSixteenOperands) {
  PassRun run = run_pass(fuse_pointwise, graph_of(sum_of(20)));
  for (NodeId id : run.graph.order()) EXPECT_LE(run.graph[id].operands.size(), 16u);
  EXPECT_EQ(count_ops(run.graph, "pointwise"), 2u);
  expect_same_values(graph_of(sum_of(20)), run.graph);
}
TEST(FusePointwise, ReadsEightOperandsWhereNoRowReadsMore) {
  PassRun run = run_pass(fuse_pointwise, graph_of(sum_of(13)), [](const Op&, std::span<const Type> operands) {
    return operands.size() > 8 ? reject("more than 8 operands") : accept();
  });
  for (NodeId id : run.graph.order()) EXPECT_LE(run.graph[id].operands.size(), 8u);
  EXPECT_EQ(count_ops(run.graph, "pointwise"), 2u);
  expect_same_values(graph_of(sum_of(13)), run.graph);
}
TEST(FusePointwise, TakesFormulas) {
  expect_rewrite(fuse_pointwise, "y = mul(formula(formula(x:f32[3], kind=tan), z:f32[3], kind=atan2), x)",
                 "y = pointwise(x, z, program=\"r2=tan(r0);r3=atan2(r2,r1);r4=mul(r3,r0)\")");
}
TEST(FusePointwise, LeavesFormulasOutWhereNoRowComputesThem) {
  PassRun run = run_pass(fuse_pointwise, graph_of("y = exp(mul(formula(neg(abs(x:f32[3])), kind=tan), x))"),
                         [](const Op& op, std::span<const Type>) {
                           const bool formula = as<Pointwise>(op)->program.find("tan") != std::string::npos;
                           return formula ? reject("no formulas") : accept();
                         });
  EXPECT_EQ(count_ops(run.graph, "pointwise"), 2u);
  EXPECT_EQ(count_ops(run.graph, "formula"), 1u);
}
TEST(FusePointwise, KeepsFormulasOfIntegers) {
  expect_unchanged(fuse_pointwise, "y = formula(formula(a:i32[4], b:i32[4], kind=xor), b, kind=fmod)");
}
TEST(FusePointwise, KeepsNumbersThatMakeTheResultLarger) {
  expect_unchanged(fuse_pointwise, "c: f32[2,1] = constant(values=[2,2])\ny = tanh(mul(x:f32[3], c))");
}
TEST(FusePointwise, TurnsNumbersIntoFlags) {
  expect_equivalent(fuse_pointwise, "y = cast(cast(mul(x:f32[5], z:f32[5]), to=bool), to=f32)", 0.0);
}
TEST(FusePointwise, ReadsWideIntegersOutside) { expect_unchanged(fuse_pointwise, "y = exp(cast(i:i64[4], to=f32))"); }
TEST(FusePointwise, LeavesConstantExpressionsToThePlan) {
  expect_unchanged(fuse_pointwise, "w: f32[4] = constant()\ny = mul(x:f32[4], exp(neg(w)))");
}

}  // namespace
}  // namespace rung::test
