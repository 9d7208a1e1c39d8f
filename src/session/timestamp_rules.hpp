// Which tokens may follow in a text whose tokens of time say where its parts begin and end, as Whisper writes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rung {

struct TimestampRules {
  int64_t none = 0;                    // the token of a text without times; those behind it are times, from 0 on
  int64_t end = 0;                     // the token that ends a text; tokens of words stand before it
  std::optional<int64_t> latest = {};  // the last time, by its place among times, at which the first part may begin

  int64_t first() const { return none + 1; }  // the token of time 0
  bool is_time(int64_t token) const { return token > none; }
  friend bool operator==(const TimestampRules&, const TimestampRules&) = default;
};

// Sets the scores of tokens that may not follow those made so far to -inf. The text begins with a time; then times
// stand in pairs, the end of a part and the begin of the next one, or one stands before the end; none is before the
// last one, and a part takes time. Where all times together are likelier than the likeliest other token, one of them
// follows. Scores that are no numbers, or infinite, stay.
void keep_allowed(const TimestampRules& rules, std::span<const int64_t> made, std::span<float> scores);

}  // namespace rung
