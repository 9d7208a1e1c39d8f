// Copies from memory to shared memory as CDNA 4 makes them by itself: lane l's 16 bytes land 16 l bytes behind a place
// that the wave has in common. Issued now, landed later, as portable.cuh's Copies, whose places are each lane's own.
// SPDX-License-Identifier: Apache-2.0
// CDNA 2 and 3 do not copy 16 bytes a lane: registers hold them meanwhile, and they land where CDNA 4 has them land.
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

constexpr uint32_t kCopyBytes = kLanes * 16;  // of a wave's copy

struct CopySource {
  const char* base;   // that all lanes share
  uint32_t distance;  // of the lane's 16 bytes
  __device__ const WordQuad* lanes() const { return reinterpret_cast<const WordQuad*>(base + distance); }
};

// Keeps the compiler from moving loads and stores past here.
__device__ inline void keep_order() { asm volatile("" ::: "memory"); }

__device__ inline WordQuad& lanes_place(char* to) { return *reinterpret_cast<WordQuad*>(to + lane() * 16); }

#ifdef __gfx950__

// `count` copies of a wave, `step` bytes apart in shared memory.
template <int count, int step>
class WaveCopies {
 public:
  static constexpr bool kWritesAtOnce = true;  // from where it is issued on; otherwise where it lands
  __device__ void issue(int i, const CopySource& from, char* to) {
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)from.lanes(),
                                     (__attribute__((address_space(3))) void*)(to + i * step), 16, 0, 0);
  }
  // Waits for all of them. `younger`: 16-byte loads of the wave that were issued after them and may be under way still.
  template <int younger>
  __device__ void land(char*) {
    keep_order();
    __builtin_amdgcn_s_waitcnt(0x0f70 | younger);  // vmcnt; no other counter
    keep_order();
  }
};

// Lets the other waves read the copies that each wave has landed. Not sync_block(), which waits for all copies under
// way.
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
