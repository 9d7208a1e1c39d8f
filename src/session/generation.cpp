// Chooses before it takes: the last token of a text is never run.
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

Status Generation::prompt(std::span<const int64_t> tokens) {
  std::vector<int64_t> all(tokens.begin(), tokens.end());
  if (untaken_) all.insert(all.begin(), *untaken_);
  RUNG_CHECK(decoder_.take(all));
  sampler_.saw(tokens);
  untaken_.reset(), made_ = 0;
  return {};
}

Result<std::optional<int64_t>> Generation::next(int64_t most) {
  const auto end = [this](StoppedBy reason) {
    stopped_by_ = reason;
    return std::optional<int64_t>();
  };
  if (made_ >= most) return end(StoppedBy::count);
  if (untaken_) {
    if (stops_.contains(*untaken_)) return end(StoppedBy::token);
    if (decoder_.length() >= decoder_.most_tokens()) return end(StoppedBy::room);
    RUNG_CHECK(decoder_.take({&*untaken_, 1}));
    untaken_.reset();
  }
  if (!decoder_.logits()) return wrong_usage("got no prompt before the first token");
  RUNG_TRY(const int64_t token, sampler_.next(*decoder_.logits()));
  ++made_, untaken_ = token;
  return std::optional(token);
}

}  // namespace rung
