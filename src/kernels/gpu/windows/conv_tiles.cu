// Convolutions in tiles: one kernel for each type and size of tile.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_tiles.cuh"

namespace rung::gpu {

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL((ConvTile{__VA_ARGS__}.threads(kLanes))) \
      entry(const __grid_constant__ ConvTilesArguments a) { conv_tiles<ConvTile{__VA_ARGS__}>(a, ConvAlone{}); }
#include "kernels/gpu/windows/conv_tiles.inc"
#undef RUNG_VARIANT

// Adds up the parts of eight neighbouring channels of a result in their order, and ends them.
RUNG_KERNEL(kConvJoinThreads) conv_join(const __grid_constant__ ConvTilesArguments a) {
  const int64_t index = (static_cast<int64_t>(blockIdx.x) * kConvJoinThreads + threadIdx.x) * kVector;
  const int64_t count = static_cast<int64_t>(a.results) * a.rows;
  allow_dependents();
  if (index >= count) return;
  wait_for_producers();
  float y[kVector] = {};
#pragma unroll 4
  for (uint32_t part = 0; part < 1u << a.part_bits; ++part) {
    float more[kVector];
    unpack(load_vector(a.sums, DType::f32, part * count + index), DType::f32, more);
#pragma unroll
    for (int i = 0; i < kVector; ++i) y[i] += more[i];
  }
  finish(a.end, index, static_cast<uint32_t>(index % a.rows), y);
}

}  // namespace rung::gpu
