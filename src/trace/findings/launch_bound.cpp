// The device waits for launches that the host makes one by one: a graph launches a whole step at once.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/capture_breaks.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/late_gaps.hpp"
#include "trace/findings/replay.hpp"
#include "trace/findings/stream_order.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kLeastShareOfStep = 0.1;

constexpr std::string_view kLaunchBoundRemedy =
    "Record the step once as a graph (CUDA or HIP) and replay it: one call launches all its kernels.";

bool is_held(GapCause cause) {
  return cause == GapCause::synchronization || cause == GapCause::copy || cause == GapCause::allocation;
}

// Returns whether the gap ends with work: a graph does not remove the host's work after a step's last launch.
bool ends_with_work(const Analysis& analysis, const LateGap& gap) {
  if (gap.after == kNone || gap.call == kNone) return false;
  const int64_t starts_ns = analysis.event(analysis.work[gap.after]).start_ns;
  return gap.launched_ns == starts_ns || gap.launched_ns == analysis.recording.events[gap.call].end_ns();
}

struct Late {
  Tally gaps;           // before work that was launched late
  int64_t held_ns = 0;  // gaps in which a wait, a copy or an allocation held the host up
};

Late late_launches(const Analysis& analysis) {
  Late late;
  for (const LateGap& gap : late_gaps(analysis, GapCause::host_bound))
    if (ends_with_work(analysis, gap)) late.gaps.add("gaps before work that was launched late", gap.idle.length_ns());
  for (const Gap& gap : analysis.accounting.gaps)
    if (is_held(gap.cause)) late.held_ns += gap.span.length_ns();
  return late;
}

// Returns the lead lost by waits: afterwards the host launches late for a while, which is not this finding's.
double lost_lead_ms(const Analysis& all) {
  const HeldHost& host = held_host(all).held;
  Omission holds;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : host.by(cause))
      if (host.is_inside_step(call)) holds.calls.push_back(call);
  if (holds.calls.empty()) return 0;
  return std::max(0.0, ms_per_step(all, Replays(all).most_saved_ns(holds) - late_launches(all).held_ns));
}

// Streams that are idle because launches come late run side by side once all are launched; if waits keep them apart,
// the waits' finding has that time.
int64_t overlap_of_late_launches_ns(const Analysis& analysis) {
  const std::vector<bool> late = launched_late(analysis);
  const auto count = static_cast<size_t>(std::ranges::count(late, true));
  return 2 * count >= late.size() ? overlap_ns(analysis) : 0;
}

Tally launch_calls(const Analysis& analysis) {
  std::unordered_set<uint32_t> seen;
  Tally tally;
  for (const Work& work : analysis.work) {
    if (work.call == kNone || !seen.insert(work.call).second) continue;
    const Event& call = analysis.recording.events[work.call];
    tally.add(analysis.recording.name_of(call), call.duration_ns);
  }
  return tally;
}

}  // namespace

std::optional<TraceFinding> launch_bound(const Analysis& analysis) {
  const Late late = late_launches(analysis);
  const double step = step_ms(analysis), late_ms = ms_per_step(analysis, late.gaps.ns());
  const double overlap_ms = ms_per_step(analysis, overlap_of_late_launches_ns(analysis));
  if (late.gaps.empty() || late_ms + overlap_ms < kLeastShareOfStep * step) return std::nullopt;
  const Analysis& all = analysis.whole();
  const double profiler_ms = std::min(ms_per_step(all, Replays(all).profiler_ns()), late_ms);
  const double bound_ms = std::min(late_ms - profiler_ms + overlap_ms, step);
  if (bound_ms - lost_lead_ms(all) < kLeastShareOfStep * step) return std::nullopt;
  const Tally launches = launch_calls(analysis);
  std::vector<Evidence> evidence = late.gaps.rows();
  std::ranges::move(launches.rows(3), std::back_inserter(evidence));
  for (const CaptureBreak& found : capture_breaks(analysis))
    if (found.is_between_launches)
      evidence.push_back({fmt::format("breaks a capture: {} {}", found.call, found.place), found.count, found.ms});
  return TraceFinding{
      .id = "launch_bound",
      .title = fmt::format(
          "The device waits {} of a step's {} for launches that come late: {} calls launch {} pieces of work",
          duration_ms(late_ms), duration_ms(step), count_in_words(per_step(analysis, launches.count())),
          count_in_words(per_step(analysis, static_cast<int64_t>(analysis.work.size())))),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from = fmt::format(
          "the sum of these gaps, less {} that the profiler took of the host at least{}: a graph closes "
          "them, but for about 1 µs between two kernels",
          duration_ms(profiler_ms),
          overlap_ms > 0 ? fmt::format(", and {} by which streams then run side by side", duration_ms(overlap_ms))
                         : ""),
      .remedy = kLaunchBoundRemedy,
      .changes =
          {{"PyTorch",
            "three runs on a side stream, then with torch.cuda.graph(g): y = model(x); for each input x.copy_(new) "
            "and g.replay(). torch.cuda.make_graphed_callables does the same for a module. Both make HIP graphs "
            "on ROCm"},
           {"PyTorch",
            "torch.compile(mode='reduce-overhead') records graphs by itself on NVIDIA. On AMD compile in the "
            "default mode with torch._inductor.config.triton.cudagraphs = False and record by hand"},
           {"vLLM",
            "no --enforce-eager; --compilation-config '{\"cudagraph_mode\": \"FULL_AND_PIECEWISE\"}', with the "
            "batch sizes that are served among cudagraph_capture_sizes"}},
      .traps =
          "A graph is bound to its shapes and to the addresses of its inputs. Nothing in it may wait for the device, "
          "allocate outside the graph's pool, read the state of a random generator (an error on ROCm) or grow (a "
          "cache of keys and values: use one of fixed length). Loops whose count depends on data become loops of "
          "fixed count. Capture the hot loop first, then more. On one layer on AMD a graph was 11 % slower than "
          "eager launches: keep it only if measured faster. reduce-overhead has stalled on ROCm.",
      .confirm =
          "Time of a step without a profiler, in turns with the eager step; outputs equal within tolerance; in a new "
          "trace one graph launch per step and none of these gaps."};
}

}  // namespace rung::trace::findings
