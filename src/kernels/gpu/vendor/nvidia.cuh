// NVIDIA's side of portable.cuh, which documents each name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#define RUNG_KERNEL(...) extern "C" __global__ void __VA_OPT__(__launch_bounds__(__VA_ARGS__))

namespace rung::gpu {

using bf16 = __nv_bfloat16;
using f16 = __half;

// ---- lanes

inline constexpr int kLanes = 32;
__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ inline int warp() { return static_cast<int>(threadIdx.x) / kLanes; }

template <class T>
__device__ inline T shuffle(T x, int from) {
  return __shfl_sync(~0u, x, from);
}
template <class T>
__device__ inline T shuffle_xor(T x, int mask) {
  return __shfl_xor_sync(~0u, x, mask);
}
__device__ inline bool any_lane(bool x) { return __any_sync(~0u, x); }
__device__ inline void sync_warp() { __syncwarp(); }
__device__ inline void sync_block() { __syncthreads(); }

// ---- elements

template <class T>
__device__ inline T* in_memory(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

__device__ inline float as_float(uint32_t bits) { return __uint_as_float(bits); }
__device__ inline uint32_t as_bits(float x) { return __float_as_uint(x); }
__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return __bfloat162float(x); }
__device__ inline float to_float(f16 x) { return __half2float(x); }

__device__ inline float f16_bits_to_float(uint32_t bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

template <class T>
__device__ inline T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline bf16 from_float<bf16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ inline f16 from_float<f16>(float x) {
  return __float2half_rn(x);
}

template <class T>
__device__ inline uint32_t pack(float low, float high);
template <>
__device__ inline uint32_t pack<bf16>(float low, float high) {
  uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
template <>
__device__ inline uint32_t pack<f16>(float low, float high) {
  uint32_t both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

template <class T>
__device__ inline float2 unpack(uint32_t both);
template <>
__device__ inline float2 unpack<bf16>(uint32_t both) {
  return {as_float(both << 16), as_float(both & 0xffff0000u)};
}
template <>
__device__ inline float2 unpack<f16>(uint32_t both) {
  __half2 pair;
  memcpy(&pair, &both, sizeof pair);
  return __half22float2(pair);
}

using WordPair = uint2;
using WordQuad = uint4;
template <class T, int n>
__device__ inline void store_first(T* to, const T (&from)[n], int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

// ---- fast math

__device__ inline float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float fast_exp(float x) { return __expf(x); }
__device__ inline float fast_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float fast_divide(float x, float y) { return __fdividef(x, y); }

// ---- time and order

__device__ inline void pause_ns(uint32_t ns) { __nanosleep(ns); }
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
__device__ inline void prefetch_to_l2(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// ---- copies from global to shared memory that run beside the thread

// Returns the address that instructions on shared memory take.
__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// The machine makes the copies by itself, so no registers hold them.
template <int count>
struct CopyGroup {
  __device__ static void issue(void* to, const void* from, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(valid ? 16 : 0)
                 : "memory");
  }
  __device__ static void issue(int, void* to, const void* from, bool valid) { issue(to, from, valid); }
  __device__ static void end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  __device__ static void put() {}
};
template <int pending>
__device__ inline void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// ---- matrix fragments: lane l holds rows l / 4 and l / 4 + 8 of c, in columns 2 (l % 4) and the next one:
// {c[row][col], c[row][col+1], c[row+8][col], c[row+8][col+1]}. It holds {a[row][col..+1], a[row+8][col..],
// a[row][col+8..], a[row+8][col+8..]} of a.

struct FragmentA {
  uint32_t x[4];
};
struct FragmentB {
  uint32_t x[2];
};
struct FragmentC {
  float x[4] = {};
};
inline constexpr int kFragmentColumns = 8, kLaneRows = 2, kLaneColumns = 2, kRowStep = 8;
__device__ inline int fragment_row(int lane) { return lane / 4; }
__device__ inline int fragment_column(int lane) { return lane % 4 * 2; }
__device__ inline bool leads_row(int lane) { return lane % 4 == 0; }
__device__ inline float row_sum(float x) {
  x += shuffle_xor(x, 2);
  return x + shuffle_xor(x, 1);
}
__device__ inline float row_max(float x) {
  x = fmaxf(x, shuffle_xor(x, 2));
  return fmaxf(x, shuffle_xor(x, 1));
}
__device__ inline float lane_max(const FragmentC& c, int row) { return fmaxf(c.x[2 * row], c.x[2 * row + 1]); }
template <class T>
__device__ inline void store_row(T* row_begin, const FragmentC& c, int row, float factor) {
  *reinterpret_cast<uint32_t*>(row_begin + fragment_column(lane())) =
      pack<T>(c.x[2 * row] * factor, c.x[2 * row + 1] * factor);
}
__device__ inline void store_row(float* row_begin, const FragmentC& c, int row) {
  *reinterpret_cast<float2*>(row_begin + fragment_column(lane())) = {c.x[2 * row], c.x[2 * row + 1]};
}

// Loads four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8, aligned to 16.
__device__ inline void load_matrices(uint32_t (&x)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void load_matrices_transposed(uint32_t (&x)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(shared_address(row))
               : "memory");
}

template <class T>
__device__ inline FragmentA load_a(const T* a, int pitch) {
  FragmentA f;
  load_matrices(f.x, a + lane() % 16 * pitch + lane() / 16 * 8);
  return f;
}
template <class T>
__device__ inline void load_b_by_columns(FragmentB (&b)[2], const T* n, int pitch) {
  uint32_t x[4];
  load_matrices(x, n + (lane() % 8 + lane() / 16 * 8) * pitch + lane() / 8 % 2 * 8);
  b[0] = {x[0], x[1]}, b[1] = {x[2], x[3]};
}
template <class T>
__device__ inline void load_b_by_rows(FragmentB (&b)[2], const T* k, int pitch) {
  uint32_t x[4];
  load_matrices_transposed(x, k + lane() % 16 * pitch + lane() / 16 * 8);
  b[0] = {x[0], x[1]}, b[1] = {x[2], x[3]};
}

template <class T>
__device__ inline void multiply_add(FragmentC& c, const FragmentA& a, const FragmentB& b);
template <>
__device__ inline void multiply_add<bf16>(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
}
template <>
__device__ inline void multiply_add<f16>(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c.x[0]), "+f"(c.x[1]), "+f"(c.x[2]), "+f"(c.x[3])
               : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
}

template <class T>
__device__ inline void multiply_add_16(FragmentC* c, const FragmentA& a, const FragmentB (&b)[2]) {
  multiply_add<T>(c[0], a, b[0]);
  multiply_add<T>(c[1], a, b[1]);
}

template <class T>
__device__ inline FragmentA a_from_c(const FragmentC* c) {
  return {{pack<T>(c[0].x[0], c[0].x[1]), pack<T>(c[0].x[2], c[0].x[3]), pack<T>(c[1].x[0], c[1].x[1]),
           pack<T>(c[1].x[2], c[1].x[3])}};
}

}  // namespace rung::gpu

#include "kernels/gpu/vendor/nvidia_f8.cuh"
