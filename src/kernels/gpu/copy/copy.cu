// Copies between two strided layouts, with one unit of 1 to 16 bytes per thread.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy_arguments.hpp"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

template <class T>
__device__ void copy(const CopyArguments& a) {
  allow_dependents();
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.nest.count) return;
  int64_t offsets[2] = {};
  a.nest.locate(at, offsets);
  wait_for_producers();
  element<T>(a.to, offsets[1]) = element<const T>(a.from, offsets[0]);
}

}  // namespace

#define RUNG_VARIANT(entry, bytes) \
  RUNG_KERNEL() entry(const __grid_constant__ CopyArguments a) { copy<Unit<bytes>>(a); }
#include "kernels/gpu/copy/copy.inc"
#undef RUNG_VARIANT

#define RUNG_VARIANT(entry, bytes) \
  RUNG_KERNEL() entry(const __grid_constant__ CopiesArguments a) { copy<Unit<bytes>>(a.copies[blockIdx.y]); }
#include "kernels/gpu/copy/copies.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
