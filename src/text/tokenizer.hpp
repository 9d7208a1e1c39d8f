// Texts to the ids that a model reads, as the model's own files say, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "text/encoding.hpp"
#include "text/files.hpp"

namespace rung {

struct EncodeOptions {
  int64_t max_length = 512;  // with special tokens; a longer text is cut
  int64_t pad_to = 0;        // least length, reached with the padding token
};

struct DecodeOptions {
  bool keeps_special = false;  // special tokens stand in the text
  // Blanks before English marks go, as in "it's" for "it 's", but not from texts of a BPE model, as in the published
  // library; nullopt: as tokenizer_config.json says.
  std::optional<bool> cleans_up = {};
};

class TextStream;

struct TextPair {
  std::string_view first, second;
};

// Copies share what was read, and any number of threads may use it.
class Tokenizer {
 public:
  // Reads tokenizer.json, or else vocab.txt, or vocab.json and merges.txt, with tokenizer_config.json. Errors name the
  // file, the part and the field.
  static Result<Tokenizer> open(const std::string& directory);
  // Does the same from the files' texts, by file name: a plan carries them.
  static Result<Tokenizer> from_texts(const TextFiles& texts);

  // Encodes a text with its special tokens; bytes that are not UTF-8 count as U+FFFD. Errors: no room for the special
  // tokens; an unknown word, and no token for those; padding, and no token for it; a pattern that takes too long.
  Result<Encoding> encode(std::string_view text, EncodeOptions options) const;
  // Encodes two texts; of those that are too long together, the longer one is cut first.
  Result<Encoding> encode(TextPair texts, EncodeOptions options) const;

  // Returns the ids of a text alone, without special tokens around it.
  Result<std::vector<int64_t>> pieces(std::string_view text) const;

  // Returns the text of ids. Errors: an id that no token has; a decoder that is not supported.
  Result<std::string> decode(std::span<const int64_t> ids, DecodeOptions options = {}) const;

  // Begins a text whose ids come one by one; what it returns in all is what decode() returns. Errors: a decoder that is
  // not supported.
  Result<TextStream> stream(DecodeOptions options = {}) const;

  // Returns the first id whose token is another one there, or that one of the two lacks. Nullopt: both have the same.
  std::optional<int64_t> first_difference(const Tokenizer& other) const;

  // Returns the length that the model was made for, if its files say so.
  std::optional<int64_t> model_max_length() const;

  struct Parts;

 private:
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

}  // namespace rung
