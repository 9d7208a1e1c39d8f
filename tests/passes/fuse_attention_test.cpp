// Attention as authors write it: rotary embeddings, grouped heads, masks, caches.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/random.hpp"
#include "passes/passes.hpp"
#include "passes/support.hpp"
#include "reference/evaluate.hpp"

namespace rung::test {
namespace {

using passes::fuse_attention;
using passes::recognise_rope;

constexpr const char* kPlainAttention =
    "scale: f32[] = constant(values=[0.5])\n"
    "q = transpose(reshape(a:f32[1,6,8], shape=[1,6,2,4]), permutation=[0,2,1,3])\n"
    "k = transpose(reshape(b:f32[1,5,8], shape=[1,5,2,4]), permutation=[0,2,1,3])\n"
    "v = transpose(reshape(c:f32[1,5,8], shape=[1,5,2,4]), permutation=[0,2,1,3])\n"
    "s = mul(matmul(q, transpose(k, permutation=[0,1,3,2])), scale)\n"
    "y = transpose(matmul(softmax(s), v), permutation=[0,2,1,3])";

TEST(FuseAttention, ReadsQueriesKeysAndValuesUntransposed) {
  expect_rewrite(fuse_attention, kPlainAttention,
                 "y = attention(reshape(a, shape=[1,6,2,4]), reshape(b, shape=[1,5,2,4]), reshape(c, shape=[1,5,2,4]), "
                 "scale=0.5)");
}
TEST(FuseAttention, TakesMaskAndDivisionInAnyOrder) {
  expect_rewrite(fuse_attention,
                 "root: f32[1] = constant(values=[4])\n"
                 "s = div(add(mask:f32[1,1,6,5], matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), root)\n"
                 "y = matmul(softmax(s), v:f32[1,2,5,4])",
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), mul(mask, 0.25), transpose(kt, "
                 "permutation=[0,3,1,2]), "
                 "transpose(v, permutation=[0,2,1,3]), slots=mask, scale=0.25), permutation=[0,2,1,3])");
  expect_rewrite(
      fuse_attention,
      "y = matmul(softmax(add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5])), v:f32[1,2,5,4])",
      "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), mask, transpose(kt, permutation=[0,3,1,2]), "
      "transpose(v, permutation=[0,2,1,3]), slots=mask), permutation=[0,2,1,3])");
}
TEST(FuseAttention, AddsABiasOfPositionsToTheMask) {
  expect_rewrite(fuse_attention,
                 "s = add(add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), bias:f32[1,2,6,5]), mask:f32[1,1,6,5])\n"
                 "y = matmul(softmax(s), v:f32[1,2,5,4])",
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), add(bias, mask), transpose(kt, "
                 "permutation=[0,3,1,2]), transpose(v, permutation=[0,2,1,3]), slots=mask), permutation=[0,2,1,3])");
}
TEST(FuseAttention, TakesScalesOfBothSides) {
  expect_rewrite(fuse_attention,
                 "half: f32[] = constant(values=[0.5])\n"
                 "y = matmul(softmax(matmul(mul(q:f32[1,2,6,4], half), mul(kt:f32[1,2,4,5], half))), v:f32[1,2,5,4])",
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), transpose(kt, permutation=[0,3,1,2]), "
                 "transpose(v, permutation=[0,2,1,3]), scale=0.25), permutation=[0,2,1,3])");
}
constexpr const char* kFusedWithMask =
    "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), mask, transpose(kt, permutation=[0,3,1,2]), "
    "transpose(v, permutation=[0,2,1,3]), slots=mask), permutation=[0,2,1,3])";
TEST(FuseAttention, DropsGuardsOfRowsWithoutKeys) {
  expect_rewrite(fuse_attention,
                 "zero: f32[] = constant(values=[0])\n"
                 "s = add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5])\n"
                 "p = softmax(s)\n"
                 "y = matmul(select(ne(p, p), zero, p), v:f32[1,2,5,4])",
                 kFusedWithMask);
  expect_rewrite(fuse_attention,
                 "zero: f32[] = constant(values=[0])\n"
                 "none: f32[] = constant(values=[-inf])\n"
                 "s = add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5])\n"
                 "key = cast(reduce(cast(not(eq(s, none)), to=f32), kind=max, axis=3, keep_dim=true), to=bool)\n"
                 "y = matmul(select(not(key), zero, softmax(s)), v:f32[1,2,5,4])",
                 kFusedWithMask);
}
TEST(FuseAttention, KeepsGuardsOfOtherRows) {
  expect_unchanged(fuse_attention,
                   "zero: f32[] = constant(values=[0])\n"
                   "s = add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5])\n"
                   "y = matmul(select(ne(s, s), zero, softmax(s)), v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention,
                   "zero: f32[] = constant(values=[0])\n"
                   "few: f32[] = constant(values=[-100])\n"
                   "s = add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5])\n"
                   "key = cast(reduce(cast(not(eq(s, few)), to=f32), kind=max, axis=3, keep_dim=true), to=bool)\n"
                   "y = matmul(select(not(key), zero, softmax(s)), v:f32[1,2,5,4])");
}
TEST(FuseAttention, ReadsRepeatedHeadsWhereTheyStand) {
  expect_rewrite(
      fuse_attention,
      "k = reshape(broadcast(reshape(a:f32[1,2,5,8], shape=[1,2,1,5,8]), shape=[1,2,3,5,8]), shape=[1,6,5,8])\n"
      "v = reshape(broadcast(reshape(b:f32[1,2,5,8], shape=[1,2,1,5,8]), shape=[1,2,3,5,8]), shape=[1,6,5,8])\n"
      "y = attention(transpose(q:f32[1,6,4,8], permutation=[0,2,1,3]), transpose(k, permutation=[0,2,1,3]), "
      "transpose(v, permutation=[0,2,1,3]))",
      "y = attention(transpose(q, permutation=[0,2,1,3]), transpose(a, permutation=[0,2,1,3]), transpose(b, "
      "permutation=[0,2,1,3]))");
}
TEST(FuseAttention, KeepsRepeatsOfOneSideAlone) {
  expect_unchanged(
      fuse_attention,
      "k = reshape(broadcast(reshape(a:f32[1,2,5,8], shape=[1,2,1,5,8]), shape=[1,2,3,5,8]), shape=[1,6,5,8])\n"
      "y = attention(transpose(q:f32[1,6,4,8], permutation=[0,2,1,3]), transpose(k, permutation=[0,2,1,3]), "
      "transpose(v:f32[1,6,5,8], permutation=[0,2,1,3]))");
}
TEST(FuseAttention, ReadsKeysWhereOnlyValuesStandRight) {
  expect_rewrite(fuse_attention,
                 "y = attention(q:f32[1,4,6,8], transpose(cast(k:bf16[1,2,5,8], to=f32), permutation=[0,2,1,3]), "
                 "v:f32[1,5,2,8])",
                 "y = attention(q, cast(transpose(k, permutation=[0,2,1,3])), v)");
}
// The heads of keys are repeated before they are turned; those of values, of the same shape, are tokens.
TEST(FuseAttention, KeepsRepeatsBesideValuesThatStandRight) {
  expect_unchanged(
      fuse_attention,
      "k = reshape(broadcast(reshape(a:f32[1,2,6,8], shape=[1,2,1,6,8]), shape=[1,2,3,6,8]), shape=[1,6,6,8])\n"
      "y = attention(q:f32[1,4,6,8], transpose(k, permutation=[0,2,1,3]), v:f32[1,6,6,8])");
}
TEST(FuseAttention, ReadsJoinedKeysOfAnAttentionAsSegments) {
  expect_rewrite(fuse_attention,
                 "k = concat(kc:f32[1,2,3,4], kn:f32[1,2,2,4], axis=2)\n"
                 "v = concat(vc:f32[1,2,3,4], vn:f32[1,2,2,4], axis=2)\n"
                 "y = attention(q:f32[1,6,2,4], transpose(k, permutation=[0,2,1,3]), transpose(v, "
                 "permutation=[0,2,1,3]))",
                 "y = attention(q, transpose(kc, permutation=[0,2,1,3]), transpose(vc, permutation=[0,2,1,3]), "
                 "transpose(kn, permutation=[0,2,1,3]), transpose(vn, permutation=[0,2,1,3]), segments=2)");
}
TEST(FuseAttention, KeepsKeysJoinedOfOtherPartsThanValues) {
  expect_unchanged(fuse_attention,
                   "y = attention(q:f32[1,6,2,4], concat(kc:f32[1,3,2,4], kn:f32[1,2,2,4], axis=1), "
                   "concat(vc:f32[1,2,2,4], vn:f32[1,3,2,4], axis=1))");
}
// The one difference that fusing makes: no key gives NaN before and zeros after. Other queries keep their values.
TEST(FuseAttention, GivesQueriesWithoutKeysZerosInsteadOfNans) {
  const Graph before =
      graph_of("y = matmul(softmax(add(matmul(q:f32[1,1,2,4], kt:f32[1,1,4,3]), mask:f32[2,3])), v:f32[1,1,3,4])");
  const Graph after = run_pass(fuse_attention, before).graph;
  ASSERT_EQ(count_ops(after, "attention"), 1u);
  std::map<std::string, Tensor, std::less<>> inputs{
      {"mask", Tensor::of<float>({2, 3}, {0, 0, 0, -INFINITY, -INFINITY, -INFINITY})}};
  for (const char* name : {"q", "kt", "v"}) {
    Tensor values(before.type(before.input_named(name)));
    for (size_t i = 0; i < values.as<float>().size(); ++i) values.as<float>()[i] = random_normal(1, i);
    inputs[name] = values;
  }
  const Tensor written = evaluate(before, inputs)->at(0), fused = evaluate(after, inputs)->at(0);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(fused.as<float>()[i], written.as<float>()[i], 1e-6) << i;
  for (size_t i = 4; i < 8; ++i) EXPECT_TRUE(std::isnan(written.as<float>()[i]) && fused.as<float>()[i] == 0) << i;
}
// Axes of what keys are made of move as the keys' own do, by a permutation that is not its own inverse.
TEST(FuseAttention, ReadsKeysThatAreJoinedOrCutUntransposed) {
  const char* after =
      "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), {}, "
      "transpose(v, permutation=[0,2,1,3])), permutation=[0,2,1,3])";
  expect_rewrite(fuse_attention,
                 "kt = concat(a:f32[1,2,4,3], b:f32[1,2,4,2], axis=3)\n"
                 "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt)), v:f32[1,2,5,4])",
                 fmt::format(fmt::runtime(after),
                             "concat(transpose(a, permutation=[0,3,1,2]), "
                             "transpose(b, permutation=[0,3,1,2]), axis=1)"));
  expect_rewrite(
      fuse_attention,
      "kt = slice(a:f32[1,2,4,7], axis=3, begin=1, end=6)\n"
      "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt)), v:f32[1,2,5,4])",
      fmt::format(fmt::runtime(after), "slice(transpose(a, permutation=[0,3,1,2]), axis=1, begin=1, end=6)"));
}

TEST(FuseAttention, SeesThroughCastsBetweenFloatTypes) {
  PassRun run = run_pass(fuse_attention, graph_of("s = cast(matmul(q:bf16[1,2,6,4], kt:bf16[1,2,4,5]), to=f32)\n"
                                                  "y = matmul(cast(softmax(s), to=bf16), v:bf16[1,2,5,4])"));
  EXPECT_EQ(count_ops(run.graph, "attention"), 1u);
  EXPECT_EQ(count_ops(run.graph, "cast"), 0u);
}
TEST(FuseAttention, SharesKeyHeadsInsteadOfRepeatingThem) {
  expect_rewrite(
      fuse_attention,
      "k = reshape(broadcast(reshape(b:f32[1,1,5,4], shape=[1,1,1,5,4]), shape=[1,1,2,5,4]), shape=[1,2,5,4])\n"
      "v = reshape(broadcast(reshape(c:f32[1,1,5,4], shape=[1,1,1,5,4]), shape=[1,1,2,5,4]), shape=[1,2,5,4])\n"
      "y = matmul(softmax(matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))), v)",
      "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), transpose(b, permutation=[0,2,1,3]), "
      "transpose(c, permutation=[0,2,1,3])), permutation=[0,2,1,3])");
}
// Heads behind the tokens, as authors have them who turn keys and values late.
TEST(FuseAttention, SharesKeyHeadsThatStandBehindTokens) {
  expect_rewrite(
      fuse_attention,
      "k = reshape(broadcast(reshape(b:f32[1,5,2,4], shape=[1,5,2,1,4]), shape=[1,5,2,3,4]), shape=[1,5,6,4])\n"
      "v = reshape(broadcast(reshape(c:f32[1,5,2,4], shape=[1,5,2,1,4]), shape=[1,5,2,3,4]), shape=[1,5,6,4])\n"
      "y = matmul(softmax(matmul(q:f32[1,6,3,4], transpose(k, permutation=[0,2,3,1]))), transpose(v, "
      "permutation=[0,2,1,3]))",
      "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), b, c), permutation=[0,2,1,3])");
}
// Groups that alternate, of which every third is the same.
TEST(FuseAttention, KeepsGroupsThatAreTiledBehindTokens) {
  const std::string text =
      "k = reshape(broadcast(reshape(b:f32[1,5,2,4], shape=[1,5,1,2,4]), shape=[1,5,3,2,4]), shape=[1,5,6,4])\n"
      "v = reshape(broadcast(reshape(c:f32[1,5,2,4], shape=[1,5,1,2,4]), shape=[1,5,3,2,4]), shape=[1,5,6,4])\n"
      "y = matmul(softmax(matmul(q:f32[1,6,3,4], transpose(k, permutation=[0,2,3,1]))), transpose(v, "
      "permutation=[0,2,1,3]))";
  EXPECT_EQ(count_ops(run_pass(fuse_attention, graph_of(text)).graph, "broadcast"), 2u);
  expect_equivalent(fuse_attention, text);
}
std::string selected(const std::string& low) {
  return "low: f32[] = constant(values=[" + low + "])\n" +
         "y = matmul(softmax(select(m:bool[1,1,6,5], matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), low)), v:f32[1,2,5,4])";
}
TEST(FuseAttention, TakesSelectedScoresForAMask) {
  const PassRun run = run_pass(fuse_attention, graph_of(selected("-1e+38")));
  EXPECT_EQ(count_ops(run.graph, "attention"), 1u);
  EXPECT_EQ(count_ops(run.graph, "softmax"), 0u);
  expect_equivalent(fuse_attention, selected("-1e+38"));
}
TEST(FuseAttention, KeepsSelectionsOfNumbersThatScoresReach) { expect_unchanged(fuse_attention, selected("-10000")); }
TEST(FuseAttention, KeepsSelectionsBesideAnotherMask) {
  const char* low = "low: f32[] = constant(values=[-1e+38])\n";
  expect_unchanged(fuse_attention,
                   std::string(low) +
                       "y = matmul(softmax(select(m:bool[6,5], add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), "
                       "n:f32[6,5]), low)), v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention,
                   std::string(low) +
                       "y = matmul(softmax(add(select(m:bool[6,5], matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), low), "
                       "n:f32[6,5])), v:f32[1,2,5,4])");
}
TEST(FuseAttention, ReadsCachedAndNewKeysAsSegments) {
  expect_rewrite(
      fuse_attention,
      "k = concat(kc:f32[1,2,3,4], kn:f32[1,2,2,4], axis=2)\nv = concat(vc:f32[1,2,3,4], vn:f32[1,2,2,4], axis=2)\n"
      "y = matmul(softmax(matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))), v)",
      "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), transpose(kc, permutation=[0,2,1,3]), "
      "transpose(vc, permutation=[0,2,1,3]), transpose(kn, permutation=[0,2,1,3]), transpose(vn, "
      "permutation=[0,2,1,3]), "
      "segments=2), permutation=[0,2,1,3])");
}
TEST(FuseAttention, CopiesTheCacheWhereNoKernelReadsSegments) {
  auto one_segment = [](const Op& op, std::span<const Type>) {
    const auto* attention = as<Attention>(op);
    return attention && attention->segments > 1 ? reject("one segment only") : accept();
  };
  PassRun run = run_pass(
      fuse_attention,
      graph_of(
          "k = concat(kc:f32[1,2,3,4], kn:f32[1,2,2,4], axis=2)\nv = concat(vc:f32[1,2,3,4], vn:f32[1,2,2,4], axis=2)\n"
          "y = matmul(softmax(matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))), v)"),
      one_segment);
  EXPECT_EQ(count_ops(run.graph, "attention"), 1u);
  EXPECT_EQ(count_ops(run.graph, "concat"), 2u);
  EXPECT_EQ(run.notes.at(0), "not fused into attention: one segment only");
}
TEST(FuseAttention, KeepsSoftmaxThatHasAnotherReader) {
  expect_unchanged(fuse_attention,
                   "w = softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]))\ny = matmul(w, v:f32[1,2,5,4])\nreturn y, w");
}
TEST(FuseAttention, KeepsSoftmaxOverQueries) {
  expect_unchanged(fuse_attention,
                   "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), axis=2), v:f32[1,2,5,4])");
}
TEST(FuseAttention, KeepsScalesThatDifferPerKey) {
  expect_unchanged(fuse_attention,
                   "w: f32[5] = constant(values=[1,2,3,4,5])\ny = matmul(softmax(mul(matmul(q:f32[1,2,6,4], "
                   "kt:f32[1,2,4,5]), w)), v:f32[1,2,5,4])");
}
TEST(FuseAttention, ChangesNothingWithoutAKernel) {
  auto never = [](const Op&, std::span<const Type>) { return reject("no"); };
  Graph graph = graph_of(kPlainAttention);
  EXPECT_EQ(expression(run_pass(fuse_attention, graph, never).graph), expression(graph));
}
TEST(FuseAttention, TransposesOncePerValueThatManyRead) {
  PassRun run = run_pass(
      fuse_attention,
      graph_of("k = rope(b:f32[1,2,5,4], cos:f32[5,4], sin:f32[5,4])\nkt = transpose(k, permutation=[0,1,3,2])\n"
               "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt)), v:f32[1,2,5,4])\n"
               "z = matmul(softmax(matmul(p:f32[1,2,6,4], kt)), v)\nreturn y, z"));
  EXPECT_EQ(count_ops(run.graph, "rope"), 1u);
  EXPECT_EQ(count_ops(run.graph, "attention"), 2u);
}

// Two key heads for four query heads; `apart` and `repeated`: the shapes between.
std::string grouped(const std::string& apart, const std::string& repeated) {
  const auto heads = [&](const std::string& name, const std::string& from) {
    return fmt::format("{} = reshape(broadcast(reshape({}:f32[1,2,5,4], shape={}), shape={}), shape=[1,4,5,4])\n", name,
                       from, apart, repeated);
  };
  return heads("k", "b") + heads("v", "c") +
         "y = matmul(softmax(matmul(q:f32[1,4,6,4], transpose(k, permutation=[0,1,3,2]))), v)";
}

TEST(FuseAttention, SharesEachOfSeveralKeyHeads) {
  expect_rewrite(fuse_attention, grouped("[1,2,1,5,4]", "[1,2,2,5,4]"),
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), transpose(b, permutation=[0,2,1,3]), "
                 "transpose(c, permutation=[0,2,1,3])), permutation=[0,2,1,3])");
}
TEST(FuseAttention, KeepsTiledHeadsAsTheyAre) {
  const std::string tiled = grouped("[1,1,2,5,4]", "[1,2,2,5,4]");
  EXPECT_EQ(count_ops(run_pass(fuse_attention, graph_of(tiled)).graph, "broadcast"), 2u);
  expect_equivalent(fuse_attention, tiled);
}
TEST(FuseAttention, CopiesHeadsSharedOnOneSideOnly) {
  const std::string text =
      "k = reshape(broadcast(reshape(b:f32[1,2,5,4], shape=[1,2,1,5,4]), shape=[1,2,2,5,4]), shape=[1,4,5,4])\n"
      "y = matmul(softmax(matmul(q:f32[1,4,6,4], transpose(k, permutation=[0,1,3,2]))), v:f32[1,4,5,4])";
  EXPECT_EQ(count_ops(run_pass(fuse_attention, graph_of(text)).graph, "broadcast"), 1u);
  expect_equivalent(fuse_attention, text);
}
TEST(FuseAttention, ScalesAMaskTogetherWithTheScores) {
  expect_equivalent(fuse_attention,
                    "c: f32[] = constant(values=[0.5])\nd: f32[] = constant(values=[3])\n"
                    "y = matmul(softmax(mul(add(mul(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), c), mask:f32[6,5]), d)), "
                    "v:f32[1,2,5,4])");
}
TEST(FuseAttention, KeepsScalesThatDivideInsteadOfBeingDivided) {
  expect_unchanged(fuse_attention,
                   "c: f32[] = constant(values=[2])\ny = matmul(softmax(div(c, matmul(q:f32[1,2,6,4], "
                   "kt:f32[1,2,4,5]))), v:f32[1,2,5,4])");
}
TEST(FuseAttention, KeepsThreeMasks) {
  expect_unchanged(fuse_attention,
                   "s = add(add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), m:f32[6,5]), n:f32[6,5])\n"
                   "y = matmul(softmax(add(s, o:f32[6,5])), v:f32[1,2,5,4])");
}
TEST(FuseAttention, KeepsScoresThatHaveAnotherReader) {
  expect_unchanged(fuse_attention,
                   "s = matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])\ny = matmul(softmax(s), v:f32[1,2,5,4])\nreturn y, s");
}
TEST(FuseAttention, KeepsHeadsAndBatchesThatBroadcast) {
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,1,4,5])), v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[3,2,4,5])), v:f32[3,2,5,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), v:f32[3,2,5,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5])), v:f32[1,1,5,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[3,2,6,4], kt:f32[1,1,4,5])), v:f32[1,1,5,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(matmul(q:f32[1,1,6,4], kt:f32[1,2,4,5])), v:f32[1,2,5,4])");
}
TEST(FuseAttention, SharesOneHeadOfKeysThatProductsBroadcast) {
  const char* text = "y = matmul(softmax(matmul(q:f32[2,3,6,4], kt:f32[2,1,4,5])), v:f32[2,1,5,4])";
  expect_rewrite(fuse_attention, text,
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), transpose(kt, permutation=[0,3,1,2]), "
                 "transpose(v, permutation=[0,2,1,3])), permutation=[0,2,1,3])");
  expect_equivalent(fuse_attention, text);
}
TEST(FuseAttention, KeepsScalesAndMasksThatBroadcastTheScores) {
  const char* ones = "c: f32[1,1,6,5] = constant(values=[";
  std::string scale = ones + std::string("2");
  for (int i = 1; i < 30; ++i) scale += ",2";
  expect_unchanged(fuse_attention, scale +
                                       "])\ny = matmul(softmax(mul(matmul(q:f32[1,2,1,4], kt:f32[1,2,4,5]), c)), "
                                       "v:f32[1,2,5,4])");
  expect_unchanged(fuse_attention,
                   "y = matmul(softmax(add(matmul(q:f32[1,2,1,4], kt:f32[1,2,4,5]), m:f32[6,5])), v:f32[1,2,5,4])");
}
TEST(FuseAttention, CopiesPartsThatKeysAndValuesCutDifferently) {
  const std::string text =
      "k = concat(kc:f32[1,2,3,4], kn:f32[1,2,2,4], axis=2)\nv = concat(vc:f32[1,2,2,4], vn:f32[1,2,3,4], axis=2)\n"
      "y = matmul(softmax(matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))), v)";
  EXPECT_EQ(count_ops(run_pass(fuse_attention, graph_of(text)).graph, "concat"), 2u);
  expect_equivalent(fuse_attention, text);
}
TEST(FuseAttention, TakesHeadsThatAreJoinedForHeads) {
  const std::string text =
      "k = concat(kc:f32[1,1,5,4], kn:f32[1,1,5,4], axis=1)\nv = concat(vc:f32[1,1,5,4], vn:f32[1,1,5,4], axis=1)\n"
      "y = matmul(softmax(matmul(q:f32[1,2,6,4], transpose(k, permutation=[0,1,3,2]))), v)";
  EXPECT_EQ(count_ops(run_pass(fuse_attention, graph_of(text)).graph, "concat"), 2u);
  expect_equivalent(fuse_attention, text);
}
constexpr const char* kRope =
    "half = slice(x:f32[1,2,3,4], axis=3, begin=2, end=4)\n"
    "turned = concat(neg(half), slice(x, axis=-1, begin=0, end=2), axis=-1)\n"
    "y = add(mul(x, cos:f32[1,1,3,4]), mul(turned, sin:f32[1,1,3,4]))";

