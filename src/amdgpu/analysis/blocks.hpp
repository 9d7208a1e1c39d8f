// The blocks of a listing: runs of instructions that are entered at the first and left at the last alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

struct Block {
  size_t first = 0, last = 0;  // indices of instructions, the last one excluded
  std::vector<size_t> next;    // blocks that may follow: at most two
};
// Returns the blocks in order; the first is the entry. Nothing follows a jump to an address in registers.
std::vector<Block> blocks_of(const Listing& listing);

}  // namespace rung::amdgpu
