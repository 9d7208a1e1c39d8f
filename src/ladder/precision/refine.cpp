// Looks once more for the fastest mixture within the goal, by times that all measured plans have corrected.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ladder/precision/corrections.hpp"
#include "ladder/precision/search.hpp"

namespace rung {
namespace {

constexpr size_t kMostRefinements = 8;
constexpr uint64_t kMostDraws = 4;

}  // namespace

std::vector<MeasuredSaving> PrecisionSearch::measured_savings() const {
  std::vector<MeasuredSaving> savings;
  for (const Whole& whole : wholes_) {
    const Speedup& race = whole.report.speedup;
    const double before_us = 1e3 * race.before_ms;
    const double interval_us = before_us * (1 / race.ci95.lo - 1 / race.ci95.hi);  // four deviations wide
    savings.push_back({whole.mixture, before_us * (1 - 1 / race.ratio), interval_us / 4});
  }
  return savings;
}

// The sum of the parts' errors that the goal allows: that of the plan nearest to the goal, by how far the plan is from
// it.
double PrecisionSearch::squared_error_within_goal() const {
  double nearest = 0, limit = added(first_limit(goal_));
  for (const Whole& whole : wholes_) {
    const double times = excess(goal_, whole.error, start_squared_);
    const double squared = predicted(table_, whole.mixture).squared_error;
    if (!(times > 0) || !std::isfinite(times) || !(squared > 0)) continue;
    const double nearness = std::min(times, 1 / times);
    if (nearness > nearest) nearest = nearness, limit = squared / times;
  }
  return limit;
}

// Returns the mixture that is the fastest within the goal by the likeliest times, or else by drawn ones, unless it was
// measured; none: all were.
Result<std::optional<MixedPrecision>> PrecisionSearch::mixture_worth_a_trial() const {
  const auto savings = measured_savings();
  for (uint64_t draw = 0; draw <= kMostDraws; ++draw) {
    const PrecisionTable likely = draw == 0 ? corrected(table_, savings) : drawn(table_, savings, draw);
    RUNG_TRY(const MixedFrontier frontier, mixed_frontier(likely));
    const auto within = fastest_within(frontier.choices, squared_error_within_goal());
    if (!within) continue;
    const MixedPrecision next = frontier[*within];
    const bool is_known = std::ranges::any_of(wholes_, [&](const Whole& whole) { return whole.mixture == next; });
    if (!is_known) return std::optional(next);
  }
  return std::optional<MixedPrecision>();
}

Status PrecisionSearch::refine() {
  for (size_t round = 0; round < kMostRefinements && has_time_beside(0); ++round) {
    RUNG_TRY(const auto next, mixture_worth_a_trial());
    if (!next) return {};
    RUNG_TRY(const Whole* whole, measure_mixture(*next, predicted(corrected(table_, measured_savings()), *next)));
    if (!whole) return {};  // it would be looked for again
  }
  return {};
}

}  // namespace rung
