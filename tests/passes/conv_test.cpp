// Passes over convolutions: layouts, what folds and fuses into them, and what they become where no kernel runs them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "passes/passes.hpp"
#include "passes/support.hpp"

namespace rung::test {
namespace {

using namespace passes;

const std::string kConv = "w: f32[4,3,3,3] = constant()\nc = conv(x:f32[1,6,5,3], w, before=[1,1], after=[1,1])\n";
const std::string kTurned = kConv + "t = transpose(c, permutation=[0,3,1,2])\n";

TEST(ChannelsLast, TransposesMeetBehindElementwiseOps) {
  expect_rewrite(channels_last, kTurned + "y = transpose(relu(add(t, s:f32[])), permutation=[0,2,3,1])",
                 "y = transpose(transpose(relu(add(conv(x, w, before=[1,1], after=[1,1]), s)), permutation=[0,3,1,2]), "
                 "permutation=[0,2,3,1])");
}
TEST(ChannelsLast, NumbersOfChannelsAreTurned) {
  expect_equivalent(channels_last, kTurned + "b: f32[4,1,1] = constant()\ny = mul(t, b)");
  expect_equivalent(channels_last, kTurned + "y = mul(t, reduce(t, axis=1, kind=mean, keep_dim=true))");
}
TEST(ChannelsLast, AxesFollowTheirValues) {
  for (int axis = 1; axis < 4; ++axis) {
    expect_equivalent(channels_last, fmt::format("{}y = reduce(t, axis={}, kind=max, keep_dim=true)", kTurned, axis));
    expect_equivalent(channels_last, fmt::format("{}y = reduce(t, axis={}, kind=sum)", kTurned, axis));
    expect_equivalent(channels_last, fmt::format("{}y = slice(t, axis={}, begin=1, end=3)", kTurned, axis));
    expect_equivalent(channels_last, fmt::format("{}y = concat(t, relu(t), axis={})", kTurned, axis));
  }
  expect_equivalent(channels_last, kTurned + "i: i64[3] = constant(values=[2,0,0])\ny = gather(t, i, axis=-1)");
}
TEST(ChannelsLast, PlacesBecomeOneAxis) {
  expect_rewrite(channels_last, kTurned + "y = reshape(t, shape=[1,4,30])",
                 "y = transpose(reshape(conv(x, w, before=[1,1], after=[1,1]), shape=[1,30,4]), permutation=[0,2,1])");
  expect_unchanged(channels_last, kTurned + "y = reshape(t, shape=[1,24,5])");
}
// The norm of groups as authors' programs have it: rows of a group's channels with all their places.
std::string group_norm(const std::string& weight, const std::string& rows) {
  return fmt::format(
      "{}one: f32[] = constant(values=[{}])\nzero: f32[] = constant(values=[0])\n"
      "r = reshape(t, shape=[1,2,60])\n"
      "n = layer_norm(r, broadcast(one, shape=[{}]), broadcast(zero, shape=[{}]), eps=0.5)\n",
      kTurned, weight, rows, rows);
}
TEST(ChannelsLast, GroupsAreNormalisedWhereTheyStand) {
  const std::string text = group_norm("1", "60") + "y = relu(reshape(n, shape=[1,4,6,5]))";
  expect_equivalent(channels_last, text);
  EXPECT_EQ(count_ops(run_pass(channels_last, graph_of(text)).graph, "group_norm"), 1u);
}
TEST(ChannelsLast, KeepsGroupsWithWeightsOrOtherReaders) {
  expect_unchanged(channels_last, group_norm("2", "60") + "y = reshape(n, shape=[1,4,6,5])");
  expect_unchanged(channels_last,
                   group_norm("1", "60") + "y = reshape(n, shape=[1,4,6,5])\nz = relu(n)\nreturn y=y, z=z");
  expect_unchanged(channels_last, group_norm("1", "60") + "y = reshape(n, shape=[1,4,5,6])");
}
TEST(ChannelsLast, KeepsGroupsThatNoKernelNormalises) {
  const KernelQuery none = [](const Op& op, std::span<const Type>) {
    return as<GroupNorm>(op) ? reject("no") : accept();
  };
  const Graph graph = graph_of(group_norm("1", "60") + "y = reshape(n, shape=[1,4,6,5])");
  EXPECT_EQ(count_ops(run_pass(channels_last, graph, none).graph, "layer_norm"), 1u);
}
TEST(ChannelsLast, KeepsSumsOverTheBatch) {
  expect_unchanged(channels_last, kTurned + "y = reduce(t, axis=0, kind=max)");
  expect_unchanged(channels_last,
                   "w: f32[4,3,2] = constant()\n"
                   "y = reduce(transpose(conv(x:f32[2,6,2], w), permutation=[0,2,1]), axis=0)");
}
TEST(ChannelsLast, OnePlaceIsReshaped) {
  expect_rewrite(channels_last, "y = transpose(x:f32[2,5,1,1], permutation=[0,2,3,1])",
                 "y = reshape(x, shape=[2,1,1,5])");
  expect_unchanged(channels_last, "y = transpose(x:f32[2,5,1,2], permutation=[0,2,3,1])");
  expect_unchanged(channels_last, "y = transpose(x:f32[1,1,5,2], permutation=[0,2,1,3])");
}
TEST(ChannelsLast, KeepsSumsWithValuesThatStandOtherwise) {
  expect_unchanged(channels_last, kTurned + "y = add(t, r:f32[1,4,6,5])");
}
TEST(ChannelsLast, KeepsMatricesThatStemFromNoConvolution) {
  expect_unchanged(channels_last, "y = relu(transpose(x:f32[2,3,4], permutation=[0,2,1]))");
}

const std::string kPlain = "w: f32[4,3,2] = constant()\nb: f32[4] = constant()\ns: f32[4] = constant()\n";

TEST(FoldChannelScale, FactorsAndSummandsOfChannelsGo) {
  const PassRun run =
      run_pass(fold_channel_scale,
               graph_of(kPlain + "y = add(mul(conv(x:f32[1,6,2], w, b, slots=bias), reshape(s, shape=[1,1,4])), b)"));
  EXPECT_EQ(count_ops(run.graph, "conv"), 1u);
  EXPECT_EQ(expression(run.graph).rfind("y = conv(", 0), 0u) << expression(run.graph);
  expect_equivalent(fold_channel_scale, kPlain + "y = mul(conv(x:f32[1,6,2], w), s)");
  expect_equivalent(fold_channel_scale, kPlain + "y = mul(conv(x:f32[1,6,2], w, b, slots=bias), s)");
  expect_equivalent(fold_channel_scale, kPlain + "y = add(mul(conv(x:f32[1,6,2], w, b, slots=bias), s), b)");
  expect_equivalent(fold_channel_scale, kPlain + "y = add(conv(x:f32[1,6,2], w), s)");
  expect_equivalent(fold_channel_scale, kPlain + "y = mul(conv(x:f32[1,6,2], w, transposed=true, stride=[2]), s)");
  expect_equivalent(fold_channel_scale,
                    "w: f32[4,3,1] = constant()\ns: f32[4] = constant()\n"
                    "y = mul(conv(x:f32[1,6,2], w, groups=2), s)");
}
TEST(FoldChannelScale, OneNumberIsThatOfAllChannels) {
  const std::string one = "s: f32[1,1,1] = constant(values=[0.5])\nz: f32[] = constant(values=[3])\n";
  const std::string wide = one + "w: f32[4,3,2] = constant()\ny = add(mul(conv(x:f32[1,6,2], w), s), z)";
  const std::string narrow =
      one + "w: bf16[4,3,2] = constant()\ny = cast(add(mul(cast(conv(x:bf16[1,6,2], w)), s), z), to=bf16)";
  expect_equivalent(fold_channel_scale, wide);
  expect_equivalent(fold_channel_scale, narrow, 0x1p-7);
  EXPECT_EQ(expression(run_pass(fold_channel_scale, graph_of(wide)).graph).rfind("y = conv(", 0), 0u);
  EXPECT_EQ(expression(run_pass(fold_channel_scale, graph_of(narrow)).graph).rfind("y = cast(cast(conv(", 0), 0u);
}
TEST(FoldChannelScale, KeepsWhatIsNoNumberOfAChannel) {
  for (const char* twin : {"y = mul(conv(x:f32[1,6,2], w), v:f32[4])",               // not constant
                           "y = mul(conv(x:f32[1,6,2], w, activation=relu), s)",     // behind an activation
                           "c = conv(x:f32[1,6,2], w)\ny = mul(c, s)\nreturn y, c",  // the conv has another reader
                           "t: f32[4,1] = constant()\ny = mul(conv(x:f32[1,6,2], w), t)",  // a number of a place
                           "y = mul(conv(x:f32[1,6,2], v:f32[4,3,2]), s)",                 // weights are an input
                           "y = mul(conv(x:f32[1,6,2], w, r:f32[1,4,4], slots=residual), s)"}) {  // behind a residual
    expect_unchanged(fold_channel_scale, kPlain + twin);
  }
}

// A batch norm in 16 bits, as importers write it: in f32, between two casts.
std::string narrow_norm(const std::string& conv, const std::string& sum = "add(mul(cast(c), s), d)") {
  return fmt::format(
      "w: bf16[4,3,2] = constant()\nb: bf16[4] = constant()\ns: f32[4] = constant()\nd: f32[4] = constant()\n"
      "c = conv(x:bf16[1,6,2], w{})\nh = {}\n",
      conv, sum);
}
TEST(FoldChannelScale, NormsInF32EndNarrowConvolutions) {
  for (const char* conv : {"", ", b, slots=bias", ", transposed=true, stride=[2]"}) {
    const std::string text = narrow_norm(conv) + "y = cast(h, to=bf16)";
    expect_equivalent(fold_channel_scale, text, 0x1p-7);
    const Graph folded = run_pass(fold_channel_scale, graph_of(text)).graph;
    EXPECT_EQ(expression(folded).rfind("y = cast(cast(conv(x, w, concat(", 0), 0u) << expression(folded);
  }
}
TEST(FoldChannelScale, FactorsAndSummandsOfNarrowConvolutionsGoAlone) {
  expect_equivalent(fold_channel_scale, narrow_norm("", "mul(mul(cast(c), s), d)") + "y = tanh(h)", 0x1p-7);
  const std::string sum = narrow_norm("", "add(cast(c), d)") + "y = cast(h, to=bf16)";
  expect_equivalent(fold_channel_scale, sum, 0x1p-7);
  EXPECT_EQ(expression(run_pass(fold_channel_scale, graph_of(sum)).graph),
            "y = cast(cast(conv(x, w, d, slots=bias)), to=bf16)");
}
TEST(FoldChannelScale, OneOfTwoNormsIsTheEnd) {
  const std::string twice = narrow_norm("") + "e: bf16[4] = constant()\ny = add(mul(cast(h, to=bf16), e), e)";
  expect_equivalent(fold_channel_scale, twice, 0x1p-6);
  const std::string third = narrow_norm("", "mul(add(mul(cast(c), s), d), s)") + "y = cast(h, to=bf16)";
  expect_equivalent(fold_channel_scale, third, 0x1p-6);
}
TEST(FoldChannelScale, KeepsSumsThatAreReadInF32) {
  const std::string sum = narrow_norm("", "add(cast(c), d)");
  expect_unchanged(fold_channel_scale, sum + "return h");
  expect_unchanged(fold_channel_scale, sum + "y = tanh(h)");
  expect_unchanged(fold_channel_scale, sum + "y = cast(h, to=bf16)\nreturn y, h");
  expect_unchanged(fold_channel_scale, sum + "y = cast(h, to=f16)");
}
TEST(FoldChannelScale, KeepsNormsThatNoKernelTakes) {
  const KernelQuery no_bias = [](const Op& op, std::span<const Type>) {
    return as<Conv>(op)->has(ConvSlot::bias) ? reject("no") : accept();
  };
  const Graph graph = graph_of(narrow_norm("") + "y = cast(h, to=bf16)");
  EXPECT_EQ(expression(run_pass(fold_channel_scale, graph, no_bias).graph), expression(graph));
}

TEST(FuseConv, ActivationsAndResidualsGoIntoTheConvolution) {
  expect_rewrite(fuse_conv, kPlain + "y = silu(conv(x:f32[1,6,2], w, b, slots=bias))",
                 "y = conv(x, w, b, slots=bias, activation=silu)");
  expect_rewrite(fuse_conv, kPlain + "y = relu(add(r:f32[1,4,4], gelu(conv(x:f32[1,6,2], w))))",
                 "y = conv(x, w, r, slots=residual, activation=gelu, last=relu)");
}
TEST(FuseConv, KeepsWhatHasAnotherReaderOrShape) {
  for (const char* twin :
       {"c = conv(x:f32[1,6,2], w)\ny = relu(c)\nreturn y, c", "y = add(conv(x:f32[1,6,2], w), r:f32[2,4,4])",
        "y = add(conv(x:f32[1,6,2], w, r:f32[1,4,4], slots=residual), q:f32[1,4,4])"})
    expect_unchanged(fuse_conv, kPlain + twin);
}
TEST(FuseConv, WhatReadsNothingElseBecomesItsTail) {
  const std::string numbers = "three: f32[] = constant(values=[3])\nzero: f32[] = constant(values=[0])\n";
  expect_rewrite(fuse_conv,
                 kPlain + numbers + "c = conv(x:f32[1,6,2], w, b, slots=bias)\ny = mul(c, max(add(c, three), zero))",
                 "y = conv(x, w, b, slots=bias, tail=\"r1=add(r0,3);r2=max(r1,0);r3=mul(r0,r2)\")");
  expect_rewrite(fuse_conv, kPlain + "y = exp(relu(conv(x:f32[1,6,2], w, activation=silu)))",
                 "y = conv(x, w, activation=silu, tail=\"r1=relu(r0);r2=exp(r1)\")");
}
TEST(FuseConv, KeepsTailsThatReadMore) {
  for (const char* twin :
       {"c = conv(x:f32[1,6,2], w)\ny = exp(c)\nreturn y, c",  // the conv is a result
        "c = conv(x:f32[1,6,2], w)\ny = mul(exp(c), reduce(c, axis=1, kind=sum, keep_dim=true))",  // another op reads
                                                                                                   // it
        "y = exp(mul(conv(x:f32[1,6,2], w), q:f32[1,4,4]))",     // a value that is no number
        "y = cast(conv(x:f32[1,6,2], w), to=bf16)",              // of another type
        "y = exp(conv(x:f32[1,6,2], w, tail=\"r1=neg(r0)\"))"})  // it has a tail
    expect_unchanged(fuse_conv, kPlain + twin);
}
TEST(LowerConv, KeepsATailBehindTheProducts) {
  const KernelQuery no_conv = [](const Op& op, std::span<const Type>) {
    return as<Conv>(op) ? reject("no") : accept();
  };
  const PassRun run =
      run_pass(lower_conv, graph_of(kPlain + "y = conv(x:f32[1,6,2], w, tail=\"r1=neg(r0)\")"), no_conv);
  EXPECT_EQ(count_ops(run.graph, "conv"), 0u);
  EXPECT_EQ(count_ops(run.graph, "pointwise"), 1u);
}
TEST(FuseConv, KeepsWhatNoKernelRuns) {
  const KernelQuery no = [](const Op&, std::span<const Type>) { return reject("no"); };
  EXPECT_EQ(count_ops(run_pass(fuse_conv, graph_of(kPlain + "y = relu(conv(x:f32[1,6,2], w))"), no).graph, "relu"), 1u);
}

TEST(LowerPatchConv, WindowsThatDoNotOverlapBecomeALinear) {
  const std::string conv =
      "w: f32[5,3,2,2] = constant()\nb: f32[5] = constant()\n"
      "c = conv(transpose(x:f32[1,3,5,7], permutation=[0,2,3,1]), transpose(w, permutation=[0,2,3,1]), b, slots=bias, "
      "stride=[2,2])\n";
  expect_rewrite(lower_patch_conv, conv + "y = reshape(c, shape=[1,6,5])",
                 "y = linear(im2col(x, patch=2), reshape(w, shape=[5,12]), b, slots=bias)");
  expect_equivalent(lower_patch_conv, conv + "y = relu(c)");
}
TEST(LowerPatchConv, KeepsWindowsThatOverlapOrDiffer) {
  for (const char* twin :
       {"w:f32[5,3,3,3], stride=[2,2]", "w:f32[5,2,3,3], stride=[2,3]", "w:f32[5,1,1,3]",
        "w:f32[5,2,2,3], stride=[2,2], before=[1,1]", "w:f32[3,2,2,1], stride=[2,2], groups=3",
        "w:f32[5,2,2,3], stride=[2,2], activation=relu", "w:f32[5,2,2,3], b:f32[2,5], slots=bias, stride=[2,2]"})
    expect_unchanged(lower_patch_conv,
                     fmt::format("y = conv(transpose(x:f32[1,3,6,6], permutation=[0,2,3,1]), {})", twin));
  expect_unchanged(lower_patch_conv, "y = conv(x:f32[1,6,6,3], w:f32[5,2,2,3], stride=[2,2])");
}

TEST(LowerTransposedConv, PhasesBecomePlainConvolutions) {
  for (const char* fields :
       {"stride=[2,2], before=[1,1], after=[1,1]", "stride=[2,2], before=[1,1], after=[1,1], extra=[1,1]",
        "stride=[3,2], dilation=[2,1]", "stride=[1,1], before=[2,0]", "stride=[2,1], dilation=[1,3]",
        "stride=[2,2], before=[3,2], after=[2,3]"}) {
    const std::string text =
        fmt::format("w: f32[4,4,3,3] = constant()\ny = conv(x:f32[2,5,4,3], w, transposed=true, {})", fields);
    expect_equivalent(lower_transposed_conv, text);
    const Graph lowered = run_pass(lower_transposed_conv, graph_of(text)).graph;
    for (NodeId id : lowered.order()) {
      const auto* conv = lowered.as<Conv>(id);
      EXPECT_FALSE(conv && conv->transposed) << fields;
    }
  }
  expect_equivalent(lower_transposed_conv,
                    "w: f32[4,4,3] = constant()\nb: f32[4] = constant()\n"
                    "y = conv(x:f32[2,5,6], w, b, slots=bias, transposed=true, stride=[2], groups=2, activation=relu)");
}
const std::string kNarrowTransposed =
    "w: bf16[4,4,3] = constant()\nb: f32[2,4] = constant()\n"
    "c = conv(x:bf16[2,5,3], w, b, slots=bias, transposed=true, stride=[2])\n";
TEST(LowerTransposedConv, PhasesHaveFactorsBiasAndActivation) {
  const std::string text = kNarrowTransposed + "y = relu(c)";
  expect_equivalent(lower_transposed_conv, text, 0x1p-7);
  const Graph lowered = run_pass(lower_transposed_conv, graph_of(text)).graph;
  EXPECT_EQ(count_ops(lowered, "conv"), 2u);
  EXPECT_EQ(count_ops(lowered, "relu") + count_ops(lowered, "mul"), 0u);
  EXPECT_EQ(count_ops(run_pass(lower_transposed_conv, graph_of(text + "\nreturn y, c")).graph, "relu"), 1u);
}
TEST(LowerTransposedConv, WhatNoKernelEndsStandsBehindThePhases) {
  const KernelQuery plain_alone = [](const Op& op, std::span<const Type>) {
    const auto* conv = as<Conv>(op);
    return conv && conv->has(ConvSlot::bias) ? reject("no") : accept();
  };
  const Graph graph = graph_of(kNarrowTransposed + "y = relu(c)");
  const Graph lowered = run_pass(lower_transposed_conv, graph, plain_alone).graph;
  EXPECT_EQ(count_ops(lowered, "conv"), 2u);
  EXPECT_EQ(count_ops(lowered, "relu"), 1u);
  expect_same_values(graph, lowered, 0x1p-6);
}
TEST(LowerTransposedConv, KeepsPhasesThatSeeNothing) {
  expect_unchanged(lower_transposed_conv, "y = conv(x:f32[1,5,3], w:f32[4,2,3], transposed=true, stride=[3])");
  expect_unchanged(lower_transposed_conv, "y = conv(x:f32[1,5,3], w:f32[4,99,3], transposed=true, stride=[99])");
}

TEST(LowerConv, WindowsOfOneElementBecomeLinears) {
  expect_rewrite(lower_conv,
                 "y = conv(x:f32[1,6,2], w:f32[4,1,2], b:f32[4], r:f32[1,6,4], slots=bias+residual, activation=silu)",
                 "y = linear(x, reshape(w, shape=[4,2]), b, r, slots=bias+residual, activation=silu)");
}
TEST(LowerConv, KeepsStepsGroupsAndLastActivations) {
  for (const char* twin : {"w:f32[4,1,2], stride=[2]", "w:f32[4,1,1], groups=2", "w:f32[4,3,2]",
                           "w:f32[4,1,2], r:f32[1,6,4], slots=residual, last=relu", "w:f32[4,1,2], before=[1]",
                           "w:f32[4,1,2], b:f32[2,4], slots=bias"})
    expect_unchanged(lower_conv, fmt::format("y = conv(x:f32[1,6,2], {})", twin));
}
TEST(LowerConv, WithoutAKernelWindowsBecomeRows) {
  const KernelQuery no_conv = [](const Op& op, std::span<const Type>) {
    return as<Conv>(op) ? reject("no") : accept();
  };
  for (const char* conv :
       {"x:f32[1,6,5,3], w:f32[4,3,2,3], b:f32[4], slots=bias, stride=[1,2], before=[1,0], after=[0,2]",
        "x:f32[2,9,4], w:f32[6,3,4], r:f32[2,5,6], slots=residual, dilation=[2], activation=silu, last=relu",
        "x:f32[1,4,5,6,2], w:f32[3,2,1,3,2]", "x:f32[1,6,5,4], w:f32[6,3,2,2], groups=2, after=[1,1]",
        "x:f32[1,6,5,4], w:f32[4,3,2,1], b:f32[4], slots=bias, groups=4, dilation=[2,1]",
        "x:f32[1,6,5,4], w:f32[3,3,2,4], b:f32[2,3], slots=bias, activation=tanh",
        "x:f32[1,6,5,4], w:f32[4,1,1,4], stride=[2,2]"}) {
    const Graph graph = graph_of(fmt::format("y = conv({})", conv));
    const Graph lowered = run_pass(lower_conv, graph, no_conv).graph;
    EXPECT_EQ(count_ops(lowered, "conv"), 0u) << conv;
    expect_same_values(graph, lowered);
  }
}
TEST(LowerConv, KeepsWindowsOfTooManyTaps) {
  const KernelQuery none = [](const Op&, std::span<const Type>) { return reject("no"); };
  const Graph graph = graph_of("y = conv(x:f32[1,9000,1], w:f32[2,5000,1])");
  EXPECT_EQ(count_ops(run_pass(lower_conv, graph, none).graph, "conv"), 1u);
}

}  // namespace
}  // namespace rung::test
