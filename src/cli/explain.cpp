// rung explain: why each pass did or did not apply, and why each kernel was or was not eligible; loads no weight.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "kernels/cpu/bind.hpp"
#include "plan/build.hpp"
#include "plan/kernel_choice.hpp"
#include "tune/problem.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct ExplainFlags {
  CommonOptions common;
  std::string recipe;
};

Json explain_passes(const PassReport& report) {
  Json passes = Json::array();
  for (const auto& row : report.rows)
    passes.push_back({{"name", row.name},
                      {"rung", row.rung},
                      {"changed", row.changed},
                      {"nodes_before", row.nodes_before},
                      {"nodes_after", row.nodes_after},
                      {"ms", row.ms},
                      {"notes", row.notes}});
  return passes;
}

Json explain_problems(const Target& target, const Graph& graph, const Recipe& recipe) {
  std::map<std::string, std::pair<int, Problem>> problems;
  std::vector<bool> constant = constant_nodes(graph);
  for (NodeId id : graph.order()) {
    if (constant[id] || graph.as<Input>(id) || is_view(graph[id].op)) continue;
    Problem problem = cpu::problem_of(graph, id, recipe.threads);
    for (size_t i = 0; i < problem.inputs.size(); ++i) problem.inputs[i].constant = constant[graph[id].operands[i]];
    auto [it, added] = problems.try_emplace(problem_key(problem), 0, problem);
    ++it->second.first;
  }
  Json rows = Json::array();
  for (const auto& [key, entry] : problems) {
    Json kernels = Json::array();
    for (const auto& [name, verdict] : explain_kernels(target, entry.second))
      kernels.push_back({{"kernel", name}, {"yes", verdict.yes}, {"reason", verdict.reason}});
    rows.push_back({{"problem", key}, {"count", entry.first}, {"kernels", std::move(kernels)}});
  }
  return rows;
}

void print_explanation(const Json& json) {
  for (const auto& pass : json["passes"]) {
    fmt::print("{:<12} {:<22} {:>6} -> {:<6} nodes {:8.2f} ms\n", pass["rung"].get<std::string>(),
               pass["name"].get<std::string>(), pass["nodes_before"].get<size_t>(), pass["nodes_after"].get<size_t>(),
               pass["ms"].get<double>());
    for (const auto& note : pass["notes"]) fmt::print("    {}\n", note.get<std::string>());
  }
  for (const auto& problem : json["problems"]) {
    fmt::print("\n{} x {}\n", problem["count"].get<int>(), problem["problem"].get<std::string>());
    for (const auto& row : problem["kernels"])
      fmt::print("    {:<4} {:<28} {}\n", row["yes"].get<bool>() ? "yes" : "no", row["kernel"].get<std::string>(),
                 row["reason"].get<std::string>());
  }
}

Status run_explain(const ExplainFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(Opened opened, open_model(options.common));
  if (!opened.subject) return wrong_usage("'{}' is a plan: explain needs a model directory", options.common.model);
  RUNG_TRY(Recipe recipe, recipe_of(opened, options.recipe, options.common));
  PassReport report;
  RUNG_TRY(Graph graph, apply_passes(opened.subject->model.graph, recipe, &report, {.target = opened.target}));
  Json json{{"passes", explain_passes(report)}, {"problems", explain_problems(*opened.target, graph, recipe)}};
  if (options.common.json)
    print_json(json);
  else
    print_explanation(json);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> explain_command(CLI::App& app) {
  auto options = std::make_shared<ExplainFlags>();
  auto* command = add_command(app, "explain", "say why passes and kernels apply or do not");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe).described("of this recipe instead of all rungs");
  return {command, [options] { return run_explain(*options); }};
}

}  // namespace rung::cli
