// Finds graphs of many small nodes on AMD's runtime: the device needs about 4 us from the end of one node to the start
// of the next, and a graph does not remove that.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace::findings {
namespace {

constexpr double kFewNodes = 16;
constexpr double kLeastPauseUs = 2;          // CUDA's graphs take about 1 us from node to node
constexpr int64_t kLongestPauseNs = 10'000;  // a longer pause waits for something: a host node, another branch
constexpr double kLeastShareOfPauses = 0.05;

bool is_hip_graph_launch(const Analysis& analysis, const Work& work) {
  if (work.call == kNone) return false;
  const std::string_view name = analysis.recording.name_of(analysis.recording.events[work.call]);
  return name.starts_with("hipGraphLaunch");
}

struct Nodes {
  int64_t count = 0;
  std::unordered_set<uint32_t> launches;
  Tally pauses;  // idle times between two nodes of one launch
};

Nodes nodes_of(const Analysis& analysis) {
  Nodes nodes;
  for (const Work& work : analysis.work) {
    if (!is_hip_graph_launch(analysis, work)) continue;
    ++nodes.count;
    nodes.launches.insert(work.call);
  }
  for (const Gap& gap : analysis.accounting.gaps) {
    if (gap.before == kNone || gap.after == kNone || gap.span.length_ns() > kLongestPauseNs) continue;
    const Work &before = analysis.work[gap.before], &after = analysis.work[gap.after];
    if (before.call != after.call || !is_hip_graph_launch(analysis, after)) continue;
    nodes.pauses.add("pauses between nodes of one graph", gap.span.length_ns());
  }
  return nodes;
}

}  // namespace

std::optional<TraceFinding> graph_nodes(const Analysis& analysis) {
  const Nodes nodes = nodes_of(analysis);
  if (per_step(analysis, nodes.pauses.count()) < kFewNodes) return std::nullopt;
  const double mean_us = static_cast<double>(nodes.pauses.ns()) / 1e3 / static_cast<double>(nodes.pauses.count());
  const double bound_ms = ms_per_step(analysis, nodes.pauses.ns());
  if (mean_us < kLeastPauseUs || bound_ms < kLeastShareOfPauses * step_ms(analysis)) return std::nullopt;
  Tally launches;
  for (const uint32_t call : nodes.launches)
    launches.add(analysis.recording.name_of(analysis.recording.events[call]),
                 analysis.recording.events[call].duration_ns);
  std::vector<Evidence> evidence = nodes.pauses.rows();
  std::ranges::move(launches.rows(), std::back_inserter(evidence));
  return TraceFinding{
      .id = "graph_nodes",
      .title = fmt::format("{} nodes of HIP graphs in a step stand {:.1f} us apart, {} in all",
                           count_in_words(per_step(analysis, nodes.count)), mean_us, duration_ms(bound_ms)),
      .evidence = std::move(evidence),
      .bound_ms = bound_ms,
      .bound_from = fmt::format(
          "the sum of the pauses of at most {} us between nodes of one launch; what fused kernels save of their own "
          "time is unfused_elementwise's",
          kLongestPauseNs / 1000),
      .remedy = "Make fewer nodes: fuse small kernels, concatenate products, leave out copies and fills.",
      .changes =
          {{"PyTorch",
            "torch.compile in its default mode around the model, then a capture by hand of the compiled step "
            "(torch._inductor.config.triton.cudagraphs = False): each fused kernel is one node for several"},
           {"vLLM", "on ROCm VLLM_ROCM_USE_AITER=1: fused norms, rotations and caches of aiter"},
           {"AMD",
            "measure DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING and DEBUG_HIP_GRAPH_BATCH_SIZE where the runtime reads them "
            "(`rung doctor`); a graph of one chain has no branches to wait for"}},
      .traps =
          "A profiler writes a signal for each node, which lengthens the pauses: time a step without it. A graph of "
          "few small kernels has been slower than launching them one by one. A persistent kernel has no pauses, but "
          "its own barriers over all units cost about as much where they cross dies.",
      .confirm = "Fewer kernels in a step of a new trace; time of a step without a profiler, in turns; outputs equal."};
}

}  // namespace rung::trace::findings
