// Follows a text by what it has in common with the guesses: accepted ones are read already, the others are forgotten.
// SPDX-License-Identifier: Apache-2.0
#include "session/draft_model.hpp"

#include <algorithm>

namespace rung {

// A layer with a sliding window may remember too little of a text that became much shorter: it is read again.
Status DraftModel::go_back(int64_t length) {
  if (length == decoder_->length() || decoder_->truncate(length)) return {};
  return decoder_->reset();
}

Status DraftModel::read(std::span<const int64_t> text, const Interrupted& interrupted) {
  if (static_cast<int64_t>(text.size()) > decoder_->most_tokens()) return {};
  const auto known = std::ranges::mismatch(text, decoder_->tokens()).in1 - text.begin();
  RUNG_CHECK(go_back(known));
  const auto rest = text.subspan(static_cast<size_t>(decoder_->length()));
  return rest.empty() && decoder_->logits() ? Status{} : decoder_->take(rest, interrupted);
}

// The last guess is not read: the model's own choice may be another.
Result<std::vector<int64_t>> DraftModel::guess(std::span<const int64_t> text, int64_t most, Sampler& sampler) {
  const int64_t room = decoder_->most_tokens() - static_cast<int64_t>(text.size()) + 1;
  const int64_t count = std::min({most, most_, room, decoder_->most_made_ahead()});
  std::vector<int64_t> guesses;
  if (count < 1) return guesses;
  RUNG_CHECK(read(text));
  for (;;) {
    RUNG_TRY(const int64_t token, sampler.guess(*decoder_->logits(), guesses));
    guesses.push_back(token);
    if (static_cast<int64_t>(guesses.size()) == count) return guesses;
    RUNG_CHECK(decoder_->take({&token, 1}));
  }
}

}  // namespace rung
