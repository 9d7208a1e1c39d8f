// Writes blanks as marks, puts one before the text, and splits before each mark.
// SPDX-License-Identifier: Apache-2.0
#include "text/metaspace.hpp"

#include "text/pattern.hpp"
#include "text/pre_tokenizers/pre_tokenizers.hpp"

namespace rung::text {
namespace {

void mark_blanks(Piece& piece, const Metaspace& metaspace) {
  std::string text;
  for (char c : piece.text) {
    if (c == ' ')
      text += metaspace.mark;
    else
      text += c;
  }
  const bool wants = metaspace.prepends == Metaspace::Prepends::always ||
                     (metaspace.prepends == Metaspace::Prepends::first && piece.begins);
  if (wants && !text.starts_with(metaspace.mark)) text.insert(0, metaspace.mark);
  piece.text = std::move(text);
}

}  // namespace

Result<PreTokenizer> read_metaspace(const Config& part) {
  RUNG_TRY(const Metaspace metaspace, read_metaspace_settings(part));
  return [metaspace](Pieces& pieces) -> Status {
    RUNG_CHECK(change_pieces(pieces, [&](Piece& piece) { mark_blanks(piece, metaspace); }));
    if (!metaspace.splits) return {};
    return split_pieces(pieces, [&](std::string_view text) -> Result<Spans> {
      return arranged(spans_of_string(text, metaspace.mark), Behaviour::merged_with_next);
    });
  };
}

}  // namespace rung::text
