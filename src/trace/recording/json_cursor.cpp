// Scans strings eight bytes at a time, and nesting by a stack of brackets.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_cursor.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

namespace rung::trace {
namespace {

constexpr uint64_t each(char byte) { return uint64_t{0x0101010101010101} * static_cast<uint8_t>(byte); }

// Sets the high bit of the first byte that is zero; bits above that one may be wrong.
constexpr uint64_t zeros(uint64_t word) { return (word - each('\x01')) & ~word & each('\x80'); }

constexpr std::array<bool, 256> scalar_bytes() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = true;
  table['+'] = table['-'] = table['.'] = true;
  return table;
}
constexpr std::array<bool, 256> kScalarBytes = scalar_bytes();

// Includes NaN and infinities, which Python writes.
bool is_literal(std::string_view text) {
  return text == "null" || text == "true" || text == "false" || text == "NaN" || text == "Infinity";
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void JsonCursor::skip_blanks() {
  while (is_blank(*at)) ++at;
}

Scan JsonCursor::stop(const char* wanted_there) {
  if (at >= end_) return Scan::more;
  wanted = wanted_there;
  return Scan::bad;
}

bool JsonCursor::take(char byte) {
  skip_blanks();
  if (*at != byte || at >= end_) return false;
  ++at;
  return true;
}

Scan JsonCursor::expect(char byte, const char* wanted_there) { return take(byte) ? Scan::ok : stop(wanted_there); }

// Expects `at` on the opening quote.
Scan JsonCursor::skip_string() {
  ++at;
  for (;;) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const uint64_t found = zeros(word ^ each('"')) | zeros(word ^ each('\\'));
    if (!found) {
      at += sizeof word;
      continue;
    }
    at += std::countr_zero(found) / 8;
    if (at >= end_) return Scan::more;
    if (*at == '"') break;
    at += 2;
    if (at >= end_) return Scan::more;
  }
  ++at;
  return Scan::ok;
}

Scan JsonCursor::skip_scalar() {
  const char* const begin = at;
  while (kScalarBytes[static_cast<uint8_t>(*at)]) ++at;
  if (at >= end_) return Scan::more;
  const bool number = *begin == '-' || (*begin >= '0' && *begin <= '9');
  if (at > begin && (number || is_literal({begin, at}))) return Scan::ok;
  at = begin;
  return stop("a value");
}

// Skips a string, a scalar, a bracket, a comma or a colon; the last three only while something is open.
Scan JsonCursor::skip_token(JsonNesting& open) {
  skip_blanks();
  const char c = *at;
  if (c == '"' && at < end_) return skip_string();
  if (c == '[' || c == '{') {
    if (open.depth == open.closing.size()) return stop("less nesting: 64 levels at most");
    open.closing[open.depth++] = c == '[' ? ']' : '}';
  } else if (open.depth > 0 && (c == ']' || c == '}')) {
    if (open.closing[open.depth - 1] != c) return stop(c == ']' ? "'}'" : "']'");
    --open.depth;
  } else if (open.depth == 0 || (c != ',' && c != ':')) {
    return skip_scalar();
  }
  ++at;
  return Scan::ok;
}

// Skips an array or object. Only brackets must match here; keys, commas and colons are checked when members are read.
Scan JsonCursor::skip_nested() {
  JsonNesting open;
  do {
    if (const Scan scan = skip_token(open); scan != Scan::ok) return scan;
  } while (open.depth > 0);
  return Scan::ok;
}

Scan JsonCursor::skip_part(JsonNesting& open, bool& ended) {
  const char* const begin = at;
  do {
    const char* const token = at;
    const Scan scan = skip_token(open);
    if (scan == Scan::more && token > begin) {
      at = token;
      return Scan::ok;
    }
    if (scan != Scan::ok) return scan;
  } while (open.depth > 0);
  ended = true;
  return Scan::ok;
}

Scan JsonCursor::value(std::string_view& text) {
  skip_blanks();
  const char* const begin = at;
  const char c = *at;
  const bool nested = c == '[' || c == '{';
  const Scan scan = c == '"' && at < end_ ? skip_string() : (nested ? skip_nested() : skip_scalar());
  text = {begin, at};
  return scan;
}

Scan JsonCursor::key(std::string_view& text) {
  skip_blanks();
  if (*at != '"' || at >= end_) return stop("a key in quotes");
  const char* const begin = at;
  if (const Scan scan = skip_string(); scan != Scan::ok) return scan;
  text = {begin + 1, at - 1};
  return expect(':', "':'");
}

Scan JsonCursor::comma_or(char closing, bool& closed) {
  closed = take(closing);
  if (closed) return Scan::ok;
  return expect(',', closing == ']' ? "',' or ']'" : "',' or '}'");
}

std::string unescaped(std::string_view text) {
  const std::string_view within = inner(text);
  if (!is_string(text) || within.find('\\') == std::string_view::npos) return std::string(within);
  // The library checks escapes and surrogates; text that it refuses stays unchanged.
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_string() ? json.get<std::string>() : std::string(within);
}

}  // namespace rung::trace
