// Splits at a pattern, or at what stands between its matches.
// SPDX-License-Identifier: Apache-2.0
#include "text/pattern.hpp"
#include "text/pre_tokenizers/pre_tokenizers.hpp"

namespace rung::text {

Result<PreTokenizer> read_split(const Config& part) {
  RUNG_TRY(Finder find, read_pattern(part));
  RUNG_TRY(const Behaviour behaviour, read_behaviour(part, "behavior"));
  RUNG_TRY(const bool invert, part.get_bool_or("invert", false));
  return [=](Pieces& pieces) {
    return split_pieces(pieces, [&](std::string_view text) -> Result<Spans> {
      RUNG_TRY(Spans spans, find(text));
      for (Span& span : spans) span.matched = span.matched != invert;
      return arranged(spans, behaviour);
    });
  };
}

}  // namespace rung::text
