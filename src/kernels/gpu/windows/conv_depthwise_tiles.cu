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
        first_channel(blockIdx.y * kDepthwiseChannels),
        first_row(blockIdx.x % a.row_tiles * a.rows),
        first_column(blockIdx.x / a.row_tiles * a.runs * kDepthwiseRun) {}

  __device__ void run() {
    load_weights();
    wait_for_producers();
    load_patch();
    Copies::end();
    wait_for_groups<0>();
    sync_block();
    const uint32_t pair = threadIdx.x % kDepthwisePairs, line = threadIdx.x / kDepthwisePairs;
    const uint32_t row = line % a.rows, run = line / a.rows;
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
  __device__ void load_patch() const {
    const WindowAxis &middle = a.axes[1], &last = a.axes[2];
    const auto planes = static_cast<uint32_t>(a.axes[0].results), batch = blockIdx.z / planes;
    const auto plane = static_cast<int32_t>(blockIdx.z % planes);
    const int32_t outer = plane * a.axes[0].stride - a.axes[0].before;
    const T* const x = in_memory<const T>(a.x) + batch * a.x_batch + outer * a.axes[0].x_stride;
    const bool has_plane = static_cast<uint32_t>(outer) < static_cast<uint32_t>(a.axes[0].extent);
    const int32_t top = static_cast<int32_t>(first_row) * middle.stride - middle.before;
    const int32_t left = static_cast<int32_t>(first_column) * last.stride - last.before;
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < a.patch_rows * a.patch_columns * kUnits; i += blockDim.x) {
      const uint32_t place = i / kUnits, unit = i % kUnits, row = a.columns.divide(place);
      const uint32_t column = place - row * a.patch_columns, channel = first_channel + unit * kTogether;
      const int32_t at[] = {top + static_cast<int32_t>(row), left + static_cast<int32_t>(column)};
      const bool valid = has_plane && channel < a.channels &&
                         static_cast<uint32_t>(at[0]) < static_cast<uint32_t>(middle.extent) &&
                         static_cast<uint32_t>(at[1]) < static_cast<uint32_t>(last.extent);
      const int64_t from = at[0] * middle.x_stride + at[1] * last.x_stride + channel;
      Copies::issue(patch + row * a.pitch + (column * kUnits + unit) * 16, valid ? x + from : in_memory<const T>(a.x),
                    valid);
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
#pragma unroll
    for (int r = 0; r < kDepthwiseRun; ++r)
      if (column + r < columns) finish(a.end, (line + column + r) * a.channels + channel, channel, sums[r]);
  }

  const DepthwiseTilesArguments& a;
  float* const weights;
  unsigned char* const patch;
  const uint32_t first_channel, first_row, first_column;
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
