// Asks utf8proc for the classes of characters and for the other case of letters.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace rung::jinja {
namespace {

struct LongUpper {
  CodePoint c;
  const char* upper;
};
#include "text/jinja/long_uppers.inc"

utf8proc_category_t category(CodePoint c) { return utf8proc_category(c); }

void append_upper(std::string& out, CodePoint c) {
  const auto* found = std::lower_bound(std::begin(kLongUppers), std::end(kLongUppers), c,
                                       [](const LongUpper& entry, CodePoint code) { return entry.c < code; });
  if (found != std::end(kLongUppers) && found->c == c)
    out += found->upper;
  else
    text::append(out, utf8proc_toupper(c));
}

}  // namespace

bool is_blank(CodePoint c) { return (c >= 0x1c && c <= 0x1f) || text::is_space(c); }

bool is_printable(CodePoint c) {
  const utf8proc_category_t of = category(c);
  return c == ' ' || (of != UTF8PROC_CATEGORY_CN && of < UTF8PROC_CATEGORY_ZS);
}

bool is_letter(CodePoint c) {
  const utf8proc_category_t of = category(c);
  return of >= UTF8PROC_CATEGORY_LU && of <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(CodePoint c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_numeric(CodePoint c) { return text::is_number(c); }
bool is_lower(CodePoint c) { return category(c) == UTF8PROC_CATEGORY_LL; }
bool is_upper(CodePoint c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool is_title(CodePoint c) { return category(c) == UTF8PROC_CATEGORY_LT; }

std::string lower(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) text::append_lower(out, text::next_character(text, at));
  return out;
}

std::string upper(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) append_upper(out, text::next_character(text, at));
  return out;
}

std::string capitalized(std::string_view text) {
  if (text.empty()) return {};
  size_t at = 0;
  std::string out;
  text::append(out, utf8proc_totitle(text::next_character(text, at)));
  return out + lower(text.substr(at));
}

size_t byte_of_place(std::string_view text, size_t place) {
  size_t at = 0;
  for (; place > 0 && at < text.size(); --place) at += text::bytes_of_character(text[at]);
  return at;
}

}  // namespace rung::jinja
