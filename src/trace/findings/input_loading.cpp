// The device waits while the host loads the input of a step.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/late_gaps.hpp"
#include "trace/findings/replay.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kInputLoadingRemedy =
    "Load the next input while the device works on this one: by other processes or threads, into pinned memory.";

double bound_of_loading(const Analysis& all, double idle_ms, double step) {
  const Omission loading{.calls = held_host(all).held.by(GapCause::input_loading), .work = {}, .spans = {}};
  return std::min(std::max(most_saved_ms(all, loading), idle_ms), step);
}

}  // namespace

std::optional<TraceFinding> input_loading(const Analysis& analysis) {
  int64_t idle_ns = 0;
  Tally tally;
  for (const LateGap& gap : late_gaps(analysis, GapCause::input_loading)) {
    idle_ns += gap.idle.length_ns();
    if (gap.call == kNone) continue;
    const Event& event = analysis.recording.events[gap.call];
    tally.add(analysis.recording.name_of(event), event.duration_ns);
  }
  const double idle_ms = ms_per_step(analysis, idle_ns), step = step_ms(analysis);
  if (tally.empty() || !is_worthwhile(analysis, idle_ms)) return std::nullopt;
  return TraceFinding{
      .id = "input_loading",
      .title = fmt::format("The device waits {} of a step's {} while the host loads input", duration_ms(idle_ms),
                           duration_ms(step)),
      .evidence = tally.rows(),
      .bound_ms = bound_of_loading(analysis.whole(), idle_ms, step),
      .bound_from =
          "the step played again with loading taking no time, and at least the time for which the device stood still: "
          "all of it where loading is wholly beside the device's work",
      .remedy = kInputLoadingRemedy,
      .changes =
          {{"PyTorch",
            "DataLoader(num_workers=4, persistent_workers=True, prefetch_factor=2, pin_memory=True): with "
            "num_workers=0 the loop itself loads; x.to('cuda', non_blocking=True)"},
           {"PyTorch",
            "decode, resize and normalise images on the device (torchvision.transforms.v2 on CUDA tensors, nvJPEG), "
            "or take a sensor's next frame on a thread of its own"},
           {"vLLM",
            "processing of images and text runs in the front end: --api-server-count, "
            "--mm-processor-cache-gb, and --async-scheduling for the step itself"}},
      .traps =
          "Workers of a DataLoader that wait for one disk load no faster; more of them than processors slow the "
          "launching thread. A control loop that waits for its sensor has to wait: then latency counts from the "
          "frame's "
          "time, and the wait is no cost. A graph brings nothing here.",
      .confirm =
          "Time of a step without a profiler; in a new trace the first launch follows the step's begin at once."};
}

}  // namespace rung::trace::findings
