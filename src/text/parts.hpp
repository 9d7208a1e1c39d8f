// The parts of a tokenizer, in the order in which a text goes through them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "text/added_tokens.hpp"
#include "text/decoders/decoders.hpp"
#include "text/frame.hpp"
#include "text/models/model.hpp"
#include "text/padding.hpp"
#include "text/piece.hpp"
#include "text/token_names.hpp"
#include "text/tokenizer.hpp"

namespace rung {

struct Tokenizer::Parts {
  text::TokenFinder raw;  // added tokens that are looked for before the normalizers
  std::vector<text::Normalizer> normalizers;
  text::TokenFinder normalized;  // and behind them
  std::vector<text::PreTokenizer> pre_tokenizers;
  std::shared_ptr<const text::TokenModel> model;
  text::Frame frame;
  text::Padding padding;
  bool cuts_left = false;
  std::optional<int64_t> model_max_length;
  text::TokenNames names;
  Result<std::vector<text::Decoder>> decoders;  // an error is one of decode() alone
  bool cleans_up = false;

  static Result<Parts> read(const TextFiles& texts);
};

}  // namespace rung
