// Finds pauses in which the host does other work than launching for long: a graph would not shorten them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/host_doings.hpp"
#include "trace/findings/replay.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kHostWorkRemedy =
    "Take this work out of the step: do it once before the loop, on another thread while the device works, or on the "
    "device.";

// Excludes pauses shorter than a step's compilation: such a step is not typical, and its pauses belong to the same
// preparation, of a library's plans for new shapes or of modules.
std::vector<LateGap> pauses_of(const Analysis& analysis) {
  std::vector<LateGap> gaps = late_gaps(analysis, GapCause::host_work);
  const double prepared_ms = ms_per_step(analysis, length_of(preparation_spans(analysis)));
  std::erase_if(gaps, [&](const LateGap& gap) { return ms_of(gap.idle.length_ns()) < prepared_ms; });
  return gaps;
}

double bound_of_host_work(const Analysis& all, double idle_ms, double step) {
  const Omission work{.calls = {}, .work = {}, .spans = host_spans(all, pauses_of(all))};
  return std::min(std::max(most_saved_ms(all, work), idle_ms), step);
}

}  // namespace

std::optional<TraceFinding> host_work(const Analysis& analysis) {
  const std::vector<LateGap> gaps = pauses_of(analysis);
  const std::vector<std::string> doings = host_doings(analysis, gaps);
  Tally tally;
  for (size_t i = 0; i < gaps.size(); ++i) tally.add(doings[i], gaps[i].idle.length_ns());
  const double idle_ms = ms_per_step(analysis, tally.ns()), step = step_ms(analysis);
  if (tally.empty() || !is_worthwhile(analysis, idle_ms)) return std::nullopt;
  const std::vector<Evidence> evidence = tally.rows();
  return TraceFinding{
      .id = "host_work",
      .title = fmt::format("The device waits {} of a step's {} while the host does other work, most of it in {}",
                           duration_ms(idle_ms), duration_ms(step), evidence.front().event),
      .evidence = evidence,
      .bound_ms = bound_of_host_work(analysis.whole(), idle_ms, step),
      .bound_from = fmt::format(
          "the step played again with this work taking no time, and at least the time for which the device stood "
          "still; pauses between launches count from {}",
          duration_ms(ms_of(kLongestLaunchNs))),
      .remedy = kHostWorkRemedy,
      .changes =
          {{"PyTorch",
            "torch.profiler.profile(with_stack=True) names the functions; torch.profiler.record_function('name') "
            "around a part names that part"},
           {"PyTorch",
            "masks, positions and tables as buffers of the module; tensors made on the device; logging and "
            "post-processing on a thread; gc.freeze() after warming up, gc.disable() in the loop"},
           {"vLLM",
            "--async-scheduling prepares the next step while the device works; logits processors on the device"}},
      .traps =
          "A pause that a program makes on purpose (a sensor, a rate) is no cost. Without events of the host's a pause "
          "may also be Python's collector, a page fault, or a processor that another program had. A profiler that "
          "writes what it recorded stops the host for milliseconds. A graph shortens launches, and nothing of this.",
      .confirm = "Time of a step without a profiler; in a new trace none of these pauses within a step."};
}

}  // namespace rung::trace::findings
