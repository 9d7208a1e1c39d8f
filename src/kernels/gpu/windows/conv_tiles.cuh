// A convolution as a product of matrices whose left side is never written: a block gathers the elements of its windows
// stage by stage into shared memory, zeros where they lie outside of x, beside the rows of w that they meet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/conv_products.cuh"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {

// An element of windows: its number, its channel and its tap along each axis.
struct ConvElement {
  uint32_t number, channel;
  int32_t tap[kWindowAxes];

  __device__ ConvElement(const ConvTilesArguments& a, uint32_t at) : number(at), channel(at % a.channels) {
    auto taps = static_cast<int32_t>(at / a.channels);
    for (int axis = kWindowAxes - 1; axis > 0; --axis) tap[axis] = taps % a.axes[axis].taps, taps /= a.axes[axis].taps;
    tap[0] = taps;
  }
  __device__ void move(const ConvTilesArguments& a, uint32_t by) {
    number += by, channel += by;
    for (; channel >= a.channels; channel -= a.channels)
      if (++tap[2] == a.axes[2].taps) {
        tap[2] = 0;
        if (++tap[1] == a.axes[1].taps) tap[1] = 0, ++tap[0];
      }
  }
};

template <ConvTile tile>
class ConvTiles {
 public:
  using T = Element<tile.type>;

  __device__ ConvTiles(const ConvTilesArguments& arguments, unsigned char* memory)
      : a(arguments),
        stages(reinterpret_cast<T*>(memory)),
        places(reinterpret_cast<ConvPlace*>(memory + tile.places_offset())),
        group(blockIdx.z / a.parts),
        part(blockIdx.z % a.parts),
        first_row(blockIdx.x * tile.rows),
        first_column(blockIdx.y * tile.columns),
        end_of_part(min(a.elements, (part + 1) * a.part_elements)),
        next(a, part * a.part_elements + threadIdx.x % kCopiesOfLine * kTogether) {
    for (int row = threadIdx.x; row < tile.rows; row += kThreads) places[row] = place_of(first_row + row);
  }

  __device__ void run() {
    sync_block();  // the places are there
    const int count = static_cast<int>((end_of_part - part * a.part_elements + kDepth - 1) / kDepth);
    for (int stage = 0; stage < kStages - 1; ++stage) {
      Copies copies;
      if (stage < count) load(copies, stage);
      copies.end();
      copies.put();
    }
    for (int stage = 0; stage < count; ++stage) {
      wait_for_groups<kStages - 2>();
      sync_block();
      Copies copies;
      if (stage + kStages - 1 < count) load(copies, stage + kStages - 1);
      copies.end();
      multiply(stage);
      copies.put();
    }
    sync_block();  // no warp reads the stages any more
    store();
  }

 private:
  static constexpr int kThreads = tile.threads(kLanes), kDepth = tile.depth(), kStages = tile.stages();
  static constexpr int kTogether = tile.copied_together(), kCopiesOfLine = tile.copies_of_line();
  static constexpr int kLines = kThreads / kCopiesOfLine;  // lines that all threads copy at a time
  static constexpr int kRowCopies = tile.rows / kLines, kColumnCopies = tile.columns / kLines;
  static_assert(kRowCopies * kLines == tile.rows && kColumnCopies * kLines == tile.columns);
  using Copies = CopyGroup<tile.units ? kRowCopies + kColumnCopies : 1>;

  // Returns where a result's window begins; that of none lies outside of x as a whole.
  __device__ ConvPlace place_of(uint32_t result) const {
    const ResultPlace place = place_of_result(a.axes, 1, result);
    ConvPlace made{place.batch * a.x_batch + static_cast<int64_t>(group) * a.channels, {}};
    for (int axis = 0; axis < kWindowAxes; ++axis)
      made.at[axis] = place.at[axis] * a.axes[axis].stride - a.axes[axis].before;
    if (result >= a.results) made.begin = 0, made.at[0] = -(1 << 30);
    return made;
  }

  __device__ T* rows_of(int stage) const { return stages + stage % kStages * tile.stage_elements(); }
  __device__ T* columns_of(int stage) const { return rows_of(stage) + tile.rows * tile.pitch(); }

