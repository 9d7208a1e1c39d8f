// Parts of a text on their way to ids: first the text itself, then what lies between added tokens, then words.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "text/span.hpp"
#include "text/unicode.hpp"

namespace rung::text {

struct Piece {
  std::string text;              // valid UTF-8
  bool begins = false;           // at the begin of the text that was given
  std::optional<int64_t> token;  // an added token's id: such a piece is left as it is
};
using Pieces = std::vector<Piece>;

// Changes the text of one piece.
using Normalizer = std::function<Status(Piece&)>;
// Splits pieces, or changes their texts.
using PreTokenizer = std::function<Status(Pieces&)>;

// Adds the parts of `piece`, if they are not empty.
void add_parts(const Piece& piece, const Spans& spans, Pieces& pieces);

// Replaces each piece that is no token by its parts; `split` is Result<Spans>(std::string_view).
template <class Split>
Status split_pieces(Pieces& pieces, Split split) {
  Pieces parts;
  for (Piece& piece : pieces) {
    if (piece.token) {
      parts.push_back(std::move(piece));
      continue;
    }
    RUNG_TRY(const Spans spans, split(std::string_view(piece.text)));
    add_parts(piece, spans, parts);
  }
  pieces = std::move(parts);
  return {};
}

// Changes each piece that is no token by `change`, void(Piece&), and drops those that are empty then.
template <class Change>
Status change_pieces(Pieces& pieces, Change change) {
  for (Piece& piece : pieces)
    if (!piece.token) change(piece);
  std::erase_if(pieces, [](const Piece& piece) { return !piece.token && piece.text.empty(); });
  return {};
}

// Returns the spans of a text of which those that match are single characters, for which `is_match` holds.
template <class Predicate>
Spans spans_of(std::string_view text, Predicate is_match) {
  Spans spans;
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (!is_match(next_character(text, at))) continue;
    if (covered < here) spans.push_back({covered, here, false});
    spans.push_back({here, at, true});
    covered = at;
  }
  if (covered < text.size()) spans.push_back({covered, text.size(), false});
  return spans;
}

}  // namespace rung::text
