// The table of pre-tokenizers, with those that split at classes of characters.
// SPDX-License-Identifier: Apache-2.0
#include "text/pre_tokenizers/pre_tokenizers.hpp"

#include "text/part_list.hpp"
#include "text/regex.hpp"

namespace rung::text {
namespace {

// Splits at the characters for which `is_match` holds.
template <class Predicate>
PreTokenizer splitter(Predicate is_match, Behaviour behaviour) {
  return [=](Pieces& pieces) {
    return split_pieces(
        pieces, [&](std::string_view text) -> Result<Spans> { return arranged(spans_of(text, is_match), behaviour); });
  };
}

Result<PreTokenizer> read_bert(const Config&) {
  return [words = splitter(is_space, Behaviour::removed),
          marks = splitter(is_punctuation, Behaviour::isolated)](Pieces& pieces) -> Status {
    RUNG_CHECK(words(pieces));
    return marks(pieces);
  };
}

Result<PreTokenizer> read_whitespace_split(const Config&) { return splitter(is_space, Behaviour::removed); }

// Runs of characters of words, and runs of others that are no space.
Result<PreTokenizer> read_whitespace(const Config&) {
  RUNG_TRY(Regex regex, Regex::make(fmt::format(R"([{0}]+|[^{0}\s]+)", kWordCharacters)));
  return [regex](Pieces& pieces) {
    return split_pieces(pieces, [&](std::string_view text) -> Result<Spans> {
      RUNG_TRY(Spans spans, regex.spans(text));
      for (Span& span : spans) span.matched = !span.matched;
      return arranged(spans, Behaviour::removed);
    });
  };
}

Result<PreTokenizer> read_punctuation(const Config& part) {
  Behaviour behaviour = Behaviour::isolated;
  if (part.contains("behavior")) {
    RUNG_TRY(behaviour, read_behaviour(part, "behavior"));
  }
  return splitter(is_punctuation, behaviour);
}

Result<PreTokenizer> read_digits(const Config& part) {
  RUNG_TRY(const bool each, part.get_bool_or("individual_digits", false));
  return splitter(is_number, each ? Behaviour::isolated : Behaviour::contiguous);
}

Result<PreTokenizer> read_delimiter_split(const Config& part) {
  RUNG_TRY(const std::string delimiter, part.get_text("delimiter"));
  if (count_characters(delimiter) != 1)
    return bad_file("'{}': field 'delimiter': got '{}', wanted one character", part.what(), delimiter);
  size_t at = 0;
  const CodePoint wanted = next_character(delimiter, at);
  return splitter([wanted](CodePoint c) { return c == wanted; }, Behaviour::removed);
}

Result<PreTokenizer> read_fixed_length(const Config& part) {
  RUNG_TRY(const int64_t length, part.get_int_or("length", {1, 1 << 20}, 5));
  return [length](Pieces& pieces) {
    return split_pieces(pieces, [&](std::string_view text) -> Result<Spans> {
      Spans spans;
      for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        for (int64_t i = 0; i < length && at < text.size(); ++i) at += bytes_of_character(text[at]);
        spans.push_back({begin, at, false});
      }
      return spans;
    });
  };
}

constexpr PartRow<PreTokenizer> kPreTokenizers[] = {
    {"BertPreTokenizer", read_bert},
    {"ByteLevel", read_byte_level},
    {"Metaspace", read_metaspace},
    {"Split", read_split},
    {"Whitespace", read_whitespace},
    {"WhitespaceSplit", read_whitespace_split},
    {"Punctuation", read_punctuation},
    {"Digits", read_digits},
    {"CharDelimiterSplit", read_delimiter_split},
    {"FixedLength", read_fixed_length},
    {"UnicodeScripts", read_unicode_scripts},
};

}  // namespace

Result<Behaviour> read_behaviour(const Config& part, const char* field) {
  constexpr std::pair<const char*, Behaviour> words[] = {{"Removed", Behaviour::removed},
                                                         {"Isolated", Behaviour::isolated},
                                                         {"MergedWithPrevious", Behaviour::merged_with_previous},
                                                         {"MergedWithNext", Behaviour::merged_with_next},
                                                         {"Contiguous", Behaviour::contiguous}};
  std::vector<std::string> allowed;
  for (const auto& row : words) allowed.emplace_back(row.first);
  RUNG_TRY(const std::string word, part.get_word(field, allowed));
  for (const auto& row : words)
    if (word == row.first) return row.second;
  return Behaviour::isolated;
}

Result<std::vector<PreTokenizer>> read_pre_tokenizers(const Config& tokenizer) {
  return read_part_list<PreTokenizer>(tokenizer, {"pre_tokenizer", "pretokenizers"}, kPreTokenizers);
}

}  // namespace rung::text
