// The row of heads on their way into caches.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/cache_heads.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr int kBlocksOfUnit = 12;  // that run at once on a multiprocessor

constexpr Variant<CacheHeadsConfig> kVariants[] = {
#include "kernels/gpu/attention/cache_heads.inc"
};

}  // namespace

Verdict supports_cache_heads(const Problem& p, const Machine& machine) {
  if (const DType cache = p.inputs[CacheHeads::kKeys].dtype, f8 = machine_f8(machine.gpu); is_f8(cache) && cache != f8)
    return reject(fmt::format("caches of {}, wanted {}", name_of(cache), name_of(f8)));
  if (!is_computed_float(p.output.dtype)) return reject(fmt::format("heads of {}", name_of(p.output.dtype)));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (!p.inputs[i].contiguous()) return reject(fmt::format("operand {} is not dense", i));
    if (i >= CacheHeads::kCos && !is_computed_float(p.inputs[i].dtype))
      return reject(fmt::format("operand {} is {}", i, name_of(p.inputs[i].dtype)));
  }
  if (p.output.shape.back() > 2 * kCacheHeadsMostHalf)
    return reject(fmt::format("heads wider than {}", 2 * kCacheHeadsMostHalf));
  return supports_count(p.inputs[CacheHeads::kX].shape);
}

CacheHeadsArguments cache_heads_arguments(const Problem& p, const Call& call) {
  const Operand& keys = p.inputs[CacheHeads::kKeys];
  const auto& op = p.as<CacheHeads>();
  const bool normed = p.inputs.size() > CacheHeads::kNormWeight;
  const auto dim = [](int64_t n) { return static_cast<uint32_t>(n); };
  return {
      .x = call.inputs[CacheHeads::kX],
      .keys = call.inputs[CacheHeads::kKeys],
      .values = call.inputs[CacheHeads::kValues],
      .places = call.inputs[CacheHeads::kPlaces],
      .cos = call.inputs[CacheHeads::kCos],
      .sin = call.inputs[CacheHeads::kSin],
      .norm_weight = normed ? call.inputs[CacheHeads::kNormWeight] : 0,
      .q = call.output,
      .fault = call.fault,
      .slots = keys.shape[0],
      .rows = dim(p.inputs[CacheHeads::kPlaces].shape[0]),
      .heads = dim(p.output.shape.back(1)),
      .groups = dim(keys.shape[1]),
      .half = dim(keys.shape[2] / 2),
      .cos_type = p.inputs[CacheHeads::kCos].dtype,
      .sin_type = p.inputs[CacheHeads::kSin].dtype,
      .weight_type = normed ? p.inputs[CacheHeads::kNormWeight].dtype : DType::f32,
      .eps = op.eps,
      .weight_offset = op.weight_offset,
      .caches_in_f8 = is_f8(keys.dtype),
      .weight_constant = normed && p.inputs[CacheHeads::kNormWeight].constant,
  };
}

namespace {

Verdict supports(const Problem& problem, const Machine& machine) { return supports_cache_heads(problem, machine); }

// Returns how many blocks divide a row: one for each warp's worth of heads, or as few as fill the machine. The threads
// of a block look together for later rows of the same slot, and its warps read angles once.
uint32_t blocks_of_row(const Call& call, const CacheHeadsArguments& a) {
  const GpuInfo& gpu = call.gpu.info();
  const uint32_t warps = kCacheHeadsThreads / static_cast<uint32_t>(gpu.lanes);
  const auto enough = static_cast<uint32_t>(kBlocksOfUnit * gpu.multiprocessors);
  return std::clamp(divide_up(enough, a.rows), 1u, divide_up(a.heads + 2 * a.groups, warps));
}

Status enqueue(const Call& call) {
  CacheHeadsArguments a = cache_heads_arguments(call.problem, call);
  a.blocks_of_row = blocks_of_row(call, a);
  const auto* variant = find(kVariants, [&](const CacheHeadsConfig& each) {
    return each.type == call.problem.output.dtype && static_cast<uint32_t>(each.most_half) >= a.half;
  });
  if (!variant) return call.no_kernel("cache_heads");
  return call.launch("cache_heads", variant->symbol,
                     launch_threads(call, int64_t{a.rows} * a.blocks_of_row * kCacheHeadsThreads, kCacheHeadsThreads),
                     a);
}

}  // namespace

extern const Kernel cache_heads{.name = "cache_heads", .op = "cache_heads", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu
