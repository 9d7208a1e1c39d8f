// The way back: tokens to a text, as the field "decoder" says. Tokens come one by one, and each becomes text as soon as
// no later one can change it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json_config.hpp"

namespace rung::text {

using Tokens = std::vector<std::string>;

// A decoder at work on the tokens of one text. What comes out in the end is joined.
class DecoderStage {
 public:
  DecoderStage() = default;
  virtual ~DecoderStage() = default;
  DecoderStage(const DecoderStage&) = delete;
  DecoderStage& operator=(const DecoderStage&) = delete;

  // Takes the next token, and adds to `out` what is certain now.
  virtual Status add(std::string token, Tokens& out) = 0;
  // Adds to `out` what was held back: no more tokens come.
  virtual Status end(Tokens& out);
};

struct Decoder {
  // Begins a text. `in_parts`: the tokens are parts of one token, because a decoder before joined them.
  std::function<std::unique_ptr<DecoderStage>(bool in_parts)> begin;
  bool joins = false;        // makes one token of all, which comes out in parts
  bool takes_parts = false;  // others wait for the end of a token that comes in parts
};

// Reads the decoder, or all of a Sequence in their order; tokens are joined by blanks where the field is missing.
Result<std::vector<Decoder>> read_decoders(const Config& tokenizer);

// All decoders of a tokenizer at work on one text.
class DecoderChain {
 public:
  explicit DecoderChain(const std::vector<Decoder>& decoders);

  // Takes the next token; returns the text that is certain now.
  Result<std::string> add(std::string token);
  // Returns the text that was held back.
  Result<std::string> end();

 private:
  std::vector<std::unique_ptr<DecoderStage>> stages_;
};

// Makes a decoder that changes each token by itself: `change` is std::string(const std::string& token, bool is_first).
template <class Change>
Decoder each_token(Change change) {
  class Stage : public DecoderStage {
   public:
    explicit Stage(Change how) : change_(std::move(how)) {}
    Status add(std::string token, Tokens& out) override {
      out.push_back(change_(token, is_first_));
      is_first_ = false;
      return {};
    }

   private:
    Change change_;
    bool is_first_ = true;
  };
  return {.begin = [change](bool) { return std::make_unique<Stage>(change); }};
}

// Each reads the decoder of its type.
Result<Decoder> read_metaspace_decoder(const Config& part);
Result<Decoder> read_word_piece_decoder(const Config& part);
Result<Decoder> read_ctc_decoder(const Config& part);
Result<Decoder> read_byte_level_decoder(const Config& part);
Result<Decoder> read_byte_fallback(const Config& part);

}  // namespace rung::text
