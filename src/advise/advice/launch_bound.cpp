// The device waits for launches that the host makes one by one: a graph launches a whole step at once.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "advise/advice/detector.hpp"
#include "advise/advice/evidence.hpp"

namespace rung::advise::detectors {
namespace {

constexpr double kLeastShareOfStep = 0.1;

constexpr std::string_view kRemedy =
    "Record the step once as a graph (CUDA or HIP) and replay it: one call launches all its kernels.";

struct LateLaunches {
  int64_t gap_ns = 0;
  Tally gaps;  // by the operation that launched late
};

LateLaunches late_launches(const Analysis& analysis) {
  LateLaunches late;
  for (const Gap& gap : analysis.accounting.gaps) {
    if (gap.cause != GapCause::host_bound || gap.after == kNone) continue;
    late.gap_ns += gap.span.length_ns();
    late.gaps.add("gaps before work that was launched late", gap.span.length_ns());
  }
  return late;
}

Tally launches(const Analysis& analysis) {
  std::set<uint32_t> seen;
  Tally tally;
  for (const Work& work : analysis.work)
    if (work.call != kNone && seen.insert(work.call).second)
      tally.add(analysis.recording.name_of(analysis.recording.events[work.call]),
                analysis.recording.events[work.call].duration_ns);
  return tally;
}

}  // namespace

std::optional<Advice> launch_bound(const Analysis& analysis) {
  const LateLaunches late = late_launches(analysis);
  const double bound_ms = ms_per_step(analysis, late.gap_ns);
  const double step_ms = mean_step_ms(analysis);
  if (bound_ms <= 0 || bound_ms < kLeastShareOfStep * step_ms) return std::nullopt;
  std::vector<Evidence> evidence = late.gaps.rows();
  for (Evidence& row : launches(analysis).rows(3)) evidence.push_back(std::move(row));
  return Advice{.id = "launch_bound",
                .title = fmt::format("{} of {}", in_words(bound_ms), in_words(step_ms)),
                .evidence = evidence,
                .bound_ms = bound_ms,
                .remedy = kRemedy};
}

}  // namespace rung::advise::detectors
