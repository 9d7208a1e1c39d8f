// The arguments of the kernels that store heads in caches, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/fault.hpp"

namespace rung::gpu {

constexpr int kCacheHeadsThreads = 128;
constexpr int kCacheHeadsMostHalf = 256;  // columns of half a head, which a warp holds in registers

// A variant of the kernel.
struct CacheHeadsConfig {
  DType type;     // of the heads
  int most_half;  // columns of half a head
  bool operator==(const CacheHeadsConfig&) const = default;
};

// The warps of a block take heads of one row of x. All arrays are dense; those of heads are of one type, the variant's,
// but for caches that are kept in 8 bits.
struct CacheHeadsArguments {
  uint64_t x, keys, values, places, cos, sin;  // addresses; keys and values: [slots, groups, 2 * half], updated
  uint64_t norm_weight;                        // address of [heads + groups, 2 * half]; 0: no norm
  uint64_t q, fault;                           // addresses; q: [rows, heads, 2 * half]
  int64_t slots;
  uint32_t rows, heads, groups, half;
  uint32_t blocks_of_row;
  DType cos_type, sin_type, weight_type;
  float eps, weight_offset;
  uint32_t caches_in_f8;     // not 0: keys and values are the machine's e4m3
  uint32_t weight_constant;  // not 0: norm_weight may be read before the producers have ended
};

}  // namespace rung::gpu
