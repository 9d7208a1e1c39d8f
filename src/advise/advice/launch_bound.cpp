// The device waits for launches that the host makes one by one: a graph launches a whole step at once.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "advise/advice/detector.hpp"
#include "advise/advice/evidence.hpp"
#include "advise/advice/replay.hpp"

namespace rung::advise::detectors {
namespace {

constexpr double kLeastShareOfStep = 0.1;

constexpr std::string_view kRemedy =
    "Record the step once as a graph (CUDA or HIP) and replay it: one call launches all its kernels.";

bool is_held(GapCause cause) {
  return cause == GapCause::synchronization || cause == GapCause::copy || cause == GapCause::allocation;
}

// What the host does after a step's last launch stays with a graph.
bool ends_with_work(const Analysis& analysis, const Gap& gap) {
  return gap.after != kNone && analysis.event(analysis.work[gap.after]).start_ns == gap.span.end_ns;
}

struct Late {
  Tally gaps;           // before work that was launched late
  int64_t held_ns = 0;  // gaps in which a wait, a copy or an allocation held the host up
};

Late late_launches(const Analysis& analysis) {
  Late late;
  for (const Gap& gap : analysis.accounting.gaps) {
    if (gap.cause == GapCause::host_bound && ends_with_work(analysis, gap))
      late.gaps.add("gaps before work that was launched late", gap.span.length_ns());
    if (is_held(gap.cause)) late.held_ns += gap.span.length_ns();
  }
  return late;
}

// After a wait the host has lost its lead, and launches late for a while: that is the wait's, not this finding's.
int64_t lost_lead_ns(const HeldHost& host, const Replays& replays, const Late& late) {
  Omission holds;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy, GapCause::allocation})
    for (const uint32_t call : host.by(cause))
      if (host.is_inside_step(call)) holds.calls.push_back(call);
  return holds.calls.empty() ? 0 : std::max<int64_t>(0, replays.most_saved_ns(holds) - late.held_ns);
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

std::optional<Advice> launch_bound(const Analysis& analysis) {
  const Late late = late_launches(analysis);
  const double step_ms = mean_step_ms(analysis);
  if (late.gaps.empty() || ms_per_step(analysis, late.gaps.ns()) < kLeastShareOfStep * step_ms) return std::nullopt;
  const HeldHost host(analysis);
  const Replays replays(analysis, host);
  const int64_t profiler_ns = replays.profiler_ns(), bound_ns = late.gaps.ns() - profiler_ns;
  const double bound_ms = ms_per_step(analysis, bound_ns);
  if (ms_per_step(analysis, bound_ns - lost_lead_ns(host, replays, late)) < kLeastShareOfStep * step_ms)
    return std::nullopt;
  const Tally launches = launch_calls(analysis);
  std::vector<Evidence> evidence = late.gaps.rows();
  std::ranges::move(launches.rows(3), std::back_inserter(evidence));
  return Advice{
      .id = "launch_bound",
      .title = fmt::format(
          "The device waits {} of a step's {} for launches that come late: {} calls launch {} pieces of work",
          duration_ms(ms_per_step(analysis, late.gaps.ns())), duration_ms(step_ms),
          count_in_words(per_step(analysis, launches.count())),
          count_in_words(per_step(analysis, static_cast<int64_t>(analysis.work.size())))),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from =
          fmt::format("the sum of these gaps, less {} that the profiler took of the host at least: a graph closes "
                      "them, but for about 1 µs between two kernels",
                      duration_ms(ms_per_step(analysis, profiler_ns))),
      .remedy = kRemedy,
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

}  // namespace rung::advise::detectors
