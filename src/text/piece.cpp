// Cuts pieces into parts.
// SPDX-License-Identifier: Apache-2.0
#include "text/piece.hpp"

namespace rung::text {

void add_parts(const Piece& piece, const Spans& spans, Pieces& pieces) {
  for (const Span& span : spans)
    if (span.begin < span.end)
      pieces.push_back(
          {.text = piece.text.substr(span.begin, span.end - span.begin), .begins = piece.begins && span.begin == 0});
}

}  // namespace rung::text
