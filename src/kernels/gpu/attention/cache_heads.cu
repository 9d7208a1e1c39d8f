// Heads of a projection on their way to attention: a warp normalises and rotates a head in registers, and stores it
// with the queries, or in the row of a cache that is the place of its token.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/head.cuh"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kHeadWarps = kCacheHeadsThreads / kLanes;

// Returns the slot of a cache that gets a row of x; -1: there is none, or a later row gets the same one. The threads of
// a block look for it together.
__device__ int64_t slot_of(const CacheHeadsArguments& a, uint32_t row) {
  __shared__ int partial[kMaxWarps];
  const int64_t slot = element<const int64_t>(a.places, row);
  const bool exists = slot >= 0 && slot < a.slots;
  if (!exists && threadIdx.x == 0) report_fault(a.fault, Fault::index_out_of_range);
  if (row + 1 == a.rows) return exists ? slot : -1;
  int overwritten = 0;
#pragma unroll 8
  for (uint32_t later = row + 1 + threadIdx.x; later < a.rows; later += kCacheHeadsThreads)
    overwritten |= element<const int64_t>(a.places, later) == slot;
  return reduce_block(overwritten, Max{}, partial) || !exists ? -1 : slot;
}

// The heads of one row that a warp takes: every `step`-th from the first on, several of which are loaded together.
template <DType type, int pairs>
struct RowHeads {
  static constexpr int kTogether = pairs == 1 ? 6 : pairs == 2 ? 4 : 1;
  const CacheHeadsArguments& a;
  const uint32_t row, step;
  uint32_t first;
  LoadedHead<pairs> weight, cos, sin, x[kTogether];

  __device__ uint32_t head(int i) const { return first + i * step; }
  __device__ uint32_t turned() const { return a.heads + a.groups; }
  __device__ uint32_t count() const { return turned() + a.groups; }
  __device__ bool is_normed(uint32_t head) const { return a.norm_weight && head < turned(); }
  __device__ void load_weight() {
    if (is_normed(first)) weight = load_columns<pairs>(a, a.norm_weight, a.weight_type, first);
  }
  __device__ void load_angles() {
    if (first >= turned()) return;
    cos = load_columns<pairs>(a, a.cos, a.cos_type, row);
    sin = load_columns<pairs>(a, a.sin, a.sin_type, row);
  }
  __device__ void load() {
#pragma unroll
    for (int i = 0; i < kTogether; ++i)
      if (head(i) < count()) x[i] = load_columns<pairs>(a, a.x, type, int64_t{row} * count() + head(i));
  }
  __device__ void finish(int64_t slot) {
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (i > 0 && is_normed(head(i))) weight = load_columns<pairs>(a, a.norm_weight, a.weight_type, head(i));
      if (head(i) < count()) finish(x[i], head(i), slot);
    }
  }

 private:
  __device__ void finish(const LoadedHead<pairs>& loaded, uint32_t head, int64_t slot) const {
    const bool is_query = head < a.heads, is_value = head >= turned();
    if (!is_query && slot < 0) return;
    Head<pairs> x(loaded, type);
    if (is_normed(head)) x.normalise(a, weight);
    if (!is_value) x.rotate(a, cos, sin);
    if (is_query)
      x.template store<type>(a, in_memory<Element<type>>(a.q) + (int64_t{row} * a.heads + head) * 2 * a.half);
    else
      x.template store_in_cache<type>(a, is_value ? a.values : a.keys,
                                      slot * a.groups + head - (is_value ? turned() : a.heads));
  }
};

template <CacheHeadsConfig config>
__device__ void cache_heads(const CacheHeadsArguments& a) {
  constexpr int pairs = (config.most_half + kLanes - 1) / kLanes;
  const uint32_t row = blockIdx.x / a.blocks_of_row, part = blockIdx.x - row * a.blocks_of_row;
  RowHeads<config.type, pairs> heads{a, row, a.blocks_of_row * kHeadWarps, part * kHeadWarps + warp()};
  allow_dependents();
  if (a.weight_constant) heads.load_weight();
  wait_for_producers();
  if (!a.weight_constant) heads.load_weight();
  heads.load();
  heads.load_angles();
  const int64_t slot = slot_of(a, row);
  heads.finish(slot);
#pragma unroll 1
  while ((heads.first += heads.kTogether * heads.step) < heads.count()) {
    heads.load();
    heads.load_weight();
    heads.finish(slot);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                         \
  RUNG_KERNEL(kCacheHeadsThreads) entry(const __grid_constant__ CacheHeadsArguments a) { \
    cache_heads<CacheHeadsConfig{__VA_ARGS__}>(a);                                       \
  }
#include "kernels/gpu/attention/cache_heads.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
