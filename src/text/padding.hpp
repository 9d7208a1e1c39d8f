// Fills inputs up to the length that a plan reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "text/added_tokens.hpp"
#include "text/encoding.hpp"
#include "text/settings.hpp"

namespace rung::text {

struct Padding {
  std::optional<int64_t> id;  // none: the files name no token for it
  int64_t type = 0;
  bool is_left = false;

  // Errors: padding is wanted, and there is no token for it.
  Status apply(int64_t length, Encoding& encoding) const;
};

// Reads the field "padding" of a description; the settings go before it. Without either, a token of the usual name is
// taken. Errors: the token that the settings name is neither in the vocabulary nor added.
Result<Padding> read_padding(const Config& tokenizer, const Settings& settings, const AddedTokens& added,
                             const Vocabulary& vocabulary);

}  // namespace rung::text