TEST(RecogniseRope, SumOfStraightAndTurnedHalvesBecomesRope) {
  expect_rewrite(recognise_rope, kRope, "y = rope(x, cos, sin)");
}
std::string rotated_halves(const std::string& kind, const std::string& second) {
  return "a = slice(x:f32[2,3,4], axis=2, end=2)\nb = slice(x, axis=2, begin=2, end=4)\n"
         "y = concat(" +
         kind + "(mul(a, cos:f32[3,2]), mul(b, sin:f32[3,2])), add(mul(" + second + "), mul(a, sin)), axis=2)";
}
TEST(RecogniseRope, DropsCastsAroundIt) {
  const auto rope = [](const std::string& type, const std::string& result) {
    return "x: " + type + "[1,3,8] = input()\ncos: f32[3,8] = input()\nsin: f32[3,8] = input()\nw = cast(x, to=f32)\n" +
           "r = rope(w, cos, sin)\n" + result;
  };
  for (const std::string type : {"bf16", "f16"})
    expect_rewrite(recognise_rope, rope(type, "y = cast(r, to=" + type + ")"), "y = rope(x, cos, sin)");
  expect_equivalent(recognise_rope, rope("bf16", "y = cast(r, to=bf16)"), 0x1.0p-8);
  expect_unchanged(recognise_rope, rope("bf16", "y = cast(r, to=f16)"));
  expect_unchanged(recognise_rope, rope("bf16", "y = cast(r, to=bf16)\nz = neg(r)\nreturn y, z"));
}
TEST(RecogniseRope, JoinsHalvesThatAreRotatedApart) {
  expect_rewrite(recognise_rope, rotated_halves("sub", "b, cos"),
                 "y = rope(x, concat(cos, cos, axis=1), concat(sin, sin, axis=1))");
}
TEST(RecogniseRope, KeepsHalvesThatAreRotatedOtherwise) {
  expect_unchanged(recognise_rope, rotated_halves("add", "b, cos"));
  expect_unchanged(recognise_rope, rotated_halves("sub", "b, sin"));
  expect_unchanged(recognise_rope, rotated_halves("sub", "a, cos"));
}
TEST(RecogniseRope, TakesOperandsInAnyOrder) {
  expect_rewrite(recognise_rope,
                 "turned = concat(neg(slice(x:f32[3,4], axis=1, begin=2, end=4)), slice(x, axis=1, end=2), axis=1)\n"
                 "y = add(mul(sin:f32[3,4], turned), mul(cos:f32[3,4], x))",
                 "y = rope(x, cos, sin)");
}
// Rope over the columns of longer heads, whose halves are slices of the heads themselves.
std::string partial_rope(const std::string& upper, const std::string& lower) {
  return "turned = concat(neg(slice(x:f32[3,8], axis=1, " + upper + ")), slice(x, axis=1, " + lower +
         "), axis=1)\ny = add(mul(slice(x, axis=1, begin=2, end=6), cos:f32[3,4]), mul(turned, sin:f32[3,4]))";
}
TEST(RecogniseRope, TakesColumnsOfLongerHeads) {
  expect_rewrite(recognise_rope, partial_rope("begin=4, end=6", "begin=2, end=4"),
                 "y = rope(slice(x, axis=1, begin=2, end=6), cos, sin)");
  expect_unchanged(recognise_rope, partial_rope("begin=6, end=8", "begin=4, end=6"));
  expect_unchanged(recognise_rope, partial_rope("begin=4, end=6", "begin=0, end=2"));
  expect_unchanged(recognise_rope, partial_rope("begin=2, end=4", "begin=4, end=6"));
}
TEST(RecogniseRope, KeepsHalvesThatAreNotNegated) {
  expect_unchanged(recognise_rope,
                   "turned = concat(slice(x:f32[3,4], axis=1, begin=2, end=4), neg(slice(x, axis=1, end=2)), axis=1)\n"
                   "y = add(mul(x, cos:f32[3,4]), mul(turned, sin:f32[3,4]))");
}
TEST(RecogniseRope, KeepsUnequalParts) {
  expect_unchanged(recognise_rope,
                   "turned = concat(neg(slice(x:f32[3,4], axis=1, begin=1, end=4)), slice(x, axis=1, end=1), axis=1)\n"
                   "y = add(mul(x, cos:f32[3,4]), mul(turned, sin:f32[3,4]))");
}
TEST(RecogniseRope, KeepsHalvesThatStayInPlace) {
  expect_unchanged(recognise_rope,
                   "turned = concat(neg(slice(x:f32[3,4], axis=1, end=2)), slice(x, axis=1, begin=2, end=4), axis=1)\n"
                   "y = add(mul(x, cos:f32[3,4]), mul(turned, sin:f32[3,4]))");
}
TEST(RecogniseRope, KeepsRowsThatAreTurned) {
  expect_unchanged(recognise_rope,
                   "turned = concat(neg(slice(x:f32[4,4], axis=0, begin=2, end=4)), slice(x, axis=0, end=2), axis=0)\n"
                   "y = add(mul(x, cos:f32[4,4]), mul(turned, sin:f32[4,4]))");
}
TEST(RecogniseRope, KeepsHalvesOfAnotherValue) {
  expect_unchanged(recognise_rope,
                   "turned = concat(neg(slice(z:f32[3,4], axis=1, begin=2, end=4)), slice(z, axis=1, end=2), axis=1)\n"
                   "y = add(mul(x:f32[3,4], cos:f32[3,4]), mul(turned, sin:f32[3,4]))");
}
TEST(RecogniseRope, KeepsAnglesThatMakeMoreRows) {
  expect_unchanged(recognise_rope,
                   "turned = concat(neg(slice(x:f32[1,4], axis=1, begin=2, end=4)), slice(x, axis=1, end=2), axis=1)\n"
                   "y = add(mul(x, cos:f32[3,4]), mul(turned, sin:f32[3,4]))");
}

