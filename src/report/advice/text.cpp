// A recording's summary and findings as text for a terminal.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/advice/advice.hpp"
#include "report/advice/tables.hpp"
#include "report/format.hpp"

namespace rung {
namespace {

using namespace report;

constexpr size_t kNameWidth = 60;

// Aligns the first column left, numbers right, and the words after the numbers left again.
std::string line_of(const std::vector<std::string>& cells, const std::vector<size_t>& widths, size_t numbers) {
  std::string line = " ";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string text = shorten(printable(cells[i]), kNameWidth);
    const std::string blanks(widths[i] - std::min(widths[i], display_width(text)), ' ');
    line += i > 0 && i <= numbers ? " " + blanks + text + " " : " " + text + blanks;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_text(const TextTable& table) {
  std::vector<size_t> widths(table.head.size());
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], std::min(kNameWidth, display_width(printable(cells[i]))));
  };
  widen(table.head);
  for (const auto& row : table.rows) widen(row);
  // Tables of kernels and calls have columns of words after their numbers.
  const size_t words = table.head.back() == "library" ? 2 : (table.head.back() == "place" ? 1 : 0);
  const size_t numbers = table.head.size() - 1 - words;
  std::string out = "\n" + table.title + "\n" + line_of(table.head, widths, numbers);
  for (const auto& row : table.rows) out += line_of(row, widths, numbers);
  return out;
}

std::string finding_text(size_t number, const trace::TraceFinding& finding, const trace::Summary& summary) {
  std::string out = fmt::format("\n{}. {}: {}\n   {}: {}\n", number, finding.id, printable(finding.title),
                                bound_text(finding, summary), printable(finding.bound_from));
  for (const trace::Evidence& e : finding.evidence)
    out += fmt::format("   seen     {}\n", shorten(printable(evidence_text(e)), 110));
  out += fmt::format("   remedy   {}\n", finding.remedy);
  for (const trace::Change& change : finding.changes) out += fmt::format("   {:<8} {}\n", change.stack, change.what);
  if (!finding.traps.empty()) out += fmt::format("   traps    {}\n", finding.traps);
  return out + fmt::format("   confirm  {}\n", finding.confirm);
}

std::string first_text(const trace::Summary& summary) {
  const trace::TraceFinding& first = summary.findings.front();
  return fmt::format("\nDo this first: {}\n  {}: {}.\n  Then record again and compare: {}\n", first.remedy,
                     printable(first.title), bound_text(first, summary), printable(compare_command(summary)));
}

}  // namespace

std::string advice_text(const trace::Summary& summary, const trace::Difference* against) {
  std::string out = printable(source_line(summary)) + "\n";
  for (const std::string& line : lines_of(summary)) out += printable(line) + "\n";
  if (!summary.findings.empty()) out += first_text(summary);
  for (const TextTable& table : tables_of(summary)) out += table_text(table);
  size_t number = 0;
  for (const trace::TraceFinding& finding : summary.findings) out += finding_text(++number, finding, summary);
  if (const std::string nothing = nothing_found(summary); summary.findings.empty() && !nothing.empty())
    out += "\n" + nothing + "\n";
  if (!against) return out;
  out += "\n" + difference_line(*against) + "\n";
  for (const TextTable& table : tables_of(*against)) out += table_text(table);
  return out;
}

}  // namespace rung
