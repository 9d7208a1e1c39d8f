// Follows a text by what it has in common with the guesses: accepted ones are read already, the others are forgotten.
// SPDX-License-Identifier: Apache-2.0
#include "session/draft_model.hpp"

#include <algorithm>
#include <cmath>

namespace rung {
namespace {

// Returns scores for another number of tokens: those of further tokens are -inf, so that they are never guessed.
Tensor fitted(const Tensor& scores, int64_t vocabulary) {
  if (scores.type().shape.back() == vocabulary) return scores;
  Tensor fit({DType::f32, {1, vocabulary}});
  const auto from = scores.as<float>();
  const auto to = fit.as<float>();
  const auto rest = std::ranges::copy(from.first(std::min(from.size(), to.size())), to.begin()).out;
  std::fill(rest, to.end(), -INFINITY);
  return fit;
}

}  // namespace

// A padded vocabulary has tokens that a text hardly ever has, and that a model with less padding cannot read.
bool DraftModel::can_read(std::span<const int64_t> text) const {
  return static_cast<int64_t>(text.size()) <= decoder_->most_tokens() &&
         std::ranges::all_of(text, [&](int64_t token) { return token < decoder_->vocabulary(); });
}

// A layer with a sliding window may remember too little of a text that became much shorter: it is read again.
Status DraftModel::go_back(int64_t length) {
  if (length == decoder_->length() || decoder_->truncate(length)) return {};
  return decoder_->reset();
}

Status DraftModel::read(std::span<const int64_t> text, const Interrupted& interrupted) {
  if (!can_read(text)) return {};
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
  if (count < 1 || !can_read(text)) return guesses;
  RUNG_CHECK(read(text));
  const auto vocabulary = static_cast<int64_t>(sampler.seen().size());
  for (;;) {
    RUNG_TRY(const int64_t token, sampler.guess(fitted(*decoder_->logits(), vocabulary), guesses));
    guesses.push_back(token);
    if (static_cast<int64_t>(guesses.size()) == count) return guesses;
    RUNG_CHECK(decoder_->take({&token, 1}));
  }
}

}  // namespace rung
