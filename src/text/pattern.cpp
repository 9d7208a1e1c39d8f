// Reads patterns; a string is searched as it stands.
// SPDX-License-Identifier: Apache-2.0
#include "text/pattern.hpp"

#include "text/regex.hpp"

namespace rung::text {

Spans spans_of_string(std::string_view text, std::string_view wanted) {
  Spans spans;
  size_t covered = 0;
  for (size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, covered)) {
    if (covered < at) spans.push_back({covered, at, false});
    covered = at + wanted.size();
    spans.push_back({at, covered, true});
  }
  if (covered < text.size()) spans.push_back({covered, text.size(), false});
  return spans;
}

Result<Finder> read_pattern(const Config& part) {
  RUNG_TRY(const Config pattern, part.get_object("pattern"));
  if (pattern.contains("String")) {
    RUNG_TRY(std::string wanted, pattern.get_text("String"));
    if (wanted.empty()) return bad_file("'{}': got an empty string, wanted what is to be found", pattern.what());
    return [wanted](std::string_view text) -> Result<Spans> { return spans_of_string(text, wanted); };
  }
  RUNG_TRY(const std::string expression, pattern.get_text("Regex"));
  auto regex = Regex::make(expression);
  if (!regex) return fail_in(regex.error(), "'{}'", pattern.what());
  return [regex = *regex](std::string_view text) { return regex.spans(text); };
}

}  // namespace rung::text
