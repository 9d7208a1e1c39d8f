// The tiles of a product for dies, each with its own L2, that take a launch's blocks in turns; shared by host and
// device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// A die takes tiles that follow each other, so that its L2 holds the operands that neighbours share.
struct DieTiles {
  uint32_t tiles = 0, of_die = 0;  // tiles in all, and the most of one die
  Divisor dies;

  DieTiles() = default;
  DieTiles(uint32_t count, uint32_t die_count)
      : tiles(count), of_die((count + die_count - 1) / die_count), dies(die_count) {}
  uint32_t blocks() const { return of_die * dies.value; }  // a few may have no tile
  // Returns the tile of a block; if it is not below `tiles`, the block has none.
  RUNG_HOST_DEVICE uint32_t tile_of(uint32_t block) const {
    const uint32_t turn = dies.divide(block);
    return (block - turn * dies.value) * of_die + turn;
  }
};

}  // namespace rung::gpu
