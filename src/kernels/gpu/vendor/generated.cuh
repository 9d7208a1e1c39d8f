// The machine that generated kernels see, in few names, so that a compiler at run time needs no header of a vendor.
// SPDX-License-Identifier: Apache-2.0
// Three compilers read it: NVRTC, hiprtc, and clang for AMD without the vendor's headers, for which functions on floats
// stand in amd_math.cuh.
//
//   RUNG_KERNEL(threads) name(RungArguments a)   an entry of the module
//   kLanes                                       threads in lock-step
//   thread_in_block(), block_index()
//   lane_value(x, mask)                          x of the lane whose number differs in the bits of `mask`
//   value_of_lane(x, lane)                       lanes count on from the last to the first
//   sync_block()
//   wait_for_producers(), allow_dependents()     as portable.cuh has them: kernels of one stream overlap
//   to_float(x), from_float<T>(x)                Bf16, F16, float, bool as Flag, and int64_t to write
//   formula_WORD(x, y)                           of integers: int or int64_t
//   in_memory<T>(address)
//   store_atomic(to, word)                       a store that several blocks may make at once
#pragma once

using uint16_t = unsigned short;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

#if defined(__HIP__) && !defined(__HIPCC_RTC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define INFINITY __builtin_inff()
#include "amd_math.cuh"
__device__ inline float rintf(float x) { return __builtin_rintf(x); }
__device__ inline float floorf(float x) { return __builtin_floorf(x); }
__device__ inline float ceilf(float x) { return __builtin_ceilf(x); }
__device__ inline float truncf(float x) { return __builtin_truncf(x); }
#endif

#if defined(__HIP__) || defined(__HIPCC_RTC__)

#define RUNG_KERNEL(threads) \
  extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(threads, threads)))
inline constexpr int kLanes = 64;
__device__ inline uint32_t thread_in_block() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline uint32_t block_index() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline float value_of_lane(float x, int lane) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, x)));
}
__device__ inline float lane_value(float x, int mask) {
  return value_of_lane(x, static_cast<int>(thread_in_block()) % kLanes ^ mask);
}
__device__ inline void sync_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_waitcnt(0xc07f);  // shared memory is done; clang 22 drops the fence's own wait behind some loops
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ inline void wait_for_producers() {}
__device__ inline void allow_dependents() {}
template <class T>
__device__ inline T* in_memory(uint64_t address) {
  return (T*)(__attribute__((address_space(1))) T*)address;
}
struct F16 {
  _Float16 value;
};
__device__ inline float to_float(F16 x) { return static_cast<float>(x.value); }
__device__ inline F16 half_of(float x) { return {static_cast<_Float16>(x)}; }
__device__ inline uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
__device__ inline float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

#else

