// rung explain: tells why each pass applied or not, and why each kernel was eligible or not; loads no weight.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "tasks/explain.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct ExplainFlags {
  CommonOptions common;
  std::string recipe;
};

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
  tasks::ExplainTask task;
  RUNG_TRY(task.model, model_options(options.common));
  RUNG_TRY(task.recipe, recipe_in(options.recipe));
  RUNG_TRY(tasks::Explanation explanation, tasks::explain(task));
  const Json json = to_json(explanation);
  if (options.common.json)
    print_json(json);
  else
    print_explanation(json);
  return {};
}

}  // namespace

std::pair<CLI::App*, Run> explain_command(CLI::App& app) {
  auto options = std::make_shared<ExplainFlags>();
  auto* command = add_command(app, "explain", "say which passes and kernels a model gets, and why not others");
  add_common(*command, options->common);
  add(*command, "recipe", options->recipe).described("explain this recipe's plan; default: all rungs");
  return {command, [options] { return run_explain(*options); }};
}

}  // namespace rung::cli
