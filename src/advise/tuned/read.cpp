// Tuning files read, by content or by the name of a format.
// SPDX-License-Identifier: Apache-2.0
#include "advise/tuned/fields.hpp"
#include "advise/tuned/format.hpp"
#include "advise/tuned/lines.hpp"
#include "base/atomic_file.hpp"
#include "base/guarded.hpp"

namespace rung::advise::tuned {
namespace {

constexpr size_t kHeadLines = 64;

Result<const Format*> format_of(const std::vector<Line>& lines) {
  const std::span<const Line> head(lines.data(), std::min(lines.size(), kHeadLines));
  for (const Format* format : formats())
    if (format->looks_like(head)) return format;
  std::string first;
  for (const Line& line : head)
    if (first.empty() && says_something(line.text)) first = line.text;
  std::string titles;
  for (const Format* format : formats()) titles.append(titles.empty() ? "" : ", ").append(format->title);
  return bad_file("got {}, wanted one of: {}",
                  first.empty() ? "no line that says anything" : "a first line " + shown(first), titles);
}

Status fill(TuningFile& file, std::string_view text, std::string_view format) {
  if (text.size() > kMaxTextBytes) return bad_file("got {} bytes, wanted at most {}", text.size(), kMaxTextBytes);
  RUNG_TRY(file.lines, split_lines(text));
  RUNG_TRY(file.format, format.empty() ? format_of(file.lines) : format_named(format));
  return file.format->parse(file);
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

}  // namespace rung::advise::tuned
