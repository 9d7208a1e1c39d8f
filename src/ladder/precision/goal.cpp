// Compares measured errors with a goal.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rung {

// Each comparison is false for NaN, which meets no goal.
std::string missed(const PrecisionGoal& goal, const MeasuredError& error) {
  if (goal.rel_l2 && !(error.rel_l2 <= *goal.rel_l2))
    return fmt::format("relative L2 error {:.3g}, wanted at most {:.3g}", error.rel_l2, *goal.rel_l2);
  if (goal.cosine && !(error.cosine >= *goal.cosine))
    return fmt::format("cosine {:.8g}, wanted at least {:.8g}", error.cosine, *goal.cosine);
  if (goal.kl && !(error.kl <= *goal.kl))
    return fmt::format("KL divergence of {} {:.3g}, wanted at most {:.3g}", kLogits, error.kl, *goal.kl);
  return {};
}

Status check_reach(const PrecisionGoal& goal, const MeasuredError& least) {
  const std::string why = missed(goal, least);
  if (why.empty()) return {};
  return mismatch("the stated error is out of reach: {}; no plan has less, as this one narrows nothing", why);
}

double first_limit(const PrecisionGoal& goal) {
  double limit = goal.rel_l2.value_or(1);
  if (goal.cosine) limit = std::min(limit, std::sqrt(1 / (*goal.cosine * *goal.cosine) - 1));
  return limit;
}

}  // namespace rung
