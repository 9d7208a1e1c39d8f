// The evaluator's own duties: inputs, weights, order, errors and memory.
// SPDX-License-Identifier: Apache-2.0
#include "reference/run.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

// Counts how often it is loaded.
class CountedWeight : public Weight {
 public:
  explicit CountedWeight(Tensor value) : Weight("w", value.type()), value_(std::move(value)) {}
  Result<Tensor> load() const override { return ++loads, value_; }
  mutable int loads = 0;

 private:
  Tensor value_;
};

// Says one type and holds another.
class WrongWeight : public Weight {
 public:
  WrongWeight() : Weight("wrong", {DType::f32, {2}}) {}
  Result<Tensor> load() const override { return f32({1}, {1}); }
};

TEST(Evaluate, ReturnsEveryOutputInOrder) {
  auto graph = parse_graph("x: f32[2] = input()\na = neg(x)\nb = add(a, x)\nreturn second=b, first=a, same=x");
  ASSERT_TRUE(graph) << graph.error().message;
  auto values = evaluate(*graph, {{"x", f32({2}, {1, 2})}});
  ASSERT_TRUE(values) << values.error().message;
  ASSERT_EQ(values->size(), 3u);
  expect_values((*values)[0], {0, 0});
  expect_values((*values)[1], {-1, -2});
  expect_values((*values)[2], {1, 2});
}

TEST(Evaluate, NamesMissingAndWrongInputs) {
  EXPECT_THAT(error_of("neg(x:f32[2])", {}), HasSubstr("input 'x' is missing, wanted f32[2]"));
  EXPECT_THAT(error_of("neg(x:f32[2])", {{"x", f32({1}, {1})}}), HasSubstr("input 'x': got f32[1], wanted f32[2]"));
  EXPECT_THAT(error_of("neg(x:f32[1])", {{"x", i64({1}, {1})}}), HasSubstr("input 'x': got i64[1], wanted f32[1]"));
}

TEST(Evaluate, NamesTheNodeThatFailed) {
  Graph graph;
  NodeId x = graph.input("x", {DType::f32, {2, 1}}), i = graph.input("i", {DType::i64, {1}});
  graph.set_output("y", graph.add(Gather{0}, {x, i}, "embeddings.word"));
  auto values = evaluate(graph, {{"x", f32({2, 1}, {1, 2})}, {"i", i64({1}, {5})}});
  ASSERT_FALSE(values);
  EXPECT_THAT(values.error().message, HasSubstr("embeddings.word: gather: index 5 at position 0: wanted 0 to 1"));
}

TEST(Evaluate, LoadsAWeightOnlyOnceAndIfNeeded) {
  auto used = std::make_shared<CountedWeight>(f32({1}, {3})), unused = std::make_shared<CountedWeight>(f32({1}, {4}));
  Graph graph;
  NodeId x = graph.input("x", {DType::f32, {1}}), w = graph.constant(used), dead = graph.constant(unused);
  graph.add(Unary{UnaryKind::neg}, {dead});
  graph.set_output("y", graph.add(Binary{BinaryKind::mul}, {graph.add(Binary{BinaryKind::add}, {x, w}), x}));
  auto values = evaluate(graph, {{"x", f32({1}, {2})}});
  ASSERT_TRUE(values) << values.error().message;
  expect_values((*values)[0], {10});
  EXPECT_EQ(used->loads, 1);
  EXPECT_EQ(unused->loads, 0);
}

TEST(Evaluate, RefusesAWeightOfAnotherType) {
  Graph graph;
  graph.set_output("y", graph.constant(std::make_shared<WrongWeight>()));
  auto values = evaluate(graph, {});
  ASSERT_FALSE(values);
  EXPECT_THAT(values.error().message, HasSubstr("weight 'wrong': got f32[1], wanted f32[2]"));
}

TEST(Evaluate, WalksAGraphDeeperThanTheCallStack) {
  Graph graph;
  NodeId node = graph.input("x", {DType::f32, {1}});
  for (int i = 0; i < 200000; ++i) node = graph.add(Unary{UnaryKind::neg}, {node});
  graph.set_output("y", node);
  auto values = evaluate(graph, {{"x", f32({1}, {2})}});
  ASSERT_TRUE(values) << values.error().message;
  expect_values((*values)[0], {2});
}

TEST(EvaluateResults, RefusesResultTypesTheOpDoesNotGive) {
  auto value = evaluate_results(Unary{UnaryKind::neg}, {f32({2}, {1, 2})}, {DType::f32, {3}});
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("neg: got result type f32[3], wanted f32[2]"));
}

TEST(EvaluateConstant, ComputesWhatDependsOnConstantsOnly) {
  Graph graph;
  NodeId a = graph.literal("a", f32({2}, {1, 2})), x = graph.input("x", {DType::f32, {2}});
  NodeId sum = graph.add(Binary{BinaryKind::add}, {a, a});
  NodeId square = graph.add(Binary{BinaryKind::mul}, {sum, sum});
  NodeId mixed = graph.add(Binary{BinaryKind::mul}, {square, x});
  auto value = evaluate_constant(graph, square);
  ASSERT_TRUE(value) << value.error().message;
  expect_values(*value, {4, 16});
  auto refused = evaluate_constant(graph, mixed);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("depends on input 'x'"));
}

}  // namespace
}  // namespace rung
