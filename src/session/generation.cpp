// Chooses before it takes: the last token of a text is never run.
// SPDX-License-Identifier: Apache-2.0
#include "session/generation.hpp"

#include <algorithm>

#include "measure/clock.hpp"

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
  RUNG_CHECK(forget_ahead());
  loop_goes_on_ = false;
  std::vector<int64_t> all(tokens.begin(), tokens.end());
  if (untaken_) all.insert(all.begin(), *untaken_);
  RUNG_CHECK(decoder_.take(all));
  sampler_.saw(tokens);
  untaken_.reset(), made_ = 0;
  return {};
}

Result<std::optional<int64_t>> Generation::next(int64_t most) {
  const auto end = [this](StoppedBy reason) -> Result<std::optional<int64_t>> {
    RUNG_CHECK(forget_ahead());
    stopped_by_ = reason;
    return std::optional<int64_t>();
  };
  if (made_ >= most) return end(StoppedBy::count);
  if (untaken_ && stops_.contains(*untaken_)) return end(StoppedBy::token);
  if (untaken_ && ahead_.empty() && decoder_.length() >= decoder_.most_tokens()) return end(StoppedBy::room);
  if (untaken_ && ahead_.empty() && steps_ > 0)
    RUNG_CHECK(make_ahead(most - made_));
  const int64_t began = now_ns();
  const bool is_made = !ahead_.empty();
  RUNG_TRY(const int64_t token, choose());
  if (!is_made) token_ms_ = static_cast<double>(now_ns() - began) * 1e-6;
  ++made_, untaken_ = token;
  return std::optional(token);
}

Result<int64_t> Generation::choose() {
  if (!ahead_.empty()) {
    const int64_t token = ahead_.front();
    ahead_.pop_front();
    sampler_.chose(token);
    return token;
  }
  if (untaken_) RUNG_CHECK(decoder_.take({&*untaken_, 1}));
  untaken_.reset();
  if (!decoder_.logits()) return wrong_usage("got no prompt before the first token");
  return sampler_.next(*decoder_.logits());
}

// Makes tokens on the device. Those behind one that ends the text are forgotten later, so that no layer may lose what
// the text then needs.
Status Generation::make_ahead(int64_t most) {
  if (!loop_) {
    RUNG_TRY(loop_, DeviceLoop::make(decoder_.smallest(), decoder_.vocabulary(), sampler_.options(), steps_));
  }
  const int64_t room = decoder_.most_tokens() - decoder_.length();
  const int64_t began = now_ns();
  if (!loop_goes_on_) RUNG_CHECK(loop_->go_on(*untaken_, sampler_.drawn(), sampler_.seen()));
  loop_goes_on_ = false;
  RUNG_TRY(const auto made, loop_->run(std::min({most, room, std::max<int64_t>(1, decoder_.most_forgotten())})));
  decoder_.ran(static_cast<int64_t>(made.size()));
  token_ms_ = static_cast<double>(now_ns() - began) * 1e-6 / static_cast<double>(made.size());
  ahead_.assign(made.begin(), made.end());
  loop_goes_on_ = true;
  return {};
}

// The decoder has taken all tokens that were made ahead but the last.
Status Generation::forget_ahead() {
  if (ahead_.empty()) return {};
  const auto forgotten = static_cast<int64_t>(ahead_.size());
  ahead_.clear(), loop_goes_on_ = false;
  return decoder_.truncate(decoder_.length() - forgotten);
}

}  // namespace rung
