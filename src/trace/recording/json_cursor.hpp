// Walks JSON in place, a few bytes a nanosecond: values are found, not built. The text may end before its value does.
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
  bad,   // not JSON: JsonCursor::wanted says what should stand there
};

inline constexpr size_t kJsonPadding = 16;  // readable bytes that must follow a text: see pad_json()

// Pads a text so that no loop needs to look for its end: a zero ends what is no string, a quote a string.
inline void pad_json(char* end) {
  end[0] = '\0';
  for (size_t i = 1; i < kJsonPadding; ++i) end[i] = '"';
}

// Brackets that are open.
struct JsonNesting {
  std::array<char, kMaxJsonDepth> closing{};  // of each, what closes it
  size_t depth = 0;
};

class JsonCursor {
 public:
  JsonCursor(const char* begin, const char* end) : at(begin), end_(end) {}

  bool starts_with(std::string_view text) const { return std::string_view(at, end_).starts_with(text); }
  bool ended() const { return at >= end_; }
  void skip_blanks();
  // The next byte after blanks is `byte`: steps behind it.
  bool take(char byte);
  Scan expect(char byte, const char* wanted_there);
  // Any value: its text from first byte to last, with a string's quotes.
  Scan value(std::string_view& text);
  // An object member's key, as it stands between its quotes, and the colon.
  Scan key(std::string_view& text);
  // After a value in an object or array: a comma, or the end of it.
  Scan comma_or(char closing, bool& closed);
  // Steps over a value, or as much of it as the text has: `open` is what its part so far left open, and `ended` tells
  // whether that was all.
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

// The string that a value's text stands for; another value's text as it is.
std::string unescaped(std::string_view text);
inline bool is_string(std::string_view text) { return !text.empty() && text.front() == '"'; }
// Between its quotes, escapes and all.
inline std::string_view inner(std::string_view text) {
  return is_string(text) ? text.substr(1, text.size() - 2) : text;
}

}  // namespace rung::trace