TEST(FuseAttention, TakesHeadsWithoutABatch) {
  expect_rewrite(fuse_attention,
                 "half: f32[] = constant(values=[0.5])\n"
                 "s = add(matmul(mul(q:f32[2,6,4], half), kt:f32[2,4,5]), mask:f32[6,5])\n"
                 "y = matmul(softmax(s), v:f32[2,5,4])",
                 "y = reshape(transpose(attention(transpose(reshape(q, shape=[1,2,6,4]), permutation=[0,2,1,3]), mask, "
                 "transpose(reshape(kt, shape=[1,2,4,5]), permutation=[0,3,1,2]), transpose(reshape(v, "
                 "shape=[1,2,5,4]), permutation=[0,2,1,3]), slots=mask, scale=0.5), permutation=[0,2,1,3]), "
                 "shape=[2,6,4])");
  expect_unchanged(fuse_attention, "y = matmul(softmax(exp(matmul(q:f32[2,6,4], kt:f32[2,4,5]))), v:f32[2,5,4])");
}

constexpr const char* kCapped =
    "two: f32[] = constant(values=[2])\nhalf: f32[] = constant(values=[0.5])\neighth: f32[] = "
    "constant(values=[0.125])\n"
    "s = mul(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), eighth)\n";

TEST(FuseAttention, TakesACapOfTheScores) {
  expect_rewrite(fuse_attention,
                 kCapped + std::string("c = mul(tanh(div(s, two)), two)\n"
                                       "y = matmul(softmax(add(c, mask:f32[6,5])), v:f32[1,2,5,4])"),
                 "y = transpose(attention(transpose(q, permutation=[0,2,1,3]), mask, transpose(kt, "
                 "permutation=[0,3,1,2]), transpose(v, permutation=[0,2,1,3]), slots=mask, scale=0.125, softcap=2), "
                 "permutation=[0,2,1,3])");
}
TEST(FuseAttention, KeepsCapsOfOtherForms) {
  for (const char* scores :
       {"tanh(add(s, mask:f32[6,5]))", "tanh(tanh(s))", "mul(tanh(s), neg(two))", "tanh(mul(s, bias:f32[5]))"})
    expect_unchanged(fuse_attention, kCapped + std::string("y = matmul(softmax(") + scores + "), v:f32[1,2,5,4])");
}

TEST(FuseAttention, ReadsQueriesWhereTheyStandAlone) {
  expect_rewrite(
      fuse_attention,
      "q = rope(transpose(a:f32[1,6,2,4], permutation=[0,2,1,3]), c:f32[1,1,6,4], s:f32[1,1,6,4])\n"
      "y = attention(transpose(q, permutation=[0,2,1,3]), k:f32[1,5,2,4], v:f32[1,5,2,4])",
      "y = attention(rope(a, transpose(c, permutation=[0,2,1,3]), transpose(s, permutation=[0,2,1,3])), k, v)");
}

TEST(FuseAttention, SeesThroughAGuardsZeros) {
  expect_rewrite(fuse_attention,
                 "zero: f32[] = constant(values=[0])\n"
                 "p = softmax(add(matmul(q:f32[1,2,6,4], kt:f32[1,2,4,5]), mask:f32[6,5]))\n"
                 "y = matmul(select(ne(p, p), broadcast(zero, shape=[1,2,6,5]), p), v:f32[1,2,5,4])",
                 kFusedWithMask);
}

}  // namespace
}  // namespace rung::test
