// The linter: its rules in turn, then rows on a device where there is one.
// SPDX-License-Identifier: Apache-2.0
#include "advise/tuned/lint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "advise/tuned/lint_rules.hpp"

namespace rung::advise::tuned {
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
                                            lint_rules::hipblaslt_solutions,
                                            lint_rules::aiter_columns,
                                            lint_rules::aiter_cells,
                                            lint_rules::aiter_libraries,
                                            lint_rules::gradlib_rows};

constexpr size_t kMostReasons = 20;

void measure_row(const Entry& entry, const LintOptions& options, LintReport& report, LintNotes& notes) {
  const Result<MeasuredRow> row = options.measure(entry);
  if (!row) {
    const bool one_more =
        report.not_measured.size() < kMostReasons || report.not_measured.contains(row.error().message);
    ++report.not_measured[one_more ? row.error().message : "other reasons"];
    return;
  }
  ++report.measured;
  if (row->us <= row->default_us * (1 + row->noise)) return;
  notes.problem(
      entry.line, LintKind::slower,
      fmt::format("{} takes {:.3g} us here and the default {:.3g} us", entry.solution->name, row->us, row->default_us));
}

// Each key once: the row that the stack takes.
void measure_rows(const TuningFile& file, const LintOptions& options, LintReport& report) {
  LintNotes notes(report);
  std::unordered_set<std::string_view> seen;
  const auto once = [&](const Entry& entry) {
    if (entry.shape && entry.solution && seen.insert(entry.key).second) measure_row(entry, options, report, notes);
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
  if (options.measure) measure_rows(file, options, report);
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

}  // namespace rung::advise::tuned
