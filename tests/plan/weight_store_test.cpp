// Plans alive at once share the weights that they lay out alike.
// SPDX-License-Identifier: Apache-2.0
#include "plan/weight_store.hpp"

#include <atomic>

#include "plan/support.hpp"
#include "plan/weight_table.hpp"
#include "support/machines.hpp"

namespace rung {
namespace {

// A weight that comes from elsewhere when asked for, as a file's does.
class Generated : public Weight {
 public:
  explicit Generated(const std::string& name, Type type) : Weight(name, type) {}
  Result<Tensor> load() const override { return ++loads, random_tensor(name(), type()); }
  mutable std::atomic<int> loads = 0;
};

struct Layer {
  Graph graph;
  std::shared_ptr<Generated> weight = std::make_shared<Generated>("w", Type{DType::f32, {64, 64}});
  NodeId node = graph.constant(weight);
  Layer() {
    NodeId x = graph.input("x", {DType::f32, {8, 64}});
    graph.set_output("y", graph.add(Linear{}, {x, node}));
  }
};

Plan shared_plan(const Graph& graph, WeightStore& store, const Recipe& recipe = {}) {
  auto built = build_plan(graph, recipe, {.weights = &store});
  EXPECT_TRUE(built) << built.error().message;
  return built ? std::move(built->plan) : Plan{};
}

TEST(WeightStore, SharesWeightsBetweenPlansOfOneLayout) {
  Layer layer;
  WeightStore store;
  Plan first = shared_plan(layer.graph, store), second = shared_plan(layer.graph, store);
  ASSERT_EQ(first.weights.size(), 1u);
  EXPECT_EQ(first.weights[0].data, second.weights[0].data);
  EXPECT_EQ(layer.weight->loads, 1);
}

// A row whose layout is one byte, that many times as its machine has lanes: what the table asks is the plan's machine.
Kernel row_of_lanes() {
  return {.name = "lanes",
          .op = "linear",
          .supports = [](const Problem&, const Machine&) { return accept(); },
          .packed_bytes = [](const Problem&, const Machine& machine, size_t) { return size_t(machine.gpu.lanes); },
          .pack = [](const Problem&, const Machine& machine, size_t, const void*,
                     void* to) { std::memset(to, machine.gpu.lanes, size_t(machine.gpu.lanes)); }};
}

TEST(WeightTable, PacksForTheMachineOfThePlan) {
  Layer layer;
  const Kernel row = row_of_lanes();
  const Operand w{DType::f32, {64, 64}, contiguous_strides({64, 64}), true};
  const Problem problem{Linear{}, {w, w}, w};
  for (const Machine& machine : {testing::hopper(), testing::cdna()}) {
    WeightTable table(layer.graph, machine);
    table.packed({layer.node, row, problem, 1});
    const auto made = table.make(nullptr);
    ASSERT_TRUE(made) << made.error().message;
    const auto lanes = static_cast<size_t>(machine.gpu.lanes);
    ASSERT_EQ((*made)[0].bytes, lanes);
    EXPECT_EQ(std::memcmp((*made)[0].data.get(), std::string(lanes, char(lanes)).data(), lanes), 0);
  }
}

TEST(WeightStore, KeepsLayoutsOfDifferentKernelsApart) {
  Layer layer;
  WeightStore store;
  Plan packed = shared_plan(layer.graph, store);
  Recipe recipe{.tuned_kernels = true};
  recipe.choices[packed.steps[0].problem] = {"linear_fallback", {}};
  Plan plain = shared_plan(layer.graph, store, recipe);
  EXPECT_NE(packed.weights[0].data, plain.weights[0].data);
}

TEST(WeightStore, KeepsLayoutsOfDifferentParametersApart) {
  Layer layer;
  WeightStore store;
  Plan first = shared_plan(layer.graph, store, {.tuned_kernels = true});
  const Step& step = first.steps[0];
  const Kernel* kernel = first.target->kernel_named(step.choice.kernel);
  const auto tunables = kernel->tunables_for(problem_of(step, 1), first.target->machine);
  if (tunables.empty() || tunables[0].names.front() != "columns")
    GTEST_SKIP() << step.choice.kernel << " has one layout only";
  std::vector<Plan> plans;
  for (const Tunable::Values& columns : tunables[0].values) {
    Recipe recipe{.tuned_kernels = true};
    recipe.choices[step.problem] = {step.choice.kernel, tunables[0].params(columns)};
    plans.push_back(shared_plan(layer.graph, store, recipe));
  }
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_NE(plans[0].weights[0].data, plans[1].weights[0].data);
}

TEST(WeightStore, HoldsNothingOnceItsPlansAreGone) {
  Layer layer;
  WeightStore store;
  shared_plan(layer.graph, store);
  shared_plan(layer.graph, store);
  EXPECT_EQ(layer.weight->loads, 2);
}

TEST(WeightStore, MakesARepeatedExpressionOnlyOnce) {
  Graph graph;
  NodeId x = graph.input("x", {DType::f32, {8, 64}});
  auto weight = std::make_shared<Generated>("w", Type{DType::f32, {64, 64}});
  auto doubled = [&] {
    NodeId w = graph.constant(weight);
    return graph.add(Binary{BinaryKind::add}, {w, w});
  };
  NodeId first = graph.add(Linear{}, {x, doubled()}), second = graph.add(Linear{}, {first, doubled()});
  graph.set_output("y", second);
  WeightStore store;
  Plan plan = shared_plan(graph, store, {.as_written = true});
  ASSERT_EQ(plan.weights.size(), 2u);
  EXPECT_EQ(plan.weights[0].data, plan.weights[1].data);
  EXPECT_EQ(weight->loads, 1);
}

TEST(WeightStore, IsNotAskedForAPlanWithoutContents) {
  Layer layer;
  Plan whole = plan_of(layer.graph);
  int loads = layer.weight->loads;
  auto built = build_plan(layer.graph, {}, {.contents = false});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(layer.weight->loads, loads);
  ASSERT_EQ(built->plan.weights.size(), 1u);
  EXPECT_EQ(built->plan.weights[0].data, nullptr);
  EXPECT_EQ(built->plan.weight_bytes(), whole.weight_bytes());
}

TEST(WeightStore, DoesNotNameLiterals) {
  Graph graph = graph_of("x: f32[2] = input()\nc: f32[2] = constant(values=[1,2])\ny: f32[2] = add(x, c)\nreturn y=y");
  WeightStore store;
  for (NodeId id : graph.order()) EXPECT_FALSE(store.name_of(graph, id)) << id;
}

TEST(WeightStore, NamesAnExpressionByItsOpsAndWeights) {
  Layer layer;
  Graph& graph = layer.graph;
  NodeId w = graph.constant(layer.weight),
         other = graph.constant(std::make_shared<Generated>("v", layer.weight->type()));
  auto turned = [&](NodeId of) { return graph.add(Transpose{{1, 0}}, {of}); };
  WeightStore store;
  EXPECT_EQ(store.name_of(graph, turned(w)), store.name_of(graph, turned(w)));
  EXPECT_NE(store.name_of(graph, turned(w)), store.name_of(graph, w));
  EXPECT_NE(store.name_of(graph, turned(w)), store.name_of(graph, turned(other)));
}

TEST(WeightStore, NamesExpressionsByTheirOpsOrderAndFields) {
  Layer layer;
  Graph& graph = layer.graph;
  NodeId w = graph.constant(layer.weight), v = graph.constant(std::make_shared<Generated>("v", layer.weight->type()));
  WeightStore store;
  const auto name = [&](const Op& op, std::vector<NodeId> operands) {
    return store.name_of(graph, graph.add(op, std::move(operands)));
  };
  EXPECT_NE(name(Binary{BinaryKind::sub}, {w, v}), name(Binary{BinaryKind::sub}, {v, w}));
  EXPECT_NE(name(Binary{BinaryKind::sub}, {w, v}), name(Binary{BinaryKind::add}, {w, v}));
  EXPECT_NE(name(Concat{0}, {w, v}), name(Concat{1}, {w, v}));
  EXPECT_NE(name(Slice{.axis = 0, .begin = 0, .end = 8}, {w}), name(Slice{.axis = 0, .begin = 8, .end = 16}, {w}));
}

TEST(WeightStore, NamesExpressionsByTheContentsOfTheirLiterals) {
  Layer layer;
  Graph& graph = layer.graph;
  NodeId w = graph.constant(layer.weight);
  auto scaled = [&](float by) {
    return graph.add(Binary{BinaryKind::mul}, {w, graph.literal("by", Tensor::of<float>({1}, {by}))});
  };
  WeightStore store;
  EXPECT_TRUE(store.name_of(graph, scaled(2)));
  EXPECT_EQ(store.name_of(graph, scaled(2)), store.name_of(graph, scaled(2)));
  EXPECT_NE(store.name_of(graph, scaled(2)), store.name_of(graph, scaled(3)));
}

}  // namespace
}  // namespace rung
