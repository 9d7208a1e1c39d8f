// GPT-2's alphabet: a printable character for each byte, so that a vocabulary of bytes is one of texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "text/unicode.hpp"

namespace rung::text {

std::string in_byte_alphabet(std::string_view bytes);
// Returns the byte that a character stands for, if it is of the alphabet.
std::optional<char> byte_of(CodePoint c);

}  // namespace rung::text
