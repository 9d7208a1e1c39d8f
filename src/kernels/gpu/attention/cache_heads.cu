// Heads of a projection on their way to attention: a warp normalises and rotates a head in registers, and stores it
// with the queries, or in the row of a cache that is the place of its token.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/head.cuh"
#include "kernels/gpu/fault.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kHeadWarps = kCacheHeadsThreads / kLanes;
constexpr int kPairs = kCacheHeadsMostPairs / kLanes;  // of a lane: columns of the lower and of the upper half

// Returns the slot of a cache that gets this row of x; -1: there is none, or a later row gets the same one.
__device__ int64_t slot_of(const CacheHeadsArguments& a, uint32_t row) {
  const int64_t slot = element<const int64_t>(a.places, row);
  if (slot < 0 || slot >= a.slots) {
    if (lane() == 0) report_fault(a.fault, Fault::index_out_of_range);
    return -1;
  }
  bool overwritten = false;
  for (uint32_t later = row + 1 + lane(); later < a.rows; later += kLanes)
    overwritten |= element<const int64_t>(a.places, later) == slot;
  return any_lane(overwritten) ? -1 : slot;
}

template <DType type>
__device__ void cache_heads(const CacheHeadsArguments& a) {
  allow_dependents();
  const uint32_t of_row = a.heads + 2 * a.groups, turned = a.heads + a.groups;
  const uint32_t at = blockIdx.x * kHeadWarps + warp(), row = at / of_row, head = at - row * of_row;
  if (row >= a.rows) return;
  const bool is_query = head < a.heads, is_value = head >= turned, normed = a.norm_weight && !is_value;
  LoadedHead<kPairs> weight, cos, sin;
  if (normed && a.weight_constant) weight = load_columns<kPairs>(a, a.norm_weight, a.weight_type, head);
  wait_for_producers();
  if (normed && !a.weight_constant) weight = load_columns<kPairs>(a, a.norm_weight, a.weight_type, head);
  const LoadedHead<kPairs> loaded = load_columns<kPairs>(a, a.x, type, at);
  if (!is_value) {
    cos = load_columns<kPairs>(a, a.cos, a.cos_type, row);
    sin = load_columns<kPairs>(a, a.sin, a.sin_type, row);
  }
  const int64_t slot = is_query ? 0 : slot_of(a, row);
  if (slot < 0) return;
  Head<kPairs> x(loaded, type);
  if (normed) x.normalise(a, weight);
  if (!is_value) x.rotate(a, cos, sin);
  const int64_t group = head - (is_value ? turned : a.heads);
  if (is_query)
    x.template store<type>(a, in_memory<Element<type>>(a.q) + (int64_t{row} * a.heads + head) * 2 * a.half);
  else
    x.template store_in_cache<type>(a, is_value ? a.values : a.keys, slot * a.groups + group);
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kCacheHeadsThreads) entry(const __grid_constant__ CacheHeadsArguments a) { cache_heads<type>(a); }
#include "kernels/gpu/attention/cache_heads.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
