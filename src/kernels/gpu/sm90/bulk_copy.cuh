// Barriers in shared memory that count bytes, and copies of boxes of a matrix that report to the barriers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tensor_map.hpp"
#include "device/gpu/tile_map.hpp"
#include "kernels/gpu/portable.cuh"

namespace rung::gpu {

// ---- barriers, by shared address

__device__ inline void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes barrier_init() visible to the copy engine and to the cluster.
__device__ inline void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and makes the phase wait for `bytes` as well.
__device__ inline void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Waits until the phase of that parity (0, 1, 0, ...) is over.
__device__ inline void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// ---- copies

// Returns true in one lane of a warp whose lanes are together.
__device__ inline bool elect_lane() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred one;\n"
      "elect.sync _|one, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, one;\n"
      "}\n"
      : "=r"(elected));
  return elected != 0;
}

__device__ inline uint64_t policy_evict_first() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(reinterpret_cast<uint64_t>(&map)) : "memory");
}
__device__ inline void prefetch_map(const TileMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(reinterpret_cast<uint64_t>(&map)) : "memory");
}
// The address that a copy goes to, and the barrier that counts its bytes.
struct CopyTarget {
  uint32_t address, barrier;
};
// Copies the box whose first element is matrix[row][column].
__device__ inline void load_box(CopyTarget to, const TensorMap& map, uint32_t row, uint32_t column) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(to.address),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(column), "r"(row), "r"(to.barrier)
      : "memory");
}
// Copies the box of a tensor of more axes, innermost first, whose first element is at the coordinates.
__device__ inline void load_box(CopyTarget to, const TileMap& map, const int (&at)[TileShape::kRank]) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, "
      "%6}], [%7];" ::"r"(to.address),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(to.barrier)
      : "memory");
}
// Copies boxes of data that are read only once, which leave the cache to other data.
__device__ inline void stream_box(CopyTarget to, const TileMap& map, const int (&at)[TileShape::kRank],
                                  uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, "
      "%3, %4, %5, %6}], [%7], %8;" ::"r"(to.address),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]),
      "r"(to.barrier), "l"(policy)
      : "memory");
}
__device__ inline void stream_box(CopyTarget to, const TensorMap& map, uint32_t row, uint32_t column, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to.address),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(column), "r"(row), "r"(to.barrier), "l"(policy)
      : "memory");
}
// Copies neighbouring bytes; their number and both addresses are multiples of 16.
__device__ inline void load_bytes(CopyTarget to, uint64_t from, uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to.address),
      "l"(from), "r"(bytes), "r"(to.barrier)
      : "memory");
}
// Orders earlier ordinary stores to shared memory before later copies out of it.
__device__ inline void stores_before_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Copies from this block's shared memory into a peer's; `to` has addresses in the peer, all multiples of 16 bytes.
__device__ inline void send_to_peer(CopyTarget to, uint32_t from, uint32_t bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to.address),
      "r"(from), "r"(bytes), "r"(to.barrier)
      : "memory");
}

}  // namespace rung::gpu
