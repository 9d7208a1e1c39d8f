// Other ranks arrive late at collectives: this rank waits inside its kernels, which looks like communication.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/collectives.hpp"

namespace rung::trace::findings {
namespace {

constexpr std::string_view kLateRanksRemedy =
    "Record every rank and look at the one that waits least: it sets the pace, and what holds it back holds all back. "
    "Ranks that launch late want a graph; ranks with more work than others want it spread evenly.";

}  // namespace

std::optional<TraceFinding> late_ranks(const Analysis& analysis) {
  std::vector<Collective> waiting = collectives_of(analysis);
  std::erase_if(waiting, [](const Collective& collective) { return collective.wait_ns == 0; });
  const double bound_ms = ms_per_step(analysis, exposed_ns(analysis, waiting, Part::wait));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  const Tally tally = tally_of(analysis, waiting, Part::wait);
  return TraceFinding{
      .id = "late_ranks",
      .title = fmt::format("This rank waits {} per step in {} collectives for ranks that come later",
                           duration_ms(bound_ms), count_in_words(per_step(analysis, tally.count()))),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the time of collectives beyond the quickest one of the same message, or beyond what a slow link takes, in "
          "which the device does nothing else",
      .remedy = kLateRanksRemedy,
      .changes = {{"PyTorch",
                   "capture the step with its collectives as a graph on every rank; bind each process to the "
                   "processor nearest to its GPU (torchrun --numa-binding=node, or numactl); what one rank does for "
                   "all, such as reading inputs, between steps"},
                  {"vLLM", "no --enforce-eager; experts on other ranks are evened out by --enable-eplb"}},
      .traps =
          "A profiler slows ranks unevenly, and starts on one before another: record only after some steps that are "
          "not kept. A rank of a slower card, or of one that is hot or capped, is late in every step. Between machines "
          "a network below 10 GB/s looks like a wait.",
      .confirm = "Time of a step without a profiler; in new traces of all ranks none waits much longer than another."};
}

}  // namespace rung::trace::findings
