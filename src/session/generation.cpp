// Chooses before it reads: the last token of a text is never run.
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

std::optional<StoppedBy> Generation::end() const {
  if (made_ >= options_.most) return StoppedBy::count;
  if (!last_) return std::nullopt;
  if (options_.stops.contains(*last_)) return StoppedBy::token;
  if (decoder_->length() > decoder_->most_tokens()) return StoppedBy::room;
  return std::nullopt;
}

// The first token is the host's, from the scores that the prompt has left.
bool Generation::makes_ahead() const {
  return options_.steps > 0 && speculation_.is_over() && last_ && !decoder_->logits() &&
         decoder_->plan_of_one().target->gpu && decoder_->smallest_chunk() == 1;
}

// Makes tokens on the device, and no more than may be forgotten if one of them ends the text.
Status Generation::make_ahead() {
  if (!loop_) {
    RUNG_TRY(loop_, DeviceLoop::make(decoder_->smallest(), decoder_->vocabulary(), sampler_.options(), options_.steps));
  }
  const int64_t began = now_ns();
  RUNG_CHECK(decoder_->begin_ahead());
  if (loop_runs_ != decoder_->runs()) RUNG_CHECK(loop_->go_on(*last_, sampler_.drawn(), sampler_.seen()));
  const int64_t room = decoder_->most_tokens() - (decoder_->length() - 1);
  RUNG_TRY(const auto made, loop_->run(std::min({options_.most - made_, room, decoder_->most_made_ahead()})));
  decoder_->read_ahead(made);
  loop_runs_ = decoder_->runs();
  token_ms_ = static_cast<double>(now_ns() - began) * 1e-6 / static_cast<double>(made.size());
  ahead_.assign(made.rbegin(), made.rend());
  return {};
}

Result<int64_t> Generation::choose() {
  if (ahead_.empty() && makes_ahead()) RUNG_CHECK(make_ahead());
  if (!ahead_.empty()) {
    const int64_t token = ahead_.back();
    ahead_.pop_back();
    sampler_.chose(token);
    return token;
  }
  const int64_t began = now_ns();
  if (!decoder_->logits()) RUNG_CHECK(speculation_.read({*decoder_, sampler_, accepted(), options_.most - made_}));
  RUNG_TRY(const int64_t token, sampler_.next(*decoder_->logits()));
  token_ms_ = static_cast<double>(now_ns() - began) * 1e-6;
  return token;
}

Result<std::optional<int64_t>> Generation::next() {
  if (end()) return std::nullopt;
  if (decoder_->length() == 0) return wrong_usage("got no prompt before the first token");
  if (decoder_->length() != length_)
    return wrong_usage("the text has {} tokens, and had {} when its last token was made: another call changed it",
                       decoder_->length(), length_);
  RUNG_TRY(const int64_t token, choose());
  decoder_->append(token);
  ++made_, ++length_, last_ = token;
  return std::optional(token);
}

}  // namespace rung
