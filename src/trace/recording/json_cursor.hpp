// Scans JSON in place, several bytes a nanosecond: it finds values without building them. The text may end early.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/limits.hpp"

namespace rung::trace {

enum class Scan : uint8_t {
  ok,
  more,  // the text ends first
  bad,   // not JSON: JsonCursor::wanted names what was expected
};

inline constexpr size_t kJsonPadding = 16;  // readable bytes that must follow a text: see pad_json()

// Pads a text so that no loop needs to check for its end: a zero ends any other value, a quote ends a string.
inline void pad_json(char* end) {
  end[0] = '\0';
  for (size_t i = 1; i < kJsonPadding; ++i) end[i] = '"';
}

// Open brackets.
struct JsonNesting {
  std::array<char, kMaxJsonDepth> closing{};  // the bracket that closes each
  size_t depth = 0;
};

class JsonCursor {
 public:
  JsonCursor(const char* begin, const char* end) : at(begin), end_(end) {}

  bool starts_with(std::string_view text) const { return std::string_view(at, end_).starts_with(text); }
  bool ended() const { return at >= end_; }
  void skip_blanks();
  // Steps over `byte` if it is the next byte after blanks; returns whether it was.
  bool take(char byte);
  Scan expect(char byte, const char* wanted_there);
  // Scans any value: its text from first byte to last, including a string's quotes.
  Scan value(std::string_view& text);
  // Scans an object member's key, as it is between its quotes, and the colon.
  Scan key(std::string_view& text);
  // Scans a comma, or the end of the object or array, after a value in it.
  Scan comma_or(char closing, bool& closed);
  // Steps over a value, or as much of it as the text has: `open` holds the brackets still open, and `ended` tells
  // whether the value is complete.
  Scan skip_part(JsonNesting& open, bool& ended);
  Scan stop(const char* wanted_there);

  const char* at;
  const char* wanted = "";

 private:
  Scan skip_string();
  Scan skip_scalar();
  Scan skip_token(JsonNesting& open);
  Scan skip_nested();

  const char* end_;
};

// Returns the string that a value's text stands for; other values' text unchanged.
std::string unescaped(std::string_view text);
inline bool is_string(std::string_view text) { return !text.empty() && text.front() == '"'; }
// Returns the text between its quotes, with escapes unchanged.
inline std::string_view inner(std::string_view text) {
  return is_string(text) ? text.substr(1, text.size() - 2) : text;
}

}  // namespace rung::trace
