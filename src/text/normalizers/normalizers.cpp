// The table of normalizers, with those that have no settings.
// SPDX-License-Identifier: Apache-2.0
#include "text/normalizers/normalizers.hpp"

#include <string_view>

#include "text/byte_alphabet.hpp"
#include "text/part_list.hpp"

namespace rung::text {
namespace {

template <NormalForm form>
Result<Normalizer> read_form(const Config&) {
  return [](Piece& piece) -> Status {
    piece.text = normal_form(piece.text, form);
    return {};
  };
}

Result<Normalizer> read_lowercase(const Config&) {
  return [](Piece& piece) -> Status {
    std::string lower;
    for (size_t at = 0; at < piece.text.size();) append_lower(lower, next_character(piece.text, at));
    piece.text = std::move(lower);
    return {};
  };
}

// Changes a piece character by character: `map` returns another one, or -1 to drop it.
template <class Map>
void map_characters(Piece& piece, Map map) {
  std::string out;
  for (size_t at = 0; at < piece.text.size();) {
    const bool is_first = at == 0;
    const CodePoint c = map(next_character(piece.text, at));
    if (c >= 0) append(out, c);
    if (c < 0 && is_first) piece.begins = false;
  }
  piece.text = std::move(out);
}

Result<Normalizer> read_strip_accents(const Config&) {
  return [](Piece& piece) -> Status {
    map_characters(piece, [](CodePoint c) { return is_mark(c) ? -1 : c; });
    return {};
  };
}

// Controls are dropped; spaces, joiners and marks of direction become blanks.
CodePoint nmt(CodePoint c) {
  if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f) return -1;
  const bool is_blank = c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 ||
                        (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff ||
                        c == 0xfffd;
  return is_blank ? ' ' : c;
}

Result<Normalizer> read_nmt(const Config&) {
  return [](Piece& piece) -> Status {
    map_characters(piece, nmt);
    return {};
  };
}

Result<Normalizer> read_byte_level_normalizer(const Config&) {
  return [](Piece& piece) -> Status {
    piece.text = in_byte_alphabet(piece.text);
    return {};
  };
}

constexpr PartRow<Normalizer> kNormalizers[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"NFC", read_form<NormalForm::nfc>},
    {"NFD", read_form<NormalForm::nfd>},
    {"NFKC", read_form<NormalForm::nfkc>},
    {"NFKD", read_form<NormalForm::nfkd>},
    {"Lowercase", read_lowercase},
    {"StripAccents", read_strip_accents},
    {"Strip", read_strip},
    {"Replace", read_replace},
    {"Prepend", read_prepend},
    {"Nmt", read_nmt},
    {"Precompiled", read_precompiled},
    {"ByteLevel", read_byte_level_normalizer},
};

}  // namespace

Result<std::vector<Normalizer>> read_normalizers(const Config& tokenizer) {
  return read_part_list<Normalizer>(tokenizer, {"normalizer", "normalizers"}, kNormalizers);
}

}  // namespace rung::text
