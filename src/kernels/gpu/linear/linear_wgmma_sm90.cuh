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
// Describes a box of rows of 128 bytes, 128-byte swizzled and 1024-byte aligned; adding 2 steps 32 bytes on.
__device__ inline uint64_t wgmma_operand(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

// d[64 x rows] += a[64 x k] b[rows x k]', where rows of k elements have 32 bytes: d[4j + 2h + i] of lane l of warp w is
// of row 16w + l/4 + 8h of a and row 8j + 2(l%4) + i of b. Sums are in f32, but those of 8-bit products keep about 14
// bits.
template <class T, int rows>
struct Wgmma;
#define RUNG_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define RUNG_D16(i) RUNG_D4(i), RUNG_D4(i + 4), RUNG_D4(i + 8), RUNG_D4(i + 12)
#define RUNG_R0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define RUNG_R16 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RUNG_R32 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define RUNG_R48 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define RUNG_R64 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define RUNG_R80 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define RUNG_R96 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define RUNG_R112 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define RUNG_D64(i) RUNG_D16(i), RUNG_D16(i + 16), RUNG_D16(i + 32), RUNG_D16(i + 48)
#define RUNG_WGMMA_OF(T, type, depth, transposes, rows, registers, from, to, ...)                              \
  template <>                                                                                                  \
  struct Wgmma<T, rows> {                                                                                      \
    static __device__ __forceinline__ void run(float* d, uint64_t a, uint64_t b) {                             \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #rows depth ".f32." type "." type " {" registers "}, "  \
                   from ", " to ", 1, 1, 1" transposes ";"                                                     \
                   : __VA_ARGS__                                                                               \
                   : "l"(a), "l"(b));                                                                          \
    }                                                                                                          \
  };
#define RUNG_WGMMA(...)                                    \
  RUNG_WGMMA_OF(bf16, "bf16", "k16", ", 0, 0", __VA_ARGS__) \
  RUNG_WGMMA_OF(f16, "f16", "k16", ", 0, 0", __VA_ARGS__)   \
  RUNG_WGMMA_OF(f8e4m3, "e4m3", "k32", "", __VA_ARGS__)
RUNG_WGMMA(16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", RUNG_D4(0), RUNG_D4(4))
RUNG_WGMMA(32, RUNG_R0, "%16", "%17", RUNG_D16(0))
RUNG_WGMMA(40, RUNG_R0 ", %16, %17, %18, %19", "%20", "%21", RUNG_D16(0), RUNG_D4(16))
RUNG_WGMMA(64, RUNG_R0 ", " RUNG_R16, "%32", "%33", RUNG_D16(0), RUNG_D16(16))
RUNG_WGMMA(104, RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", %48, %49, %50, %51", "%52", "%53", RUNG_D16(0), RUNG_D16(16),
           RUNG_D16(32), RUNG_D4(48))
RUNG_WGMMA(112, RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", %48, %49, %50, %51, %52, %53, %54, %55", "%56", "%57",
           RUNG_D16(0), RUNG_D16(16), RUNG_D16(32), RUNG_D4(48), RUNG_D4(52))
RUNG_WGMMA(128, RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", " RUNG_R48, "%64", "%65", RUNG_D64(0))
RUNG_WGMMA(136, RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", " RUNG_R48 ", %64, %65, %66, %67", "%68", "%69", RUNG_D64(0),
           RUNG_D4(64))
RUNG_WGMMA(192, RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", " RUNG_R48 ", " RUNG_R64 ", " RUNG_R80, "%96", "%97",
           RUNG_D64(0), RUNG_D16(64), RUNG_D16(80))
RUNG_WGMMA(208,
           RUNG_R0 ", " RUNG_R16 ", " RUNG_R32 ", " RUNG_R48 ", " RUNG_R64 ", " RUNG_R80
                   ", %96, %97, %98, %99, %100, %101, %102, %103",
           "%104", "%105", RUNG_D64(0), RUNG_D16(64), RUNG_D16(80), RUNG_D4(96), RUNG_D4(100))

}  // namespace rung::gpu
