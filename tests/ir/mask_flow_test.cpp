// Which inputs are masks: those that additions, scalings, moves and conversions lead to a softmax or an attention's
// mask.
// SPDX-License-Identifier: Apache-2.0
#include "ir/mask_flow.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace rung {
namespace {

// Of the input "m".
bool is_mask(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << text << "\n" << graph.error().message;
  return graph && leads_to_mask(*graph, graph->input_named("m"));
}

TEST(MaskFlow, EndsAtASoftmaxOrAnAttentionsMask) {
  EXPECT_TRUE(is_mask("y = softmax(m:f32[2,4])"));
  EXPECT_TRUE(is_mask("y = softmax(add(x:f32[2,4], m:f32[4]))"));
  EXPECT_TRUE(is_mask("y = softmax(add(m:f32[4], x:f32[2,4]))"));
  EXPECT_TRUE(is_mask("y = attention(q:f32[1,2,1,4], m:f32[2,3], k:f32[1,3,1,4], v:f32[1,3,1,4], slots=mask)"));
}

TEST(MaskFlow, IsNotThatOfWhatAnAttentionMultiplies) {
  EXPECT_FALSE(is_mask("y = attention(m:f32[1,2,1,4], b:f32[2,3], k:f32[1,3,1,4], v:f32[1,3,1,4], slots=mask)"));
  EXPECT_FALSE(is_mask("y = attention(q:f32[1,2,1,4], b:f32[2,3], m:f32[1,3,1,4], v:f32[1,3,1,4], slots=mask)"));
  EXPECT_FALSE(is_mask("y = attention(q:f32[1,2,1,4], m:f32[1,3,1,4], v:f32[1,3,1,4])"));
}

TEST(MaskFlow, PassesWhatMovesConvertsAddsAndScales) {
  for (const char* carried :
       {"add(m:f32[2,4], x:f32[2,4])", "sub(m:f32[2,4], x:f32[2,4])", "mul(x:f32[], m:f32[2,4])",
        "div(m:f32[2,4], x:f32[])", "cast(cast(m:f32[2,4], to=bf16), to=f32)", "reshape(m:f32[8], shape=[2,4])",
        "transpose(m:f32[4,2], permutation=[1,0])", "slice(m:f32[3,4], axis=0, begin=0, end=2)",
        "concat(x:f32[1,4], m:f32[1,4], axis=0)", "broadcast(m:f32[1,4], shape=[2,4])",
        "gather(m:f32[3,4], i:i64[2], axis=0)", "select(b:bool[2,4], m:f32[2,4], x:f32[2,4])",
        "select(b:bool[2,4], x:f32[2,4], m:f32[2,4])", "linear(x:f32[2,3], w:f32[4,3], m:f32[2,4], slots=residual)",
        "linear(x:f32[2,3], w:f32[4,3], m:f32[4], slots=bias)"})
    EXPECT_TRUE(is_mask(fmt::format("y = softmax({})", carried))) << carried;
}

TEST(MaskFlow, StopsWhereTheInputIsComputedWith) {
  for (const char* stopped :
       {"sub(x:f32[2,4], m:f32[2,4])", "div(x:f32[2,4], m:f32[2,4])", "max(x:f32[2,4], m:f32[2,4])", "neg(m:f32[2,4])",
        "exp(m:f32[2,4])", "linear(m:f32[2,3], w:f32[4,3])", "linear(x:f32[2,3], m:f32[4,3])",
        "linear(x:f32[2,3], w:f32[4,3], m:f32[4], slots=bias, activation=relu)", "matmul(m:f32[2,3], x:f32[3,4])",
        "layer_norm(m:f32[2,4], w:f32[4], c:f32[4])", "reduce(m:f32[3,2,4], kind=max, axis=0)"})
    EXPECT_FALSE(is_mask(fmt::format("y = softmax({})", stopped))) << stopped;
  EXPECT_FALSE(is_mask("y = add(m:f32[4], x:f32[4])")) << "no softmax follows";
  EXPECT_FALSE(is_mask("z = softmax(x:f32[4])\ny = add(m:f32[4], z)")) << "it comes too late";
}

TEST(MaskFlow, FollowsTheRegistersOfAProgram) {
  auto program = [](const char* text) {
    return is_mask(fmt::format("y = softmax(pointwise(x:f32[4], m:f32[4], b:bool[4], program=\"{}\"))", text));
  };
  EXPECT_TRUE(program("r3=mul(r0,0.5);r4=add(r3,r1)"));
  EXPECT_TRUE(program("r3=bf16(r1);r4=select(r2,r3,0);r5=add(r0,r4)"));
  EXPECT_FALSE(program("r3=exp(r1);r4=add(r0,r3)"));
  EXPECT_FALSE(program("r3=mul(r1,0.5);r4=add(r0,r2)")) << "r3 is not read";
}

TEST(MaskFlow, EndsInARegionThatIsASoftmax) {
  auto program = [](const std::string& text) {
    return is_mask(fmt::format("y = region(x:f32[2,4], m:f32[4], program=\"{}\")", text));
  };
  const std::string softmax = "r2=add(r0,r1);r3=row_max(r2);r4=sub(r2,r3);r5=exp(r4);r6=row_sum(r5);r7=div(r5,r6);";
  EXPECT_TRUE(program(softmax + "return r7:f32"));
  EXPECT_TRUE(program(softmax + "return r7:f32,r2:f32"));
  EXPECT_FALSE(program("r2=add(r0,r1);r3=row_max(r2);return r3:f32"));
  EXPECT_FALSE(program("r2=row_max(r0);r3=add(r2,r1);r4=row_sum(r3);return r4:f32"));
  EXPECT_TRUE(is_mask("y = softmax(region(x:f32[4], m:f32[4], program=\"r2=add(r0,r1);return r2:f32\"))"));
}

TEST(MaskFlow, GoesOnWhereOneOfSeveralReadersLeads) {
  EXPECT_TRUE(is_mask("e = exp(m:f32[4])\ns = softmax(add(x:f32[4], m))\ny = mul(e, s)\nreturn y=y"));
}

// Of the input "x".
bool is_apart(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << text << "\n" << graph.error().message;
  return graph && stays_apart(*graph, graph->input_named("x"));
}

TEST(StaysApart, HoldsOfWhatIsMovedConvertedOrCompared) {
  EXPECT_TRUE(is_apart("y = ne(x:f32[4], x)"));
  EXPECT_TRUE(is_apart("y = cast(transpose(x:f32[4,2], permutation=[1,0]), to=f16)"));
  EXPECT_TRUE(is_apart("y = concat(formula(x:f32[4], kind=f8e5m2), z:f32[2])"));
  EXPECT_TRUE(is_apart("y = pointwise(x:f16[4], program=\"r1=f8e5m2(r0);r2=bf16(r1)\", out=f32)"));
  EXPECT_TRUE(is_apart("y = reduce(cast(gt(x:f32[4], z:f32[4]), to=f32), kind=sum)"));
}

TEST(StaysApart, EndsWhereItIsComputedWith) {
  EXPECT_FALSE(is_apart("y = exp(x:f32[4])"));
  EXPECT_FALSE(is_apart("y = pointwise(x:f16[4], program=\"r1=f8e5m2(r0);r2=exp(r1)\", out=f32)"));
  EXPECT_FALSE(is_apart("y = add(cast(x:f16[4], to=f32), z:f32[4])"));
}

TEST(StaysApart, EndsWhereElementsMeet) {
  EXPECT_FALSE(is_apart("y = reduce(x:f32[4], kind=sum)"));
  EXPECT_FALSE(is_apart("y = reduce(exp(x:f32[4]), kind=max)"));
  EXPECT_FALSE(is_apart("y = softmax(x:f32[4])"));
  EXPECT_FALSE(is_apart("y = matmul(x:f32[2,2], z:f32[2,2])"));
  EXPECT_FALSE(is_apart("y = cumsum(x:f32[4])"));
}

}  // namespace
}  // namespace rung
