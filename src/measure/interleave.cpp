// Runs the ABBA loop.
// SPDX-License-Identifier: Apache-2.0
#include "measure/interleave.hpp"

#include <algorithm>
#include <cmath>

#include "measure/clock.hpp"

namespace rung {

Status Interleaver::settle(const Run& a, const Run& b) const {
  for (const int64_t end = now_ns() + static_cast<int64_t>(options_.settle_s * 1e9); now_ns() < end;) {
    RUNG_CHECK(a());
    RUNG_CHECK(b());
  }
  return {};
}

Result<double> Interleaver::block(const Run& run, bool switched) const {
  for (int i = 0; switched && i < options_.warmup; ++i) RUNG_CHECK(run());
  std::vector<double> times;
  for (int i = 0; i < std::max(options_.runs, 1); ++i) {
    RUNG_TRY(times.emplace_back(), run());
  }
  return median(std::move(times));
}

bool Interleaver::is_tight(const RatioEstimate& ratio) const {
  return std::max(ratio.hi - ratio.ratio, ratio.ratio - ratio.lo) <= options_.half_width * ratio.ratio;
}

bool Interleaver::is_clear(const RatioEstimate& ratio) const {
  return ratio.lo > options_.boundary || ratio.hi < options_.boundary;
}

RatioEstimate Interleaver::estimate(const InterleaveResult& result) const {
  return options_.anytime ? estimate_ratio_anytime(result.a, result.b, options_.noise)
                          : estimate_ratio(result.a, result.b);
}

void Interleaver::look(InterleaveResult& result, double spent_s) const {
  if (result.a.size() >= static_cast<size_t>(std::max(options_.min_pairs, 1)))
    result.tight = is_tight(estimate(result));
  if (options_.noise > 0 && spent_s >= options_.patience_s)
    result.clear = is_clear(estimate_ratio_anytime(result.a, result.b, options_.noise));
}

void Interleaver::conclude(InterleaveResult& result) const {
  result.ratio = estimate(result);
  result.tight = is_tight(result.ratio);
  if (options_.anytime) {
    result.clear = is_clear(result.ratio);
    return;
  }
  const bool few = !std::isfinite(result.ratio.hi);  // the anytime interval is then better than none
  if (!result.tight && options_.noise > 0 && (result.clear || few))
    result.ratio = estimate_ratio_anytime(result.a, result.b, options_.noise);
}

Result<InterleaveResult> Interleaver::compare(const Run& a, const Run& b) const {
  RUNG_CHECK(settle(a, b));
  InterleaveResult result;
  int64_t begin = now_ns();
  auto spent = [&] { return static_cast<double>(now_ns() - begin) * 1e-9; };
  size_t next_look = 1;
  while (result.a.size() < static_cast<size_t>(std::max(options_.max_pairs, 1))) {
    bool a_first = result.a.size() % 2 == 0, first_pair = result.a.empty();
    if (a_first) {
      RUNG_TRY(result.a.emplace_back(), block(a, first_pair));
    }
    RUNG_TRY(result.b.emplace_back(), block(b, a_first));
    if (!a_first) {
      RUNG_TRY(result.a.emplace_back(), block(a, true));
    }
    if (result.a.size() >= next_look) {  // the estimate costs pairs^2, so look once per 10 % more pairs
      look(result, spent());
      next_look += result.a.size() / 10 + 1;
    }
    const bool is_over = spent() >= options_.budget_s && std::ssize(result.a) >= options_.least_pairs;
    if (result.tight || result.clear || is_over) break;
  }
  conclude(result);
  result.median_a = median(result.a);
  result.median_b = median(result.b);
  result.spent_s = spent();
  return result;
}

}  // namespace rung
