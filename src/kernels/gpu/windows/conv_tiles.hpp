// The configurations and arguments of convolutions in tiles, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// A convolution is the product of two matrices of lines: a result's window, all taps of all channels side by side, and
// a row of w, alike. A block makes the results of `rows` windows and `columns` rows of w. Its warps share the tile, and
// each of `depth_warps` takes every depth_warps-th run of a stage's elements.
struct ConvTile {
  DType type;  // of x and w
  bool units;  // whether 16 bytes of a line are copied at a time, or single elements
  int rows, columns;
  int row_warps, column_warps, depth_warps;
  int stages;  // of lines in shared memory: one is multiplied while the others are fetched
  bool operator==(const ConvTile&) const = default;

  constexpr int bytes() const { return type == DType::f32 ? 4 : 2; }  // of an element
  constexpr int warps() const { return row_warps * column_warps * depth_warps; }
  constexpr int threads(int lanes) const { return lanes * warps(); }
  constexpr int warp_rows() const { return rows / row_warps; }
  constexpr int warp_columns() const { return columns / column_warps; }
  // Returns the elements of a line in a stage: 128 bytes, or 256 for four depth warps.
  constexpr int depth() const { return (depth_warps < 4 ? 128 : 256) / bytes(); }
  // Returns the elements from line to line: 16 bytes more than the line, so that eight lines meet no bank twice.
  constexpr int pitch() const { return depth() + 16 / bytes(); }
  constexpr int copied_together() const { return units ? 16 / bytes() : 1; }
  constexpr int copies_of_line() const { return depth() / copied_together(); }
  constexpr int stage_elements() const { return (rows + columns) * pitch(); }
  constexpr int stages_bytes() const { return stages * stage_elements() * bytes(); }
  // The depth warps' sums in f32 take the place of the stages.
  constexpr int sums_pitch() const { return columns + 4; }
  constexpr int sums_bytes() const { return 4 * depth_warps * rows * sums_pitch(); }
  constexpr int places_offset() const { return stages_bytes() > sums_bytes() ? stages_bytes() : sums_bytes(); }
  constexpr int inbox_offset() const;
  // Blocks of a cluster have an inbox for their share of the tile's sums from each, as large as a tile, and a barrier.
  constexpr int barrier_offset() const { return inbox_offset() + 4 * rows * columns; }
  constexpr uint32_t shared_bytes(bool clusters) const {
    constexpr int kBarrierBytes = 8;
    return static_cast<uint32_t>(clusters ? barrier_offset() + kBarrierBytes : inbox_offset());
  }
};

// The window of a result: where its first element would be from x on, and the place of its first tap along each axis,
// maybe outside of x.
struct ConvPlace {
  int64_t begin;
  int32_t at[kWindowAxes];
};

constexpr int ConvTile::inbox_offset() const { return places_offset() + rows * static_cast<int>(sizeof(ConvPlace)); }

// A window's stages are shared evenly by its parts, each of which another block multiplies. If the blocks are no
// cluster, they leave `sums`, f32[parts, results, rows], which another kernel ends.
struct ConvTilesArguments {
  uint64_t x, w, sums;  // addresses
  ConvEnd end;
  WindowAxis axes[kWindowAxes];
  int64_t x_batch;                         // elements from batch to batch
  int32_t distances[kWindowAxes];          // elements from tap to tap of x
  uint32_t channels, rows_of_group, rows;  // channels: of a group
  uint32_t results, elements;              // results of a row of w; elements of a window
  uint32_t stages, part_bits;              // of a window; it has 2^part_bits parts
  bool w_is_constant;                      // so that it can be read before earlier kernels have ended

  Divisor by_channels, by_results[kWindowAxes], by_taps[kWindowAxes];
};

constexpr int kConvJoinThreads = 128;

}  // namespace rung::gpu