  // Returns the element that thread's copy of a line takes, or null where it is a zero.
  __device__ const T* x_at(const ConvPlace& place) const {
    int64_t at = place.begin + next.channel;
    bool inside = next.number < end_of_part;
#pragma unroll
    for (int axis = 0; axis < kWindowAxes; ++axis) {
      const int32_t seen = place.at[axis] + next.tap[axis] * a.axes[axis].dilation;
      inside = inside && static_cast<uint32_t>(seen) < static_cast<uint32_t>(a.axes[axis].extent);
      at += seen * a.axes[axis].x_stride;
    }
    return inside ? in_memory<const T>(a.x) + at : nullptr;
  }
  __device__ const T* w_at(uint32_t column) const {
    if (column >= a.rows_of_group || next.number >= end_of_part) return nullptr;
    return in_memory<const T>(a.w) + (static_cast<int64_t>(group) * a.rows_of_group + column) * a.elements +
           next.number;
  }

  __device__ void copy(Copies& copies, int i, T* to, const T* from) const {
    if constexpr (tile.units)
      copies.issue(i, to, from ? from : in_memory<const T>(a.w), from != nullptr);
    else
      *to = from ? *from : T{};
  }
  __device__ void load(Copies& copies, int stage) {
    const int line = threadIdx.x / kCopiesOfLine, offset = threadIdx.x % kCopiesOfLine * kTogether;
#pragma unroll
    for (int i = 0; i < kRowCopies; ++i) {
      const int row = line + i * kLines;
      copy(copies, i, rows_of(stage) + row * tile.pitch() + offset, x_at(places[row]));
    }
#pragma unroll
    for (int i = 0; i < kColumnCopies; ++i) {
      const int column = line + i * kLines;
      copy(copies, kRowCopies + i, columns_of(stage) + column * tile.pitch() + offset, w_at(first_column + column));
    }
    next.move(a, kDepth);
  }

  __device__ static int depth_warp() { return warp() / (tile.row_warps * tile.column_warps); }
  __device__ static int row_of_warp() { return warp() % tile.row_warps * tile.warp_rows(); }
  __device__ static int column_of_warp() {
    return warp() / tile.row_warps % tile.column_warps * tile.warp_columns();
  }
  __device__ void multiply(int stage) {
    constexpr int kOwn = kDepth / tile.depth_warps;
    const int from = depth_warp() * kOwn;
    products.template add<kOwn>(rows_of(stage) + row_of_warp() * tile.pitch() + from,
                                columns_of(stage) + column_of_warp() * tile.pitch() + from);
  }

  // Adds up the depth warps' sums in their order, and ends them or leaves them to the kernel that joins parts.
  __device__ void store() const {
    auto* sums = reinterpret_cast<float*>(stages);
    products.store(sums + (depth_warp() * tile.rows + row_of_warp()) * tile.sums_pitch() + column_of_warp());
    sync_block();
    constexpr int kVectors = tile.columns / kVector;
    for (int i = threadIdx.x; i < tile.rows * kVectors; i += kThreads) {
      const int row = i / kVectors, column = i % kVectors * kVector;
      const uint32_t result = first_row + row, own = first_column + column;
      if (result >= a.results || own >= a.rows_of_group) continue;
      float y[kVector] = {};
#pragma unroll
      for (int depth = 0; depth < tile.depth_warps; ++depth)
#pragma unroll
        for (int each = 0; each < kVector; ++each)
          y[each] += sums[(depth * tile.rows + row) * tile.sums_pitch() + column + each];
      store(result, own, y);
    }
  }
  __device__ void store(uint32_t result, uint32_t own, float (&y)[kVector]) const {
    const uint32_t channel = group * a.rows_of_group + own;
    if (a.parts > 1)
      return store_vector(a.sums, DType::f32, (static_cast<int64_t>(part) * a.results + result) * a.rows + channel, y);
    const int64_t index = static_cast<int64_t>(result) * a.rows + channel;
    if (a.rows_of_group % kVector == 0) return finish(a.end, index, channel, y);
    for (uint32_t each = 0; each < kVector && own + each < a.rows_of_group; ++each)
      finish(a.end, index + each, channel + each, y[each]);
  }

  const ConvTilesArguments& a;
  T* const stages;
  ConvPlace* const places;
  const uint32_t group, part, first_row, first_column, end_of_part;
  ConvElement next;  // that this thread copies next, of each of its lines
  ConvProducts<tile> products;
};

template <ConvTile tile>
__device__ inline void conv_tiles(const ConvTilesArguments& a) {
  extern __shared__ __align__(16) unsigned char memory[];
  ConvTiles<tile> block(a, memory);
  allow_dependents();
  wait_for_producers();
  block.run();
}

}  // namespace rung::gpu
