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

// An integer and its place do not fit one key: the greatest value comes first, then its first place.
__device__ void top_k_of_integers(const TopKArguments& a) {
  __shared__ int64_t partial[kMaxWarps];
  allow_dependents();
  wait_for_producers();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * a.x_row;
  int64_t last = INT64_MAX, last_place = -1;
  const auto largest = [&](auto chosen) {
    int64_t best = INT64_MIN;
    for (uint32_t at = threadIdx.x; at < a.width; at += blockDim.x) {
      const auto x = load_as<int64_t>(a.x, a.type, row + at);
      if (x < last || (x == last && at > last_place)) best = Max{}(best, chosen(x, at));
    }
    best = reduce_block(best, Max{}, partial);
    sync_block();  // before `partial` is used again
    return best;
  };
  for (uint32_t i = 0; i < a.k; ++i) {
    const int64_t value = largest([](int64_t x, uint32_t) { return x; });
    const int64_t place =
        -largest([=](int64_t x, uint32_t at) { return x == value ? -static_cast<int64_t>(at) : INT64_MIN; });
    last = value, last_place = place;
    if (threadIdx.x > 0) continue;
    const int64_t to = static_cast<int64_t>(blockIdx.x) * a.k + i;
    store_as<int64_t>(a.values, a.type, to, value);
    element<int64_t>(a.places, to) = place;
  }
}

template <DType type>
__device__ void top_k_of(const TopKArguments& a) {
  if constexpr (type == DType::i64)
    top_k_of_integers(a);
  else
    top_k<Element<type>>(a);
}

}  // namespace

#define RUNG_VARIANT(entry, type) \
  RUNG_KERNEL(kTopKThreads) entry(const __grid_constant__ TopKArguments a) { top_k_of<type>(a); }
#include "kernels/gpu/reduce/top_k.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
