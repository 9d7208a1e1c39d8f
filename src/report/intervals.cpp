// Writes an interval, or words in its place if it says too little.
// SPDX-License-Identifier: Apache-2.0
#include "report/intervals.hpp"

#include <fmt/format.h>

#include "measure/statistics.hpp"
#include "report/format.hpp"

namespace rung::report {
namespace {

std::string told(bool enough, const std::string& text) { return enough ? text : std::string(kTooFewRuns); }

bool is_enough(const Latency& latency) { return latency.runs >= kLeastForInterval; }

}  // namespace

std::string interval_text(const Interval& i) {
  return told(is_telling(i), fmt::format("{} – {}", ratio(i.lo), ratio(i.hi)));
}
std::string bracketed(const Interval& i) {
  return told(is_telling(i), fmt::format("[{}, {}]", ratio(i.lo), ratio(i.hi)));
}
std::string interval_text(const Latency& l, int decimals) {
  return told(is_enough(l), fmt::format("{} – {}", fixed(l.ci95.lo, decimals), fixed(l.ci95.hi, decimals)));
}
std::string bracketed(const Latency& l, int decimals) {
  return told(is_enough(l), fmt::format("[{}, {}]", fixed(l.ci95.lo, decimals), fixed(l.ci95.hi, decimals)));
}

}  // namespace rung::report
