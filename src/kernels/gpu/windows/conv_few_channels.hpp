// The configurations and arguments of convolutions of few channels, such as an image's, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"
#include "kernels/gpu/windows/conv_tiles.hpp"

namespace rung::gpu {

// A window's line is its places along the last axis, all channels of each, which are neighbours in x. The elements of a
// window are its lines, each with a zero behind it if its elements are odd in number, and zeros up to whole stages. The
// patch of x that a tile's windows cover lies in shared memory, and is copied from there window by window.
constexpr int kFewChannelsMostStages = 4;
constexpr int kFewChannelsPatchBytes = 8 * 1024;  // at most

struct FewChannelsArguments {
  uint64_t x, w;  // addresses; w: [rows, stages of elements]
  ConvEnd end;
  WindowAxis axes[kWindowAxes];         // the first one has a single place
  int64_t x_batch;                      // elements from batch to batch
  uint32_t rows, stages;                // rows: of w; stages: of a window
  uint32_t channels, line, even_line;   // elements of a place, of a window's line, of that with a zero
  uint32_t column_bits, row_tiles;      // a tile has 2^column_bits windows side by side
  uint32_t patch_rows, patch_elements;  // patch_elements: of a row
  int32_t x_row;                        // elements from row to row of x
  Divisor patch;                        // patch_elements
};

// The windows' and w's stages lie in front of the patch; sums in f32 take the place of the windows.
constexpr int few_channels_lines_bytes(const ConvTile& tile, int stages) {
  return stages * tile.stage_elements() * tile.bytes();
}
constexpr int few_channels_bytes(const ConvTile& tile, int stages) {
  const int lines = few_channels_lines_bytes(tile, stages), sums = tile.sums_bytes();
  return (lines > sums ? lines : sums) + kFewChannelsPatchBytes;
}

}  // namespace rung::gpu
