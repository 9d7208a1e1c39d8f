// rung compare: two plans, models, recipes or builds of the tool in turns, for people and for continuous integration.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "report/format.hpp"
#include "tasks/compare.hpp"

namespace rung::cli {
namespace {

struct CompareFlags {
  CommonOptions common;
  std::string a, b, recipe_a, recipe_b, tool_a, tool_b, max_slowdown = "3%", budget = "20s", markdown;
  bool same_outputs = false;
};

// Returns the share that a text such as "3%" means.
Result<double> parse_percent(const std::string& text) {
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (code != std::errc() || (unit != "%" && unit != " %"))
    return wrong_usage("--max-slowdown: got '{}', wanted a percentage such as 3%", text);
  if (!(value >= 100 * tasks::kLeastSlowdown && value <= 100 * tasks::kMostSlowdown))
    return wrong_usage("--max-slowdown: got '{}', wanted {}% to {}%", text, 100 * tasks::kLeastSlowdown,
                       100 * tasks::kMostSlowdown);
  return value / 100;
}

Result<tasks::CompareTask> task_of(const CompareFlags& flags) {
  if (flags.b.empty() && flags.recipe_a.empty() && flags.recipe_b.empty() && flags.tool_a.empty() &&
      flags.tool_b.empty())
    return wrong_usage(
        "got one model, wanted B too, or an option that makes B differ from A: --recipe-b, --tool-b, --recipe-a or "
        "--tool-a");
  tasks::CompareTask task;
  task.a = {.path = flags.a, .recipe = {}, .recipe_name = flags.recipe_a, .tool = flags.tool_a};
  task.b = {
      .path = flags.b.empty() ? flags.a : flags.b, .recipe = {}, .recipe_name = flags.recipe_b, .tool = flags.tool_b};
  RUNG_TRY(task.a.recipe, recipe_in(flags.recipe_a));
  RUNG_TRY(task.b.recipe, recipe_in(flags.recipe_b));
  RUNG_TRY(task.model, model_options(flags.common));
  RUNG_TRY(task.max_slowdown, parse_percent(flags.max_slowdown));
  RUNG_TRY(task.budget_s, parse_budget(flags.budget));
  task.interrupted = interrupted;
  return task;
}

void print_side(char name, const tasks::ComparedSide& side, double ms, report::Clock clock) {
  std::string text = fmt::format("{}  {:>12}  {}", name, report::duration_ms(ms, clock), side.path);
  if (!side.recipe.empty()) text += ", recipe " + side.recipe;
  if (!side.tool.empty()) text += ", by " + side.tool;
  text += fmt::format("; {}", name_of(side.precision));
  if (side.threads && *side.threads > 0) text += ", " + report::counted(*side.threads, "thread");
  if (side.launches) text += ", " + report::counted(*side.launches, "launch", "launches");
  fmt::print("{}\n", report::printable(text));
}

void print_compared(const tasks::Compared& compared) {
  const report::Clock clock = report::clock_of(compared.device);
  print_side('A', compared.a, compared.speedup.before_ms, clock);
  print_side('B', compared.b, compared.speedup.after_ms, clock);
  fmt::print("{}: {}\n", headline_of(compared), ratio_line(compared));
  fmt::print("{}\n", outputs_line(compared));
  for (const Comparison& o : compared.outputs.outputs)
    fmt::print("  {:<22} {}  rel L2 {:.3g}  max abs {:.3g}  cosine {:.8f}\n", o.name, o.passed ? "agrees " : "differs",
               o.rel_l2, o.max_abs, o.cosine);
  fmt::print("{}\n", compared.device);
  print_disturbance(compared.disturbance);
}

Status verdict_of(const tasks::Compared& compared, const CompareFlags& flags) {
  const tasks::Pace pace = compared.pace();
  if (pace == tasks::Pace::slower) return fail("{}: {}", headline_of(compared), ratio_line(compared));
  if (flags.same_outputs && !compared.outputs_agree()) return fail("{}", outputs_line(compared));
  if (pace != tasks::Pace::unclear) return {};
  found_unclear();
  return fail("{}: {}; a quiet machine or a longer --budget may give an answer", headline_of(compared),
              ratio_line(compared));
}

Status run_compare(const CompareFlags& flags) {
  log_to_stderr(flags.common.log_level);
  RUNG_TRY(const tasks::CompareTask task, task_of(flags));
  const InterruptsAwaited awaited;
  RUNG_TRY(const tasks::Compared compared, tasks::compare(task));
  if (!flags.markdown.empty()) RUNG_CHECK(write_file_atomically(flags.markdown, to_markdown(compared)));
  if (flags.common.json)
    print_json(to_json(compared));
  else
    print_compared(compared);
  return verdict_of(compared, flags);
}

}  // namespace

std::pair<CLI::App*, Run> compare_command(CLI::App& app) {
  auto flags = std::make_shared<CompareFlags>();
  auto* command = add_command(app, "compare", "time two plans, models, recipes or builds of rung in turns");
  add_file(*command, flags->a, model_or_plan(), "A").required();
  add_file(*command, flags->b, "the side to compare A with; default: A itself, with another recipe or tool", "B");
  for (auto [flag, target] : {std::pair{"max-slowdown", &flags->max_slowdown}, {"budget", &flags->budget}})
    add(*command, flag, *target).shows_default();
  for (auto [flag, target] : {std::pair{"recipe-a", &flags->recipe_a},
                              {"recipe-b", &flags->recipe_b},
                              {"tool-a", &flags->tool_a},
                              {"tool-b", &flags->tool_b}})
    add(*command, flag, *target);
  add(*command, "same-outputs", flags->same_outputs);
  add(*command, "markdown", flags->markdown)
      .described("write the result also as Markdown, for a comment on a pull request");
  add_common_options(*command, flags->common);
  add_trust(*command, flags->common);
  return {command, [flags] { return run_compare(*flags); }};
}

}  // namespace rung::cli
