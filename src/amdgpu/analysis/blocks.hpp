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
// In their order; the first is the entry. Calls and jumps to an address in registers have nothing that follows.
std::vector<Block> blocks_of(const Listing& listing);

}  // namespace rung::amdgpu
