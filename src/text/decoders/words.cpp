// Decoders that put blanks between words: those of BERT and of SentencePiece.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "text/decoders/decoders.hpp"
#include "text/metaspace.hpp"
#include "text/pattern.hpp"

namespace rung::text {
namespace {

// English spelling, which BERT's words have lost.
constexpr std::pair<const char*, const char*> kSpellings[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

std::string with_replaced(const std::string& text, std::string_view wanted, std::string_view content) {
  std::string out;
  for (const Span& span : spans_of_string(text, wanted))
    out += span.matched ? content : std::string_view(text).substr(span.begin, span.end - span.begin);
  return out;
}

}  // namespace

Result<Decoder> read_word_piece_decoder(const Config& part) {
  RUNG_TRY(const std::string continuation, part.get_text_or("prefix", "##"));
  RUNG_TRY(const bool cleans, part.get_bool_or("cleanup", true));
  return [continuation, cleans](Tokens& tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(continuation))
        tokens[i].erase(0, continuation.size());
      else if (i > 0)
        tokens[i].insert(0, 1, ' ');
      if (!cleans) continue;
      for (const auto& [from, to] : kSpellings) tokens[i] = with_replaced(tokens[i], from, to);
    }
    return {};
  };
}

// The mark before a text, if one was put there, is no blank.
Result<Decoder> read_metaspace_decoder(const Config& part) {
  RUNG_TRY(const Metaspace metaspace, read_metaspace_settings(part));
  return [metaspace](Tokens& tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool drops = i == 0 && metaspace.prepends != Metaspace::Prepends::never;
      tokens[i] = with_replaced(tokens[i], metaspace.mark, drops ? "" : " ");
    }
    return {};
  };
}

}  // namespace rung::text
