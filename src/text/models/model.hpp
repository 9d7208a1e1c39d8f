// The third part of a tokenizer: a word into tokens of a vocabulary.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_config.hpp"
#include "text/vocabulary.hpp"

namespace rung::text {

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Adds the ids of a word, which is valid UTF-8 and not empty. Errors: the word is unknown, and the model has no token
  // for such words.
  virtual Status add_ids(std::string_view word, Ids& ids) const = 0;
  // Returns whether it is a BPE: blanks are letters to it, which stand where the author put them.
  virtual bool joins_letters() const { return false; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};

// Reads the model. Errors: another type; a field out of its range; a token that the vocabulary lacks.
Result<std::shared_ptr<const TokenModel>> read_model(const Config& tokenizer);

// Each reads the model of its type.
Result<std::shared_ptr<const TokenModel>> read_bpe(const Config& model);
Result<std::shared_ptr<const TokenModel>> read_unigram(const Config& model);
Result<std::shared_ptr<const TokenModel>> read_word_piece(const Config& model);
Result<std::shared_ptr<const TokenModel>> read_word_level(const Config& model);

// Returns the id of the token in a field. Errors: the vocabulary lacks it.
Result<int64_t> token_in_field(const Config& model, const char* field, const Vocabulary& vocabulary);

// Adds the ids of a word's bytes, "<0x41>" for an A. Returns false, and adds none, if one is not in the vocabulary.
bool add_bytes(std::string_view word, const Vocabulary& vocabulary, Ids& ids);

}  // namespace rung::text
