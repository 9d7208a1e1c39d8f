// Writes claims as sentences: a race with its interval, or nothing.
// SPDX-License-Identifier: Apache-2.0
#include "report/speedup_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "passes/pass.hpp"
#include "report/intervals.hpp"

namespace rung::report {
namespace {

// Counts changes that were raced: the canonical forms and the default plan do not count.
long tried(const ClimbResult& result) {
  return std::ranges::count_if(result.rungs, [](const Receipt& receipt) {
    return receipt.pairs > 0 && receipt.name != kCanonicalRung && receipt.name != kDefaultPlan;
  });
}

std::string what_was_proved(const ClimbResult& result) {
  std::string text = result.verified ? "the answers are right" : "nothing of the answers";
  const long changes = tried(result);
  if (changes > 0)
    text += changes == 1 ? ", and the one change that was tried makes it no faster here"
                         : fmt::format(", and none of {} changes makes it faster here", count(changes));
  if (!result.choices.empty())
    text += fmt::format("; {} measured", counted(result.choices.size(), "kernel choice was", "kernel choices were"));
  return text;
}

}  // namespace

std::string factor_text(const Speedup& claim) {
  const bool slower = claim.ratio < 1;
  return fmt::format("{} × {}", significant(slower ? 1 / claim.ratio : claim.ratio), slower ? "slower" : "faster");
}

std::string interval_text(const Speedup& claim) {
  const bool slower = claim.is_slower();
  const double lo = slower ? 1 / claim.ci95.hi : claim.ci95.lo, hi = slower ? 1 / claim.ci95.lo : claim.ci95.hi;
  return bracketed(Interval{lo, hi});
}

std::string claim_text(const Speedup& claim) {
  if (!claim.raced()) return printable(claim.unraced);
  if (!is_telling(claim.ci95)) return std::string(kTooFewRuns);
  const std::string shown = claim.is_faster() || claim.is_slower() ? factor_text(claim) : std::string(kSamePlan);
  return fmt::format("{} {}", shown, interval_text(claim));
}

std::string baseline_line(const ClimbResult& result) {
  const Clock clock = clock_of(result.device);
  const std::string before = duration_ms(result.baseline_ms, clock), after = duration_ms(result.final_ms, clock);
  const Speedup& claim = result.against_baseline;
  if (claim.is_faster() || claim.is_slower()) return fmt::format("{} → {}, {}", before, after, claim_text(claim));
  if (claim.raced()) return fmt::format("{} → {}: {}", before, after, claim_text(claim));
  if (claim.ratio == 1) return fmt::format("{}: {}", before, claim_text(claim));
  return fmt::format("{} → {}, each measured by itself: {}", before, after, claim_text(claim));
}

std::string no_climb_line(const ClimbResult& result) {
  const Speedup& claim = result.against_no_climb;
  const std::string_view against = "against opening the model without a climb";
  if (claim.raced()) return fmt::format("{}: {}", against, claim_text(claim));
  if (claim.ratio != 1) return fmt::format("{}: not compared: {}", against, claim_text(claim));
  return fmt::format("{}: nothing gained, this is the same plan; the climb proved that {}", against,
                     what_was_proved(result));
}

std::string cheaper_line(const ClimbResult& result) {
  const CheaperPrecision& cheaper = result.cheaper;
  if (cheaper.dtype.empty()) return "";
  const std::string dtype = printable(cheaper.dtype),
                    how = cheaper.command.empty() ? "" : ": " + printable(cheaper.command);
  if (!cheaper.speedup.raced())
    return fmt::format("{} was not timed: {}{}", dtype, printable(cheaper.speedup.unraced), how);
  return fmt::format("{} instead: {}, {} (rel. L2 error {}, cosine {}){}", dtype,
                     duration_ms(cheaper.speedup.after_ms, clock_of(result.device)), claim_text(cheaper.speedup),
                     scientific(cheaper.rel_l2), fixed(cheaper.cosine, 6), how);
}

std::string overrun_line(const ClimbResult& result) {
  if (!(result.budget_s > 0) || result.total_s <= result.budget_s) return "";
  const double least_s = result.total_s - result.trials_s;
  const std::string took =
      fmt::format("took {} of a budget of {}", duration_ms(result.total_s * 1e3), duration_ms(result.budget_s * 1e3));
  if (least_s <= result.budget_s) return took;
  return fmt::format("{}: reading, checking and measuring this model and writing its plan takes {}", took,
                     duration_ms(least_s * 1e3));
}

}  // namespace rung::report
