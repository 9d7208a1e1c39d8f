// Convolutions whose channels do not mix, over a patch of x in shared memory, from which a thread reads each line of a
// window's places once for a run of neighbouring results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise_tiles.hpp"
#include "kernels/gpu/windows/conv_end.cuh"

namespace rung::gpu {
namespace {

// Reads two neighbouring elements in shared memory.
template <class T>
__device__ float2 read_pair(const unsigned char* from) {
  if constexpr (sizeof(T) == 4)
    return *reinterpret_cast<const float2*>(from);
  else
    return unpack<T>(*reinterpret_cast<const uint32_t*>(from));
}

template <DepthwiseTile tile>
class DepthwiseBlock {
 public:
  __device__ DepthwiseBlock(const DepthwiseTilesArguments& arguments, unsigned char* memory)
      : a(arguments),
        weights(reinterpret_cast<float*>(memory)),
        patch(memory + arguments.taps * kDepthwiseChannels * sizeof(float)),
        first_channel(blockIdx.y * kDepthwiseChannels) {
    const uint32_t column = a.tile_divisor.divide(blockIdx.x);
    first_row = (blockIdx.x - column * a.row_tiles) * a.rows;
    first_column = column * a.runs * kDepthwiseRun;
  }

  __device__ void run() {
    load_weights();
    wait_for_producers();
    load_patch();
    Copies::end();
    wait_for_groups<0>();
    sync_block();
    const uint32_t pair = threadIdx.x % kDepthwisePairs, line = threadIdx.x / kDepthwisePairs;
    const uint32_t run = a.row_divisor.divide(line), row = line - run * a.rows;
    float2 sums[kDepthwiseRun] = {};
    add_window(row, run, pair, sums);
    store(first_row + row, first_column + run * kDepthwiseRun, first_channel + 2 * pair, sums);
  }

 private:
  using T = Element<tile.type>;
  using Copies = CopyGroup<1>;
  static constexpr uint32_t kUnits = tile.units(), kTogether = tile.copied_together();

  __device__ void load_weights() const {
    constexpr uint32_t kUnitsOfTap = kDepthwiseChannels / 4;
    for (uint32_t i = threadIdx.x; i < a.taps * kUnitsOfTap; i += blockDim.x) {
      const uint32_t channel = first_channel + i % kUnitsOfTap * 4;
      const bool valid = channel < a.channels;
      const int64_t from = static_cast<int64_t>(i / kUnitsOfTap) * a.channels + channel;
      Copies::issue(weights + 4 * i, in_memory<const float>(a.w) + (valid ? from : 0), valid);
    }
  }
  // A thread copies the same unit of its places.
  __device__ void load_patch() const {
    const WindowAxis &middle = a.axes[1], &last = a.axes[2];
    const auto planes = static_cast<uint32_t>(a.axes[0].results), batch = blockIdx.z / planes;
    const int32_t outer = static_cast<int32_t>(blockIdx.z % planes) * a.axes[0].stride - a.axes[0].before;
    const int32_t top = static_cast<int32_t>(first_row) * middle.stride - middle.before;
    const int32_t left = static_cast<int32_t>(first_column) * last.stride - last.before;
    const uint32_t unit = threadIdx.x % kUnits, channel = first_channel + unit * kTogether;
    const bool has = channel < a.channels && static_cast<uint32_t>(outer) < static_cast<uint32_t>(a.axes[0].extent);
    const T* const x = in_memory<const T>(a.x) + batch * a.x_batch + outer * a.axes[0].x_stride + channel;
    unsigned char* const to = patch + unit * 16;
#pragma unroll 4
    for (uint32_t place = threadIdx.x / kUnits; place < a.patch_rows * a.patch_columns; place += blockDim.x / kUnits) {
      const uint32_t row = a.columns.divide(place), column = place - row * a.patch_columns;
      const int32_t line = top + static_cast<int32_t>(row), at = left + static_cast<int32_t>(column);
      const bool valid = has && static_cast<uint32_t>(line) < static_cast<uint32_t>(middle.extent) &&
                         static_cast<uint32_t>(at) < static_cast<uint32_t>(last.extent);
      Copies::issue(to + row * a.pitch + column * (kUnits * 16), x + (line * a.x_row + at * a.x_place), valid);
    }
  }

  __device__ void add_window(uint32_t row, uint32_t run, uint32_t pair, float2 (&sums)[kDepthwiseRun]) const {
    constexpr int kPlaceBytes = kDepthwiseChannels * tile.bytes();
    const WindowAxis& middle = a.axes[1];
    const unsigned char* line = patch + row * middle.stride * a.pitch +
                                run * kDepthwiseRun * tile.stride * kPlaceBytes + pair * 2 * tile.bytes();
    const float* w = weights + 2 * pair;
    for (int32_t tap = 0; tap < middle.taps; ++tap, line += middle.dilation * a.pitch) {
      float2 x[tile.places_of_run()];
#pragma unroll
      for (int i = 0; i < tile.places_of_run(); ++i) x[i] = read_pair<T>(line + i * kPlaceBytes);
#pragma unroll
      for (int k = 0; k < tile.taps; ++k, w += kDepthwiseChannels) {
        const float2 weight = *reinterpret_cast<const float2*>(w);
#pragma unroll
        for (int r = 0; r < kDepthwiseRun; ++r) {
          const float2& seen = x[r * tile.stride + k];
          sums[r].x = fmaf(seen.x, weight.x, sums[r].x), sums[r].y = fmaf(seen.y, weight.y, sums[r].y);
        }
      }
    }
  }

  __device__ void store(uint32_t row, uint32_t column, uint32_t channel, const float2 (&sums)[kDepthwiseRun]) const {
    const auto rows = static_cast<uint32_t>(a.axes[1].results), columns = static_cast<uint32_t>(a.axes[2].results);
    if (row >= rows || channel >= a.channels) return;
    const int64_t line = (static_cast<int64_t>(blockIdx.z) * rows + row) * columns;
    const ConvPairs at{(line + column) * a.channels + channel, a.channels, columns - min(column, columns), channel};
    finish(a.end, at, sums);
  }

  const DepthwiseTilesArguments& a;
  float* const weights;
  unsigned char* const patch;
  const uint32_t first_channel;
  uint32_t first_row, first_column;
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                              \
  RUNG_KERNEL(kDepthwiseTileThreads) entry(const __grid_constant__ DepthwiseTilesArguments a) {               \
    extern __shared__ __align__(16) unsigned char memory[];                                                   \
    allow_dependents();                                                                                       \
    DepthwiseBlock<DepthwiseTile{__VA_ARGS__}>(a, memory).run();                                              \
  }
#include "kernels/gpu/windows/conv_depthwise_tiles.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
