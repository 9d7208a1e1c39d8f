// A barrier of all blocks of a launch that are resident at once. A counter in memory has had a multiple of the blocks'
// number of arrivals whenever no launch that uses it is at work, so that nothing resets it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// Returns the count at which all blocks of this launch have arrived; call it before this block arrives.
__device__ inline uint64_t grid_target(uint64_t counter, uint64_t blocks) {
  uint64_t count;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(count) : "l"(counter) : "memory");
  return (count / blocks + 1) * blocks;
}
// Arrives for this block: what its threads have written before, as far as they have met this one, is visible to those
// that wait.
__device__ inline void grid_arrive(uint64_t counter) {
  asm volatile("red.release.gpu.global.add.u64 [%0], 1;" ::"l"(counter) : "memory");
}
__device__ inline void grid_wait(uint64_t counter, uint64_t target) {
  uint64_t count;
  do {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(count) : "l"(counter) : "memory");
  } while (count < target);
}

}  // namespace rung::gpu
