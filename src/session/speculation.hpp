// Reading ahead: draft tokens are read with the text where that makes tokens faster.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "session/draft_model.hpp"

namespace rung {

enum class Speculate : uint8_t {
  off,
  on,         // wherever there are drafts
  automatic,  // so, until the time per token shows that it is slower
};
// Parses "off", "on" or "auto". Errors (wrong usage): another word.
Result<Speculate> parse_speculate(std::string_view word);

// Runs of one kind, and the time that they took together.
struct TimedRuns {
  int64_t count = 0, ns = 0;
};
// Returns whether drafts make tokens no slower: a run with drafts makes one token, and one for each draft accepted.
// True until there are enough runs of both kinds to tell.
bool drafts_pay(const TimedRuns& plain, const TimedRuns& ahead, int64_t accepted);
// Returns whether the next run should have no drafts, so that those that have some are compared with enough others.
bool wants_plain_run(const TimedRuns& plain, const TimedRuns& ahead);

// A text whose next token is to be chosen.
struct TextToRead {
  Decoder& decoder;
  Sampler& sampler;      // which will choose
  int64_t accepted = 0;  // drafts, so far
  int64_t wanted = 0;    // tokens, at most
};

// For one text. Drafts come from a draft model, or else from the text itself (look_up()).
class Speculation {
 public:
  explicit Speculation(Speculate when, std::shared_ptr<DraftModel> model = {})
      : when_(when), model_(std::move(model)) {}

  // Reads the text to its end, with drafts behind it or without. Errors: those of Decoder::take() and
  // DraftModel::guess().
  Status read(TextToRead text);
  int64_t drafted() const { return drafted_; }
  // Returns "off", "kept", or "stopped" where it was slower.
  std::string_view outcome() const;
  // Returns whether no run will have drafts any more.
  bool is_over() const { return when_ == Speculate::off || lost_; }
  uint64_t weight_bytes() const { return model_ ? model_->weight_bytes() : 0; }  // of the draft model

 private:
  bool drafts_now(int64_t accepted);
  Result<std::vector<int64_t>> drafts(const TextToRead& text) const;

  Speculate when_;
  std::shared_ptr<DraftModel> model_;
  TimedRuns plain_, ahead_;
  int64_t drafted_ = 0;
  bool lost_ = false;  // it was slower, and stays off
};

}  // namespace rung
