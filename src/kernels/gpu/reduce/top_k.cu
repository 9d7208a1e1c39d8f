// top_k: a block per row takes the greatest remaining element k times, for the small k of routing and sampling.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/reduce/top_k_arguments.hpp"
#include "kernels/gpu/reductions.cuh"

namespace rung::gpu {
namespace {

// Returns a key that orders elements as the op does, the first of a row with the greatest key: by value, with NaN above
// all numbers and equal zeros, then by ascending place. The key is never 0, and never all ones.
__device__ inline uint64_t order_key(float value, uint32_t at) {
  const uint32_t bits = as_bits(value == 0.0f ? 0.0f : value);
  const uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<uint64_t>(value != value ? 0xffffffffu : ascending) << 32 | (0x7fffffffu - at);
}
__device__ inline uint32_t place_of(uint64_t key) { return 0x7fffffffu - static_cast<uint32_t>(key); }

template <class T>
__device__ void top_k(const TopKArguments& a) {
  __shared__ uint64_t partial[kMaxWarps];
  allow_dependents();
  wait_for_producers();
  const T* x = in_memory<const T>(a.x) + static_cast<int64_t>(blockIdx.x) * a.x_row;
  uint64_t last = ~uint64_t{0};
  for (uint32_t i = 0; i < a.k; ++i) {
    uint64_t best = 0;
    for (uint32_t at = threadIdx.x; at < a.width; at += blockDim.x)
      if (const uint64_t key = order_key(to_float(x[at]), at); key < last && key > best) best = key;
    last = reduce_block(best, Max{}, partial);
    sync_block();  // before `partial` is used again
    if (threadIdx.x > 0) continue;
    const int64_t to = static_cast<int64_t>(blockIdx.x) * a.k + i;
    element<T>(a.values, to) = x[place_of(last)];
    element<int64_t>(a.places, to) = place_of(last);
  }
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kTopKThreads) entry(const __grid_constant__ TopKArguments a) { top_k<Element<type>>(a); }
#include "kernels/gpu/reduce/top_k.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
