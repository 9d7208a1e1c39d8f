// Plans of small graphs in text form, and their runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>

#include "plan/build.hpp"
#include "reference/evaluate.hpp"
#include "session/session.hpp"
#include "support/graphs.hpp"

namespace rung {

inline Recipe all_passes() {
  return {.rungs = {"reduce", "attention", "projection", "fusion"}, .capture = true, .tuned_kernels = true};
}

// For a GPU.
inline Recipe in_bf16() {
  Recipe recipe = all_passes();
  recipe.rungs.insert("precision");
  recipe.precision = everywhere(DType::bf16);
  recipe.threads = 0;
  return recipe;
}

inline Plan plan_of(const Graph& graph, const Recipe& recipe = {}) {
  auto built = build_plan(graph, recipe);
  EXPECT_TRUE(built) << built.error().message;
  return built ? std::move(built->plan) : Plan{};
}
inline Plan plan_of(std::string_view text, const Recipe& recipe = {}) { return plan_of(graph_of(text), recipe); }

inline std::vector<std::string> kernels_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& step : plan.steps) names.push_back(step.choice.kernel);
  return names;
}

inline Session session_over(Plan plan) {
  auto shared = std::make_shared<const Plan>(std::move(plan));
  auto session = Session::create(shared, std::make_shared<cpu::Team>(shared->recipe.threads));
  EXPECT_TRUE(session) << session.error().message;
  return std::move(*session);
}

using Outputs = std::vector<std::pair<std::string, Tensor>>;

inline Outputs outputs_of(Session& session, const NamedTensors& inputs) {
  auto outputs = session.infer(inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? *outputs : Outputs{};
}
inline Outputs outputs_of(Plan plan, const NamedTensors& inputs) {
  Session session = session_over(std::move(plan));
  return outputs_of(session, inputs);
}

// The plan's outputs have the names, types and (to rounding) values that the evaluator gives.
inline void expect_right(const Graph& graph, const Recipe& recipe) {
  NamedTensors inputs = random_inputs(graph);
  Outputs got = outputs_of(plan_of(graph, recipe), inputs);
  auto want = evaluate(graph, inputs);
  ASSERT_TRUE(want) << want.error().message;
  ASSERT_EQ(got.size(), want->size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].first, graph.outputs()[i].name);
    EXPECT_LT(relative_l2(got[i].second, (*want)[i]), 1e-6) << got[i].first;
  }
}

}  // namespace rung
