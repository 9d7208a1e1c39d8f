// Rules on lines: lines that are no rows, separators of cells, line ends.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stacks/files/fields.hpp"
#include "stacks/files/lines.hpp"
#include "stacks/lint/lint_rules.hpp"

namespace rung::stacks::lint_rules {
namespace {

bool is_comment(std::string_view line) { return trimmed(line).starts_with('#'); }

// Returns whether pandas reads the file; pandas knows no comments.
bool is_of_pandas(const TuningFile& file) {
  return file.format == &aiter || file.format == &aiter_untuned || file.format == &gradlib ||
         file.format == &gradlib_untuned;
}

size_t first_line(const TuningFile& file, LineEnd end) {
  const auto found = std::ranges::find(file.lines, end, &Line::end);
  return found == file.lines.end() ? 0 : static_cast<size_t>(found - file.lines.begin()) + 1;
}

std::string_view harm_of_crlf(const TuningFile& file) {
  if (file.format == &tunableop) return "PyTorch takes it for a part of the last cell, and no validator is equal";
  if (file.format == &hipblaslt) return "hipBLASLt takes it for a part of the version, which is then another";
  if (file.format == &miopen_find_db || file.format == &miopen_perf_db)
    return "MIOpen takes it for a part of the last value";
  return {};
}

}  // namespace

void refused_lines(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.separator != ',') return;
  for (const Refused& refused : file.refused) {
    if (file.format == &tunableop && is_comment(file.lines[refused.line - 1].text))
      notes.note(refused.line, LintKind::malformed, "PyTorch does not know comments, and leaves this line out");
    else
      notes.problem(refused.line, LintKind::malformed, refused.text);
  }
  if (!is_of_pandas(file)) return;
  for (size_t i = 0; i < file.lines.size(); ++i)
    if (is_comment(file.lines[i].text))
      notes.problem(
          i + 1, LintKind::malformed,
          "the reader knows no comments: it takes this line for a row, or for the columns, and then no number "
          "of a column is found");
}

void separators(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.separator != ',')
    notes.problem(1, LintKind::separators,
                  fmt::format("cells are separated by {}: the stack separates them at commas alone, and takes none of "
                              "these lines",
                              file.separator == '\t' ? "tabs" : "semicolons"));
  if (file.format != &tunableop) return;
  for (const Entry& entry : file.entries) {
    const auto cells = cells_of(file.lines[entry.line - 1].text);
    if (cells.size() == 5 && whole_number(cells[3]) && cells[4].find_first_not_of("0123456789") == cells[4].npos)
      notes.problem(entry.line, LintKind::separators,
                    fmt::format("the time {},{} has a comma where a point should stand: it is read as {}", cells[3],
                                cells[4], cells[3]));
  }
}

void encoding(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (file.lines.empty()) return;
  const bool marked = without_mark(file.lines[0].text).size() != file.lines[0].text.size();
  if (marked && (file.format == &tunableop || file.format == &tunableop_untuned))
    notes.problem(1, LintKind::encoding,
                  "the file begins with a byte order mark: PyTorch takes it for a part of the first name");
  else if (marked)
    notes.note(1, LintKind::encoding, "the file begins with a byte order mark, which some readers take for text");
  const size_t line = first_line(file, LineEnd::crlf);
  if (line && !harm_of_crlf(file).empty())
    notes.problem(line, LintKind::encoding, fmt::format("lines end with a carriage return: {}", harm_of_crlf(file)));
}

void no_rows(const TuningFile& file, const TunedMachine&, LintNotes& notes) {
  if (!file.entries.empty() || !file.refused.empty()) return;
  const bool list = file.format->wins == Wins::every;
  notes.problem(0, LintKind::no_rows,
                list ? "a header alone: there is nothing to tune"
                     : "a header alone: the stack finds nothing here, says nothing, and takes its default everywhere");
}

}  // namespace rung::stacks::lint_rules
