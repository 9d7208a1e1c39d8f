// Reads tuning files; finds their format by content or by name.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/guarded.hpp"
#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"
#include "stacks/files/lines.hpp"

namespace rung::stacks {
namespace {

constexpr size_t kHeadLines = 64;

// Returns the head with the separator replaced by commas.
std::vector<Line> with_commas(std::span<const Line> head, char separator) {
  std::vector<Line> lines(head.begin(), head.end());
  for (Line& line : lines) std::ranges::replace(line.text, separator, ',');
  return lines;
}

Error unknown_format(std::span<const Line> head) {
  std::string first;
  for (const Line& line : head)
    if (first.empty() && says_something(line.text)) first = line.text;
  std::string titles;
  for (const Format* format : formats()) titles.append(titles.empty() ? "" : ", ").append(format->title);
  return {fmt::format("got {}, wanted one of: {}",
                      first.empty() ? "no line that says anything" : "a first line " + shown(first), titles),
          ErrorKind::file};
}

// Returns the first format that recognises the head; `wanted`, if not null, is the only one tried.
const Format* looked_up(std::span<const Line> head, char separator, const Format* wanted) {
  const std::vector<Line> replaced = separator == ',' ? std::vector<Line>() : with_commas(head, separator);
  for (const Format* format : formats()) {
    const bool has_semicolons = format == &miopen_find_db || format == &miopen_perf_db;  // their own separator
    if ((wanted && format != wanted) || (separator != ',' && has_semicolons)) continue;
    if (format->looks_like(separator == ',' ? head : replaced)) return format;
  }
  return nullptr;
}

// Finds the separator of cells, and the format unless it is known.
Status find_format(TuningFile& file) {
  const std::span<const Line> head(file.lines.data(), std::min(file.lines.size(), kHeadLines));
  for (const char separator : {',', ';', '\t'}) {
    const Format* found = looked_up(head, separator, file.format);
    if (!found) continue;
    file.format = found, file.separator = separator;
    return {};
  }
  if (!file.format) return tl::unexpected<Error>(unknown_format(head));
  return {};
}

Status fill(TuningFile& file, std::string_view text, std::string_view format) {
  if (text.size() > kMaxTextBytes) return bad_file("got {} bytes, wanted at most {}", text.size(), kMaxTextBytes);
  RUNG_TRY(file.lines, split_lines(text));
  if (!format.empty()) {
    RUNG_TRY(file.format, format_named(format));
  }
  RUNG_CHECK(find_format(file));
  if (file.separator == ',') return file.format->parse(file);
  file.refused.push_back({1, fmt::format("got cells separated by '{}', wanted commas",
                                         file.separator == '\t' ? "\\t" : std::string(1, file.separator))});
  return {};
}

}  // namespace

Result<TuningFile> read_tuning_text(const std::string& name, std::string_view text, std::string_view format) {
  return guarded([&]() -> Result<TuningFile> {
    TuningFile file;
    file.path = name;
    if (const Status filled = fill(file, text, format); !filled) return fail_in(filled.error(), "'{}'", name);
    return file;
  });
}

Result<TuningFile> read_tuning_file(const std::string& path, std::string_view format) {
  RUNG_TRY(const std::string text, read_text_file(path));
  return read_tuning_text(path, text, format);
}

Status expect_no_refused(const TuningFile& file) {
  if (file.refused.empty()) return {};
  const Refused& first = file.refused.front();
  return bad_file("'{}' line {}: {}", file.path, first.line, first.text);
}

}  // namespace rung::stacks
