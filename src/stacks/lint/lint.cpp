// The linter: applies its rules in turn, then measures rows if it can.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/lint/lint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "stacks/files/fields.hpp"
#include "stacks/lint/lint_rules.hpp"

namespace rung::stacks {
namespace {

constexpr lint_rules::Rule* kLintRules[] = {lint_rules::refused_lines,
                                            lint_rules::separators,
                                            lint_rules::encoding,
                                            lint_rules::no_rows,
                                            lint_rules::duplicates,
                                            lint_rules::bad_times,
                                            lint_rules::slower_than_default,
                                            lint_rules::other_vendor,
                                            lint_rules::other_gpus,
                                            lint_rules::tunableop_validators,
                                            lint_rules::tunableop_solutions,
                                            lint_rules::tunableop_names,
                                            lint_rules::tunableop_offline,
                                            lint_rules::hipblaslt_version,
                                            lint_rules::library_solutions,
                                            lint_rules::aiter_columns,
                                            lint_rules::aiter_cells,
                                            lint_rules::aiter_libraries,
                                            lint_rules::gradlib_rows};

constexpr size_t kMostReasons = 20;

void note_not_measured(std::string_view why, LintReport& report) {
  const auto found = report.not_measured.find(why);
  if (found != report.not_measured.end()) return void(++found->second);
  ++report.not_measured[std::string(report.not_measured.size() < kMostReasons ? why : "other reasons")];
}

// Returns whether the file is for the GPU and the versions of the machine.
bool is_taken(const LintReport& report) {
  return std::ranges::none_of(report.findings, [](const LintFinding& finding) {
    const bool of_the_file = finding.kind == LintKind::validators || finding.kind == LintKind::wrong_version ||
                             finding.kind == LintKind::wrong_gpu;
    return of_the_file && finding.severity == Severity::problem;
  });
}

void measure_row(const Entry& entry, const LintOptions& options, LintReport& report, LintNotes& notes) {
  if (lint_rules::is_default(entry)) return;
  if (!lint_rules::is_for(entry, options.machine)) return note_not_measured("a row of another GPU", report);
  const Result<MeasuredRow> row = options.measure(entry);
  if (!row) return note_not_measured(row.error().message, report);
  ++report.measured;
  if (row->us <= row->default_us * (1 + row->noise)) return;
  const std::string name = entry.solution->name.empty()
                               ? fmt::format("{} {}", entry.solution->library, entry.solution->index.value_or(0))
                               : entry.solution->name;
  notes.problem(entry.line, LintKind::slower,
                fmt::format("{}: {} takes {:.3g} us here and the default {:.3g} us", text_of(*entry.shape), shown(name),
                            row->us, row->default_us));
}

// Measures one row for each key: the row that the stack takes.
void measure_rows(const TuningFile& file, const LintOptions& options, LintReport& report, LintNotes& notes) {
  std::unordered_set<std::string_view> seen;
  const bool taken = is_taken(report);
  const auto once = [&](const Entry& entry) {
    if (!entry.shape || !entry.solution || !seen.insert(entry.key).second) return;
    if (taken)
      measure_row(entry, options, report, notes);
    else
      note_not_measured("the file is not for this GPU and these versions", report);
  };
  if (file.format->wins == Wins::last)
    std::for_each(file.entries.rbegin(), file.entries.rend(), once);
  else
    std::ranges::for_each(file.entries, once);
}

}  // namespace

void LintNotes::add(LintFinding finding) {
  if (++listed_[static_cast<size_t>(finding.kind)] > kMostListed) {
    ++report_->left_out[std::string(name_of(finding.kind))];
    if (finding.severity == Severity::problem) ++report_->left_out_problems;
    return;
  }
  report_->findings.push_back(std::move(finding));
}

size_t LintReport::problems() const {
  return left_out_problems +
         static_cast<size_t>(std::ranges::count(findings, Severity::problem, &LintFinding::severity));
}

LintReport lint(const TuningFile& file, const LintOptions& options) {
  LintReport report;
  report.file = file.path;
  report.format = file.format->name, report.loader = file.format->loader;
  report.rows = file.entries.size(), report.refused = file.refused.size();
  LintNotes notes(report);
  for (lint_rules::Rule* const rule : kLintRules) rule(file, options.machine, notes);
  if (options.measure) measure_rows(file, options, report, notes);
  std::ranges::stable_sort(report.findings, {}, &LintFinding::line);
  return report;
}

nlohmann::json to_json(const LintReport& report) {
  nlohmann::json findings = nlohmann::json::array();
  for (const LintFinding& finding : report.findings)
    findings.push_back({{"line", finding.line},
                        {"kind", name_of(finding.kind)},
                        {"severity", name_of(finding.severity)},
                        {"text", finding.text}});
  return {{"file", report.file},           {"format", report.format},
          {"loader", report.loader},       {"rows", report.rows},
          {"refused", report.refused},     {"measured", report.measured},
          {"problems", report.problems()}, {"findings", findings},
          {"left_out", report.left_out},   {"not_measured", report.not_measured}};
}

}  // namespace rung::stacks
