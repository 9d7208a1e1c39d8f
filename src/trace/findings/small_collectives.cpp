// Many small collectives one after the other: each costs its latency, whatever the links' bandwidth.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/collectives.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kFewest = 8;  // in a step

constexpr std::string_view kSmallCollectivesRemedy =
    "Fewer and quicker: fuse the sum with the normalisation behind it, use a one-shot kernel over peer memory for "
    "small "
    "messages, join what is ready together, or use fewer GPUs per model.";

// Returns "16 KB each at most"; if sizes are unknown, "22 us each".
std::string sizes_in_words(const std::vector<Collective>& small, const Tally& tally) {
  const int64_t largest = std::ranges::max(small, {}, &Collective::message_bytes).message_bytes;
  if (largest < 0) return fmt::format("{} each", duration_ms(ms_of(tally.ns()) / static_cast<double>(tally.count())));
  return fmt::format("{:.3g} KB each at most", static_cast<double>(largest) / 1e3);
}

}  // namespace

std::optional<TraceFinding> small_collectives(const Analysis& analysis) {
  std::vector<Collective> small = collectives_of(analysis);
  std::erase_if(small, [&](const Collective& collective) { return !is_small(analysis, collective); });
  if (per_step(analysis, static_cast<int64_t>(small.size())) < kFewest) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, exposed_ns(analysis, small, Part::transfer));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  const Tally tally = tally_of(analysis, small, Part::transfer);
  return TraceFinding{
      .id = "small_collectives",
      .title = fmt::format("{} small collectives per step, {}: {} in which the device does nothing else",
                           count_in_words(per_step(analysis, tally.count())), sizes_in_words(small, tally),
                           duration_ms(bound_ms)),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the time in which only these collectives run, waits for late ranks left out: all of it, as on one GPU",
      .remedy = kSmallCollectivesRemedy,
      .changes = {{"PyTorch",
                   "torch.ops.symm_mem.one_shot_all_reduce on buffers of torch.distributed._symmetric_memory; "
                   "torch.distributed.all_reduce_coalesced or one flat buffer for several tensors; capture them in "
                   "the step's graph"},
                  {"vLLM",
                   "its own all-reduce is on unless --disable-custom-all-reduce is given; fuse_allreduce_rms in "
                   "pass_config of --compilation-config; on AMD also VLLM_ROCM_QUICK_REDUCE_QUANTIZATION=FP for larger "
                   "messages; a smaller --tensor-parallel-size where the model fits"}},
      .traps =
          "One-shot kernels want peer access over NVLink or xGMI and lose for large messages; between two H100s NCCL "
          "took 7 µs for 104 KB and a one-shot kernel 9: measure. Quantised sums change the result. Fewer GPUs read "
          "more weights each.",
      .confirm =
          "Sum of these kernels in a new trace of every rank; time of a step without a profiler at each group size."};
}

}  // namespace rung::trace::findings
