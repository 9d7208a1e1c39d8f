// Times runs of both kinds, and stops drafting for good where it loses.
// SPDX-License-Identifier: Apache-2.0
#include "session/speculation.hpp"

#include <algorithm>

#include "measure/clock.hpp"
#include "session/prompt_lookup.hpp"

namespace rung {
namespace {

constexpr int64_t kPlainRuns = 2, kAheadRuns = 4;  // that are timed before they are compared
constexpr int64_t kAheadForPlain = 16;             // runs with drafts for each further plain one

}  // namespace

Result<Speculate> parse_speculate(std::string_view word) {
  if (word == "off") return Speculate::off;
  if (word == "on") return Speculate::on;
  if (word == "auto") return Speculate::automatic;
  return wrong_usage("speculate: got '{}', wanted 'off', 'on' or 'auto'", word);
}

bool drafts_pay(const TimedRuns& plain, const TimedRuns& ahead, int64_t accepted) {
  if (plain.count < kPlainRuns || ahead.count < kAheadRuns) return true;
  const double plain_ns = static_cast<double>(plain.ns) / static_cast<double>(plain.count);
  return static_cast<double>(ahead.ns) <= plain_ns * static_cast<double>(ahead.count + accepted);
}

std::string_view Speculation::outcome() const {
  if (when_ == Speculate::off) return "off";
  return lost_ ? "stopped" : "kept";
}

// A plain run that something disturbed would speak for drafts for good, were it one of two in a long text.
bool wants_plain_run(const TimedRuns& plain, const TimedRuns& ahead) {
  return plain.count < kPlainRuns + ahead.count / kAheadForPlain;
}

bool Speculation::drafts_now(int64_t accepted) {
  if (when_ != Speculate::automatic) return when_ == Speculate::on;
  lost_ = lost_ || !drafts_pay(plain_, ahead_, accepted);
  return !lost_ && !wants_plain_run(plain_, ahead_);
}

// The run that reads drafts gives the token behind them, too. A model's drafts that nobody wants would cost time.
Result<std::vector<int64_t>> Speculation::drafts(const TextToRead& text) const {
  const int64_t room = text.decoder.most_drafts();
  if (!model_) return look_up(text.decoder.tokens(), static_cast<size_t>(room));
  auto guesses = model_->guess(text.decoder.tokens(), std::min(room, text.wanted - 1), text.sampler);
  if (!guesses) return fail_in(guesses.error(), "the draft");
  return guesses;
}

Status Speculation::read(TextToRead text) {
  const int64_t began = now_ns();
  std::vector<int64_t> drafts;
  if (drafts_now(text.accepted)) {
    RUNG_TRY(drafts, this->drafts(text));
  }
  RUNG_CHECK(drafts.empty() ? text.decoder.take({}) : text.decoder.take_ahead(drafts));
  TimedRuns& runs = drafts.empty() ? plain_ : ahead_;
  ++runs.count, runs.ns += now_ns() - began;
  drafted_ += static_cast<int64_t>(drafts.size());
  return {};
}

}  // namespace rung
