// The launch of several streamed layers, each of which reads what the one before it has given.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_chain_arguments.hpp"
#include "kernels/gpu/linear/linear_stream.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ChainConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_chain.inc"
};

// The ring of all layers. A block has room for the longest x, and leaves room for one of the next launch, so that the
// attention is there when this launch ends. The ring has all the rest, since the memory is idle whenever it is full:
// while blocks meet, and while the attention runs. But no two blocks share a multiprocessor.
struct ChainCut {
  StreamShared shared;
  uint32_t least_bytes, most_bytes, stages, blocks;

  ChainCut(const StreamCut& first, uint32_t chunks, uint32_t beside, const GpuInfo& gpu)
      : shared{chunks, first.shared.m, first.order.config},
        least_bytes(shared_bytes_apart(gpu)),
        most_bytes(std::max(least_bytes, shared_bytes_beside(gpu, beside))),
        stages(std::min((most_bytes - std::min(most_bytes, shared.ring())) / shared.stage_bytes(), kStreamMostStages)),
        blocks(static_cast<uint32_t>(std::max(gpu.multiprocessors, 1))) {}
};

ChainConfig chain_of(const StreamConfig& config) { return {config.x, config.w, config.grouped}; }

size_t count(std::span<const Problem> problems, const Machine& machine) {
  if (!machine.gpu.cooperative) return 1;
  const StreamCut first(problems[0], machine.gpu);
  size_t joined = 1;
  for (; joined < std::min<size_t>(problems.size(), kChainLayers); ++joined) {
    const StreamCut next(problems[joined], machine.gpu);
    if (chain_of(next.order.config) != chain_of(first.order.config) || next.shared.m != first.shared.m) break;
  }
  return joined;
}

Status enqueue(std::span<const Call> calls, Address barriers, uint32_t beside) {
  const GpuInfo& gpu = calls[0].gpu.info();
  const StreamCut first(calls[0].problem, gpu);
  LinearChainArguments a{.count = static_cast<uint32_t>(calls.size()), .counters = barriers};
  uint32_t chunks = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    RUNG_CHECK(fill_stream_arguments(calls[i], a.layers[i]));
    a.ends[i] = StreamCut(calls[i].problem, gpu).order.config.end;
    chunks = std::max(chunks, a.layers[i].chunks);
  }
  const ChainCut cut(first, chunks, beside, gpu);
  for (LinearStreamArguments& layer : a.layers) layer.room_chunks = chunks, layer.stages = cut.stages;
  const Launch launch{.grid = {cut.blocks},
                      .block = {kStreamThreads},
                      .shared_bytes = std::max(cut.shared.bytes(cut.stages), cut.least_bytes),
                      .dependent = gpu.dependent_launch,
                      .cooperative = true};
  return calls[0].launch("linear_chain_sm90", symbol_of(kVariants, chain_of(first.order.config)), launch, a);
}

}  // namespace

extern const Joining stream_joining{
    .barrier_bytes = (kChainLayers - 1) * kChainCounterBytes, .count = count, .enqueue = enqueue};

}  // namespace rung::gpu
