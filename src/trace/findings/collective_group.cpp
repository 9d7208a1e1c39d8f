// Groups of collectives that leave most links of an eight-GPU AMD machine unused.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/collectives.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace::findings {
namespace {

constexpr uint32_t kGpus = 8;  // in a machine, each with a link to the other seven

constexpr std::string_view kCollectiveGroupRemedy =
    "One GPU where the model fits, else all eight: in a smaller group each GPU uses only its links to the others of "
    "the "
    "group, one of seven in a pair, three of seven among four.";

bool leaves_links(const Collective& collective) { return collective.ranks > 1 && collective.ranks % kGpus != 0; }

}  // namespace

std::optional<TraceFinding> collective_group(const Analysis& analysis) {
  if (!is_fully_linked_amd(analysis)) return std::nullopt;
  std::vector<Collective> found = collectives_of(analysis);
  std::erase_if(found, [](const Collective& collective) { return !leaves_links(collective); });
  if (found.empty()) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, exposed_ns(analysis, found));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  Tally tally;
  std::map<uint32_t, int64_t> sizes;
  for (const Collective& collective : found) {
    const Event& event = analysis.event(analysis.work[collective.work]);
    tally.add(fmt::format("{} of {} ranks", analysis.name(analysis.work[collective.work]), collective.ranks),
              event.duration_ns);
    ++sizes[collective.ranks];
  }
  const auto most = std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; });
  return TraceFinding{
      .id = "collective_group",
      .title = fmt::format("{} collectives per step in groups of {}: {} in which the device does nothing else",
                           count_in_words(per_step(analysis, tally.count())), most->first, duration_ms(bound_ms)),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the time in which only these collectives run: all of it on one GPU; a group of eight takes part of it",
      .remedy = kCollectiveGroupRemedy,
      .changes = {{"PyTorch",
                   "torchrun --nproc-per-node=8, or one process without collectives; 192 GB and more hold a "
                   "70 B model in bf16"},
                  {"vLLM", "--tensor-parallel-size 1 with several instances, one per GPU (HIP_VISIBLE_DEVICES), or 8"}},
      .traps =
          "Eight GPUs add ranks to wait for: small messages cost latency, which grows with the group. One GPU reads "
          "all weights itself: at batch 1 that is the floor of its latency. A group of 16 or more spans machines and "
          "is judged by the network.",
      .confirm =
          "Time of a step without a profiler with 1 and with 8 GPUs; bus bandwidth of rccl-tests' all_reduce_perf "
          "at the message size seen here."};
}

}  // namespace rung::trace::findings
