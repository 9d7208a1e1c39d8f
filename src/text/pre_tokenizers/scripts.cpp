// Words that end where a text goes on in another script, as the published library tells scripts apart.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "text/pre_tokenizers/pre_tokenizers.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

struct ScriptRange {
  CodePoint first, last;
  int script;
};
#include "text/pre_tokenizers/scripts.inc"

// Returns the number of a character's script; 0: it goes with any, as blanks do.
int script_of(CodePoint c) {
  const auto* after = std::upper_bound(std::begin(kScripts), std::end(kScripts), c,
                                       [](CodePoint code, const ScriptRange& range) { return code < range.first; });
  return after != std::begin(kScripts) && c <= std::prev(after)->last ? std::prev(after)->script : 0;
}

// Characters of no script belong to the word before; the library drops those before the first word.
Spans spans_of_scripts(std::string_view text) {
  Spans spans;
  int before = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const int script = script_of(next_character(text, at));
    if (script != 0 && script != before)
      spans.push_back({begin, at, false});
    else if (!spans.empty())
      spans.back().end = at;
    if (script != 0) before = script;
  }
  return spans;
}

}  // namespace

Result<PreTokenizer> read_unicode_scripts(const Config&) {
  return [](Pieces& pieces) {
    return split_pieces(pieces, [](std::string_view text) -> Result<Spans> { return spans_of_scripts(text); });
  };
}

}  // namespace rung::text
