// The host waits for the device between two launches of a step; then the device waits for the host to catch up.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/replay.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kSyncInStepRemedy =
    "Keep values on the device until the step is over: decide with torch.where and masks instead of Python's if, "
    "read results once, at the end, and let copies to the host run asynchronously into pinned memory.";

// Another finding covers copies to the device that hold up the host because their memory is pageable.
bool is_pageable_upload(const Analysis& analysis, const HeldHost& host, uint32_t call) {
  const uint32_t work = host.work_of(call);
  if (work == kNone || analysis.event(analysis.work[work]).kind != EventKind::copy) return false;
  const CopyShape& shape = analysis.recording.copies[analysis.event(analysis.work[work]).detail];
  return shape.host_to_device && shape.from == MemoryKind::pageable;
}

std::vector<uint32_t> waits_inside_steps(const Analysis& analysis) {
  const HeldHost& host = held_host(analysis).held;
  std::vector<uint32_t> waits;
  for (const GapCause cause : {GapCause::synchronization, GapCause::copy})
    for (const uint32_t call : host.by(cause))
      if (host.waits(call) && host.is_inside_step(call) && !is_pageable_upload(analysis, host, call))
        waits.push_back(call);
  return waits;
}

}  // namespace

std::optional<TraceFinding> sync_in_step(const Analysis& analysis) {
  const std::vector<uint32_t> waits = waits_inside_steps(analysis);
  if (waits.empty()) return std::nullopt;
  const Analysis& all = analysis.whole();
  const double bound_ms = most_saved_ms(all, {.calls = waits_inside_steps(all), .work = {}, .spans = {}});
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  Tally tally;
  for (const uint32_t call : waits)
    tally.add(call_in_words(analysis, call), analysis.recording.events[call].duration_ns);
  return TraceFinding{
      .id = "sync_in_step",
      .title = fmt::format("The host waits for the device {} times inside a step, {} in all; then the device waits",
                           count_in_words(per_step(analysis, tally.count())),
                           duration_ms(ms_per_step(analysis, tally.ns()))),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the step played again with these waits taking no time: launches come sooner, and the device ends "
          "sooner by this much",
      .remedy = kSyncInStepRemedy,
      .changes =
          {{"PyTorch",
            "no .item(), .tolist(), .cpu(), print or if on tensors inside the step, nor nonzero(), masked_select and "
            "boolean indexing, whose sizes the host must know; .to('cpu', non_blocking=True) into pinned memory and "
            "one event for what must be read"},
           {"PyTorch", "torch.cuda.set_sync_debug_mode('warn') names each line that waits"},
           {"vLLM",
            "--async-scheduling prepares the next step while the device works; logits processors and stop "
            "conditions of your own must stay on the device"}},
      .traps =
          "What replaces the wait must not need its value: a copy with non_blocking=True that is read before its "
          "event has passed reads old bytes. The wait that reads a step's result stays. A program that the host "
          "slows down anyway gains less: the next wait, or a late launch, takes the time. A whole-device wait is "
          "dearer than one for a stream, most of all on AMD.",
      .confirm =
          "Time of a step without a profiler, before and after; in a new trace no such call between two launches "
          "of a step."};
}

}  // namespace rung::trace::findings
