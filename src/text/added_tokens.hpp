// Tokens that a text spells and no model splits: "[MASK]", "<|endoftext|>".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/piece.hpp"
#include "text/trie.hpp"
#include "text/vocabulary.hpp"

namespace rung::text {

struct AddedToken {
  std::string content;
  std::string spelling;  // what is looked for: the content, normalized if `normalized`
  int64_t id = 0;
  bool special = false;                          // decode() may leave it out
  bool single_word = false;                      // matches between characters that belong to no word
  bool takes_left = false, takes_right = false;  // takes the white space beside it
  bool normalized = false;                       // is looked for in the normalized text
};

// The tokens in the order of the file; of two with the same content, the last one counts.
class AddedTokens {
 public:
  void set(AddedToken token);
  // Spells each token as the normalizers make it.
  Status spell(const std::vector<Normalizer>& normalizers);
  const std::map<std::string, AddedToken>& tokens() const { return tokens_; }
  std::optional<int64_t> id_of(const std::string& content) const;

 private:
  std::map<std::string, AddedToken> tokens_;
};

// Finds tokens in texts: the leftmost, and of those that begin there the longest.
class TokenFinder {
 public:
  // Looks for the tokens of which `normalized` is so.
  static TokenFinder make(const AddedTokens& added, bool normalized);

  // Splits a piece into tokens and what stands between them.
  void split(const Piece& piece, Pieces& pieces) const;

 private:
  struct Match {
    const AddedToken* token = nullptr;
    size_t end = 0;
  };
  TokenFinder(std::vector<AddedToken> tokens, Trie trie) : tokens_(std::move(tokens)), trie_(std::move(trie)) {}
  Match match_at(std::string_view text, size_t begin) const;

  std::vector<AddedToken> tokens_;
  Trie trie_;
};

// Reads the field "added_tokens", and adds to it. Errors: an id out of range, or another one than the vocabulary's.
Status read_added_tokens(const Config& tokenizer, const Vocabulary& vocabulary, AddedTokens& added);
// Reads one token, whose id stands outside of it.
Result<AddedToken> read_added_token(const Config& token, int64_t id);

}  // namespace rung::text
