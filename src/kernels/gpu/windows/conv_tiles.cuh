// A convolution as a product of matrices whose left side is never written: a block gathers the elements of its windows
// stage by stage into shared memory, zeros where they lie outside of x, beside the rows of w that they meet.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/windows/conv_end.cuh"
#include "kernels/gpu/windows/conv_products.cuh"
#include "kernels/gpu/windows/windows.cuh"

namespace rung::gpu {

// Divides x, and returns the rest.
__device__ inline int32_t split(const Divisor& by, uint32_t& x) {
  const uint32_t next = by.divide(x), rest = x - next * by.value;
  x = next;
  return static_cast<int32_t>(rest);
}

// An element of windows: its number, its channel, its tap along each axis, and its distance from a window's first
// element: in places along each axis, and in elements of x, which 32 bits count.
struct ConvElement {
  uint32_t number, channel;
  int32_t tap[kWindowAxes], distance[kWindowAxes];
  int32_t offset;

  __device__ ConvElement(const ConvTilesArguments& a, uint32_t at) : number(at) {
    uint32_t taps = a.by_channels.divide(at);
    channel = at - taps * a.channels;
#pragma unroll
    for (int axis = kWindowAxes - 1; axis > 0; --axis) tap[axis] = split(a.by_taps[axis], taps);
    tap[0] = static_cast<int32_t>(taps);
    measure(a);
  }
  __device__ void move(const ConvTilesArguments& a, uint32_t by) {
    number += by, channel += by;
    for (; channel >= a.channels; channel -= a.channels)
      if (++tap[2] == a.axes[2].taps) {
        tap[2] = 0;
        if (++tap[1] == a.axes[1].taps) tap[1] = 0, ++tap[0];
      }
    measure(a);
  }

