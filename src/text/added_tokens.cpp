// Reads added tokens and finds them in texts.
// SPDX-License-Identifier: Apache-2.0
#include "text/added_tokens.hpp"

#include "text/regex.hpp"

namespace rung::text {
namespace {

size_t begin_of_character_before(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

bool space_at(std::string_view text, size_t at) { return is_space(next_character(text, at)); }

// Returns whether a character that belongs to words stands right before or behind bytes [begin, end) of a text.
bool touches_word(std::string_view text, size_t begin, size_t end) {
  const size_t before = begin > 0 ? begin_of_character_before(text, begin) : 0;
  return (begin > 0 && is_of_word(text.substr(before, begin - before))) ||
         (end < text.size() && is_of_word(text.substr(end, bytes_of_character(text[end]))));
}

}  // namespace

void AddedTokens::set(AddedToken token) {
  std::string content = token.content;
  tokens_[std::move(content)] = std::move(token);
}

std::optional<int64_t> AddedTokens::id_of(const std::string& content) const {
  const auto found = tokens_.find(content);
  return found == tokens_.end() ? std::nullopt : std::optional(found->second.id);
}

Status AddedTokens::spell(const std::vector<Normalizer>& normalizers) {
  for (auto& [content, token] : tokens_) {
    Piece piece{.text = content, .begins = true};
    if (token.normalized)
      for (const Normalizer& normalize : normalizers) RUNG_CHECK(normalize(piece));
    token.spelling = std::move(piece.text);
  }
  return {};
}

TokenFinder TokenFinder::make(const AddedTokens& added, bool normalized) {
  std::vector<AddedToken> tokens;
  for (const auto& entry : added.tokens())
    if (entry.second.normalized == normalized && !entry.second.spelling.empty()) tokens.push_back(entry.second);
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  for (size_t i = 0; i < tokens.size(); ++i) keys.emplace_back(tokens[i].spelling, static_cast<uint32_t>(i));
  Trie trie(std::move(keys));
  return TokenFinder(std::move(tokens), std::move(trie));
}

TokenFinder::Match TokenFinder::match_at(std::string_view text, size_t begin) const {
  Match match;
  uint32_t node = Trie::root();
  for (size_t at = begin; at < text.size();) {
    node = trie_.next(node, text[at++]);
    if (node == Trie::kNone) break;
    if (trie_.value(node) != Trie::kNone) match = {&tokens_[trie_.value(node)], at};
  }
  return match;
}

void TokenFinder::split(const Piece& piece, Pieces& pieces) const {
  const std::string_view text = piece.text;
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    const Match match = match_at(text, at);
    if (!match.token) {
      ++at;
      continue;
    }
    size_t begin = at, end = match.end;
    at = end;  // the white space after a token may begin the next one
    const AddedToken& token = *match.token;
    if (token.single_word && touches_word(text, begin, end)) continue;
    while (token.takes_left && begin > covered && space_at(text, begin_of_character_before(text, begin)))
      begin = begin_of_character_before(text, begin);
    while (token.takes_right && end < text.size() && space_at(text, end)) end += bytes_of_character(text[end]);
    if (covered < begin) add_parts(piece, {{covered, begin, false}}, pieces);
    pieces.push_back({.token = token.id});
    covered = end;
  }
  if (covered < text.size()) add_parts(piece, {{covered, text.size(), false}}, pieces);
}

Result<AddedToken> read_added_token(const Config& token, int64_t id) {
  AddedToken added{.id = id};
  RUNG_TRY(added.content, token.get_text("content"));
  if (added.content.empty()) return bad_file("'{}': got an empty token", token.what());
  RUNG_TRY(added.special, token.get_bool_or("special", false));
  RUNG_TRY(added.single_word, token.get_bool_or("single_word", false));
  RUNG_TRY(added.takes_left, token.get_bool_or("lstrip", false));
  RUNG_TRY(added.takes_right, token.get_bool_or("rstrip", false));
  RUNG_TRY(added.normalized, token.get_bool_or("normalized", !added.special));
  return added;
}

Status read_added_tokens(const Config& tokenizer, const Vocabulary& vocabulary, AddedTokens& added) {
  if (!tokenizer.contains("added_tokens")) return {};
  RUNG_TRY(const auto list, tokenizer.get_objects("added_tokens"));
  for (const Config& item : list) {
    RUNG_TRY(const int64_t id, item.get_int("id", kTokenIds));
    RUNG_TRY(AddedToken token, read_added_token(item, id));
    const auto known = vocabulary.id_of(token.content);
    if (known && *known != id)
      return bad_file("'{}': token '{}': got id {}, wanted {}, as the vocabulary says", item.what(), token.content, id,
                      *known);
    added.set(std::move(token));
  }
  return {};
}

}  // namespace rung::text
