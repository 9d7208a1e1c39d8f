// rung explain: tells why each pass applied or not, and why each kernel was eligible or not; loads no weight.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/command.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "ir/scope.hpp"
#include "tasks/explain.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct ExplainFlags {
  CommonOptions common;
  std::string recipe;
};

// Returns the scope with "*" for each word of it that is a number.
std::string any_number(std::string_view scope) {
  std::string words;
  while (!scope.empty()) {
    const std::string_view word = take_word(scope);
    const bool number = std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
    words += fmt::format("{}{}", words.empty() ? "" : ".", number ? "*" : word);
  }
  return words;
}

// Prints what the names of the model's parts promise, in one line for parts that differ in a number alone.
void print_promises(const Json& promises) {
  using Line = std::tuple<bool, std::string, std::string, std::string>;
  std::vector<std::pair<Line, int>> lines;
  for (const auto& promise : promises) {
    Line line{promise["found"], promise["what"], any_number(promise["scope"].get<std::string>()), promise["by"]};
    const auto it = std::ranges::find(lines, line, &std::pair<Line, int>::first);
    if (it == lines.end())
      lines.emplace_back(std::move(line), 1);
    else
      ++it->second;
  }
  for (const auto& [line, times] : lines) {
    const auto& [found, what, scope, by] = line;
    fmt::print("{:<9} {:<12} {:>3} x {}  {}\n", found ? "found" : "NOT FOUND", what, times, scope, by);
  }
}

void print_explanation(const Json& json) {
  for (const auto& pass : json["passes"]) {
    fmt::print("{:<12} {:<22} {:>6} -> {:<6} nodes {:8.2f} ms\n", pass["rung"].get<std::string>(),
               pass["name"].get<std::string>(), pass["nodes_before"].get<size_t>(), pass["nodes_after"].get<size_t>(),
               pass["ms"].get<double>());
    for (const auto& note : pass["notes"]) fmt::print("    {}\n", note.get<std::string>());
    for (const auto& miss : pass["misses"])
      fmt::print("    not '{}': {}\n", miss["label"].get<std::string>(), miss["reason"].get<std::string>());
  }
  if (!json["promises"].empty()) fmt::print("\nParts that the model's names promise\n");
  print_promises(json["promises"]);
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
