// The row of attention of one token over its cache, with the heads' way there.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/cached_attention_sm90.hpp"

#include <algorithm>
#include <bit>

#include "base/divide.hpp"
#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_tiles.hpp"
#include "kernels/gpu/attention/cache_heads.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = CachedAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/cached_attention_sm90.inc"
};
constexpr int64_t kFewTiles = 3;   // of a warp, for which a short ring is enough
constexpr int64_t kMostRows = 16;  // query heads of a key head, of which kTileHeads read the keys together

const Variant<Config>* variant_of(const Problem& problem) {
  const DType type = problem.output.dtype, key_type = problem.inputs[CacheHeads::kKeys].dtype;
  const int64_t width = problem.output.shape.back();
  return find(kVariants, [&](const Config& each) {
    return each.type == type && each.key_type == key_type && each.width >= width;
  });
}

// The two problems within: of the heads on their way, and of their attention.
Problem heads_of(const Problem& problem) {
  Problem heads = problem;
  heads.op = problem.as<CachedAttention>().heads();
  heads.inputs.pop_back();
  return heads;
}
Operand dense(DType type, const Shape& shape) { return {type, shape, contiguous_strides(shape)}; }
Problem attention_of(const Problem& problem) {
  const DType type = problem.output.dtype;
  const Shape &result = problem.output.shape, &cache = problem.inputs[CacheHeads::kKeys].shape;
  const int64_t tokens = problem.inputs[CacheHeads::kPlaces].shape[0];
  const Operand queries = dense(type, {1, tokens, result.back(1), result.back()});
  const Operand keys = dense(problem.inputs[CacheHeads::kKeys].dtype, {1, cache[0], cache[1], cache[2]});
  return {.op = problem.as<CachedAttention>().attention(),
          .inputs = {queries, problem.inputs.back(), keys, keys},
          .output = queries,
          .threads = problem.threads};
}

// The cut of the work into clusters, and of the keys among the blocks of one.
struct Cut {
  AttentionShape shape;
  int64_t tiles;  // of query heads of a key head
  int64_t splits;
  int stages;  // of rings

  Cut(const Problem& problem, const GpuInfo& gpu)
      : shape(attention_of(problem)), tiles(divide_up<int64_t>(shape.rows(), Config::kTileHeads)) {
    const int64_t filling = blocks_at_once(gpu) / std::max<int64_t>(1, tiles * shape.groups);
    const int64_t usual = std::clamp<int64_t>(filling, 2, kPortableCluster);
    const int64_t asked = std::clamp<int64_t>(problem.param("splits", usual), 1, Config::kMostSplits);
    splits = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(asked)));
    const Config& config = variant_of(problem)->config;
    const int64_t keys = problem.inputs[CacheHeads::kKeys].shape[0];
    const int64_t of_a_warp = divide_up(keys, splits * config.warps() * Config::kTileKeys);
    const bool fits = config.shared_bytes(config.stages()) <= static_cast<int64_t>(gpu.shared_bytes_per_block);
    stages = of_a_warp <= kFewTiles || !fits ? config.few_stages() : config.stages();
  }
};

uint32_t shared_bytes(const Problem& problem, const Machine& machine) {
  return static_cast<uint32_t>(variant_of(problem)->config.shared_bytes(Cut(problem, machine.gpu).stages));
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (problem.inputs[CacheHeads::kPlaces].shape[0] != 1) return reject("other than one token");
  if (auto verdict = supports_cache_heads(heads_of(problem), machine); !verdict) return verdict;
  const Problem attention = attention_of(problem);
  if (auto verdict = supports_matrix_attention(attention, machine); !verdict) return verdict;
  const AttentionShape shape(attention);
  if (shape.rows() > kMostRows) return reject(fmt::format("more than {} query heads of a key head", kMostRows));
  return supports_shared_bytes(shared_bytes(problem, machine), machine.gpu);
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  std::vector<int64_t> splits{cut.splits};
  for (const int64_t each : {cut.splits * 2, cut.splits / 2})
    if (each >= 2 && each <= Config::kMostSplits) splits.push_back(each);
  return {{"splits", splits}};
}

Status describe_boxes(const Call& call, CachedAttentionArguments& a) {
  const AttentionSegment& cache = a.attention.segment[0];
  a.boxes = boxes_of(a.attention);
  RUNG_CHECK(describe_tile(call, a.k, key_tile(a.attention, cache, Config::kTileKeys)));
  return describe_tile(call, a.v, value_tile(a.attention, cache, Config::kTileKeys));
}

Status enqueue(const Call& call) {
  const Problem &problem = call.problem, heads = heads_of(problem), attention = attention_of(problem);
  const Cut cut(problem, call.gpu.info());
  const Variant<Config>& variant = *variant_of(problem);
  const Address read[] = {0, call.inputs[problem.inputs.size() - 1], call.inputs[CacheHeads::kKeys],
                          call.inputs[CacheHeads::kValues]};  // the queries stay in the block
  const Call attending{attention, read, call.output, call.scratch, call.state, call.fault, call.queue};
  CachedAttentionArguments a{.heads = cache_heads_arguments(heads, call),
                             .attention = attention_arguments(attending),
                             .split_bits = std::countr_zero(static_cast<uint64_t>(cut.splits)),
                             .stages = cut.stages,
                             .boxes = 0};
  if (variant.config.copies_boxes()) RUNG_CHECK(describe_boxes(call, a));
  const auto dim = [](int64_t n) { return static_cast<uint32_t>(n); };
  const Launch launch{.grid = {dim(cut.splits), dim(cut.shape.groups), dim(cut.tiles)},
                      .block = {dim(variant.config.threads())},
                      .cluster = {dim(cut.splits)},
                      .shared_bytes = dim(variant.config.shared_bytes(cut.stages)),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("cached_attention_sm90", variant.symbol, launch, a);
}

}  // namespace

extern const Kernel cached_attention_sm90{.name = "cached_attention_sm90",
                                          .op = "cached_attention",
                                          .supports = supports,
                                          .tunables = tunables,
                                          .alignment = 16,
                                          .enqueue = enqueue,
                                          .shared_bytes = shared_bytes};

}  // namespace rung::gpu
