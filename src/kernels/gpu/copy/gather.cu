// Gather: each thread moves one unit of 1 to 16 bytes from the place that its index gives.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/gather_arguments.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/fault.cuh"

namespace rung::gpu {
namespace {

template <class T>
__device__ void gather(const GatherArguments& a) {
  allow_dependents();
  const uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= a.nest.count) return;
  int64_t offsets[2] = {};
  a.nest.locate(at, offsets);
  wait_for_producers();
  int64_t index = load_as<int64_t>(a.indices, a.index_type, offsets[1]);
  if (index < 0 || index >= a.length) {
    report_fault(a.fault, Fault::index_out_of_range);
    index = 0;
  }
  element<T>(a.out, at) =
      a.length > 0 ? element<const T>(a.x, offsets[0] + index * a.index_step) : T{};
}

}  // namespace

#define RUNG_VARIANT(entry, bytes) \
  RUNG_KERNEL() entry(const __grid_constant__ GatherArguments a) { gather<Unit<bytes>>(a); }
#include "kernels/gpu/copy/gather.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
