// How a kernel reports that its launch has no right result.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/fault.hpp"
#include "kernels/gpu/portable.cuh"
#include "kernels/gpu/vendor/store_atomic.cuh"

namespace rung::gpu {

// Writes the cause into the call's fault flag, at the address `flag`. Any number of threads may report at once: the
// flag keeps the cause of one of them.
__device__ inline void report_fault(uint64_t flag, Fault cause) {
  store_atomic(in_memory<uint32_t>(flag), static_cast<uint32_t>(cause));
}

}  // namespace rung::gpu
