// Text out of tokens that come one by one, as a model generates them, and the strings that end it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/clean_up.hpp"
#include "text/decoders/decoders.hpp"
#include "text/tokenizer.hpp"

namespace rung {

// One text; Tokenizer::stream() begins it. What add() and end() return, joined, is what Tokenizer::decode() returns of
// all ids. After an error the stream is of no further use.
class TextStream {
 public:
  static Result<TextStream> begin(std::shared_ptr<const Tokenizer::Parts> parts, DecodeOptions options);

  // Takes the next id. Returns the text that is certain now, of whole characters: it may be empty. Errors: an id that
  // no token has.
  Result<std::string> add(int64_t id);
  // Returns the text that was held back. No more ids may come.
  Result<std::string> end();

 private:
  TextStream(std::shared_ptr<const Tokenizer::Parts> parts, DecodeOptions options);

  std::shared_ptr<const Tokenizer::Parts> parts_;
  bool keeps_special_ = false;
  text::DecoderChain decoders_;
  std::optional<text::CleanUp> clean_up_;
};

// Ends a text that comes in parts before the first of some strings: the one that ends first, and of these the longest.
// It does not matter where parts begin and end.
class StopStrings {
 public:
  // Errors: an empty string.
  static Result<StopStrings> make(std::vector<std::string> strings);

  // Takes the next part. Returns the text that goes before any stop string: an end that may begin one is held back, and
  // so is all behind one.
  std::string add(std::string_view part);
  // Returns the text that was held back; nothing behind a stop string.
  std::string end();
  // Returns the string that ended the text, if one did.
  const std::optional<std::string>& found() const { return found_; }

 private:
  explicit StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {}
  std::vector<std::string> strings_;
  std::string held_;
  std::optional<std::string> found_;
};

}  // namespace rung
