// Convolutions of few channels: a block copies the patch of x that its windows cover into shared memory, and makes
// lines of products of it there.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/conv_few_channels.hpp"
#include "kernels/gpu/windows/conv_products.cuh"

namespace rung::gpu {
namespace {

template <ConvTile tile>
class FewChannels {
 public:
  __device__ FewChannels(const FewChannelsArguments& arguments, unsigned char* memory)
      : a(arguments),
        windows(reinterpret_cast<T*>(memory)),
        w_lines(windows + a.stages * kWindowsOfStage),
        patch(reinterpret_cast<uint16_t*>(memory + few_channels_bytes(tile, a.stages) - kFewChannelsPatchBytes)),
        first_row(blockIdx.x % a.row_tiles * (tile.rows >> a.column_bits)),
        first_column(blockIdx.x / a.row_tiles << a.column_bits),
        first_channel(blockIdx.y * tile.columns) {}

  __device__ void run() {
    load_w();
    Copies::end();
    wait_for_producers();
    load_patch();
    sync_block();
    copy_windows();
    wait_for_groups<0>();
    sync_block();
    multiply();
    sync_block();  // no warp reads the windows any more
    products.store(sums() + (depth_warp() * tile.rows + row_of_warp()) * tile.sums_pitch() + column_of_warp());
    sync_block();
    a.rows % kVector == 0 ? store<kVector>() : store<1>();
  }

 private:
  using T = Element<tile.type>;
  using Copies = CopyGroup<1>;
  static constexpr uint32_t kThreads = tile.threads(kLanes), kDepth = tile.depth();
  static constexpr uint32_t kWindowsOfStage = tile.rows * tile.pitch(), kLinesOfStage = tile.columns * tile.pitch();

  __device__ void load_w() const {
    constexpr uint32_t kTogether = 16 / tile.bytes(), kUnits = kDepth / kTogether;
    for (uint32_t i = threadIdx.x; i < a.stages * tile.columns * kUnits; i += kThreads) {
      const uint32_t unit = i % kUnits, column = i / kUnits % tile.columns, stage = i / kUnits / tile.columns;
      const bool valid = first_channel + column < a.rows;
      const int64_t from = static_cast<int64_t>(first_channel + column) * a.stages * kDepth + stage * kDepth;
      Copies::issue(w_lines + stage * kLinesOfStage + column * tile.pitch() + unit * kTogether,
                    in_memory<const T>(a.w) + (valid ? from + unit * kTogether : 0), valid);
    }
  }

  // Copies single elements, as rows of x have no alignment: several are under way together.
  __device__ void load_patch() const {
    constexpr int kAtOnce = 12;  // a patch of 7 by 7 in steps of two has 11 elements for each of 128 threads
    const WindowAxis &middle = a.axes[1], &last = a.axes[2];
    const int32_t top = static_cast<int32_t>(first_row) * middle.stride - middle.before;
    const int32_t left = static_cast<int32_t>(first_column) * last.stride - last.before;
    const auto channels = static_cast<int32_t>(a.channels);
    const auto* const x = in_memory<const uint16_t>(a.x) + blockIdx.z * a.x_batch;
    const uint32_t count = a.patch_rows * a.patch_elements;
    for (uint32_t begin = threadIdx.x; begin < count; begin += kAtOnce * kThreads) {
      uint16_t held[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const uint32_t index = begin + i * kThreads, row = a.patch.divide(index);
        const int32_t line = top + static_cast<int32_t>(row);
        const int32_t at = left * channels + static_cast<int32_t>(index - row * a.patch_elements);
        const bool inside = index < count && static_cast<uint32_t>(line) < static_cast<uint32_t>(middle.extent) &&
                            static_cast<uint32_t>(at) < static_cast<uint32_t>(last.extent * channels);
        held[i] = inside ? x[line * a.x_row + at] : uint16_t{0};
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        if (begin + i * kThreads < count) patch[begin + i * kThreads] = held[i];
    }
  }

  // A warp writes a window at a time; a lane writes the same pairs of elements of each.
  __device__ void copy_windows() const {
    constexpr int kPairs = (kFewChannelsMostStages * static_cast<int>(kDepth) / 2 + kLanes - 1) / kLanes;
    uint32_t from[kPairs];
    bool has_first[kPairs], has_second[kPairs];
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const uint32_t element = 2 * (lane() + j * kLanes), tap = element / a.even_line, at = element % a.even_line;
      has_first[j] = tap < static_cast<uint32_t>(a.axes[1].taps), has_second[j] = has_first[j] && at + 1 < a.line;
      from[j] = tap * a.axes[1].dilation * a.patch_elements + at;
    }
    for (int window = warp(); window < tile.rows; window += tile.warps()) {
      const uint32_t row = window >> a.column_bits, column = window & ((1u << a.column_bits) - 1);
      const uint16_t* const begin =
          patch + row * a.axes[1].stride * a.patch_elements + column * a.axes[2].stride * a.channels;
#pragma unroll
      for (int j = 0; j < kPairs; ++j) {
        const uint32_t element = 2 * (lane() + j * kLanes);
        if (element >= a.stages * kDepth) continue;
        const uint32_t low = has_first[j] ? begin[from[j]] : 0, high = has_second[j] ? begin[from[j] + 1] : 0;
        T* const to = windows + element / kDepth * kWindowsOfStage + window * tile.pitch() + element % kDepth;
        *reinterpret_cast<uint32_t*>(to) = low | high << 16;
      }
    }
  }

