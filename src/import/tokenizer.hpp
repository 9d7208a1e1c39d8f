// WordPiece tokenizer of BERT models: text to the input ids a model was trained on, from the model's own files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "import/tokenizer_words.hpp"

namespace rung {

// The three inputs of a BERT model, all of one length.
struct Encoding {
  std::vector<int64_t> ids, attention_mask, token_type_ids;
  bool truncated = false;
};

using TextFiles = std::map<std::string, std::string>;

struct EncodeOptions {
  int64_t max_length = 512;  // with [CLS] and [SEP]; what is longer is cut
  int64_t pad_to = 0;        // at least this many, filled with [PAD]
};

// What a model's files say.
struct TokenizerFiles {
  std::unordered_map<std::string, int64_t> vocabulary;
  std::map<std::string, int64_t> special;  // stand for themselves where the text spells them: "[MASK]"
  WordRules rules;
  std::string unknown = "[UNK]", continuation = "##";
  size_t max_word_characters = 100;
  std::optional<int64_t> model_max_length;
};

class Tokenizer {
 public:
  // Reads tokenizer.json, or else vocab.txt with tokenizer_config.json. Errors name the file and the field.
  static Result<Tokenizer> open(const std::string& directory);
  // The same from the files' texts, by file name: a plan carries them.
  static Result<Tokenizer> from_texts(const TextFiles& texts);
  // Errors: a special token ([CLS], [SEP], [PAD], the unknown token) is not in the vocabulary.
  static Result<Tokenizer> make(TokenizerFiles files);

  // [CLS] text [SEP]. Errors: no room for the special tokens.
  Result<Encoding> encode(std::string_view text, EncodeOptions options) const;
  // Word pieces alone.
  std::vector<int64_t> pieces(std::string_view text) const;
  // What the model was made for, where its files say so.
  std::optional<int64_t> model_max_length() const { return files_.model_max_length; }

 private:
  explicit Tokenizer(TokenizerFiles files);
  const std::pair<const std::string, int64_t>* special_at(std::string_view text) const;
  void add_plain(std::string_view text, std::vector<int64_t>& ids) const;
  void add_word(const std::string& word, std::vector<int64_t>& ids) const;

  TokenizerFiles files_;
  int64_t cls_ = 0, sep_ = 0, pad_ = 0, unknown_ = 0;
};

// The tokenizer's files of a model directory, by name; none if it has no tokenizer.
Result<TextFiles> tokenizer_texts(const std::string& directory);
Result<TokenizerFiles> read_tokenizer_files(const TextFiles& texts);

}  // namespace rung
