// Products of a whole warpgroup with few columns, both operands in shared memory; and fragments stored transposed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/sm90/async.cuh"
#include "kernels/gpu/sm90/wgmma.cuh"

namespace rung::gpu {

#define RUNG_FEW(n, type, names, a_name, b_name, accumulate_name, transposed_name, ...)                                \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" accumulate_name ", 0;\nwgmma.mma_async.sync.aligned.m64n" n        \
               "k16.f32." type "." type " {" names "}, %" a_name ", %" b_name ", p, 1, 1, %" transposed_name ", 0;\n}" \
               : __VA_ARGS__                                                                                           \
               : "l"(a), "l"(b), "r"(accumulate), "n"(transposed)                                                      \
               : "memory")
#define RUNG_FEW_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define RUNG_FEW_NAMES_12 RUNG_FEW_NAMES_8 ", %8, %9, %10, %11"
#define RUNG_FEW_NAMES_16 RUNG_FEW_NAMES_12 ", %12, %13, %14, %15"

// c[64,n] = a[64,16] b[16,n], or += ; both have descriptors; b's rows run along the 16, a's too unless `transposed`.
template <class T, int transposed>
__device__ inline void multiply_few(FragmentC (&c)[2], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FEW("16", "bf16", RUNG_FEW_NAMES_8, "8", "9", "10", "11", RUNG_C2(0));
  else
    RUNG_FEW("16", "f16", RUNG_FEW_NAMES_8, "8", "9", "10", "11", RUNG_C2(0));
}
template <class T, int transposed>
__device__ inline void multiply_few(FragmentC (&c)[3], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FEW("24", "bf16", RUNG_FEW_NAMES_12, "12", "13", "14", "15", RUNG_C2(0), RUNG_C1(2));
  else
    RUNG_FEW("24", "f16", RUNG_FEW_NAMES_12, "12", "13", "14", "15", RUNG_C2(0), RUNG_C1(2));
}
template <class T, int transposed>
__device__ inline void multiply_few(FragmentC (&c)[4], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kIsBf16<T>)
    RUNG_FEW("32", "bf16", RUNG_FEW_NAMES_16, "16", "17", "18", "19", RUNG_C4(0));
  else
    RUNG_FEW("32", "f16", RUNG_FEW_NAMES_16, "16", "17", "18", "19", RUNG_C4(0));
}

// Stores four (two) 8x8 matrices, transposed; lane l gives the address of row l%8 of the stored matrix l/8.
__device__ inline void store_matrices_transposed(void* row, const uint32_t (&x)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
}
__device__ inline void store_two_matrices_transposed(void* row, const uint32_t (&x)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), "r"(x[0]),
               "r"(x[1])
               : "memory");
}
// Copies from this block's shared memory to a peer's, and reports to the peer's barrier; in multiples of 16 bytes.
__device__ inline void send_rows(uint32_t peer, const void* from, uint32_t bytes, uint32_t peer_barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(peer),
      "r"(shared_address(from)), "r"(bytes), "r"(peer_barrier)
      : "memory");
}

}  // namespace rung::gpu
