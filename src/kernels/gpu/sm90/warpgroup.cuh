// Warpgroups, which are four warps that multiply together, and the registers that they hand to each other: warpgroups
// that only fetch need few registers, warpgroups that multiply need many.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

inline constexpr int kGroupThreads = 128;
inline constexpr int kGroupWarps = kGroupThreads / kLanes;

// All threads of a warpgroup call these functions; kRegisters is a multiple of 8.
template <int kRegisters>
__device__ inline void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace rung::gpu
