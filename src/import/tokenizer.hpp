// The WordPiece tokenizer of BERT models: makes the input ids of a text, from the model's own files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bitset>
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
  int64_t tokens = 0, kept = 0;  // of the whole text with its special tokens; of those, kept
  bool truncated() const { return kept < tokens; }
};

using TextFiles = std::map<std::string, std::string>;

struct EncodeOptions {
  int64_t max_length = 512;  // with special tokens; a longer text is cut
  int64_t pad_to = 0;        // least length, reached with [PAD]
};

struct FramePiece {
  int64_t id = 0, type = 0;
};
// The tokens around a text: "[CLS]" and "[SEP]".
struct Frame {
  std::vector<FramePiece> before, after;
  int64_t type = 0;  // type of the text's own tokens
};

// The contents of a model's files.
struct TokenizerFiles {
  std::unordered_map<std::string, int64_t> vocabulary;
  std::map<std::string, int64_t> special;  // match as whole tokens where the text spells them: "[MASK]"
  WordRules rules;
  std::string cls = "[CLS]", sep = "[SEP]", pad = "[PAD]", unknown = "[UNK]", mask = "[MASK]", continuation = "##";
  size_t max_word_characters = 100;
  std::optional<Frame> frame;  // none: `cls` text `sep`
  bool keeps_end = false;      // cuts the beginning of a text that is too long
  std::optional<int64_t> model_max_length;
};

class Tokenizer {
 public:
  // Reads tokenizer.json, or else vocab.txt with tokenizer_config.json. Errors name the file and the field.
  static Result<Tokenizer> open(const std::string& directory);
  // Does the same from the files' texts, by file name: a plan carries them.
  static Result<Tokenizer> from_texts(const TextFiles& texts);
  // Makes a tokenizer. Errors: a special token (`cls`, `sep`, `pad`, unknown) is not in the vocabulary.
  static Result<Tokenizer> make(TokenizerFiles files);

  // Encodes [CLS] text [SEP], or as the model's files say. Errors: no room for the special tokens.
  Result<Encoding> encode(std::string_view text, EncodeOptions options) const;
  // Returns the word pieces alone.
  std::vector<int64_t> pieces(std::string_view text) const;
  // Returns the length that the model was made for, if its files say so.
  std::optional<int64_t> model_max_length() const { return files_.model_max_length; }

 private:
  explicit Tokenizer(TokenizerFiles files);
  const std::pair<const std::string, int64_t>* special_at(std::string_view text) const;
  void add_plain(std::string_view text, std::vector<int64_t>& ids) const;
  void add_word(const std::string& word, std::vector<int64_t>& ids) const;

  TokenizerFiles files_;
  Frame frame_;
  int64_t pad_ = 0, unknown_ = 0;
  std::bitset<256> special_begins_;  // first bytes of special tokens
};

// Returns the tokenizer's files of a model directory, by name; none if it has no tokenizer.
Result<TextFiles> tokenizer_texts(const std::string& directory);
Result<TokenizerFiles> read_tokenizer_files(const TextFiles& texts);

}  // namespace rung
