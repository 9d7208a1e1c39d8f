// A template's text as tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/value.hpp"

namespace rung::jinja {

struct Token {
  enum class Kind : uint8_t { data, print_begin, print_end, tag_begin, tag_end, name, text, number, sign, end };
  Kind kind = Kind::end;
  std::string spelling;  // of data, a name or a sign, and the contents of a text
  Value number = {};
  int line = 1;

  bool is_sign(std::string_view sign) const { return kind == Kind::sign && spelling == sign; }
  bool is_name(std::string_view name) const { return kind == Kind::name && spelling == name; }
};

// The last token is the end. White space around tags is already dropped as the template says, and as the options
// trim_blocks and lstrip_blocks of the published library say; comments are gone. Errors name the line.
Result<std::vector<Token>> read_tokens(std::string_view text);

// Returns what stands there, for messages: "'endif'", "a text", "the end of the template".
std::string describe(const Token& token);

}  // namespace rung::jinja
