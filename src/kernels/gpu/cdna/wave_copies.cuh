// Copies from memory to shared memory as CDNA 4's hardware makes them: lane l's 16 bytes land 16 l bytes behind a place
// that the wave shares. They are issued now and land later, like portable.cuh's CopyGroup, where each lane has a place.
// SPDX-License-Identifier: Apache-2.0
// CDNA 2 and 3 do not copy 16 bytes a lane: registers hold the bytes meanwhile, and they land in the same places.
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

constexpr uint32_t kCopyBytes = kLanes * 16;  // of a wave's copy

struct CopySource {
  const char* base;   // shared by all lanes
  uint32_t distance;  // from the base to the lane's 16 bytes
  __device__ const WordQuad* lanes() const { return reinterpret_cast<const WordQuad*>(base + distance); }
};

// Keeps the compiler from moving loads and stores past here.
__device__ inline void keep_order() { asm volatile("" ::: "memory"); }

__device__ inline WordQuad& lanes_place(char* to) { return *reinterpret_cast<WordQuad*>(to + lane() * 16); }

#ifdef __gfx950__

// A wave's `count` copies, whose places are `step` bytes apart in shared memory.
template <int count, int step>
class WaveCopies {
 public:
  static constexpr bool kWritesAtOnce = true;  // a copy may write from issue() on; else only in land()
  __device__ void issue(int i, const CopySource& from, char* to) {
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)from.lanes(),
                                     (__attribute__((address_space(3))) void*)(to + i * step), 16, 0, 0);
  }
  // Waits for all copies. `younger`: the wave's 16-byte loads that were issued after them and may still be under way.
  template <int younger>
  __device__ void land(char*) {
    keep_order();
    __builtin_amdgcn_s_waitcnt(0x0f70 | younger);  // vmcnt; no other counter
    keep_order();
  }
};

// Lets all waves read the copies that each wave has landed; sync_block() would wait for all copies under way.
__device__ inline void sync_landed() {
  keep_order();
  __builtin_amdgcn_s_waitcnt(0xc07f);  // lgkmcnt(0), no other counter
  __builtin_amdgcn_s_barrier();
  keep_order();
}

#else

template <int count, int step>
class WaveCopies {
 public:
  static constexpr bool kWritesAtOnce = false;
  __device__ void issue(int i, const CopySource& from, char*) { held_[i] = *from.lanes(); }
  template <int younger>
  __device__ void land(char* to) {
#pragma unroll
    for (int i = 0; i < count; ++i) lanes_place(to + i * step) = held_[i];
  }

 private:
  WordQuad held_[count];
};

__device__ inline void sync_landed() { sync_block(); }

#endif

}  // namespace rung::gpu
