// Characters as Python classes them, and texts by the places of their characters.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "text/unicode.hpp"

namespace rung::jinja {

using text::CodePoint;

bool is_blank(CodePoint c);      // white space, with four controls that separate records
bool is_printable(CodePoint c);  // stands for itself in a quoted text
bool is_letter(CodePoint c);
bool is_decimal(CodePoint c);
bool is_numeric(CodePoint c);
bool is_lower(CodePoint c);
bool is_upper(CodePoint c);  // a title letter is neither lower nor upper
bool is_title(CodePoint c);

std::string lower(std::string_view text);
std::string upper(std::string_view text);
// Returns the text with its first character as a title letter and the others in lower case.
std::string capitalized(std::string_view text);

// Returns the byte where a character stands; the text's size for the place behind the last one.
size_t byte_of_place(std::string_view text, size_t place);

}  // namespace rung::jinja
