// Regions of what is left: norms, softmaxes and statistics in other spellings, with their neighbours.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using passes::form_regions;

std::string region(const std::string& operands, const std::string& program) {
  return fmt::format("region({}, program=\"{}\")", operands, program);
}
void expect_region(const std::string& before, const std::string& after, double tolerance = 1e-6) {
  Graph graph = graph_of(before);
  PassRun run = run_pass(form_regions, graph);
  EXPECT_EQ(expression(run.graph), after);
  expect_same_values(graph, run.graph, tolerance);
}

TEST(FormRegions, LogSoftmaxIsOneSweep) {
  expect_region(
      "s = sub(x:f32[3,4], reduce(x, kind=max, keep_dim=true))\n"
      "y = sub(s, log(reduce(exp(s), keep_dim=true)))",
      "y = " + region("x",
                      "r1=row_max(r0);r2=sub(r0,r1);r3=exp(r2);r4=row_sum(r3);r5=log(r4);r6=sub(r2,r5);"
                      "return r6:f32"));
}
TEST(FormRegions, SoftmaxTakesScalesAndCaps) {
  expect_region("cap: f32[] = constant(values=[30])\ny = softmax(mul(tanh(div(x:f32[3,4], cap)), cap))",
                "y = " + region("x",
                                "r1=div(r0,30);r2=tanh(r1);r3=mul(r2,30);r4=row_max(r3);r5=sub(r3,r4);r6=exp(r5);"
                                "r7=row_sum(r6);r8=reciprocal(r7);r9=mul(r6,r8);return r9:f32"));
}
TEST(FormRegions, SoftmaxTakesAProgramAndAMask) {
  expect_region("p = pointwise(x:f32[2,3,4], m:f32[4], program=\"r2=mul(r0,0.5);r3=add(r2,r1)\")\ny = softmax(p)",
                "y = " + region("x, m",
                                "r2=mul(r0,0.5);r3=add(r2,r1);r4=row_max(r3);r5=sub(r3,r4);r6=exp(r5);"
                                "r7=row_sum(r6);r8=reciprocal(r7);r9=mul(r6,r8);return r9:f32"));
}
TEST(FormRegions, GroupNormTakesItsStatistics) {
  expect_region(
      "eps: f32[] = constant(values=[0.5])\nx: f32[2,8,3,3] = input()\ng = reshape(x, shape=[2,4,18])\n"
      "d = sub(g, reduce(g, kind=mean, keep_dim=true))\nv = reduce(square(d), kind=mean, keep_dim=true)\n"
      "n = mul(d, rsqrt(add(v, eps)))\ny = mul(reshape(n, shape=[2,8,3,3]), w:f32[8,1,1])",
      "y = mul(reshape(" +
          region("reshape(x, shape=[2,4,18])",
                 "r1=row_mean(r0);r2=sub(r0,r1);r3=square(r2);r4=row_mean(r3);"
                 "r5=add(r4,0.5);r6=rsqrt(r5);r7=mul(r2,r6);return r7:f32") +
          ", shape=[2,8,3,3]), w)");
}
TEST(FormRegions, LengthsWithoutTheirAxisReachTheirRows) {
  expect_region(
      "eps: f32[] = constant(values=[0.25])\nlength = sqrt(add(reduce(square(x:f32[2,3,4])), eps))\n"
      "y = div(x, reshape(length, shape=[2,3,1]))",
      "y = " + region("x", "r1=square(r0);r2=row_sum(r1);r3=add(r2,0.25);r4=sqrt(r3);r5=div(r0,r4);return r5:f32"));
}
TEST(FormRegions, L2NormalizeTakesItsNeighbours) {
  expect_region("y = mul(l2_normalize(add(x:f32[3,4], b:f32[4]), eps=0.5), s:f32[3,1])",
                "y = " + region("x, b, s",
                                "r3=add(r0,r1);r4=square(r3);r5=row_sum(r4);r6=sqrt(r5);r7=max(r6,0.5);"
                                "r8=div(r3,r7);r9=mul(r8,r2);return r9:f32"));
}
const std::string kNorm = "y0 = layer_norm(x:f32[3,4], w:f32[4], b:f32[4], eps=0.5)\n";
TEST(FormRegions, NormsTakeTheirNeighbours) {
  expect_region(
      kNorm + "y = gelu(y0)",
      "y = " + region("x, w, b",
                      "r3=row_mean(r0);r4=sub(r0,r3);r5=square(r4);r6=row_mean(r5);r7=add(r6,0.5);r8=rsqrt(r7);"
                      "r9=mul(r4,r8);r10=mul(r9,r1);r11=add(r10,r2);r12=gelu(r11);return r12:f32"));
  expect_region("y = sigmoid(rms_norm(mul(x:f32[3,4], g:f32[3,4]), w:f32[4], eps=0.5, weight_offset=1))",
                "y = " + region("x, g, w",
                                "r3=mul(r0,r1);r4=square(r3);r5=row_mean(r4);r6=add(r5,0.5);r7=rsqrt(r6);r8=mul(r3,r7);"
                                "r9=add(r2,1);r10=mul(r8,r9);r11=sigmoid(r10);return r11:f32"));
}
TEST(FormRegions, NormsOfResidualsAndOtherTypesJoin) {
  for (const char* text : {"n = layer_norm(x:f32[3,4], r:f32[3,4], w:f32[4], b:f32[4], slots=residual)\ny = tanh(n)",
                           "n = layer_norm(x:f32[3,4], w:bf16[4], b:bf16[4], out=bf16)\ny = mul(n, s:bf16[3,1])",
                           "n = rms_norm(x:bf16[3,4], w:f32[4], out=bf16)\ny = cast(n, to=f32)\nz = exp(y)"})
    expect_equivalent(form_regions, text, 0x1p-7);
}
TEST(FormRegions, NormsOfOneValueShareItsStatistics) {
  const Graph graph = graph_of(
      "x = add(u:f32[3,4], v:f32[3,4])\na = rms_norm(x, w:f32[4], eps=0.5)\nc = rms_norm(x, g:f32[4], eps=0.5)\n"
      "return a, c");
  const PassRun run = run_pass(form_regions, graph);
  expect_same_values(graph, run.graph);
  EXPECT_THAT(expression(run.graph),
              testing::StartsWith("a = " + region("u, v, w, g",
                                                  "r4=add(r0,r1);r5=square(r4);r6=row_mean(r5);r7=add(r6,0.5);"
                                                  "r8=rsqrt(r7);r9=mul(r4,r8);r10=mul(r9,r2);r11=mul(r9,r3);"
                                                  "return r10:f32,r11:f32")));
}
TEST(FormRegions, LeavesANormAlone) { expect_unchanged(form_regions, kNorm + "y = matmul(y0, m:f32[4,5])"); }
TEST(FormRegions, MeanAndVarianceAreTwoResults) {
  const std::string both =
      region("x", "r1=row_mean(r0);r2=sub(r0,r1);r3=square(r2);r4=row_mean(r3);return r1:f32,r4:f32");
  expect_region(
      "m = reduce(x:f32[3,4], kind=mean, keep_dim=true)\nv = reduce(square(sub(x, m)), kind=mean)\nreturn m=m, v=v",
      "m = " + both + "; v = reshape(result(" + both + "), shape=[3])");
}
TEST(FormRegions, ASumAndItsNormAreTwoResults) {
  const std::string both =
      region("x, r, w",
             "r3=add(r0,r1);r4=square(r3);r5=row_mean(r4);r6=add(r5,0.5);r7=rsqrt(r6);r8=mul(r3,r7);r9=mul(r8,r2);"
             "return r3:f32,r9:f32");
  expect_region(
      "eps: f32[] = constant(values=[0.5])\nw: f32[4] = constant()\nh = add(x:f32[3,4], r:f32[3,4])\n"
      "y = mul(mul(h, rsqrt(add(reduce(square(h), kind=mean, keep_dim=true), eps))), w)\nreturn h=h, y=y",
      "h = " + both + "; y = result(" + both + ")");
}
TEST(FormRegions, RowsOfAnotherValueMeetTheRegions) {
  expect_region("y = mul(reduce(exp(x:f32[3,4])), s:f32[3])",
                "y = reshape(" +
                    region("x, reshape(s, shape=[3,1])", "r2=exp(r0);r3=row_sum(r2);r4=mul(r3,r1);return r4:f32") +
                    ", shape=[3])");
}
TEST(FormRegions, ElementsOfTwoResultsAreOneRegion) {
  const std::string both = region("x, z", "r2=exp(r0);r3=mul(r2,r1);return r2:f32,r3:f32");
  expect_region("a = exp(x:f32[3,4])\nb = mul(a, z:f32[4])\nreturn a=a, b=b",
                "a = " + both + "; b = result(" + both + ")");
}
TEST(FormRegions, TheAuthorsCastsRound) {
  expect_region(
      "wide = cast(x:bf16[3,4])\nn = cast(mul(wide, rsqrt(reduce(square(wide), kind=mean, keep_dim=true))), to=bf16)\n"
      "y = mul(n, w:bf16[4])",
      "y = " + region("x, w",
                      "r2=square(r0);r3=row_mean(r2);r4=rsqrt(r3);r5=mul(r0,r4);r6=bf16(r5);r7=mul(r6,r1);"
                      "return r7:bf16"));
}
TEST(FormRegions, ChainsOfHalvesStayInF32BetweenCasts) {
  expect_region("y = softmax(mul(x:f16[3,4], z:f16[3,4]))",
                "y = " + region("x, z",
                                "r2=mul(r0,r1);r3=row_max(r2);r4=sub(r2,r3);r5=exp(r4);r6=row_sum(r5);"
                                "r7=reciprocal(r6);r8=mul(r5,r7);return r8:f16"),
                2e-3);
}
TEST(FormRegions, TakesWhatAProductReadsAndAnotherWrites) {
  const std::string softmax = region("linear(x, w)",
                                     "r1=mul(r0,0.5);r2=row_max(r1);r3=sub(r1,r2);r4=exp(r3);"
                                     "r5=row_sum(r4);r6=reciprocal(r5);r7=mul(r4,r6);return r7:f32");
  expect_region(
      "half: f32[] = constant(values=[0.5])\nw: f32[4,4] = constant()\ny = linear(softmax(mul(linear(x:f32[3,4], w), "
      "half)), w)",
      "y = linear(" + softmax + ", w)");
}

