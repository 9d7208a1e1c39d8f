// Looks at the last two tokens and the last time.
// SPDX-License-Identifier: Apache-2.0
#include "session/timestamp_rules.hpp"

#include <algorithm>
#include <cmath>

#include "ir/sampling.hpp"

namespace rung {
namespace {

void ban(std::span<float> scores) {
  for (float& score : scores)
    if (sampling::is_usable(score)) score = -INFINITY;
}

// Scores of words and other tokens, and those of times.
struct Parts {
  std::span<float> others, times;
  Parts(const TimestampRules& rules, std::span<float> scores)
      : others(scores.first(static_cast<size_t>(rules.first()))),
        times(scores.subspan(static_cast<size_t>(rules.first()))) {}
};

// A part that has begun goes on with words; one that has ended is followed by the next one, or by the end.
void keep_pairs(const TimestampRules& rules, std::span<const int64_t> made, Parts parts) {
  const bool is_behind_time = !made.empty() && rules.is_time(made.back());
  if (!is_behind_time) return;
  const bool has_begun = made.size() < 2 || rules.is_time(made[made.size() - 2]);
  ban(has_begun ? parts.times : parts.others.first(static_cast<size_t>(rules.end)));
}

// Behind the end of a part the next one may begin at the same time; any other time is later than the last one.
void keep_order(const TimestampRules& rules, std::span<const int64_t> made, Parts parts) {
  const auto last = std::find_if(made.rbegin(), made.rend(), [&](int64_t token) { return rules.is_time(token); });
  if (last == made.rend()) return;
  const bool ends_a_part = rules.is_time(made.back()) && made.size() > 1 && !rules.is_time(made[made.size() - 2]);
  const auto before = static_cast<size_t>(*last - rules.first() + (ends_a_part ? 0 : 1));
  ban(parts.times.first(std::min(before, parts.times.size())));
}

void keep_begin(const TimestampRules& rules, Parts parts) {
  ban(parts.others);
  if (!rules.latest) return;
  const auto kept = std::min(static_cast<size_t>(*rules.latest) + 1, parts.times.size());
  ban(parts.times.subspan(kept));
}

// Returns log(sum(exp(scores))).
double log_sum(std::span<const float> scores) {
  const double largest = std::ranges::max(scores);
  if (largest == -INFINITY) return largest;
  double sum = 0;
  for (float score : scores) sum += std::exp(static_cast<double>(score) - largest);
  return largest + std::log(sum);
}

}  // namespace

void keep_allowed(const TimestampRules& rules, std::span<const int64_t> made, std::span<float> scores) {
  const Parts parts(rules, scores);
  ban(parts.others.subspan(static_cast<size_t>(rules.none)));
  keep_pairs(rules, made, parts);
  keep_order(rules, made, parts);
  if (made.empty()) keep_begin(rules, parts);
  if (log_sum(parts.times) > static_cast<double>(std::ranges::max(parts.others))) ban(parts.others);
}

}  // namespace rung
