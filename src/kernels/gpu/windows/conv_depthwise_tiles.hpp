// The configurations and arguments of depthwise convolutions over tiles in shared memory, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"
#include "kernels/gpu/windows/conv_end.hpp"
#include "kernels/gpu/windows/windows.hpp"

namespace rung::gpu {

// A block makes `rows` by `runs` runs of kDepthwiseRun neighbouring results each, of kDepthwiseChannels channels. A
// thread makes a run of two channels. Rows lie along the middle axis of windows, runs along the last one.
constexpr int kDepthwiseRun = 4, kDepthwiseChannels = 32, kDepthwisePairs = kDepthwiseChannels / 2;
constexpr int kDepthwiseTileThreads = 512;  // of a block, at most

struct DepthwiseTile {
  DType type;        // of x
  int taps, stride;  // along the last axis
  bool operator==(const DepthwiseTile&) const = default;

  constexpr int bytes() const { return type == DType::f32 ? 4 : 2; }  // of an element
  constexpr int copied_together() const { return 16 / bytes(); }
  constexpr int units() const { return kDepthwiseChannels / copied_together(); }  // copies of a place
  constexpr int places_of_run() const { return (kDepthwiseRun - 1) * stride + taps; }
};

// The patch of x that a tile's windows cover lies in shared memory: `patch_rows` lines of `patch_columns` places, which
// are `pitch` bytes apart. In front of it lie the weights of all taps.
struct DepthwiseTilesArguments {
  uint64_t x, w;  // addresses; w: f32[taps, channels]
  ConvEnd end;
  WindowAxis axes[kWindowAxes];  // the first one has windows of one place
  int64_t x_batch;               // elements from batch to batch
  uint32_t channels, taps;       // taps: of a window
  uint32_t rows, runs, row_tiles;
  uint32_t patch_rows, patch_columns, pitch;
  int32_t x_row, x_place;                      // elements from row to row and from place to place of x
  Divisor row_divisor, tile_divisor, columns;  // of rows, row_tiles, patch_columns
};

}  // namespace rung::gpu
