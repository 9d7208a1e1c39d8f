// rung tune lint: finds faults of a tuning file, in the stack and on the GPU that it is for. It changes nothing.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "cli/budget.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "open/options.hpp"
#include "report/format.hpp"
#include "stacks/files/format.hpp"
#include "stacks/lint/lint_tuning_file.hpp"

namespace rung::cli {
namespace {

using report::printable;
using stacks::LintReport;

constexpr std::string_view kAnyProblem = "problem";

struct LintFlags {
  stacks::LintTask task;
  std::string device, budget = "60s";
  std::vector<std::string> fail_on;
  bool json = false;
};

// Returns the line as compilers write it, so that editors jump to the place.
std::string text_of(const LintReport& report, const stacks::LintFinding& finding) {
  const std::string line = finding.line ? fmt::format(":{}", finding.line) : "";
  return fmt::format("{}{}: {}: {} [{}]", printable(report.file), line, name_of(finding.severity),
                     printable(finding.text), name_of(finding.kind));
}

size_t total(const std::map<std::string, size_t, std::less<>>& counts) {
  size_t sum = 0;
  for (const auto& [what, count] : counts) sum += count;
  return sum;
}

void print_text(const LintReport& report) {
  for (const auto& finding : report.findings) fmt::print("{}\n", text_of(report, finding));
  for (const auto& [kind, count] : report.left_out) fmt::print("{} more of [{}]\n", count, kind);
  for (const auto& [why, count] : report.not_measured) fmt::print("{} not timed: {}\n", count, printable(why));
  const size_t problems = report.problems(), all = report.findings.size() + total(report.left_out);
  fmt::print("{}: {}, {}, {} refused, {} timed; {}, {}\n", printable(report.file), report.format,
             words::counted(report.rows, "row"), words::counted(report.refused, "line"),
             words::counted(report.measured, "row"), words::counted(problems, "problem"),
             words::counted(all - problems, "note"));
}

Status check(const LintReport& report, const std::vector<std::string>& fail_on) {
  const auto asked = [&](std::string_view word) { return std::ranges::find(fail_on, word) != fail_on.end(); };
  size_t failed = asked(kAnyProblem) ? report.left_out_problems : 0;
  for (const auto& [kind, count] : report.left_out)
    if (!asked(kAnyProblem) && asked(kind)) failed += count;
  const stacks::LintFinding* first = nullptr;
  for (const auto& finding : report.findings) {
    if (!asked(name_of(finding.kind)) && !(asked(kAnyProblem) && finding.severity == doctor::Severity::problem))
      continue;
    ++failed;
    if (!first) first = &finding;
  }
  if (!first) return {};
  return fail("{} of --fail-on, the first: {}", words::counted(failed, "finding"), text_of(report, *first));
}

Status run_lint(const LintFlags& flags) {
  stacks::LintTask task = flags.task;
  RUNG_TRY(task.budget_s, parse_budget(flags.budget));
  RUNG_TRY(task.device, asked_device(flags.device));
  const InterruptsAwaited awaited;
  task.interrupted = interrupted;
  Result<LintReport> linted = fail("not started");
  {
    Progress progress(!task.device);
    task.progress = [&](const std::string& what, double fraction) { progress.show(what, fraction); };
    linted = stacks::lint_tuning_file(task);
  }
  if (!linted) return tl::unexpected<Error>(linted.error());
  if (flags.json)
    print_json(to_json(*linted));
  else
    print_text(*linted);
  if (interrupted()) return was_interrupted("interrupted; not all rows are timed");
  return check(*linted, flags.fail_on);
}

std::vector<std::string> format_words() {
  std::vector<std::string> words;
  for (const auto* format : stacks::formats()) words.emplace_back(format->name);
  return words;
}

std::vector<std::string> fail_words() {
  std::vector<std::string> words{std::string(kAnyProblem)};
  words.insert(words.end(), stacks::kLintWords.begin(), stacks::kLintWords.end());
  return words;
}

}  // namespace

std::pair<CLI::App*, Run> tune_lint_command(CLI::App& tune) {
  auto flags = std::make_shared<LintFlags>();
  auto* command = add_command(tune, "lint", "say what is wrong with a file of tuned products, or of products to tune");
  add_file(*command, flags->task.file,
           "a file of tuned products, or of products to tune, of PyTorch, hipBLASLt, aiter, gradlib, MIOpen or rung")
      .required();
  add(*command, "json", flags->json);
  const Option gpu = add(*command, "gpu", flags->task.gpu)
                         .described("the GPU that the file is for: h100, h200, mi300x, mi325x, mi350x or mi355x");
  add(*command, "time-on", flags->device).excludes(gpu);
  const Option python = add(*command, "python", flags->task.python)
                            .described("the Python whose PyTorch loads the file; rung asks it for its versions");
  add(*command, "validators", flags->task.validators)
      .described("instead of --python: a file of TunableOp results that this PyTorch wrote, which names its versions")
      .excludes(python);
  add(*command, "budget", flags->budget)
      .described("time for --time-on, such as 60s or 5m, at least 1s")
      .shows_default();
  add(*command, "format", flags->task.format)
      .described("the format of the file; default: recognised by its content")
      .one_of(format_words());
  add(*command, "fail-on", flags->fail_on)
      .described(
          "fail if there are such findings: problem (of any kind), or kinds of findings, as in brackets at the end of "
          "their line")
      .splits_at(',')
      .one_of(fail_words());
  return {command, [flags] { return run_lint(*flags); }};
}

}  // namespace rung::cli
