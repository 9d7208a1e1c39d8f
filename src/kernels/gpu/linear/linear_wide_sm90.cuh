// Parts of a block of the wide linear kernels: the barriers of its warpgroups, the activations of gates, and the walk
// round its ring.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/linear/linear_wide_arguments.hpp"
#include "kernels/gpu/quantize/byte_elements.cuh"
#include "kernels/gpu/sm90/shared_memory.cuh"
#include "kernels/gpu/sm90/warpgroup.cuh"

namespace rung::gpu {

enum NamedBarrier { kOwnGroup = 1, kBothGroups = 1 + kWideGroups, kFirstIsAhead };
__device__ inline void sync_own_group(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(kOwnGroup + group), "n"(kGroupThreads) : "memory");
}
__device__ inline void sync_both_groups(NamedBarrier which) {
  asm volatile("bar.sync %0, %1;" ::"r"(which), "n"(kWideGroups * kGroupThreads) : "memory");
}
// Arrives at a barrier without waiting for the others.
__device__ inline void arrive(NamedBarrier which) {
  asm volatile("bar.arrive %0, %1;" ::"r"(which), "n"(kWideGroups * kGroupThreads) : "memory");
}

// Stores two 8x8 matrices of 16-bit elements, held as the matrix units give them, row by row of their transposes; each
// of the first 16 lanes has the address of row lane % 8 of matrix lane / 8.
__device__ inline void store_transposed(uint32_t to, uint32_t first, uint32_t second) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(first), "r"(second)
               : "memory");
}

// Converts two pairs of f16 to four e4m3.
__device__ inline uint32_t f8_of_halves(uint32_t low, uint32_t high) {
  uint16_t first, second;
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(first) : "r"(low));
  asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(second) : "r"(high));
  return first | static_cast<uint32_t>(second) << 16;
}

// Packs two i8 into halves of 16 bits, as matrices are stored, and drops the upper bytes of eight of these.
__device__ inline uint32_t staged_integers(float first, float second) {
  return __byte_perm(static_cast<uint32_t>(nearest_i8(first)), static_cast<uint32_t>(nearest_i8(second)), 0x5410);
}
__device__ inline uint2 lower_bytes(uint4 halves) {
  return {__byte_perm(halves.x, halves.y, 0x6420), __byte_perm(halves.z, halves.w, 0x6420)};
}

// These activations of gates are accurate to some units in the last place.
__device__ inline float gate_silu(float x) { return x * fast_inverse(1.0f + fast_exp2(-1.4426950409f * x)); }
// Returns x sigmoid(2 u), as in activation.cuh.
__device__ inline float gate_gelu_tanh(float x) {
  return x * fast_inverse(1.0f + fast_exp2(x * fmaf(x * x, -0.10294324f, -2.3022082f)));
}

// These are within 2^-12 |x|, as tanh.approx is within 2^-11 (PTX ISA), which integers of 8 bits cannot tell: one
// function of the special function unit instead of two, at whose rate a tile's results come.
__device__ inline float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float coarse_silu(float x) {
  const float half = 0.5f * x;
  return fmaf(half, fast_tanh(half), half);
}
__device__ inline float coarse_gelu_tanh(float x) {
  const float half = 0.5f * x;
  return fmaf(half, fast_tanh(x * fmaf(x * x, 0.035677408f, 0.79788456f)), half);
}

// The state of a walk round the ring.
struct PipelineState {
  int stage = 0, phase = 0;
  __device__ void advance(int stages) {
    if (++stage == stages) stage = 0, phase ^= 1;
  }
};

}  // namespace rung::gpu