TEST(FormRegions, TakesRunningSums) {
  expect_region("y = exp(cumsum(mul(x:f32[3,4], z:f32[4])))",
                "y = " + region("x, z", "r2=mul(r0,r1);r3=row_cumsum(r2);r4=exp(r3);return r4:f32"));
}
TEST(FormRegions, KeepsRunningSumsAlongAnotherAxis) {
  expect_unchanged(form_regions, "y = exp(cumsum(x:f32[3,4], axis=0))");
  expect_unchanged(form_regions, "y = cumsum(x:f32[3,4])");
}
TEST(FormRegions, LeavesRunningSumsOutWhereRefused) {
  const KernelQuery without = [](const Op& op, std::span<const Type>) {
    const auto* made = as<Region>(op);
    return made && made->program.find("cumsum") != std::string::npos ? reject("no scans here") : accept();
  };
  PassRun run = run_pass(form_regions, graph_of("y = cumsum(softmax(mul(x:f32[3,4], z:f32[4])))"), without);
  EXPECT_EQ(count_ops(run.graph, "region"), 1u);
  EXPECT_EQ(count_ops(run.graph, "cumsum"), 1u);
}

TEST(FormRegions, LeavesASingleOpToItsOwnKernels) {
  for (const char* text : {"y = softmax(x:f32[3,4])", "y = reduce(x:f32[3,4])", "y = l2_normalize(x:f32[3,4])",
                           "y = exp(x:f32[3,4])", "y = exp(neg(x:f32[3,4]))"})
    expect_unchanged(form_regions, text);
}
TEST(FormRegions, OpsWithoutAKernelAreRegions) {
  const KernelQuery no_maximum = [](const Op& op, std::span<const Type>) {
    return as<Reduce>(op) ? reject("no") : accept();
  };
  const Graph graph = graph_of("y = reduce(x:f32[3,4], kind=max)");
  EXPECT_EQ(expression(run_pass(form_regions, graph, no_maximum).graph),
            "y = reshape(" + region("x", "r1=row_max(r0);return r1:f32") + ", shape=[3])");
}
TEST(FormRegions, KeepsReductionsAlongAnotherAxis) {
  expect_unchanged(form_regions, "y = div(x:f32[3,4], reduce(x, axis=0, keep_dim=true))");
  expect_unchanged(form_regions, "y = exp(softmax(x:f32[3,4], axis=0))");
}
TEST(FormRegions, KeepsRowsThatABroadcastAloneMakes) {
  expect_unchanged(form_regions, "y = softmax(broadcast(x:f32[2,1,4], shape=[2,3,4]))");
  expect_unchanged(form_regions, "b = broadcast(x:f32[2,1,4], shape=[2,3,4])\nreturn p=exp(b), q=neg(b)");
}
TEST(FormRegions, KeepsRowsThatLieAlongTheLastAxis) {
  expect_unchanged(form_regions, "y = sub(x:f32[3,3], reduce(x))");
}
TEST(FormRegions, KeepsIntegers) {
  expect_unchanged(form_regions, "y = add(reduce(x:i64[3,4], keep_dim=true), x)");
  expect_unchanged(form_regions, "a = add(x:i64[3,4], x)\nb = neg(a)\nreturn a=a, b=b");
}
TEST(FormRegions, KeepsWhatAnotherOpStandsBetween) {
  expect_unchanged(form_regions,
                   "w: f32[1,1] = constant()\ny = sub(x:f32[3,4], linear(reduce(x, kind=max, keep_dim=true), w))");
}
TEST(FormRegions, EndsBeforeWhatReadsItsResult) {
  const std::string softmax = region("x",
                                     "r1=neg(r0);r2=row_max(r1);r3=sub(r1,r2);r4=exp(r3);r5=row_sum(r4);r6=reciprocal("
                                     "r5);r7=mul(r4,r6);return r7:f32");
  expect_region("w: f32[4,4] = constant()\ns = softmax(neg(x:f32[3,4]))\ny = add(s, linear(s, w))",
                "y = add(" + softmax + ", linear(" + softmax + ", w))");
}
TEST(FormRegions, KeepsRowsThatOnlyANumberWidens) {
  expect_unchanged(form_regions,
                   "wide: f32[1,1,2,2] = constant(values=[3,3,3,3])\n"
                   "p = mul(x:f32[2,1,1,2], wide)\nq = tanh(p)\nreturn p=p, q=q");
}
TEST(FormRegions, KeepsWhatIsConstant) {
  expect_unchanged(form_regions, "w: f32[3,4] = constant()\ny = linear(x:f32[2,4], softmax(neg(w)))");
}
TEST(FormRegions, AsksForAKernel) {
  const KernelQuery never = [](const Op&, std::span<const Type>) { return reject("none here"); };
  PassRun run = run_pass(form_regions, graph_of("y = softmax(neg(x:f32[3,4]))"), never);
  EXPECT_EQ(expression(run.graph), "y = softmax(neg(x))");
  EXPECT_EQ(run.notes, std::vector<std::string>{"not fused into region: none here"});
}
TEST(FormRegions, BoundsOperands) {
  std::string text = "s = softmax(a0:f32[3,4])\n";
  for (int i = 1; i <= 9; ++i)
    text += fmt::format("{} = add({}, a{}:f32[3,4])\n", i == 9 ? "y" : fmt::format("s{}", i),
                        i == 1 ? "s" : fmt::format("s{}", i - 1), i);
  Graph graph = graph_of(text);
  PassRun run = run_pass(form_regions, graph);
  for (NodeId id : run.graph.order()) EXPECT_LE(run.graph[id].operands.size(), 8u);
  EXPECT_EQ(count_ops(run.graph, "region"), 1u);
  expect_same_values(graph, run.graph);
}

}  // namespace
}  // namespace rung::test
