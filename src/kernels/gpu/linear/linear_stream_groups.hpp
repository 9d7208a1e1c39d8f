// The order of the scales and offsets of groups of columns that the streaming linear kernels need.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_stream_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

StreamConfig stream_config(const Problem& problem);

// The tiles of a layer, and of each the chunks of K. Its scales have the same order, and so have its offsets: 32
// columns after 32 of each chunk, for all rows of a tile, each plus 128. Where w has 4 bits, a lane finds the two that
// it needs of a chunk side by side; where it has 8, the four of its row.
struct StreamOrder {
  StreamConfig config;
  uint32_t tiles, chunks, half, w_rows;
  int64_t group = 0;  // columns of w; 0: none

  explicit StreamOrder(const Problem& problem);
  size_t bytes_of_scales() const { return size_t{tiles} * chunks * config.chunk_scales(); }
};

// The callbacks of the row.
size_t stream_packed_bytes(const Problem& problem, const Machine& machine, size_t i);
void pack_stream_groups(const Problem& problem, const Machine& machine, size_t i, const void* from, void* to);

}  // namespace rung::gpu
