// Texts to model inputs, through the tokenizer that the model brought along.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/forks.hpp"
#include "plan/plan_set.hpp"
#include "text/tokenizer.hpp"

namespace rung {

struct TextOptions {
  std::string_view text;                        // NUL is a character like others
  std::optional<std::string_view> second = {};  // is read with the first one
  bool may_cut = true;  // cuts a text of more tokens than the plan has room for; else it is refused
};

struct TextInputs {
  NamedTensors inputs;
  int64_t tokens = 0, kept = 0;  // of the text; of those, in the inputs
  bool truncated() const { return kept < tokens; }
};

// The tokenizer is read once, when the first text comes. Any number of threads may use it.
class TextEncoder {
 public:
  explicit TextEncoder(PlanSet plans) : plans_(std::move(plans)) {}

  // Makes the inputs for one text: input_ids, attention_mask and token_type_ids as far as the plan has them, padded to
  // its length. Of several plans, the shortest that has room for the text is taken, or the longest. Errors: the model
  // has no tokenizer, or no input_ids; an input is not i64[1,length]; an input is frozen at another value than the
  // text's, and is named: its answer would be that of another question; a text is too long and must not be cut.
  Result<TextInputs> inputs_of(const TextOptions& options) const;

  // Returns the text of token ids. Errors: the model has no tokenizer; those of Tokenizer::decode().
  Result<std::string> text_of(std::span<const int64_t> ids, DecodeOptions options) const;

 private:
  Result<const Tokenizer*> tokenizer() const;

  // Returns the plan for a text of that many tokens.
  const Plan& plan_for(int64_t tokens) const;

  PlanSet plans_;
  mutable std::mutex reading_;
  mutable std::optional<Result<Tokenizer>> tokenizer_;
  MadeIn made_in_;
};

// Says of a text that was cut how much of it is read, and which plan reads all of it.
std::string cut_text_words(int64_t tokens, int64_t kept);

}  // namespace rung
