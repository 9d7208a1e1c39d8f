// A step allocates or frees device or pinned memory: the calls are slow, and freeing waits for the device.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/replay.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kAllocationInStepRemedy =
    "Allocate before the first step and use the memory again: a caching allocator that is left alone serves a step "
    "like the last one without a call of the runtime.";

std::vector<uint32_t> allocations_inside_steps(const Analysis& analysis) {
  const HeldHost& host = held_host(analysis).held;
  std::vector<uint32_t> found;
  for (const uint32_t call : host.by(GapCause::allocation))
    if (host.is_inside_step(call)) found.push_back(call);
  return found;
}

}  // namespace

std::optional<TraceFinding> allocation_in_step(const Analysis& analysis) {
  Tally tally;
  for (const uint32_t call : allocations_inside_steps(analysis)) {
    const Event& event = analysis.recording.events[call];
    tally.add(analysis.recording.name_of(event), event.duration_ns);
  }
  if (tally.empty()) return std::nullopt;
  const Analysis& all = analysis.whole();
  const double bound_ms = most_saved_ms(all, {.calls = allocations_inside_steps(all), .work = {}, .spans = {}});
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  return TraceFinding{
      .id = "allocation_in_step",
      .title = fmt::format("Memory is allocated or freed {} times inside a step: {} of the host's time",
                           count_in_words(per_step(analysis, tally.count())),
                           duration_ms(ms_per_step(analysis, tally.ns()))),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the step played again with these calls taking no time: launches come sooner, and the device ends "
          "sooner by this much",
      .remedy = kAllocationInStepRemedy,
      .changes =
          {{"PyTorch",
            "no torch.cuda.empty_cache() in the loop; buffers made once, out= and in-place operations; run the "
            "largest shape once before the first step that counts"},
           {"PyTorch",
            "PYTORCH_ALLOC_CONF=expandable_segments:True where sizes differ from step to step (before 2.9 "
            "PYTORCH_CUDA_ALLOC_CONF, on ROCm PYTORCH_HIP_ALLOC_CONF); see that PYTORCH_NO_CUDA_MEMORY_CACHING "
            "is not set"},
           {"vLLM",
            "--gpu-memory-utilization leaves room for what is allocated beside the cache; weights and K/V blocks "
            "are allocated at start"}},
      .traps =
          "Calls in the first steps only are warm-up: record later ones. An allocation that failed for lack of memory "
          "frees the cache and tries again: cudaFree then cudaMalloc, and less memory in use is the remedy. A step "
          "that is captured into a graph may allocate from the graph's pool only.",
      .confirm =
          "A new trace has no such call between two launches of a step; torch.cuda.memory_stats()['num_alloc_retries'] "
          "stays; time of a step without a profiler."};
}

}  // namespace rung::trace::findings
