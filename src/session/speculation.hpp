// Reading ahead: draft tokens are read with the text where that makes tokens faster.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "session/decoder.hpp"

namespace rung {

enum class Speculate : uint8_t {
  off,
  on,         // wherever the text has been at the same tokens before
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

// For one text. Drafts come from the text itself (look_up()).
class Speculation {
 public:
  explicit Speculation(Speculate when) : when_(when) {}

  // Reads the decoder's text to its end, with drafts behind it or without, where that many drafts were accepted so far.
  // Errors: those of Decoder::take().
  Status read(Decoder& decoder, int64_t accepted);
  int64_t drafted() const { return drafted_; }

 private:
  bool drafts_now(int64_t accepted);

  Speculate when_;
  TimedRuns plain_, ahead_;
  int64_t drafted_ = 0;
  bool lost_ = false;  // it was slower, and stays off
};

}  // namespace rung
