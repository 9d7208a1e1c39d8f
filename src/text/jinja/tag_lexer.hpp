// Tokens between the marks of a tag.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "text/jinja/token.hpp"

namespace rung::jinja {

// Reads the token that begins at byte `at`, where no white space stands, and moves `at` behind it. `line` is the line
// there, and is moved on by those of a text. Errors: a character that begins no token, a number or a text that is none.
Result<Token> read_token(std::string_view text, size_t& at, int& line);

}  // namespace rung::jinja
