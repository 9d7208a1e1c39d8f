// GPT-2's words: letters, digits or symbols, each with the blank before it, in the alphabet of bytes.
// SPDX-License-Identifier: Apache-2.0
#include "text/byte_alphabet.hpp"
#include "text/pre_tokenizers/pre_tokenizers.hpp"
#include "text/regex.hpp"

namespace rung::text {
namespace {

constexpr std::string_view kWords = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace

Result<PreTokenizer> read_byte_level(const Config& part) {
  RUNG_TRY(const bool adds_blank, part.get_bool_or("add_prefix_space", true));
  RUNG_TRY(const bool splits, part.get_bool_or("use_regex", true));
  RUNG_TRY(const Regex words, Regex::make(kWords));
  return [=](Pieces& pieces) -> Status {
    RUNG_CHECK(change_pieces(pieces, [&](Piece& piece) {
      if (adds_blank && !piece.text.starts_with(' ')) piece.text.insert(0, 1, ' ');
    }));
    if (splits) RUNG_CHECK(split_pieces(pieces, [&](std::string_view text) { return words.spans(text); }));
    return change_pieces(pieces, [](Piece& piece) { piece.text = in_byte_alphabet(piece.text); });
  };
}

}  // namespace rung::text
