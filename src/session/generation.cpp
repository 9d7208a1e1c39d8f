// Chooses before it reads: the last token of a text is never run.
// SPDX-License-Identifier: Apache-2.0
#include "session/generation.hpp"

namespace rung {

std::string_view name_of(StoppedBy reason) {
  switch (reason) {
    case StoppedBy::token:
      return "stop token";
    case StoppedBy::room:
      return "full cache";
    default:
      return "count";
  }
}

std::optional<StoppedBy> Generation::end() const {
  if (made_ >= options_.most) return StoppedBy::count;
  if (!last_) return std::nullopt;
  if (options_.stops.contains(*last_)) return StoppedBy::token;
  if (decoder_->length() > decoder_->most_tokens()) return StoppedBy::room;
  return std::nullopt;
}

Result<std::optional<int64_t>> Generation::next() {
  if (end()) return std::nullopt;
  if (decoder_->length() == 0) return wrong_usage("got no prompt before the first token");
  if (decoder_->length() != length_)
    return wrong_usage("the text has {} tokens, and had {} when its last token was made: another call changed it",
                       decoder_->length(), length_);
  if (!decoder_->logits()) RUNG_CHECK(speculation_.read(*decoder_, accepted()));
  RUNG_TRY(const int64_t token, sampler_.next(*decoder_->logits()));
  decoder_->append(token);
  ++made_, ++length_, last_ = token;
  return std::optional(token);
}

}  // namespace rung
