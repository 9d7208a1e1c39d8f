// The one form of a claim that a plan is faster than another: a race of the two, or the reason why there was no race.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <string>
#include <string_view>

#include "measure/interleave.hpp"
#include "measure/interval.hpp"

namespace rung {

// The reasons for which two plans were not raced.
inline constexpr std::string_view kSamePlan = "no change was shown to be faster",
                                  kNoRace = "there was no time for a race, so no speed-up is claimed";

struct Speedup {
  double before_ms = 0, after_ms = 0;
  double ratio = std::numeric_limits<double>::quiet_NaN();  // time before / time after; NaN: nothing is claimed
  Interval ci95{1, 1};
  int pairs = 0;                            // 0: not raced
  std::string unraced{"it was not raced"};  // why not; empty: it was raced

  static Speedup of(const InterleaveResult& raced) {
    return {raced.median_a * 1e3, raced.median_b * 1e3,
            raced.ratio.ratio,    {raced.ratio.lo, raced.ratio.hi},
            raced.ratio.pairs,    {}};
  }
  // Returns the speed-up of a plan over itself.
  static Speedup same_plan(double ms) {
    return {.before_ms = ms, .after_ms = ms, .ratio = 1, .unraced = std::string(kSamePlan)};
  }
  // Returns the speed-up of two plans that were not raced: times measured separately prove nothing.
  static Speedup none(double before_ms, double after_ms, std::string_view why) {
    return {.before_ms = before_ms, .after_ms = after_ms, .unraced = std::string(why)};
  }

  bool raced() const { return unraced.empty(); }
  bool is_faster() const { return raced() && ci95.lo > 1; }
  bool is_slower() const { return raced() && ci95.hi < 1; }
  // Returns the ratio that a headline may claim: as raced if the interval excludes 1; 1 if no difference was shown.
  double claimed() const { return !raced() || is_faster() || is_slower() ? ratio : 1; }
};

}  // namespace rung
