// AMD's side of portable.cuh, for CDNA: 64 lanes, matrix fused multiply-adds, copies that registers hold, no dependent
// launch. It compiles without headers of the vendor (cmake/gpu_modules.cmake); no part has run on a device yet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// ---- names that CUDA's compiler gives every file by itself; here the compiler is told to include this file first

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __noinline__  // a call would cost scratch memory for the caller's values
#define INFINITY __builtin_inff()

// Without a bound the compiler uses only the registers that 1024 threads leave each; it ignores launch_bounds.
#define RUNG_FIRST(threads, ...) threads
#define RUNG_BOUND(...) __attribute__((amdgpu_flat_work_group_size(1, (RUNG_FIRST(__VA_ARGS__)))))
#define RUNG_KERNEL(...) extern "C" __global__ void __VA_OPT__(RUNG_BOUND(__VA_ARGS__))

struct Index3 {
  uint32_t x, y, z;
};
#define threadIdx \
  (Index3{__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()})
#define blockIdx \
  (Index3{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()})
#define blockDim                                                              \
  (Index3{__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), \
          __builtin_amdgcn_workgroup_size_z()})
// The first hidden argument, of code objects from version 5 on.
#define gridDim (*(const Index3 __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr())

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
__device__ inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
__device__ inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
template <class T>
__device__ constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
__device__ constexpr T max(T a, T b) {
  return a < b ? b : a;
}

#include "kernels/gpu/vendor/amd_math.cuh"

namespace rung::gpu {

// ---- lanes

inline constexpr int kLanes = 64;
__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ inline int warp() { return __builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x) / kLanes); }

template <class T>
__device__ inline T shuffle(T x, int from) {
  static_assert(sizeof(T) % 4 == 0);
  int word[sizeof(T) / 4];
  __builtin_memcpy(word, &x, sizeof x);
#pragma unroll
  for (int& w : word) w = __builtin_amdgcn_ds_bpermute(from * 4, w);
  __builtin_memcpy(&x, word, sizeof x);
  return x;
}
template <class T>
__device__ inline T shuffle_xor(T x, int mask) {
  return shuffle(x, lane() ^ mask);
}
__device__ inline bool any_lane(bool x) { return __builtin_amdgcn_uicmp(static_cast<int>(x), 0, 33) != 0; }
__device__ inline void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
// The fence includes the wait, but clang 22 drops it if no access is under way when a loop is entered, although the
// loop's own end writes shared memory (llvm/llvm-project#211684).
__device__ inline void sync_block() {
  constexpr int kSharedMemoryDone = 0xc07f;  // lgkmcnt(0), no other counter
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_waitcnt(kSharedMemoryDone);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// ---- elements

// For an unknown address the compiler makes flat accesses, which check each time whether it lies in global memory, LDS
// or scratch, and take part in the waits for LDS.
template <class T>
__device__ inline T* in_memory(uint64_t address) {
  return (T*)(__attribute__((address_space(1))) T*)address;
}

using f16 = _Float16;
// bf16 is kept as bits, because not every compiler of this target converts its own bf16 type.
struct bf16 {
  uint16_t bits;
};
__device__ inline float as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
__device__ inline uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }
__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return as_float(uint32_t{x.bits} << 16); }
__device__ inline float to_float(f16 x) { return static_cast<float>(x); }
__device__ inline float f16_bits_to_float(uint32_t bits) {
  return to_float(__builtin_bit_cast(f16, static_cast<uint16_t>(bits)));
}
template <class T>
__device__ inline T from_float(float x) {
  if constexpr (__is_same(T, bf16)) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x), even = bits >> 16 & 1;
    return {static_cast<uint16_t>(x != x ? 0x7fc0 : (bits + 0x7fff + even) >> 16)};
  } else {
    return static_cast<T>(x);
  }
}
template <class T>
__device__ inline uint32_t pack(float low, float high) {
  const T both[] = {from_float<T>(low), from_float<T>(high)};
  uint32_t word;
  __builtin_memcpy(&word, both, sizeof word);
  return word;
}
template <class T>
__device__ inline float2 unpack(uint32_t both) {
  T pair[2];
  __builtin_memcpy(pair, &both, sizeof both);
  return {to_float(pair[0]), to_float(pair[1])};
}

// The types are no structures: the compiler keeps structures that are copied under a condition in scratch memory.
using WordPair = uint32_t __attribute__((ext_vector_type(2)));
using WordQuad = uint32_t __attribute__((ext_vector_type(4)));
// The loop chooses no register by an index known only at run time, which would put the array into scratch memory.
template <class T, int n>
__device__ inline void store_first(T* to, const T (&from)[n], int count) {
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (i < count) to[i] = from[i];
}

// ---- fast math

__device__ inline float fast_exp2(float x) { return __builtin_exp2f(x); }
__device__ inline float fast_exp(float x) { return fast_exp2(x * 1.4426950408889634f); }
__device__ inline float fast_inverse(float x) { return __builtin_amdgcn_rcpf(x); }
__device__ inline float fast_divide(float x, float y) { return x * fast_inverse(y); }

// ---- time and order: kernels do not overlap