 private:
  __device__ void measure(const ConvTilesArguments& a) {
    offset = static_cast<int32_t>(channel);
#pragma unroll
    for (int axis = 0; axis < kWindowAxes; ++axis) {
      distance[axis] = tap[axis] * a.axes[axis].dilation;
      offset += tap[axis] * a.distances[axis];
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
        group(blockIdx.z >> a.part_bits),
        part(blockIdx.z & ((1u << a.part_bits) - 1)),
        first_row(blockIdx.x * tile.rows),
        first_column(blockIdx.y * tile.columns),
        first_stage(part * a.stages >> a.part_bits),
        stage_count(static_cast<int>(((part + 1) * a.stages >> a.part_bits) - first_stage)),
        end_of_part(min(a.elements, (first_stage + stage_count) * kDepth)),
        next(a, first_stage * kDepth + threadIdx.x % kCopiesOfLine * kTogether),
        next_of_w(next.number) {
    for (int row = threadIdx.x; row < tile.rows; row += kThreads) places[row] = place_of(first_row + row);
  }

  // Multiplies, and lets `join` add up and end the sums.
  template <class Join>
  __device__ void run(Join join) {
    join.prepare(*this);
    sync_block();  // the places are there
    join.arrive();
    take_lines();
    fill();
    join.wait();
    for (int stage = 0, slot = 0; stage < stage_count; ++stage, slot = slot + 1 == kStages ? 0 : slot + 1) {
      wait_for_groups<kStages - 2>();
      sync_block();
      RowCopies rows;
      ColumnCopies columns;
      if (stage + kStages - 1 < stage_count) {
        const int free = slot == 0 ? kStages - 1 : slot - 1;
        load_columns(columns, free);
        load_rows(rows, free);
      }
      rows.end();
      multiply(slot);
      columns.put(), rows.put();
    }
    sync_block();  // no warp reads the stages any more
    products.store(sums() + (depth_warp() * tile.rows + row_of_warp()) * tile.sums_pitch() + column_of_warp());
    sync_block();
    join.end(*this);
  }

  // ---- for the join: eight neighbouring channels of a result are a vector of the tile

  static constexpr uint32_t kVectorsOfRow = tile.columns / kVector, kVectors = tile.rows * kVectorsOfRow;
  __device__ uint32_t parts() const { return 1u << a.part_bits; }
  __device__ unsigned char* memory() const { return reinterpret_cast<unsigned char*>(stages); }

  // Adds up the depth warps' sums in their order.
  __device__ void sum(uint32_t vector, float (&y)[kVector]) const {
    const float* from = sums() + vector / kVectorsOfRow * tile.sums_pitch() + vector % kVectorsOfRow * kVector;
#pragma unroll
    for (int depth = 0; depth < tile.depth_warps; ++depth, from += tile.rows * tile.sums_pitch())
#pragma unroll
      for (int i = 0; i < kVector; i += 4) {
        const float4 more = *reinterpret_cast<const float4*>(from + i);
        y[i] += more.x, y[i + 1] += more.y, y[i + 2] += more.z, y[i + 3] += more.w;
      }
  }
  // Ends the sums of a vector, or leaves those of a part to the kernel that joins parts.
  __device__ void store(uint32_t vector, bool is_part, float (&y)[kVector]) const {
    const uint32_t result = first_row + vector / kVectorsOfRow;
    const uint32_t own = first_column + vector % kVectorsOfRow * kVector;
    if (result >= a.results || own >= a.rows_of_group) return;
    const uint32_t channel = group * a.rows_of_group + own;
    const int64_t index = static_cast<int64_t>(result) * a.rows + channel;
    if (is_part)
      store_vector(a.sums, DType::f32, static_cast<int64_t>(part) * a.results * a.rows + index, y);
    else
      finish(a.end, index, channel, y);
  }
  __device__ void store_vectors() const {
    for (uint32_t i = threadIdx.x; i < kVectors; i += kThreads) {
      float y[kVector] = {};
      sum(i, y);
      store(i, a.part_bits > 0, y);
    }
  }
  // Ends the sums one by one, where channels are no multiple of eight.
  __device__ void store_elements() const {
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < tile.rows * tile.columns; i += kThreads) {
      const uint32_t row = i / tile.columns, column = i % tile.columns;
      const uint32_t result = first_row + row, own = first_column + column;
      if (result >= a.results || own >= a.rows_of_group) continue;
      float y = 0;
      for (int depth = 0; depth < tile.depth_warps; ++depth)
        y += sums()[(depth * tile.rows + row) * tile.sums_pitch() + column];
      const uint32_t channel = group * a.rows_of_group + own;
      finish(a.end, static_cast<int64_t>(result) * a.rows + channel, channel, y);
    }
  }
  __device__ bool has_vectors() const { return a.rows_of_group % kVector == 0; }

 private:
  static constexpr int kThreads = tile.threads(kLanes), kDepth = tile.depth(), kStages = tile.stages;
  static constexpr int kTogether = tile.copied_together(), kCopiesOfLine = tile.copies_of_line();
  static constexpr int kLines = kThreads / kCopiesOfLine;  // lines that all threads copy at a time
  static constexpr int kRowCopies = tile.rows / kLines, kColumnCopies = tile.columns / kLines;
  static_assert(kRowCopies * kLines == tile.rows && kColumnCopies * kLines == tile.columns);
  using RowCopies = CopyGroup<tile.units ? kRowCopies : 1>;
  using ColumnCopies = CopyGroup<tile.units ? kColumnCopies : 1>;

  // Returns where a result's window begins; that of none lies outside of x as a whole.
  __device__ ConvPlace place_of(uint32_t result) const {
    int32_t place[kWindowAxes];
    uint32_t batch = result;
#pragma unroll
    for (int axis = kWindowAxes - 1; axis >= 0; --axis) place[axis] = split(a.by_results[axis], batch);
    ConvPlace made{batch * a.x_batch + static_cast<int64_t>(group) * a.channels, {}};
#pragma unroll
    for (int axis = 0; axis < kWindowAxes; ++axis) {
      made.at[axis] = place[axis] * a.axes[axis].stride - a.axes[axis].before;
      made.begin += made.at[axis] * a.axes[axis].x_stride;
    }
    if (result >= a.results) made.at[0] = -(1 << 30);
    return made;
  }

  // A stage lies in one of kStages slots.
  __device__ T* rows_of(int slot) const { return stages + slot * tile.stage_elements(); }
  __device__ T* columns_of(int slot) const { return rows_of(slot) + tile.rows * tile.pitch(); }

  __device__ static int line() { return threadIdx.x / kCopiesOfLine; }
  __device__ static int offset() { return threadIdx.x % kCopiesOfLine * kTogether; }

  // The windows and rows of w of which this thread copies units. Lines of single elements are too many for registers.
  __device__ void take_lines() {
    if constexpr (tile.units) {
#pragma unroll
      for (int i = 0; i < kRowCopies; ++i) own_places[i] = places[line() + i * kLines];
    }
  }
  __device__ ConvPlace place(int i) const {
    if constexpr (tile.units)
      return own_places[i];
    else
      return places[line() + i * kLines];
  }
  __device__ bool sees(const ConvPlace& place) const {
    bool inside = next.number < end_of_part;
#pragma unroll
    for (int axis = 0; axis < kWindowAxes; ++axis)
      inside = inside && static_cast<uint32_t>(place.at[axis] + next.distance[axis]) <
                             static_cast<uint32_t>(a.axes[axis].extent);
    return inside;
  }

  // `from` is read if it is valid.
  template <class Copies>
  __device__ static void copy(Copies& copies, int i, T* to, const T* from, bool valid) {
    if constexpr (tile.units)
      copies.issue(i, to, from, valid);
    else
      *to = valid ? *from : T{};
  }
  __device__ void load_rows(RowCopies& copies, int slot) {
    T* const to = rows_of(slot) + line() * tile.pitch() + offset();
#pragma unroll
    for (int i = 0; i < kRowCopies; ++i) {
      const ConvPlace own = place(i);
      copy(copies, i, to + i * kLines * tile.pitch(), in_memory<const T>(a.x) + (own.begin + next.offset), sees(own));
    }
    next.move(a, kDepth);
  }
  __device__ void load_columns(ColumnCopies& copies, int slot) {
    T* const to = columns_of(slot) + line() * tile.pitch() + offset();
    const uint32_t first = first_column + line();
    const T* from = in_memory<const T>(a.w) +
                    ((static_cast<int64_t>(group) * a.rows_of_group + first) * a.elements + next_of_w);
#pragma unroll
    for (int i = 0; i < kColumnCopies; ++i, from += int64_t{kLines} * a.elements)
      copy(copies, i, to + i * kLines * tile.pitch(), from,
           first + i * kLines < a.rows_of_group && next_of_w < end_of_part);
    next_of_w += kDepth;
  }
  // Begins all stages but one: w, if it is a constant, before earlier kernels have ended.
  __device__ void fill() {
    ColumnCopies columns[kStages - 1];
    RowCopies rows[kStages - 1];
    constexpr int kUnrolled = sizeof(RowCopies) > 1 ? kStages - 1 : 1;  // if registers hold the copies
    if (!a.w_is_constant) wait_for_producers();
#pragma unroll kUnrolled
    for (int stage = 0; stage < kStages - 1; ++stage)
      if (stage < stage_count) load_columns(columns[stage], stage);
    wait_for_producers();
#pragma unroll kUnrolled
    for (int stage = 0; stage < kStages - 1; ++stage) {
      if (stage < stage_count) load_rows(rows[stage], stage);
      rows[stage].end();
    }
#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) columns[stage].put(), rows[stage].put();
  }

  __device__ static int depth_warp() { return warp() / (tile.row_warps * tile.column_warps); }
  __device__ static int row_of_warp() { return warp() % tile.row_warps * tile.warp_rows(); }
  __device__ static int column_of_warp() {
    return warp() / tile.row_warps % tile.column_warps * tile.warp_columns();
  }
  __device__ void multiply(int slot) {
    constexpr int kOwn = kDepth / tile.depth_warps;
    const int from = depth_warp() * kOwn;
    products.template add<kOwn>(rows_of(slot) + row_of_warp() * tile.pitch() + from,
                                columns_of(slot) + column_of_warp() * tile.pitch() + from);
  }

  __device__ float* sums() const { return reinterpret_cast<float*>(stages); }

  const ConvTilesArguments& a;
  T* const stages;
  ConvPlace* const places;
  const uint32_t group, part, first_row, first_column, first_stage;
  const int stage_count;  // of this part
  const uint32_t end_of_part;
  ConvPlace own_places[tile.units ? kRowCopies : 1];
  ConvElement next;    // that this thread copies next, of each of its windows
  uint32_t next_of_w;  // the number of the one of its rows of w
  ConvProducts<tile> products;
};

// Ends the sums of blocks that multiply whole windows; those of parts are left to another kernel.
struct ConvAlone {
  template <class Block>
  __device__ void prepare(const Block&) const {}
  __device__ void arrive() const {}
  __device__ void wait() const {}
  template <class Block>
  __device__ void end(const Block& block) const {
    block.has_vectors() ? block.store_vectors() : block.store_elements();
  }
};

template <ConvTile tile, class Join>
__device__ inline void conv_tiles(const ConvTilesArguments& a, Join join) {
  extern __shared__ __align__(16) unsigned char memory[];
  allow_dependents();
  ConvTiles<tile>(a, memory).run(join);
}

}  // namespace rung::gpu
