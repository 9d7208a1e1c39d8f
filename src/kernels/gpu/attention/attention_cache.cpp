// The rows of attention of few queries over a cache: they split the keys that there may be, and join those that there
// are, in a second launch or within clusters.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_cache.hpp"

#include <algorithm>
#include <span>

#include "base/divide.hpp"
#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = CacheAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_cache.inc"
};
constexpr Variant<Config> kVariantsTogether[] = {
#include "kernels/gpu/attention/attention_cache_sm90.inc"
};
constexpr int64_t kMostRows = 16;        // packed rows of a key head: beyond them matrix instructions pay
constexpr int64_t kBlocksOfMachine = 3;  // blocks that a multiprocessor has at once
constexpr int64_t kMostRunsTogether = 4;  // of one block: clusters are few blocks, which longer caches leave waiting

// Returns the narrowest variant that holds a head, with the fewest rows that hold all, or else the most; null: none.
const Variant<Config>* variant_of(const Problem& problem, bool together) {
  const AttentionShape shape(problem);
  const Variant<Config>* best = nullptr;
  for (const auto& each : together ? std::span<const Variant<Config>>(kVariantsTogether) : std::span(kVariants)) {
    if (each.config.type != problem.output.dtype || each.config.width < shape.width) continue;
    if (best && (each.config.width > best->config.width || best->config.rows >= shape.rows())) break;
    best = &each;
  }
  return best;
}

// The cut of the work into blocks. `together`: the splits of a key head are a cluster.
struct Cut {
  AttentionShape shape;
  const Variant<Config>& variant;
  int64_t tiles;        // of packed rows
  int64_t runs;         // of keys, that a full cache has
  int64_t most_splits;
  int64_t splits;

  Cut(const Problem& problem, const GpuInfo& gpu, bool together)
      : shape(problem),
        variant(*variant_of(problem, together)),
        tiles(divide_up<int64_t>(shape.rows(), variant.config.rows)),
        runs(std::max<int64_t>(1, divide_up<int64_t>(shape.keys, variant.config.keys()))),
        most_splits(together ? std::min(runs, kPortableCluster) : runs) {
    const int64_t heads = std::max<int64_t>(1, tiles * shape.groups * shape.batch);
    const int64_t filling = std::max<int64_t>(1, blocks_at_once(gpu) * kBlocksOfMachine / heads);
    splits = std::clamp<int64_t>(problem.param("splits", together ? most_splits : filling), 1, most_splits);
  }
  int64_t all_rows() const { return shape.rows() * shape.groups * shape.batch; }
};

Verdict supports_cache(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_attention(problem, machine); !verdict) return verdict;
  if (!problem.as<Attention>().has_length()) return reject("no cache with a length");
  if (AttentionShape(problem).rows() > kMostRows)
    return reject(fmt::format("more than {} rows of a key head", kMostRows));
  if (attention_unit(problem) % variant_of(problem, false)->config.vector() == 0) return accept();
  return reject("rows are not multiples of 16 bytes apart");
}
Verdict supports_cache_together(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("built for compute capability 9.0");
  if (auto verdict = supports_cache(problem, machine); !verdict) return verdict;
  if (size_of(problem.output.dtype) != 2) return reject("only bf16 and f16");
  const Cut cut(problem, machine.gpu, true);
  if (cut.runs <= kMostRunsTogether * kPortableCluster) return accept();
  return reject(fmt::format("more than {} places", kMostRunsTogether * kPortableCluster * cut.variant.config.keys()));
}

template <bool together>
std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu, together);
  std::vector<int64_t> splits{cut.splits};
  for (const int64_t each : {cut.splits / 2, cut.splits * 2})
    if (each >= 1 && each <= cut.most_splits) splits.push_back(each);
  return {{"splits", splits}};
}

size_t scratch_bytes(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu, false);
  if (cut.splits == 1) return 0;
  const auto width = Config::row_floats(static_cast<int>(cut.shape.width));
  return static_cast<size_t>(cut.splits * cut.all_rows() * width) * sizeof(float);
}

CacheAttentionArguments arguments_of(const Call& call, const Cut& cut) {
  return {.attention = attention_arguments(call),
          .results = static_cast<float*>(device_pointer(call.scratch)),
          .splits = static_cast<int32_t>(cut.splits),
          .run = cut.variant.config.keys(),
          .tile = cut.variant.config.rows};
}
Launch launch_of(const Call& call, const Cut& cut) {
  Launch launch = attention_launch(call, cut.variant.config.rows, static_cast<int>(cut.splits));
  launch.block = {static_cast<uint32_t>(cut.variant.config.threads)};
  return launch;
}

std::string_view join_symbol(DType type) {
  if (type == DType::f32) return "attention_cache_join_f32";
  return type == DType::bf16 ? "attention_cache_join_bf16" : "attention_cache_join_f16";
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info(), false);
  const CacheAttentionArguments a = arguments_of(call, cut);
  RUNG_CHECK(call.launch("attention_cache", cut.variant.symbol, launch_of(call, cut), a));
  if (a.splits == 1) return {};
  Launch join = attention_launch(call, 1);
  join.block = {kJoinCacheThreads};
  return call.launch("attention_cache", join_symbol(call.problem.output.dtype), join, a);
}
Status enqueue_together(const Call& call) {
  const Cut cut(call.problem, call.gpu.info(), true);
  Launch launch = launch_of(call, cut);
  launch.cluster = {static_cast<uint32_t>(cut.splits)};
  return call.launch("attention_cache_sm90", cut.variant.symbol, launch, arguments_of(call, cut));
}

}  // namespace

extern const Kernel attention_cache{.name = "attention_cache",
                                    .op = "attention",
                                    .supports = supports_cache,
                                    .scratch_bytes = scratch_bytes,
                                    .tunables = tunables<false>,
                                    .alignment = 16,
                                    .enqueue = enqueue};
extern const Kernel attention_cache_sm90{.name = "attention_cache_sm90",
                                         .op = "attention",
                                         .supports = supports_cache_together,
                                         .tunables = tunables<true>,
                                         .alignment = 16,
                                         .enqueue = enqueue_together};

}  // namespace rung::gpu
