// Splits and joins lines byte by byte, and enforces limits on them.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/lines.hpp"

#include "stacks/files/fields.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr std::string_view kEnds[] = {"\n", "\r\n", ""};

Line line_of(std::string_view text, bool ended) {
  if (!ended) return {std::string(text), LineEnd::none};
  if (!text.ends_with('\r')) return {std::string(text), LineEnd::lf};
  text.remove_suffix(1);
  return {std::string(text), LineEnd::crlf};
}

}  // namespace

Result<std::vector<Line>> split_lines(std::string_view text) {
  if (const size_t nul = text.find('\0'); nul != text.npos)
    return bad_file("got a NUL at byte {}, wanted text in UTF-8", nul);
  std::vector<Line> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool ended = end != text.npos;
    const std::string_view line = text.substr(0, end);
    if (line.size() > kMaxLineBytes)
      return bad_file("line {}: got {} bytes, wanted at most {}", lines.size() + 1, line.size(), kMaxLineBytes);
    if (lines.size() == kMaxTuningLines) return bad_file("got more than {} lines", kMaxTuningLines);
    lines.push_back(line_of(line, ended));
    text.remove_prefix(ended ? end + 1 : text.size());
  }
  return lines;
}

std::string joined(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text.append(line.text).append(kEnds[static_cast<size_t>(line.end)]);
  return text;
}

std::string_view without_mark(std::string_view line) {
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  return line;
}

bool says_something(std::string_view line) {
  const std::string_view text = trimmed(without_mark(line));
  return !text.empty() && !text.starts_with('#');
}

Status add_entry(TuningFile& file, Result<Entry> entry, size_t line) {
  if (!entry) {
    file.refused.push_back({line, std::move(entry).error().message});
    return {};
  }
  if (file.entries.size() == kMaxTuningEntries) return bad_file("got more than {} results", kMaxTuningEntries);
  entry->line = line;
  entry->table = file.tables.empty() ? 0 : static_cast<uint32_t>(file.tables.size() - 1);
  file.entries.push_back(std::move(*entry));
  return {};
}

Status add_table(TuningFile& file, std::vector<std::string> columns) {
  if (columns.size() > kMaxColumns) return bad_file("got {} columns, wanted at most {}", columns.size(), kMaxColumns);
  if (!file.tables.empty() && file.tables.back() == columns) return {};
  if (file.tables.size() == kMaxTables) return bad_file("got more than {} headers", kMaxTables);
  file.tables.push_back(std::move(columns));
  return {};
}

}  // namespace rung::stacks