#define RUNG_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define INFINITY __int_as_float(0x7f800000)
inline constexpr int kLanes = 32;
__device__ inline uint32_t thread_in_block() { return threadIdx.x; }
__device__ inline uint32_t block_index() { return blockIdx.x; }
__device__ inline float value_of_lane(float x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ inline float lane_value(float x, int mask) { return __shfl_xor_sync(~0u, x, mask); }
__device__ inline void sync_block() { __syncthreads(); }
__device__ inline void wait_for_producers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void allow_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
template <class T>
__device__ inline T* in_memory(uint64_t address) {
  return reinterpret_cast<T*>(address);
}
struct F16 {
  uint16_t bits;
};
__device__ inline float to_float(F16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ inline F16 half_of(float x) {
  F16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
__device__ inline uint32_t bits_of(float x) { return __float_as_uint(x); }
__device__ inline float float_of(uint32_t bits) { return __uint_as_float(bits); }

#endif

struct Bf16 {
  uint16_t bits;
};
struct Flag {
  unsigned char value;
};
__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(Bf16 x) { return float_of(static_cast<uint32_t>(x.bits) << 16); }
__device__ inline float to_float(Flag x) { return x.value; }

template <class T>
struct As {};
__device__ inline float made(As<float>, float x) { return x; }
__device__ inline F16 made(As<F16>, float x) { return half_of(x); }
__device__ inline Bf16 made(As<Bf16>, float x) {
#if __CUDA_ARCH__ >= 900
  Bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
#else
  const uint32_t bits = bits_of(x), even = bits >> 16 & 1;
  return {static_cast<uint16_t>(x != x ? 0x7fc0 : (bits + 0x7fff + even) >> 16)};
#endif
}
__device__ inline Flag made(As<Flag>, float x) { return {static_cast<unsigned char>(x != 0.0f)}; }
__device__ inline int64_t made(As<int64_t>, float x) { return static_cast<int64_t>(x); }
template <class T>
__device__ inline T from_float(float x) {
  return made(As<T>(), x);
}

// Elements that are loaded and stored together, in accesses of at most 16 bytes.
template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Pack {
  T x[n];
};

// Operations that a compiler must not join to a fused one: formulas use what each of them rounds off.
#if defined(__HIP__) || defined(__HIPCC_RTC__)
#pragma clang fp contract(off)
__device__ inline float sum_of(float x, float y) { return x + y; }
__device__ inline float difference_of(float x, float y) { return x - y; }
__device__ inline float product_of(float x, float y) { return x * y; }
__device__ inline float quotient_of(float x, float y) { return x / y; }
#pragma clang fp contract(fast)
#else
__device__ inline float sum_of(float x, float y) { return __fadd_rn(x, y); }
__device__ inline float difference_of(float x, float y) { return __fsub_rn(x, y); }
__device__ inline float product_of(float x, float y) { return __fmul_rn(x, y); }
__device__ inline float quotient_of(float x, float y) { return __fdiv_rn(x, y); }
#endif
// Returns a whole number as the bits of an i32; one that is none is the least.
__device__ inline uint32_t whole_of(float x) {
  return x >= -2147483648.0f && x < 2147483648.0f ? static_cast<uint32_t>(static_cast<int>(x)) : 0x80000000u;
}

// The largest value of a part of a row, and its place in the row; NaN is larger than every number.
struct Largest {
  float value, place;
};
// Returns the larger one, of equal ones the first in the row.
__device__ inline Largest first_largest(Largest x, Largest y) {
  const bool x_is_nan = x.value != x.value, y_is_nan = y.value != y.value;
  const bool larger = x_is_nan ? !y_is_nan : x.value > y.value;
  const bool equal = x_is_nan ? y_is_nan : x.value == y.value;
  return larger || (equal && x.place < y.place) ? x : y;
}
__device__ inline Largest lane_value(Largest x, int mask) {
  return {lane_value(x.value, mask), lane_value(x.place, mask)};
}

struct Sum {
  __device__ float operator()(float x, float y) const { return x + y; }
};
struct Product {
  __device__ float operator()(float x, float y) const { return x * y; }
};
// Returns `carry` joined with the values of all threads of a row before this one, and joins those of all with `carry`.
// A row is a warp's, a part of a warp's or, with room for a value of each warp, a block's.
template <int threads, class Join>
__device__ inline float scan_before(float mine, float& carry, const Join& join, [[maybe_unused]] float* room) {
  constexpr int kGroup = threads < kLanes ? threads : kLanes;
  const int lane = static_cast<int>(thread_in_block()) % kLanes, own = lane % kGroup;
  for (int distance = 1; distance < kGroup; distance *= 2) {
    const float other = value_of_lane(mine, lane - distance);
    if (own >= distance) mine = join(other, mine);
  }
  const float lanes_before = value_of_lane(mine, lane - 1);
  float before = carry;
  if constexpr (threads <= kLanes) {
    carry = join(carry, value_of_lane(mine, lane - own + kGroup - 1));
  } else {
    const int warp = static_cast<int>(thread_in_block()) / kLanes;
    if (lane == kLanes - 1) room[warp] = mine;
    sync_block();
    for (int w = 0; w < threads / kLanes; ++w) {
      carry = join(carry, room[w]);
      if (w + 1 == warp) before = carry;
    }
    sync_block();
  }
  return own == 0 ? before : join(before, lanes_before);
}

__device__ inline float max_of(float x, float y) { return x > y || x != x ? x : y; }
__device__ inline float min_of(float x, float y) { return x < y || x != x ? x : y; }
__device__ inline float gelu_tanh(float x) {
  const float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);  // 0.5 x (1 + tanh(u)) is x sigmoid(2 u)
  return x / (1.0f + expf(-2.0f * u));
}

#include "integers.cuh"
#include "store_atomic.cuh"
