// Stores into the shared memory of another block of the cluster, and reads of what arrived.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/sm90/bulk_copy.cuh"
#include "kernels/gpu/sm90/cluster.cuh"

namespace rung::gpu {

// Stores 16 bytes; `to` has addresses in the peer, whose barrier counts them.
__device__ inline void send4(CopyTarget to, float4 v) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                   to.address),
               "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(to.barrier)
               : "memory");
}
// Returns 16 bytes of this block that a peer sent, once the barrier has counted them.
__device__ inline float4 received4(uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

}  // namespace rung::gpu
