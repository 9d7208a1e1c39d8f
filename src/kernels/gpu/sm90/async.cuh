// Barriers in shared memory that count arrivals and bytes, and the copies that report to them: boxes of a tensor from
// memory, and registers to the shared memory of another block of the cluster.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tile_map.hpp"
#include "kernels/gpu/sm90/cluster.cuh"

namespace rung::gpu {

// A phase ends when all arrivals and all announced bytes have come; phases alternate between 0 and 1.
class Barrier {
 public:
  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
  }
  __device__ void arrive() { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory"); }
  // Arrives and announces bytes, by one lane of the warp that is chosen without a branch.
  __device__ void arrive_expecting(uint32_t bytes, bool by_this_lane) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n}" ::"r"(
            address()),
        "r"(bytes), "r"(static_cast<int>(by_this_lane))
        : "memory");
  }
  // Asks about the current phase or the one before it.
  __device__ bool has_ended(int phase) const {
    uint32_t done;
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address()), "r"(phase & 1)
        : "memory");
    return done != 0;
  }
  __device__ void wait(int phase) const {
    asm volatile(
        "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again;\n}" ::"r"(address()),
        "r"(phase & 1)
        : "memory");
  }
  __device__ uint32_t address() const { return shared_address(this); }

 private:
  uint64_t state_;
};
// The thread that made barriers publishes them before others use them; a barrier of the block or the cluster follows.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void prefetch(const TileMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }
// Copies the box whose first element is at the coordinates, and reports its bytes to `barrier`; by one lane, as above.
__device__ inline void copy_box(void* to, const TileMap& map, const int (&at)[TileShape::kRank], Barrier& barrier,
                                bool by_this_lane) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %8, 0;\n"
      "@p cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3, %4, %5, %6}], [%7];\n}" ::"r"(shared_address(to)),
      "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(barrier.address()),
      "r"(static_cast<int>(by_this_lane))
      : "memory");
}
// Prefetches a box into the L2 cache.
__device__ inline void prefetch_box(const TileMap& map, const int (&at)[TileShape::kRank]) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map), "r"(at[0]),
               "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
               : "memory");
}
// Sends 16 or 8 bytes to another block, and reports them to that block's barrier.
__device__ inline void send(uint32_t peer, const uint32_t (&x)[4], uint32_t peer_barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(peer),
      "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(peer_barrier)
      : "memory");
}
__device__ inline void send(uint32_t peer, float x, float y, uint32_t peer_barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(peer),
               "f"(x), "f"(y), "r"(peer_barrier)
               : "memory");
}

}  // namespace rung::gpu
