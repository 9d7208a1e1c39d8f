// Products of a whole warpgroup (four warps) whose operands the matrix units read from shared memory by themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/sm90/warpgroup.cuh"

namespace rung::gpu {

template <class T>
inline constexpr bool kIsBf16 = false;
template <>
inline constexpr bool kIsBf16<bf16> = true;

// ---- operands in shared memory: panels of rows of 64 16-bit elements (128 bytes); panels begin at multiples of 1024,
// and their chunks of 16 bytes are exchanged as by a TileMap

// Returns the place of element 8 * chunk of a row, in bytes from its panel.
__device__ inline int swizzled(int row, int chunk) { return row * 128 + (chunk ^ (row & 7)) * 16; }

// Returns the descriptor of an operand. `panel_bytes`: from one panel to the next, for operands read across their rows.
__device__ inline uint64_t panel_descriptor(uint32_t address, uint32_t panel_bytes) {
  constexpr uint64_t kEightRows = 1024 >> 4, kSwizzle128 = 1;
  return (address & 0x3FFFF) >> 4 | uint64_t{panel_bytes >> 4} << 16 | kEightRows << 32 | kSwizzle128 << 62;
}

// Returns the descriptor `bytes` further on in the same panels: an addition to its lower word, where
// panel_descriptor() takes several instructions.
__device__ inline uint64_t advance(uint64_t descriptor, uint32_t bytes) {
  return (descriptor & ~uint64_t{0xFFFFFFFF}) | (static_cast<uint32_t>(descriptor) + (bytes >> 4));
}

// ---- ordering

// Makes this thread's finished copies visible to the matrix units, after a barrier of the threads that copied.
__device__ inline void fence_for_matrix_units() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Makes registers written so far valid operands of the next products.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `pending` of the last groups are under way.
template <int pending>
__device__ inline void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Keeps the compiler from moving results across this point.
template <int n>
__device__ inline void pin(FragmentC (&c)[n]) {
#pragma unroll
  for (FragmentC& f : c)
#pragma unroll
    for (float& x : f.x) asm volatile("" : "+f"(x)::"memory");
}
// Keeps a later wait for products behind the computation of `x`, which is not below 0: the assembler knows no order
// between the two and would move the wait up, after which nothing runs beside the products.
__device__ inline void hold(float x) {
  if (any_lane(x < 0.0f)) asm volatile("nanosleep.u32 0;");
}

// ---- products; a warp's fragments of c as in portable.cuh, for its 16 of the 64 rows

#define RUNG_C1(i) "+f"(c[i].x[0]), "+f"(c[i].x[1]), "+f"(c[i].x[2]), "+f"(c[i].x[3])
#define RUNG_C2(i) RUNG_C1(i), RUNG_C1((i) + 1)
#define RUNG_C4(i) RUNG_C2(i), RUNG_C2((i) + 2)
#define RUNG_C8(i) RUNG_C4(i), RUNG_C4((i) + 4)
#define RUNG_C16(i) RUNG_C8(i), RUNG_C8((i) + 8)
#define RUNG_C32(i) RUNG_C16(i), RUNG_C16((i) + 16)
#define RUNG_NAMES_24 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23"
#define RUNG_NAMES_32 RUNG_NAMES_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define RUNG_NAMES_40 RUNG_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define RUNG_NAMES_64                                                                          \
  RUNG_NAMES_40                                                                                \
  ", %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57" \
  ", %58, %59, %60, %61, %62, %63"
#define RUNG_NAMES_128                                                                         \
  RUNG_NAMES_64                                                                                \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81" \
  ", %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99" \
  ", %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114" \
  ", %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define RUNG_FROM_REGISTERS(n, type, names, a0, a1, a2, a3, b_name, ...)                                              \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" names "}, {%" a0 ", %" a1 ", %" a2 \
               ", %" a3 "}, %" b_name ", 1, 1, 1, 1;"                                                                 \
               : __VA_ARGS__                                                                                          \
               : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "l"(b)                                           \
               : "memory")
#define RUNG_FROM_SHARED(n, type, names, a_name, b_name, accumulate_name, ...)                                  \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" accumulate_name ", 0;\nwgmma.mma_async.sync.aligned.m64n" n \
               "k16.f32." type "." type " {" names "}, %" a_name ", %" b_name ", p, 1, 1, 0, 0;\n}"             \
               : __VA_ARGS__                                                                                    \
               : "l"(a), "l"(b), "r"(accumulate)                                                                \
               : "memory")

// c[64,n] = a[64,16] b[16,n], or += ; both have descriptors, with rows along the 16.
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[6], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_SHARED("48", "bf16", RUNG_NAMES_24, "24", "25", "26", RUNG_C4(0), RUNG_C2(4));
  else
    RUNG_FROM_SHARED("48", "f16", RUNG_NAMES_24, "24", "25", "26", RUNG_C4(0), RUNG_C2(4));
}
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[8], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_SHARED("64", "bf16", RUNG_NAMES_32, "32", "33", "34", RUNG_C8(0));
  else
    RUNG_FROM_SHARED("64", "f16", RUNG_NAMES_32, "32", "33", "34", RUNG_C8(0));
}
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[16], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_SHARED("128", "bf16", RUNG_NAMES_64, "64", "65", "66", RUNG_C16(0));
  else
    RUNG_FROM_SHARED("128", "f16", RUNG_NAMES_64, "64", "65", "66", RUNG_C16(0));
}
// c[64,n] += a[64,16] b[16,n]; a is in registers, and b has a descriptor, with rows along the n.
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[8], const FragmentA& a, uint64_t b) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_REGISTERS("64", "bf16", RUNG_NAMES_32, "32", "33", "34", "35", "36", RUNG_C8(0));
  else
    RUNG_FROM_REGISTERS("64", "f16", RUNG_NAMES_32, "32", "33", "34", "35", "36", RUNG_C8(0));
}
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[10], const FragmentA& a, uint64_t b) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_REGISTERS("80", "bf16", RUNG_NAMES_40, "40", "41", "42", "43", "44", RUNG_C8(0), RUNG_C2(8));
  else
    RUNG_FROM_REGISTERS("80", "f16", RUNG_NAMES_40, "40", "41", "42", "43", "44", RUNG_C8(0), RUNG_C2(8));
}
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[16], const FragmentA& a, uint64_t b) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_REGISTERS("128", "bf16", RUNG_NAMES_64, "64", "65", "66", "67", "68", RUNG_C16(0));
  else
    RUNG_FROM_REGISTERS("128", "f16", RUNG_NAMES_64, "64", "65", "66", "67", "68", RUNG_C16(0));
}
template <class T>
__device__ inline void multiply_group(FragmentC (&c)[32], const FragmentA& a, uint64_t b) {
  if constexpr (kIsBf16<T>)
    RUNG_FROM_REGISTERS("256", "bf16", RUNG_NAMES_128, "128", "129", "130", "131", "132", RUNG_C32(0));
  else
    RUNG_FROM_REGISTERS("256", "f16", RUNG_NAMES_128, "128", "129", "130", "131", "132", RUNG_C32(0));
}

}  // namespace rung::gpu
