// Matrix products of a warpgroup with both operands in shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `pending` groups are still running.
template <int pending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Keeps the compiler from computing with these sums before a wait for them.
template <int n>
__device__ inline void hold_sums(float (&d)[n]) {
#pragma unroll
  for (float& x : d) asm volatile("" : "+f"(x)::"memory");
}
template <int n>
__device__ inline void hold_sums(int32_t (&d)[n]) {
#pragma unroll
  for (int32_t& x : d) asm volatile("" : "+r"(x)::"memory");
}
// Describes a box of rows of 128 bytes, 128-byte swizzled and 1024-byte aligned; adding 2 steps 32 bytes on.
__device__ inline uint64_t wgmma_operand(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

// The type of the sums of products of T.
template <class T>
struct ProductSum { using type = float; };
template <>
struct ProductSum<int8_t> { using type = int32_t; };

// d[64 x rows] += a[64 x k] b[rows x k]', where rows of k elements have 32 bytes: d[4j + 2h + i] of lane l of warp w is
// of row 16w + l/4 + 8h of a and row 8j + 2(l%4) + i of b. Sums are in f32, but those of products of floats of 8 bits
// keep about 14 bits; those of integers are exact. Integers have no instruction for rows of some multiples of eight.
template <class T, int rows>
struct Wgmma;
#define RUNG_D4(of, i) of(d[i]), of(d[i + 1]), of(d[i + 2]), of(d[i + 3])
#define RUNG_D16(of, i) RUNG_D4(of, i), RUNG_D4(of, i + 4), RUNG_D4(of, i + 8), RUNG_D4(of, i + 12)
#define RUNG_R0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define RUNG_R16 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RUNG_R32 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define RUNG_R48 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define RUNG_R64 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define RUNG_R80 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define RUNG_D64(of, i) RUNG_D16(of, i), RUNG_D16(of, i + 16), RUNG_D16(of, i + 32), RUNG_D16(of, i + 48)
#define RUNG_OF_16(of) RUNG_D4(of, 0), RUNG_D4(of, 4)
#define RUNG_OF_32(of) RUNG_D16(of, 0)
#define RUNG_OF_40(of) RUNG_D16(of, 0), RUNG_D4(of, 16)
#define RUNG_OF_64(of) RUNG_D16(of, 0), RUNG_D16(of, 16)
#define RUNG_OF_104(of) RUNG_D16(of, 0), RUNG_D16(of, 16), RUNG_D16(of, 32), RUNG_D4(of, 48)
#define RUNG_OF_112(of) RUNG_OF_104(of), RUNG_D4(of, 52)
#define RUNG_OF_128(of) RUNG_D64(of, 0)
#define RUNG_OF_136(of) RUNG_D64(of, 0), RUNG_D4(of, 64)
#define RUNG_OF_144(of) RUNG_OF_136(of), RUNG_D4(of, 68)
#define RUNG_OF_192(of) RUNG_D64(of, 0), RUNG_D16(of, 64), RUNG_D16(of, 80)
#define RUNG_OF_208(of) RUNG_OF_192(of), RUNG_D4(of, 96), RUNG_D4(of, 100)
#define RUNG_FLOAT_SUM(x) "+f"(x)
#define RUNG_INTEGER_SUM(x) "+r"(x)

#define RUNG_WGMMA_OF(T, types, depth, scales, of, rows, registers, from, to)                                       \
  template <>                                                                                                       \
  struct Wgmma<T, rows> {                                                                                           \
    static __device__ __forceinline__ void run(ProductSum<T>::type* d, uint64_t a, uint64_t b) {                    \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #rows depth types                                            \
                   " {" registers "}, " from ", " to ", 1" scales ";"                                               \
                   : RUNG_OF_##rows(of)                                                                             \
                   : "l"(a), "l"(b));                                                                               \
    }                                                                                                               \
  };
#define RUNG_WGMMA_INTEGERS(...) RUNG_WGMMA_OF(int8_t, ".s32.s8.s8", "k32", "", RUNG_INTEGER_SUM, __VA_ARGS__)
#define RUNG_WGMMA_FLOATS(...)                                                                       \
  RUNG_WGMMA_OF(bf16, ".f32.bf16.bf16", "k16", ", 1, 1, 0, 0", RUNG_FLOAT_SUM, __VA_ARGS__)          \
  RUNG_WGMMA_OF(f16, ".f32.f16.f16", "k16", ", 1, 1, 0, 0", RUNG_FLOAT_SUM, __VA_ARGS__)             \
  RUNG_WGMMA_OF(f8e4m3, ".f32.e4m3.e4m3", "k32", ", 1, 1", RUNG_FLOAT_SUM, __VA_ARGS__)
#define RUNG_WGMMA(...) RUNG_WGMMA_FLOATS(__VA_ARGS__) RUNG_WGMMA_INTEGERS(__VA_ARGS__)
#define RUNG_R96_TO_103 "%96, %97, %98, %99, %100, %101, %102, %103"
#define RUNG_R64_TO_95 RUNG_R64 ", " RUNG_R80
#define RUNG_R0_TO_63 RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", " RUNG_R48
#define RUNG_R0_TO_51 RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", %48, %49, %50, %51"
#define RUNG_R0_TO_67 RUNG_R0_TO_63 ", %64, %65, %66, %67"
RUNG_WGMMA(16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9")
RUNG_WGMMA(32, RUNG_R0, "%16", "%17")
RUNG_WGMMA_FLOATS(40, RUNG_R0 ", %16, %17, %18, %19", "%20", "%21")
RUNG_WGMMA(64, RUNG_R0 ", " RUNG_R16, "%32", "%33")
RUNG_WGMMA_FLOATS(104, RUNG_R0_TO_51, "%52", "%53")
RUNG_WGMMA(112, RUNG_R0_TO_51 ", %52, %53, %54, %55", "%56", "%57")
RUNG_WGMMA(128, RUNG_R0_TO_63, "%64", "%65")
RUNG_WGMMA_FLOATS(136, RUNG_R0_TO_67, "%68", "%69")
RUNG_WGMMA_INTEGERS(144, RUNG_R0_TO_67 ", %68, %69, %70, %71", "%72", "%73")
RUNG_WGMMA(192, RUNG_R0_TO_63 ", " RUNG_R64_TO_95, "%96", "%97")
RUNG_WGMMA(208, RUNG_R0_TO_63 ", " RUNG_R64_TO_95 ", " RUNG_R96_TO_103, "%104", "%105")

}  // namespace rung::gpu
