// Many small collectives one after the other: each costs its latency, whatever the links could carry.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "advise/advice/collectives.hpp"
#include "advise/advice/detector.hpp"
#include "advise/advice/evidence.hpp"

namespace rung::advise::detectors {
namespace {

constexpr double kFewest = 8;  // of a step

constexpr std::string_view kRemedy =
    "Fewer and quicker: fuse the sum with the normalisation behind it, use a one-shot kernel over peer memory for "
    "small "
    "messages, join what is ready together, or use fewer GPUs per model.";

// "16 KB each at most"; of unknown sizes: "22 us each".
std::string sizes_in_words(const std::vector<Collective>& small, const Tally& tally) {
  const int64_t largest = std::ranges::max(small, {}, &Collective::message_bytes).message_bytes;
  if (largest < 0) return fmt::format("{} each", in_words(ms_of(tally.ns()) / static_cast<double>(tally.count())));
  return fmt::format("{:.3g} KB each at most", static_cast<double>(largest) / 1e3);
}

}  // namespace

std::optional<Advice> small_collectives(const Analysis& analysis) {
  std::vector<Collective> small = collectives_of(analysis);
  std::erase_if(small, [&](const Collective& collective) { return !is_small(analysis, collective); });
  if (per_step(analysis, static_cast<int64_t>(small.size())) < kFewest) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, exposed_ns(analysis, small));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  Tally tally;
  for (const Collective& collective : small)
    tally.add(analysis.name(analysis.work[collective.work]),
              analysis.event(analysis.work[collective.work]).duration_ns);
  return Advice{
      .id = "small_collectives",
      .title = fmt::format("{} small collectives per step, {}: {} in which the device does nothing else",
                           count_in_words(per_step(analysis, tally.count())), sizes_in_words(small, tally),
                           in_words(bound_ms)),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from = "the time in which only these collectives run: all of it, as on one GPU",
      .remedy = kRemedy,
      .changes = {{"PyTorch",
                   "torch.ops.symm_mem.one_shot_all_reduce on buffers of torch.distributed._symmetric_memory; "
                   "torch.distributed.all_reduce_coalesced or one flat buffer for several tensors; capture them in "
                   "the step's graph"},
                  {"vLLM",
                   "its own all-reduce is on unless --disable-custom-all-reduce is given; fuse_allreduce_rms in "
                   "pass_config of --compilation-config; on AMD also VLLM_ROCM_QUICK_REDUCE_QUANTIZATION=FP for larger "
                   "messages; a smaller --tensor-parallel-size where the model fits"}},
      .traps =
          "A collective ends when the slowest rank arrives: what is seen on one rank may be another one's delay, so "
          "look at all ranks' traces. One-shot kernels want peer access over NVLink or xGMI and lose for large "
          "messages. Quantised sums change the result. Fewer GPUs read more weights each.",
      .confirm =
          "Sum of these kernels in a new trace of every rank; time of a step without a profiler at each group size."};
}

}  // namespace rung::advise::detectors
