// Copies to the device from pageable memory: they go through a buffer of the driver, and the host waits.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/derived.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/replay.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kPageableCopyRemedy =
    "Keep on the device what is the same in every step; copy the rest from pinned memory, asynchronously, while the "
    "device still works on what came before.";

Omission pageable_uploads(const Analysis& analysis) {
  Omission found;
  for (uint32_t i = 0; i < analysis.work.size(); ++i) {
    const Event& event = analysis.event(analysis.work[i]);
    if (event.kind != EventKind::copy || !step_at(analysis, event.start_ns)) continue;
    const CopyShape& shape = analysis.recording.copies[event.detail];
    if (!shape.host_to_device || shape.from != MemoryKind::pageable) continue;
    found.work.push_back(i);
    if (analysis.work[i].call != kNone) found.calls.push_back(analysis.work[i].call);
  }
  return found;
}

int64_t uploaded_bytes(const Analysis& analysis, const Omission& uploads) {
  int64_t bytes = 0;
  for (const uint32_t work : uploads.work)
    bytes += std::max<int64_t>(analysis.recording.copies[analysis.event(analysis.work[work]).detail].bytes, 0);
  return bytes;
}

// Returns "16.8 MB at 12.4 GB/s"; empty if the profiler records no sizes.
std::string size_in_words(const Analysis& analysis, int64_t bytes, int64_t ns) {
  if (bytes == 0 || ns == 0) return "";
  return fmt::format(", {:.3g} MB at {:.3g} GB/s", per_step(analysis, bytes) / 1e6,
                     static_cast<double>(bytes) / static_cast<double>(ns));
}

}  // namespace

std::optional<TraceFinding> pageable_copy(const Analysis& analysis) {
  const Omission uploads = pageable_uploads(analysis);
  if (uploads.work.empty()) return std::nullopt;
  const Analysis& all = analysis.whole();
  const double bound_ms = most_saved_ms(all, pageable_uploads(all));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  Tally device, held;
  for (const uint32_t work : uploads.work)
    device.add(analysis.name(analysis.work[work]), analysis.event(analysis.work[work]).duration_ns);
  for (const uint32_t call : uploads.calls) {
    const Event& event = analysis.recording.events[call];
    held.add(call_in_words(analysis, call), event.duration_ns);
  }
  std::vector<Evidence> evidence = device.rows();
  for (Evidence& row : held.rows(3)) evidence.push_back(std::move(row));
  return TraceFinding{
      .id = "pageable_copy",
      .title = fmt::format("{} copies per step from pageable memory to the device: {}{}",
                           count_in_words(per_step(analysis, device.count())),
                           duration_ms(ms_per_step(analysis, device.ns())),
                           size_in_words(analysis, uploaded_bytes(analysis, uploads), device.ns())),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from =
          "the step played again with these copies and their calls taking no time: what they cost where they "
          "are kept on the device or wholly overlapped",
      .remedy = kPageableCopyRemedy,
      .changes = {{"PyTorch",
                   "x = x.pin_memory() once, then x.to('cuda', non_blocking=True); DataLoader(pin_memory=True)"},
                  {"PyTorch", "constants, masks and tables as buffers of the module (register_buffer), moved once"},
                  {"vLLM", "inputs are pinned already; pin what your own input processors and connectors make"}},
      .traps =
          "non_blocking=True changes nothing while the memory is pageable, and with pinned memory the host must not "
          "write to it before the copy is over. pin_memory() itself allocates and copies: never inside the step. "
          "Pinned memory cannot be swapped: pin what is used again and again, and no more.",
      .confirm =
          "A new trace shows 'Pinned -> Device', and launches after the copy that do not wait for it; time of a "
          "step without a profiler."};
}

}  // namespace rung::trace::findings