__device__ inline void pause_ns(uint32_t) { __builtin_amdgcn_s_sleep(1); }  // 64 clocks
__device__ inline void wait_for_producers() {}
__device__ inline void allow_dependents() {}
__device__ inline void prefetch_to_l2(const void*) {}

// ---- copies to shared memory: registers hold the loaded bytes. Only CDNA 4 copies 16 bytes of each lane by itself,
// and then to consecutive places of a wave (cdna/wave_copies.cuh).

template <int count>
class CopyGroup {
 public:
  __device__ static void issue(void* to, const void* from, bool valid) {
    *static_cast<uint4*>(to) = valid ? *static_cast<const uint4*>(from) : uint4{};
  }
  __device__ void issue(int i, void* to, const void* from, bool valid) {
    to_[i] = (Place)to;
    if (valid) held_[i] = *static_cast<const WordQuad*>(from);
    holds_ = true;
  }
  __device__ static void end() {}
  __device__ void put() const {
    if (!holds_) return;
#pragma unroll
    for (int i = 0; i < count; ++i) *to_[i] = held_[i];
  }

 private:
  using Place = __attribute__((address_space(3))) WordQuad*;
  // Zeros stand for copies that are not valid, and at the beginning of each group: otherwise the compiler would move
  // the values of the group before from register to register, and wait for their copies to do so.
  Place to_[count] = {};
  WordQuad held_[count] = {};
  bool holds_ = false;
};
template <int pending>
__device__ inline void wait_for_groups() {}

// ---- matrix fragments. Products are made transposed (our columns are the instruction's rows), so that a lane has one
// line, lane % 16, of each of a, b and c, and the four elements of this line from 4 (lane / 16) on: c can be the
// operand a of the next product as it is.

using Half4 = __attribute__((ext_vector_type(4))) _Float16;
using Short4 = __attribute__((ext_vector_type(4))) short;
using Float4 = __attribute__((ext_vector_type(4))) float;

struct FragmentA {
  uint2 x;
};
struct FragmentB {
  uint2 x;
};
struct FragmentC {
  float x[4] = {};
};
inline constexpr int kFragmentColumns = 16, kLaneRows = 1, kLaneColumns = 4, kRowStep = 16;
__device__ inline int fragment_row(int lane) { return lane % 16; }
__device__ inline int fragment_column(int lane) { return lane / 16 * 4; }
__device__ inline bool leads_row(int lane) { return lane < 16; }
__device__ inline float row_sum(float x) {
  x += shuffle_xor(x, 16);
  return x + shuffle_xor(x, 32);
}
__device__ inline float row_max(float x) {
  x = fmaxf(x, shuffle_xor(x, 16));
  return fmaxf(x, shuffle_xor(x, 32));
}
__device__ inline float lane_max(const FragmentC& c, int) {
  return fmaxf(fmaxf(c.x[0], c.x[1]), fmaxf(c.x[2], c.x[3]));
}

template <class T>
__device__ inline FragmentA load_a(const T* a, int pitch) {
  return {*reinterpret_cast<const uint2*>(a + lane() % 16 * pitch + lane() / 16 * 4)};
}
template <class T>
__device__ inline void load_b_by_columns(FragmentB (&b)[1], const T* n, int pitch) {
  b[0] = {*reinterpret_cast<const uint2*>(n + lane() % 16 * pitch + lane() / 16 * 4)};
}
template <class T>
__device__ inline void load_b_by_rows(FragmentB (&b)[1], const T* k, int pitch) {
  uint16_t x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    x[i] = *reinterpret_cast<const uint16_t*>(k + (lane() / 16 * 4 + i) * pitch + lane() % 16);
  __builtin_memcpy(&b[0].x, x, sizeof x);
}

template <class T>
__device__ inline void multiply_add_16(FragmentC* c, const FragmentA& a, const FragmentB (&b)[1]) {
  Float4 sum = __builtin_bit_cast(Float4, c->x);
  if constexpr (__is_same(T, bf16))
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Short4, b->x), __builtin_bit_cast(Short4, a.x),
                                                    sum, 0, 0, 0);
  else
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Half4, b->x), __builtin_bit_cast(Half4, a.x), sum,
                                                0, 0, 0);
  __builtin_memcpy(c->x, &sum, sizeof sum);
}

template <class T>
__device__ inline FragmentA a_from_c(const FragmentC* c) {
  return {{pack<T>(c->x[0], c->x[1]), pack<T>(c->x[2], c->x[3])}};
}
template <class T>
__device__ inline void store_row(T* row_begin, const FragmentC& c, int, float factor) {
  *reinterpret_cast<uint2*>(row_begin + fragment_column(lane())) = {pack<T>(c.x[0] * factor, c.x[1] * factor),
                                                              pack<T>(c.x[2] * factor, c.x[3] * factor)};
}
__device__ inline void store_row(float* row_begin, const FragmentC& c, int) {
  *reinterpret_cast<float4*>(row_begin + fragment_column(lane())) = {c.x[0], c.x[1], c.x[2], c.x[3]};
}

}  // namespace rung::gpu

#include "kernels/gpu/vendor/amd_f8.cuh"
