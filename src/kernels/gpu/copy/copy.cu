// Copies between two strided layouts, one unit of 1 to 16 bytes per thread.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy_arguments.hpp"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

template <class Unit>
__device__ void copy(const CopyArguments& a) {
  allow_dependents();
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.nest.count) return;
  int64_t offsets[2] = {};
  a.nest.locate(at, offsets);
  wait_for_producers();
  element<Unit>(a.to, offsets[1]) = element<const Unit>(a.from, offsets[0]);
}

}  // namespace
}  // namespace rung::gpu

#define RUNG_COPY(name, Unit) \
  RUNG_KERNEL() name(const __grid_constant__ rung::gpu::CopyArguments a) { rung::gpu::copy<Unit>(a); }
RUNG_COPY(copy_1, uint8_t)
RUNG_COPY(copy_2, uint16_t)
RUNG_COPY(copy_4, uint32_t)
RUNG_COPY(copy_8, uint2)
RUNG_COPY(copy_16, uint4)
