// What kernels take from the machine (lanes, shuffles, element types, async copies, matrix fragments, ordering between
// kernels), so that another GPU family is a second version of this header only.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace rung::gpu {

using bf16 = __nv_bfloat16;
using f16 = __half;

// ---- lanes

inline constexpr int kLanes = 32;
__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ inline int warp() { return static_cast<int>(threadIdx.x) / kLanes; }  // within the block

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

// Over `width` neighbouring lanes (a power of two); every lane gets the result, in the same order of additions.
template <int width = kLanes>
__device__ inline float lanes_sum(float x) {
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) x += shuffle_xor(x, step);
  return x;
}
template <int width = kLanes>
__device__ inline float lanes_max(float x) {
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) x = fmaxf(x, shuffle_xor(x, step));
  return x;
}

// ---- elements

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(bf16 x) { return __bfloat162float(x); }
__device__ inline float to_float(f16 x) { return __half2float(x); }

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

// Two neighbouring elements in one register, `low` first in memory.
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
  return {__uint_as_float(both << 16), __uint_as_float(both & 0xffff0000u)};
}
template <>
__device__ inline float2 unpack<f16>(uint32_t both) {
  __half2 pair;
  memcpy(&pair, &both, sizeof pair);
  return __half22float2(pair);
}

// 2^x, to 2 units in the last place; 0 for -inf.
__device__ inline float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / x, to one unit in the last place.
__device__ inline float fast_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// About so long, for this warp.
__device__ inline void pause_ns(uint32_t ns) { __nanosleep(ns); }

// ---- ordering between kernels of one stream

// Until all kernels before this one have ended and their writes can be seen. Without a dependent launch: nothing.
__device__ inline void wait_for_producers() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The next kernel may start when every block has called this or ended; it waits for the end of this one inside.
__device__ inline void allow_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Asks for the line of memory at `p` without waiting: for weights, before wait_for_producers().
__device__ inline void prefetch_to_l2(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// ---- copies from global to shared memory that run beside the thread

__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// 16 bytes, both addresses aligned to 16; zeros if not `valid`, and then nothing is read.
__device__ inline void copy_async_16(void* to, const void* from, bool valid = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most `pending` of this thread's last groups are under way. Other threads' copies need a barrier as well.
template <int pending>
__device__ inline void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// ---- matrix fragments of one warp: c[16,8] += a[16,16] b[16,8], a and b of 16-bit elements, sums in f32
// Lane l holds of c: rows l/4 and l/4 + 8, columns 2(l%4) and the next: {c[row][col], c[row][col+1], c[row+8][col],
// c[row+8][col+1]}. Of a: {a[row][col..+1], a[row+8][col..], a[row][col+8..], a[row+8][col+8..]}.

struct FragmentA {
  uint32_t x[4];
};
struct FragmentB {
  uint32_t x[2];
};
struct FragmentC {
  float x[4] = {};
};

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8, aligned to 16.
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

// a[16,16] from shared memory, `pitch` elements from row to row.
template <class T>
__device__ inline FragmentA load_a(const T* a, int pitch) {
  FragmentA f;
  load_matrices(f.x, a + lane() % 16 * pitch + lane() / 16 * 8);
  return f;
}
// Two b[16,8] side by side, columns 0-7 and 8-15, from a matrix that holds b's columns as rows: n[16 columns][16].
template <class T>
__device__ inline void load_b_by_columns(FragmentB (&b)[2], const T* n, int pitch) {
  uint32_t x[4];
  load_matrices(x, n + (lane() % 8 + lane() / 16 * 8) * pitch + lane() / 8 % 2 * 8);
  b[0] = {x[0], x[1]}, b[1] = {x[2], x[3]};
}
// The same from a matrix that holds b's rows as rows: k[16][16 columns].
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

// Two neighbouring results as the operand a of the next product, rounded to T.
template <class T>
__device__ inline FragmentA a_from_c(const FragmentC& left, const FragmentC& right) {
  return {{pack<T>(left.x[0], left.x[1]), pack<T>(left.x[2], left.x[3]), pack<T>(right.x[0], right.x[1]),
           pack<T>(right.x[2], right.x[3])}};
}

}  // namespace rung::gpu
