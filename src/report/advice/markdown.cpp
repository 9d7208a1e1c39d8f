// A recording's summary and findings as a Markdown page.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/advice/advice.hpp"
#include "report/advice/tables.hpp"
#include "report/format.hpp"
#include "report/markdown_text.hpp"

namespace rung {
namespace {

using namespace report;

std::string row_of(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) out += " " + markdown_text(cell) + " |";
  return out + "\n";
}

std::string table_markdown(const TextTable& table) {
  std::string rule = "| :-- |";
  for (size_t i = 1; i < table.head.size(); ++i) rule += " --: |";
  std::string out = fmt::format("\n## {}\n\n{}{}\n", markdown_text(table.title), row_of(table.head), rule);
  for (const auto& row : table.rows) out += row_of(row);
  return out;
}

std::string finding_markdown(const trace::TraceFinding& finding, const trace::Summary& summary) {
  std::string out = fmt::format("\n### {}: {}\n\n{}: {}.\n\n", markdown_text(finding.id), markdown_text(finding.title),
                                markdown_text(bound_text(finding, summary)), markdown_text(finding.bound_from));
  for (const trace::Evidence& e : finding.evidence) out += fmt::format("- {}\n", markdown_text(evidence_text(e)));
  out += fmt::format("\n{}\n\n", markdown_text(finding.remedy));
  for (const trace::Change& c : finding.changes)
    out += fmt::format("- {}: {}\n", markdown_text(c.stack), markdown_text(c.what));
  if (!finding.traps.empty()) out += fmt::format("\nTraps: {}\n", markdown_text(finding.traps));
  return out + fmt::format("\nConfirm: {}\n", markdown_text(finding.confirm));
}

std::string first_markdown(const trace::Summary& summary) {
  const trace::TraceFinding& first = summary.findings.front();
  return fmt::format("\n## Do this first\n\n{}\n\n{}: {}. Then record again and compare:\n\n    {}\n",
                     markdown_text(first.remedy), markdown_text(first.title), markdown_text(bound_text(first, summary)),
                     printable(compare_command(summary)));
}

}  // namespace

std::string advice_markdown(const trace::Summary& summary, const trace::Difference* against) {
  std::string out = fmt::format("# {}\n", markdown_text(source_line(summary)));
  for (const std::string& line : lines_of(summary)) out += fmt::format("\n{}\n", markdown_text(line));
  if (!summary.findings.empty()) out += first_markdown(summary);
  out += "\n## Findings\n";
  for (const trace::TraceFinding& finding : summary.findings) out += finding_markdown(finding, summary);
  if (const std::string nothing = nothing_found(summary); summary.findings.empty() && !nothing.empty())
    out += "\n" + nothing + "\n";
  for (const TextTable& table : tables_of(summary)) out += table_markdown(table);
  if (!against) return out;
  out += fmt::format("\n# Before and after\n\n{}\n", markdown_text(difference_line(*against)));
  for (const TextTable& table : tables_of(*against)) out += table_markdown(table);
  return out;
}

}  // namespace rung
