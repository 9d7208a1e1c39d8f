// Characters of UTF-8 texts, classed as the published tokenizers library classes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace rung::text {

using CodePoint = int32_t;

// Returns the character that begins at byte `at` of valid UTF-8, and moves `at` to the next one.
CodePoint next_character(std::string_view text, size_t& at);
// Returns the number of bytes of the character that begins with this byte, in valid UTF-8.
inline size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
size_t count_characters(std::string_view text);
void append(std::string& text, CodePoint c);

// Returns the text with each byte that is not UTF-8 replaced by U+FFFD.
std::string as_utf8(std::string_view bytes);
// Does the same with one U+FFFD for each begun character that does not go on as it should.
std::string decoded_utf8(std::string_view bytes);
// Returns the number of bytes, up to 3, at the end of a text that begin a character which further bytes may complete.
size_t bytes_of_begun_character(std::string_view bytes);

bool is_space(CodePoint c);
bool is_punctuation(CodePoint c);      // ASCII's symbols too
bool is_number(CodePoint c);           // digits, letters and fractions that stand for numbers
bool is_dropped(CodePoint c);          // controls, formats and private characters, which BERT's cleaning drops
bool is_ideograph(CodePoint c);        // those that BERT takes for words
bool is_nonspacing_mark(CodePoint c);  // accents, as BERT strips them
bool is_mark(CodePoint c);             // accents and marks that take space, as StripAccents strips them

void append_lower(std::string& text, CodePoint c);

enum class NormalForm : uint8_t { nfc, nfd, nfkc, nfkd };
// Returns the text in a normal form of the version of Unicode that the published library has.
std::string normal_form(std::string_view text, NormalForm form);

}  // namespace rung::text
