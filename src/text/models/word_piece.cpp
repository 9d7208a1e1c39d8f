// BERT's model: the longest token that a word begins with, then the longest continuations.
// SPDX-License-Identifier: Apache-2.0
#include "text/models/model.hpp"
#include "text/trie.hpp"
#include "text/unicode.hpp"

namespace rung::text {
namespace {

struct WordPieceSettings {
  std::string continuation = "##";
  size_t max_word_characters = 100;
  int64_t unknown = 0;
};

Trie trie_of(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, uint32_t>> keys;
  for (const auto& [token, id] : vocabulary.tokens()) keys.emplace_back(token, static_cast<uint32_t>(id));
  return Trie(std::move(keys));
}

class WordPiece : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceSettings settings)
      : TokenModel(std::move(vocabulary)),
        settings_(std::move(settings)),
        trie_(trie_of(this->vocabulary())),
        continued_(trie_.walk(settings_.continuation)) {}

  // A word with any part that no token matches is unknown as a whole.
  Status add_ids(std::string_view word, Ids& ids) const override {
    const size_t before = ids.size();
    bool known = count_characters(word) <= settings_.max_word_characters;
    for (size_t at = 0; known && at < word.size();) {
      const auto [id, length] = longest(at == 0 ? Trie::root() : continued_, word.substr(at));
      known = id != Trie::kNone;
      if (known) ids.push_back(id);
      at += length;
    }
    if (known) return {};
    ids.resize(before);
    ids.push_back(settings_.unknown);
    return {};
  }

 private:
  // Returns the longest token from a node on, and its bytes. Tokens end where characters do: both are UTF-8.
  std::pair<uint32_t, size_t> longest(uint32_t node, std::string_view text) const {
    std::pair<uint32_t, size_t> found{Trie::kNone, 0};
    for (size_t at = 0; at < text.size() && node != Trie::kNone; ++at) {
      node = trie_.next(node, text[at]);
      if (node != Trie::kNone && trie_.value(node) != Trie::kNone) found = {trie_.value(node), at + 1};
    }
    return found;
  }

  WordPieceSettings settings_;
  Trie trie_;
  uint32_t continued_;  // the node behind the prefix of continuations
};

}  // namespace

Result<std::shared_ptr<const TokenModel>> read_word_piece(const Config& model) {
  RUNG_TRY(const Config ids, model.get_object("vocab"));
  RUNG_TRY(Vocabulary vocabulary, Vocabulary::read(ids));
  WordPieceSettings settings;
  RUNG_TRY(settings.unknown, token_in_field(model, "unk_token", vocabulary));
  RUNG_TRY(settings.continuation, model.get_text_or("continuing_subword_prefix", "##"));
  RUNG_TRY(const int64_t characters, model.get_int_or("max_input_chars_per_word", {1, 100000}, 100));
  settings.max_word_characters = static_cast<size_t>(characters);
  return std::make_shared<const WordPiece>(std::move(vocabulary), std::move(settings));
}

}  // namespace rung::text
