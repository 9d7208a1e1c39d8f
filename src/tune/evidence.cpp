// Sets the limits for evidence to be relied on.
// SPDX-License-Identifier: Apache-2.0
#include "tune/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tune/database.hpp"

namespace rung {
namespace {

// A busy loop on every core takes half of the time, background work of a quiet machine less than a hundredth.
constexpr double kMostDisturbance = 0.1;
// The largest width of the ratio's interval. On a quiet machine two medians of 12 ms each give a few hundredths.
constexpr double kMostWidth = 0.2;

double width(const Evidence& evidence) { return (evidence.ci95.hi - evidence.ci95.lo) / evidence.ratio; }
double doubt(const Evidence& evidence) {
  return std::max(evidence.disturbance / kMostDisturbance, width(evidence) / kMostWidth);
}

}  // namespace

Verdict is_sure(const TunedProblem& entry) {
  if (entry.lost) return reject("its winner lost on a whole model");
  if (entry.candidates.empty()) return accept();
  if (!entry.evidence) return reject("it does not say how it was measured");
  const Evidence& evidence = *entry.evidence;
  if (evidence.disturbance > kMostDisturbance)
    return reject(fmt::format("other programs had {:.0f} % of the processors meanwhile", 100 * evidence.disturbance));
  if (width(evidence) > kMostWidth)
    return reject(fmt::format("the default takes {:.2f} to {:.2f} times the other's time: too wide an interval",
                              evidence.ci95.lo, evidence.ci95.hi));
  return accept();
}

bool is_weaker(const Evidence& a, const Evidence& b) { return doubt(a) > doubt(b); }

}  // namespace rung
