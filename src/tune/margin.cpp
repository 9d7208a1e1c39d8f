// Sets the limits within which a margin may be relied on.
// SPDX-License-Identifier: Apache-2.0
#include "tune/margin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tune/database.hpp"

namespace rung {
namespace {

// A busy loop on every core takes half of the time, background work of a quiet machine less than a hundredth.
constexpr double kMostDisturbance = 0.1;
// The largest width of the ratio's interval. On a quiet machine two medians of 12 ms each give a few hundredths.
constexpr double kMostWidth = 0.2;

double width(const Margin& margin) { return (margin.ci95.hi - margin.ci95.lo) / margin.ratio; }
double doubt(const Margin& margin) {
  return std::max(margin.disturbance / kMostDisturbance, width(margin) / kMostWidth);
}

}  // namespace

Verdict is_sure(const TunedProblem& entry) {
  if (entry.lost) return reject("its winner lost on a whole model");
  if (entry.candidates.empty()) return accept();
  if (!entry.margin) return reject("it does not say how it was measured");
  const Margin& margin = *entry.margin;
  if (margin.disturbance > kMostDisturbance)
    return reject(fmt::format("other programs had {:.0f} % of the processors meanwhile", 100 * margin.disturbance));
  if (width(margin) > kMostWidth)
    return reject(fmt::format("the default takes {:.2f} to {:.2f} times the other's time: too wide an interval",
                              margin.ci95.lo, margin.ci95.hi));
  return accept();
}

bool is_weaker(const Margin& a, const Margin& b) { return doubt(a) > doubt(b); }

}  // namespace rung
