// Nodes of imported graphs: values that are known become literals, errors name the call.
// SPDX-License-Identifier: Apache-2.0
#include "import/graph_builder.hpp"

#include <gmock/gmock.h>

#include "ir/text.hpp"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GraphBuilders : public ::testing::Test {
 protected:
  NodeId numbers(std::vector<int64_t> values) {
    Tensor tensor({DType::i64, {static_cast<int64_t>(values.size())}});
    std::copy(values.begin(), values.end(), tensor.as<int64_t>().begin());
    return graph.literal("numbers", std::move(tensor));
  }

  Graph graph;
  GraphBuilder builder{graph};
};

TEST_F(GraphBuilders, ComputeArithmeticOnShapesWhileAdding) {
  const NodeId product = *builder.add(Binary{BinaryKind::mul}, {numbers({2, 3}), numbers({5, 7})}, "view");
  const NodeId last = *builder.add(Slice{.axis = 0, .begin = 1, .end = 2}, {product}, "view");
  ASSERT_TRUE(graph.is_constant(last));
  EXPECT_THAT(builder.value_of(last)->as<int64_t>(), ElementsAre(21));
  EXPECT_EQ(graph[last].label, "view");
}

TEST_F(GraphBuilders, KeepWhatDependsOnInputs) {
  const NodeId x = graph.input("x", {DType::i64, {2}});
  const NodeId sum = *builder.add(Binary{BinaryKind::add}, {x, numbers({1, 2})}, "sum");
  EXPECT_NE(graph.as<Binary>(sum), nullptr);
  EXPECT_FALSE(builder.value_of(sum));
  EXPECT_FALSE(builder.value_of(x));
}

TEST_F(GraphBuilders, ComputeValuesBehindRepeats) {
  const NodeId rows = *builder.add(Broadcast{{4, 2}}, {numbers({1, 2})}, "rows");
  const NodeId twice = *builder.add(Binary{BinaryKind::mul}, {rows, numbers({2, 3})}, "twice");
  const NodeId first = *builder.add(Slice{.axis = 0, .begin = 0, .end = 1}, {twice}, "first");
  EXPECT_FALSE(builder.value_of(first));
  ASSERT_TRUE(builder.computed_value(first));
  EXPECT_THAT(builder.computed_value(first)->as<int64_t>(), ElementsAre(2, 6));
  const NodeId x = graph.input("x", {DType::i64, {2}});
  EXPECT_FALSE(builder.computed_value(*builder.add(Binary{BinaryKind::mul}, {rows, x}, "product")));
  EXPECT_FALSE(builder.computed_value(*builder.add(Broadcast{{2048, 2}}, {numbers({1, 2})}, "many")));
}
TEST_F(GraphBuilders, ComputeNoLongChainsOfRepeats) {
  NodeId doubled = *builder.add(Broadcast{{4, 2}}, {numbers({0, 0})}, "rows");
  for (int i = 0; i < 64; ++i) doubled = *builder.add(Binary{BinaryKind::add}, {doubled, doubled}, "doubled");
  EXPECT_FALSE(builder.computed_value(doubled));  // each would be computed twice as often as the next
}

TEST_F(GraphBuilders, KeepLargeValuesForThePlan) {
  const NodeId long_one = graph.literal("long", Tensor({DType::f32, {2048}}));
  EXPECT_FALSE(builder.value_of(long_one));
  EXPECT_NE(graph.as<Unary>(*builder.add(Unary{UnaryKind::neg}, {long_one}, "negated")), nullptr);
}
TEST_F(GraphBuilders, KeepBroadcastsWhichShowWhatRowsShare) {
  const NodeId rows = *builder.add(Broadcast{{4, 2}}, {numbers({1, 2})}, "rows");
  EXPECT_NE(graph.as<Broadcast>(rows), nullptr);
}

TEST_F(GraphBuilders, KeepOpsOfSeveralResults) {
  Tensor values({DType::f32, {4}});
  const NodeId top = *builder.add(TopK{.k = 2}, {graph.literal("values", values)}, "best");
  EXPECT_NE(graph.as<TopK>(top), nullptr);
}

TEST_F(GraphBuilders, NameTheCallThatIsWrong) {
  const NodeId x = graph.input("x", {DType::f32, {2, 3}}), y = graph.input("y", {DType::f32, {4, 5}});
  const auto product = builder.add(MatMul{}, {x, y}, "layer.0.attention");
  ASSERT_FALSE(product);
  EXPECT_THAT(product.error().message, HasSubstr("layer.0.attention: matmul: got f32[2,3] and f32[4,5]"));
}

TEST_F(GraphBuilders, SayThatAKnownValueCannotBeComputed) {
  const auto quotient = builder.add(Binary{BinaryKind::div}, {numbers({6}), numbers({0})}, "size");
  ASSERT_FALSE(quotient);
  EXPECT_THAT(quotient.error().message, HasSubstr("size: div: integer division by zero"));
}

TEST_F(GraphBuilders, ComputeWithValuesThatHaveNoElements) {
  const NodeId none = *builder.add(Slice{.axis = 0, .begin = 1, .end = 1}, {numbers({4})}, "none");
  const NodeId joined = *builder.add(Concat{0}, {none, numbers({8})}, "joined");
  EXPECT_THAT(builder.value_of(joined)->as<int64_t>(), ElementsAre(8));
}

TEST_F(GraphBuilders, MultiplyInF32ByNumbersTheirTypeLacks) {
  const NodeId x = graph.input("x", {DType::bf16, {2}});
  EXPECT_EQ(graph[builder.scale(x, 0.5, "half")].operands[0], x);
  const NodeId third = builder.scale(x, 0.3, "third");
  EXPECT_NE(graph.as<Cast>(third), nullptr);
  EXPECT_EQ(graph.type(third).dtype, DType::bf16);
}

}  // namespace
}  // namespace rung
