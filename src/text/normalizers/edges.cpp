// Normalizers that add or remove characters at the ends of a text, or replace parts of it.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "text/normalizers/normalizers.hpp"
#include "text/pattern.hpp"

namespace rung::text {
namespace {

size_t leading_space(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (!is_space(next_character(text, at))) return here;
  }
  return text.size();
}

// Returns the number of bytes before the white space at the end.
size_t without_trailing_space(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();)
    if (!is_space(next_character(text, at))) end = at;
  return end;
}

Status replace_matches(Piece& piece, const Finder& find, const std::string& content) {
  RUNG_TRY(const Spans spans, find(piece.text));
  std::string out;
  for (const Span& span : spans) {
    if (span.matched) {
      out += content;
      if (span.begin == 0 && content.empty() && span.end > 0) piece.begins = false;
    } else {
      out.append(piece.text, span.begin, span.end - span.begin);
    }
  }
  piece.text = std::move(out);
  return {};
}

}  // namespace

Result<Normalizer> read_strip(const Config& part) {
  RUNG_TRY(const bool left, part.get_bool_or("strip_left", true));
  RUNG_TRY(const bool right, part.get_bool_or("strip_right", true));
  return [left, right](Piece& piece) -> Status {
    if (right) piece.text.resize(without_trailing_space(piece.text));
    const size_t space = left ? leading_space(piece.text) : 0;
    if (space > 0) piece.begins = false;
    piece.text.erase(0, space);
    return {};
  };
}

Result<Normalizer> read_prepend(const Config& part) {
  RUNG_TRY(const std::string prefix, part.get_text("prepend"));
  return [prefix](Piece& piece) -> Status {
    if (!piece.text.empty()) piece.text.insert(0, prefix);
    return {};
  };
}

Result<Normalizer> read_replace(const Config& part) {
  RUNG_TRY(Finder find, read_pattern(part));
  RUNG_TRY(std::string content, part.get_text("content"));
  return [find = std::move(find), content = std::move(content)](Piece& piece) {
    return replace_matches(piece, find, content);
  };
}

}  // namespace rung::text