  __device__ static int depth_warp() { return warp() / (tile.row_warps * tile.column_warps); }
  __device__ static int row_of_warp() { return warp() % tile.row_warps * tile.warp_rows(); }
  __device__ static int column_of_warp() {
    return warp() / tile.row_warps % tile.column_warps * tile.warp_columns();
  }
  __device__ void multiply() {
    constexpr int kOwn = kDepth / tile.depth_warps;
    const int from = depth_warp() * kOwn;
    for (uint32_t stage = 0; stage < a.stages; ++stage)
      products.template add<kOwn>(windows + stage * kWindowsOfStage + row_of_warp() * tile.pitch() + from,
                                  w_lines + stage * kLinesOfStage + column_of_warp() * tile.pitch() + from);
  }

  __device__ float* sums() const { return reinterpret_cast<float*>(windows); }
  // Returns the number of a window's result among those of a channel; below 0: it has none.
  __device__ int64_t result_of(uint32_t window) const {
    const uint32_t row = first_row + (window >> a.column_bits);
    const uint32_t column = first_column + (window & ((1u << a.column_bits) - 1));
    const auto rows = static_cast<uint32_t>(a.axes[1].results), columns = static_cast<uint32_t>(a.axes[2].results);
    if (row >= rows || column >= columns) return -1;
    return (static_cast<int64_t>(blockIdx.z) * rows + row) * columns + column;
  }
  // Ends the sums of `together` neighbouring channels at a time.
  template <int together>
  __device__ void store() const {
    constexpr uint32_t kPieces = tile.columns / together;
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < tile.rows * kPieces; i += kThreads) {
      const uint32_t window = i / kPieces, own = i % kPieces * together, channel = first_channel + own;
      const int64_t result = result_of(window);
      if (result < 0 || channel >= a.rows) continue;
      float y[together] = {};
#pragma unroll
      for (int depth = 0; depth < tile.depth_warps; ++depth)
#pragma unroll
        for (int each = 0; each < together; ++each)
          y[each] += sums()[(depth * tile.rows + window) * tile.sums_pitch() + own + each];
      if constexpr (together == kVector)
        finish(a.end, result * a.rows + channel, channel, y);
      else
        finish(a.end, result * a.rows + channel, channel, y[0]);
    }
  }

  const FewChannelsArguments& a;
  T* const windows;
  T* const w_lines;
  uint16_t* const patch;
  const uint32_t first_row, first_column, first_channel;
  ConvProducts<tile> products;
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                                   \
  RUNG_KERNEL((ConvTile{__VA_ARGS__}.threads(kLanes))) entry(const __grid_constant__ FewChannelsArguments a) {     \
    extern __shared__ __align__(16) unsigned char memory[];                                                        \
    allow_dependents();                                                                                            \
    FewChannels<ConvTile{__VA_ARGS__}>(a, memory).run();                                                           \
  }
#include "kernels/gpu/windows/conv_few_channels.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
