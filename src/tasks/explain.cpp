// Collects the passes that ran and the verdicts on kernels.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/explain.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "kernels/cpu/bind.hpp"
#include "kernels/problem_key.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "plan/kernel_choice.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

std::vector<ExplainedProblem> explain_problems(const Target& target, const Graph& graph, int threads) {
  std::map<std::string, ExplainedProblem> problems;
  std::vector<bool> constant = constant_nodes(graph);
  for (NodeId id : graph.order()) {
    if (constant[id] || graph.as<Input>(id) || is_view(graph[id].op)) continue;
    Problem problem = cpu::problem_of(graph, id, threads);
    for (size_t i = 0; i < problem.inputs.size(); ++i) problem.inputs[i].constant = constant[graph[id].operands[i]];
    const std::string key = problem_key(problem);
    auto [it, added] = problems.try_emplace(key, ExplainedProblem{.problem = key});
    if (added) it->second.kernels = explain_kernels(target, problem);
    ++it->second.count;
  }
  std::vector<ExplainedProblem> list;
  for (auto& [key, problem] : problems) list.push_back(std::move(problem));
  return list;
}

Json misses_to_json(const std::vector<Miss>& misses) {
  Json rows = Json::array();
  for (const Miss& miss : misses) rows.push_back({{"label", miss.label}, {"reason", miss.reason}});
  return rows;
}

Json passes_to_json(const PassReport& report) {
  Json passes = Json::array();
  for (const auto& row : report.rows)
    passes.push_back({{"name", row.name},
                      {"rung", row.rung},
                      {"changed", row.changed},
                      {"nodes_before", row.nodes_before},
                      {"nodes_after", row.nodes_after},
                      {"ms", row.ms},
                      {"notes", row.notes},
                      {"misses", misses_to_json(row.misses)}});
  return passes;
}

Json problems_to_json(const std::vector<ExplainedProblem>& problems) {
  Json rows = Json::array();
  for (const auto& problem : problems) {
    Json kernels = Json::array();
    for (const auto& [name, verdict] : problem.kernels)
      kernels.push_back({{"kernel", name}, {"yes", verdict.yes}, {"reason", verdict.reason}});
    rows.push_back({{"problem", problem.problem}, {"count", problem.count}, {"kernels", std::move(kernels)}});
  }
  return rows;
}

}  // namespace

Result<Explanation> explain(const ExplainTask& task) {
  RUNG_TRY(Opened opened, open_model(task.model));
  if (!opened.subject) return wrong_usage("'{}' is a plan: explain needs a model directory", task.model.path);
  RUNG_TRY(Recipe recipe, recipe_of(opened, task.recipe, task.model));
  Explanation explanation;
  const Graph& model = opened.subject->model.graph;
  RUNG_TRY(Built built, build_plan(model, recipe, {.target = opened.target, .contents = false}));
  explanation.problems = explain_problems(*opened.target, built.graph, recipe.threads);
  explanation.promises = promises_of(model, built);
  explanation.passes = std::move(built.passes);
  return explanation;
}

Json to_json(const Explanation& explanation) {
  return {{"passes", passes_to_json(explanation.passes)},
          {"promises", to_json(explanation.promises)},
          {"problems", problems_to_json(explanation.problems)}};
}

}  // namespace rung::tasks
