// Decoders that put blanks between words: those of BERT, of SentencePiece and of speech.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/decoders/decoders.hpp"
#include "text/metaspace.hpp"
#include "text/pattern.hpp"

namespace rung::text {
namespace {

// English spelling, which words have lost that a model sees apart.
constexpr std::pair<const char*, const char*> kSpellings[] = {
    {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
    {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};

std::string with_replaced(const std::string& text, std::string_view wanted, std::string_view content) {
  std::string out;
  for (const Span& span : spans_of_string(text, wanted))
    out += span.matched ? content : std::string_view(text).substr(span.begin, span.end - span.begin);
  return out;
}

// Cleans up a token; a decoder contracts "do not", too.
std::string cleaned_token(const std::string& token) { return with_replaced(cleaned_up(token), " do not", " don't"); }

}  // namespace

std::string cleaned_up(std::string text) {
  for (const auto& [from, to] : kSpellings) text = with_replaced(text, from, to);
  return text;
}

Result<Decoder> read_word_piece_decoder(const Config& part) {
  RUNG_TRY(const std::string continuation, part.get_text_or("prefix", "##"));
  RUNG_TRY(const bool cleans, part.get_bool_or("cleanup", true));
  return [continuation, cleans](Tokens& tokens) -> Status {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i].starts_with(continuation))
        tokens[i].erase(0, continuation.size());
      else if (i > 0)
        tokens[i].insert(0, 1, ' ');
      if (cleans) tokens[i] = cleaned_token(tokens[i]);
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

// A letter that stands several times in a row was heard once; those that stand for silence and for the end of a word
// are no letters.
Result<Decoder> read_ctc_decoder(const Config& part) {
  RUNG_TRY(const std::string silence, part.get_text_or("pad_token", "<pad>"));
  RUNG_TRY(const std::string delimiter, part.get_text_or("word_delimiter_token", "|"));
  RUNG_TRY(const bool cleans, part.get_bool_or("cleanup", true));
  if (silence.empty() || delimiter.empty())
    return bad_file("'{}': got an empty pad_token or word_delimiter_token, wanted tokens", part.what());
  return [silence, delimiter, cleans](Tokens& tokens) -> Status {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = with_replaced(token, silence, "");
      if (cleans) token = with_replaced(cleaned_token(token), delimiter, " ");
    }
    std::erase(tokens, "");
    return {};
  };
}

}  // namespace rung::text
