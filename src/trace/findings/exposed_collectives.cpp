// Finds large collectives that run while the device does nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/collectives.hpp"

namespace rung::trace::findings {
namespace {

constexpr size_t kMostStreams = 4;  // AMD's guide: more streams share hardware queues

constexpr std::string_view kExposedCollectivesRemedy =
    "Start collectives earlier and on a stream of their own, so that they run beside work that does not need them; "
    "where "
    "nothing can run beside them, cut them into pieces that follow the pieces of a product.";

size_t streams_at_work(const Analysis& analysis) {
  std::set<uint16_t> lanes;
  for (const Work& work : analysis.work) lanes.insert(analysis.event(work).lane);
  return lanes.size();
}

std::vector<Change> changes_for(const Analysis& analysis) {
  std::vector<Change> changes{
      {"PyTorch",
       "async_op=True and wait() where the result is used; torch.distributed.tensor.parallel with "
       "torch._inductor.config._micro_pipeline_tp for products cut into pieces"},
      {"PyTorch",
       "FSDP: set_modules_to_forward_prefetch() of fully_shard, or forward_prefetch=True of the older class "
       "for models whose order of layers is fixed; reshard_after_forward=False where memory allows"},
      {"vLLM",
       "--enable-dbo overlaps two halves of a batch in models with experts; sequence parallelism with "
       "enable_sp and fuse_gemm_comms in pass_config"}};
  if (!is_amd(analysis)) return changes;
  changes.push_back({"any",
                     "TORCH_NCCL_HIGH_PRIORITY=1 with GPU_MAX_HW_QUEUES=2, so that collectives have a queue of "
                     "their own; NCCL_MIN_NCHANNELS=112 on MI300X with eight GPUs in the group"});
  changes.push_back({"any", "at most four streams: more share hardware queues and wait for each other"});
  return changes;
}

std::string title_of(const Analysis& analysis, int64_t count, int64_t all_ns, double bound_ms) {
  std::string title = fmt::format("Collectives take {} of a step ({} of them), {} of it beside no other work",
                                  duration_ms(ms_per_step(analysis, all_ns)), count_in_words(per_step(analysis, count)),
                                  duration_ms(bound_ms));
  const size_t streams = streams_at_work(analysis);
  if (is_amd(analysis) && streams > kMostStreams) title += fmt::format("; {} streams are in use", streams);
  return title;
}

}  // namespace

std::optional<TraceFinding> exposed_collectives(const Analysis& analysis) {
  std::vector<Collective> large = collectives_of(analysis);
  std::erase_if(large, [&](const Collective& collective) { return is_small(analysis, collective); });
  if (large.empty()) return std::nullopt;
  const double bound_ms = ms_per_step(analysis, exposed_ns(analysis, large, Part::transfer));
  if (!is_worthwhile(analysis, bound_ms)) return std::nullopt;
  const Tally tally = tally_of(analysis, large, Part::transfer);
  return TraceFinding{
      .id = "exposed_collectives",
      .title = title_of(analysis, tally.count(), tally.ns(), bound_ms),
      .evidence = tally.rows(),
      .bound_ms = bound_ms,
      .bound_from =
          "the time in which only collectives run, waits for late ranks left out: all of it, where other work can be "
          "moved beside them",
      .remedy = kExposedCollectivesRemedy,
      .changes = changes_for(analysis),
      .traps =
          "Collectives and products share compute units and memory: side by side both are slower, and halves of a "
          "batch are slower products than the whole. A prefetched layer needs memory for its weights. Channels, "
          "priorities and queues win or lose by message size: measure each alone.",
      .confirm =
          "Time of a step without a profiler, slowest rank; in a new trace the share of collectives that other work "
          "overlaps."};
}

}  // namespace rung::trace::findings
