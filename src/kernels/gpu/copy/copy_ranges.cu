// Copies several ranges of memory, the device's or pinned memory of the host, in one launch.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy_ranges_arguments.hpp"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {
namespace {

// Copies this block's piece of the range, in units of T. Four loads are under way before the first is stored: loads
// from the host's memory take a microsecond each.
template <class T>
__device__ void copy_piece(const CopiedRange& range) {
  constexpr int kAtOnce = 4;
  constexpr int64_t kUnits = kCopiedPiece / sizeof(T), kThreads = kCopyRangesThreads;
  const int64_t begin = blockIdx.x * kUnits, units = static_cast<int64_t>(range.bytes / sizeof(T));
  const int64_t end = min(begin + kUnits, units);
  for (int64_t first = begin + threadIdx.x; first < end; first += kAtOnce * kThreads) {
    T held[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (first + i * kThreads < end) held[i] = element<const T>(range.from, first + i * kThreads);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (first + i * kThreads < end) element<T>(range.to, first + i * kThreads) = held[i];
  }
}

__device__ void copy_range(const CopiedRange& range) {
  switch (range.unit) {
    case 16: return copy_piece<Unit<16>>(range);
    case 8: return copy_piece<Unit<8>>(range);
    case 4: return copy_piece<Unit<4>>(range);
    case 2: return copy_piece<Unit<2>>(range);
    default: return copy_piece<Unit<1>>(range);
  }
}

}  // namespace
}  // namespace rung::gpu

using namespace rung::gpu;

RUNG_KERNEL(kCopyRangesThreads) copy_ranges(const __grid_constant__ CopyRangesArguments a) {
  allow_dependents();
  wait_for_producers();
  copy_range(a.ranges[blockIdx.y]);
}
