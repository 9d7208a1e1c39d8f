// The cuts of a convolution into tiles and parts of windows, one of which each launch follows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/divide.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_tiles.hpp"

namespace rung::gpu {

// The tiles of a row, and its way to join parts.
struct ConvMeans {
  const GpuInfo& gpu;
  std::span<const Variant<ConvTile>> tiles;
  bool clusters;  // a window's parts are joined within a cluster, not by another launch
};

// Channels are those of the result.
struct ConvSize {
  int64_t groups, channels_of_group, results, elements;  // results: of a channel; elements: of a window
  explicit ConvSize(const Problem& problem);
};

struct ConvCut {
  Variant<ConvTile> tile;
  ConvSize size;
  int64_t parts;  // of a window; a power of two

  int64_t row_tiles() const { return divide_up(size.results, int64_t{tile.config.rows}); }
  int64_t column_tiles() const { return divide_up(size.channels_of_group, int64_t{tile.config.columns}); }
  int64_t blocks() const { return row_tiles() * column_tiles() * size.groups * parts; }
  int64_t stages() const { return divide_up(size.elements, int64_t{tile.config.depth()}); }
  // Estimates the cycles until the last block has ended.
  int64_t cycles(const ConvMeans& means) const;
};

constexpr std::string_view kConvParameters[] = {"rows", "columns", "parts"};
Tunable::Values parameters_of(const ConvCut& cut);

// Returns the cuts that are worth a trial, the one of the fewest cycles first; empty: no tile fits the machine.
std::vector<ConvCut> conv_cuts(const Problem& problem, const ConvMeans& means);

}  // namespace rung::gpu
