// The row of attention of few queries over a cache or other keys: it splits the keys that there may be, and joins those
// that there are.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_cache.hpp"

#include <algorithm>

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
constexpr int64_t kMostRows = 16;        // packed rows of a key head: beyond them matrix instructions pay
constexpr int64_t kMostRowsOfKeys = 8;   // of keys that are no cache, which few other rows leave idle
constexpr int64_t kBlocksOfMachine = 3;  // blocks that a multiprocessor has at once

// Returns the narrowest variant that holds a head, with the fewest rows that hold all, or else the most; null: none.
const Variant<Config>* variant_of(const Problem& problem) {
  const AttentionShape shape(problem);
  const DType key_type = key_type_of(problem);
  const Variant<Config>* best = nullptr;
  for (const auto& each : kVariants) {
    if (each.config.type != problem.output.dtype || each.config.key_type != key_type || each.config.width < shape.width)
      continue;
    if (best && (each.config.width > best->config.width || best->config.rows >= shape.rows())) break;
    best = &each;
  }
  return best;
}

// The cut of the work into blocks.
struct Cut {
  AttentionShape shape;
  const Variant<Config>& variant;
  int64_t tiles;        // of packed rows
  int64_t most_splits;  // that a full cache has runs of keys for
  int64_t splits;

  Cut(const Problem& problem, const GpuInfo& gpu)
      : shape(problem),
        variant(*variant_of(problem)),
        tiles(divide_up<int64_t>(shape.rows(), variant.config.rows)),
        most_splits(std::max<int64_t>(1, divide_up<int64_t>(shape.keys, variant.config.keys()))) {
    const int64_t heads = std::max<int64_t>(1, tiles * shape.groups * shape.batch);
    const int64_t filling = std::max<int64_t>(1, blocks_at_once(gpu) * kBlocksOfMachine / heads);
    splits = std::clamp<int64_t>(problem.param("splits", filling), 1, most_splits);
  }
  int64_t all_rows() const { return shape.rows() * shape.groups * shape.batch; }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_attention(problem, machine); !verdict) return verdict;
  if (auto verdict = supports_plain_result(problem); !verdict) return verdict;
  const auto& op = problem.as<Attention>();
  if (op.segments != 1) return reject("keys of several segments");
  if (is_f8(problem.inputs.back().dtype) && problem.output.dtype == DType::f32)
    return reject("queries of f32 and keys of 8 bits");
  const AttentionShape shape(problem);
  const int64_t most = op.has_length() ? kMostRows : kMostRowsOfKeys;
  if (shape.rows() > most) return reject(fmt::format("more than {} rows of a key head", most));
  if (attention_unit(problem) % variant_of(problem)->config.vector() == 0) return accept();
  return reject(fmt::format("rows are not multiples of {} elements apart", variant_of(problem)->config.vector()));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  std::vector<int64_t> splits{cut.splits};
  for (const int64_t each : {cut.splits / 2, cut.splits * 2})
    if (each >= 1 && each <= cut.most_splits) splits.push_back(each);
  return {{"splits", splits}};
}

size_t scratch_bytes(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  if (cut.splits == 1) return 0;
  const auto width = Config::row_floats(static_cast<int>(cut.shape.width));
  return static_cast<size_t>(cut.splits * cut.all_rows() * width) * sizeof(float);
}

std::string_view join_symbol(DType type) {
  if (type == DType::f32) return "attention_cache_join_f32";
  return type == DType::bf16 ? "attention_cache_join_bf16" : "attention_cache_join_f16";
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  const CacheAttentionArguments a{.attention = attention_arguments(call),
                                  .results = static_cast<float*>(device_pointer(call.scratch)),
                                  .splits = static_cast<int32_t>(cut.splits),
                                  .run = cut.variant.config.keys(),
                                  .tile = cut.variant.config.rows};
  Launch launch = attention_launch(call, cut.variant.config.rows, a.splits);
  launch.block = {Config::kThreads};
  RUNG_CHECK(call.launch("attention_cache", cut.variant.symbol, launch, a));
  if (a.splits == 1) return {};
  Launch join = attention_launch(call, 1);
  join.block = {kJoinCacheThreads};
  return call.launch("attention_cache", join_symbol(call.problem.output.dtype), join, a);
}

}  // namespace

extern const Kernel attention_cache{.name = "attention_cache",
                                    .op = "attention",
                                    .supports = supports,
                                    .scratch_bytes = scratch_bytes,
                                    .tunables = tunables,
                                    .alignment = 16,
                                    .enqueue = enqueue};

}  // namespace rung::gpu
