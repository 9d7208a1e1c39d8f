// The pattern matcher.
// SPDX-License-Identifier: Apache-2.0
#include "ir/match.hpp"

#include <gtest/gtest.h>

#include "ir/text.hpp"

namespace rung {
namespace {

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}
bool output_matches(std::string_view text, const Pattern& pattern) {
  Graph graph = parsed(text);
  return match(graph, graph.outputs()[0].node, pattern).has_value();
}

TEST(Match, BindsNamesToNodes) {
  Graph graph = parsed("y = add(matmul(x:f32[2,3], w:f32[3,4]), b:f32[4])");
  auto m = match(graph, graph.outputs()[0].node,
                 binary(BinaryKind::add, op<MatMul>(any("x"), any("w")).one_use(), any("b")));
  ASSERT_TRUE(m);
  EXPECT_EQ((*m)["x"], graph.input_named("x"));
  EXPECT_EQ((*m)["b"], graph.input_named("b"));
}
TEST(Match, TriesCommutingOperandsBothWays) {
  Pattern pattern = binary(BinaryKind::add, unary(UnaryKind::exp, any("x")), any("y"));
  EXPECT_TRUE(output_matches("r = add(a:f32[2], exp(b:f32[2]))", pattern));
  Pattern difference = binary(BinaryKind::sub, unary(UnaryKind::exp, any("x")), any("y"));
  EXPECT_FALSE(output_matches("r = sub(a:f32[2], exp(b:f32[2]))", difference));
}
TEST(Match, SwapsTheOperandsOfCommutingOpsAlone) {
  auto matches = [](BinaryKind kind) {
    return output_matches(fmt::format("r = {}(a:f32[2], exp(b:f32[2]))", name_of(kind)),
                          binary(kind, unary(UnaryKind::exp, any("x")), any("y")));
  };
  for (BinaryKind kind : {BinaryKind::add, BinaryKind::mul, BinaryKind::max, BinaryKind::min})
    EXPECT_TRUE(matches(kind)) << name_of(kind);
  for (BinaryKind kind : {BinaryKind::sub, BinaryKind::div, BinaryKind::pow, BinaryKind::lt})
    EXPECT_FALSE(matches(kind)) << name_of(kind);
}
TEST(Match, WantsTheKindThatItNames) {
  EXPECT_FALSE(output_matches("r = add(a:f32[2], b:f32[2])", binary(BinaryKind::mul, any("x"), any("y"))));
  EXPECT_FALSE(output_matches("r = exp(a:f32[2])", unary(UnaryKind::tanh, any("x"))));
}
TEST(Match, WantsAsManyOperandsAsItNames) {
  const char* text = "r = layer_norm(x:f32[4], y:f32[4], w:f32[4], b:f32[4], slots=residual)";
  EXPECT_FALSE(output_matches(text, op<LayerNorm>(any("x"), any("w"), any("b"))));
  EXPECT_TRUE(output_matches(text, op<LayerNorm>()));
}
TEST(Match, BindsTheNodeItselfWhereItIsNamed) {
  Graph graph = parsed("r = exp(neg(a:f32[2]))");
  NodeId exp = graph.outputs()[0].node;
  auto m = match(graph, exp, unary(UnaryKind::exp, unary(UnaryKind::neg, any("x")).named("n")));
  ASSERT_TRUE(m);
  EXPECT_EQ((*m)["n"], graph[exp].operands[0]);
}
TEST(Match, WantsOneNodeForOneName) {
  Pattern pattern = binary(BinaryKind::mul, any("x"), unary(UnaryKind::sigmoid, any("x")));
  EXPECT_TRUE(output_matches("r = mul(sigmoid(a:f32[2]), a)", pattern));
  EXPECT_FALSE(output_matches("r = mul(sigmoid(a:f32[2]), b:f32[2])", pattern));
}
TEST(Match, RefusesOneUseForValuesReadTwice) {
  Pattern pattern = unary(UnaryKind::exp, unary(UnaryKind::neg, any("x")).one_use());
  EXPECT_TRUE(output_matches("r = exp(neg(a:f32[2]))", pattern));
  EXPECT_FALSE(output_matches("n = neg(a:f32[2])\nreturn r=exp(n), n", pattern));
}

}  // namespace
}  // namespace rung
