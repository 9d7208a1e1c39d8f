// Which tile of a product a block takes where dies with an L2 each take the blocks of a launch in turns, shared by host
// and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// The tiles that a die takes follow each other, so that its L2 holds what neighbours share.
struct DieTiles {
  uint32_t tiles = 0, of_die = 0;  // in all, and at most of one
  Divisor dies;

  DieTiles() = default;
  DieTiles(uint32_t count, uint32_t die_count)
      : tiles(count), of_die((count + die_count - 1) / die_count), dies(die_count) {}
  uint32_t blocks() const { return of_die * dies.value; }  // a few may be left without a tile
  // Not below `tiles`: that block has none.
  RUNG_HOST_DEVICE uint32_t tile_of(uint32_t block) const {
    const uint32_t turn = dies.divide(block);
    return (block - turn * dies.value) * of_die + turn;
  }
};

}  // namespace rung::gpu
