// Makes, changes and writes tuning files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"

namespace rung::stacks {
namespace {

// Returns the entry that the stack takes among those with this key. If it takes none, returns the first one, as the one
// to repair.
Entry* winner(TuningFile& file, const std::string& key) {
  const auto same = [&](const Entry& entry) { return entry.key == key; };
  if (file.format->wins != Wins::last) {
    const auto found = std::ranges::find_if(file.entries, same);
    return found == file.entries.end() ? nullptr : &*found;
  }
  const auto found = std::find_if(file.entries.rbegin(), file.entries.rend(), same);
  return found == file.entries.rend() ? nullptr : &*found;
}

void append(TuningFile& file, const std::vector<std::string>& lines, Entry entry) {
  const LineEnd end = file.lines.empty() || file.lines[0].end == LineEnd::none ? LineEnd::lf : file.lines[0].end;
  if (!file.lines.empty() && file.lines.back().end == LineEnd::none) file.lines.back().end = end;
  for (const std::string& line : lines) file.lines.push_back({line, end});
  entry.line = file.lines.size();
  file.entries.push_back(std::move(entry));
}

Status expect_one_line(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    if (line.find_first_of(std::string_view("\n\r\0", 3)) != line.npos)
      return mismatch("got a name with the end of a line in it");
  return {};
}

}  // namespace

Result<TuningFile> new_tuning_file(std::string_view format, const TunedMachine& machine) {
  TuningFile file;
  RUNG_TRY(file.format, format_named(format));
  if (!file.format->header) return wrong_usage("format: got '{}', which is only read", format);
  RUNG_TRY(const std::vector<std::string> header, file.format->header(machine));
  RUNG_CHECK(expect_one_line(header));
  for (const std::string& line : header) file.lines.push_back({line, LineEnd::lf});
  RUNG_CHECK(file.format->parse(file));
  return file;
}

Status put(TuningFile& file, Entry entry) {
  if (!file.format->rows) return wrong_usage("format: got '{}', which is only read", file.format->name);
  const bool was_read = std::ranges::find(file.entries, entry.line, &Entry::line) != file.entries.end();
  if (!was_read) entry.line = 0;
  RUNG_TRY(std::vector<std::string> lines, file.format->rows(file, entry));
  Entry* const old = winner(file, entry.key);
  const size_t line = old ? old->line : 0;  // an entry whose product changed is a new one
  if (line != entry.line) {
    entry.line = line;
    if (old) entry.table = old->table;
    RUNG_TRY(lines, file.format->rows(file, entry));
  }
  RUNG_CHECK(expect_one_line(lines));
  if (!old) {
    append(file, lines, std::move(entry));
    return {};
  }
  file.lines[entry.line - 1].text = lines.back();
  *old = std::move(entry);
  return {};
}

std::string text_of(const TuningFile& file) { return joined(file.lines); }

}  // namespace rung::stacks
