// The loops of a listing: blocks from which each of them can be reached again.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "amdgpu/analysis/blocks.hpp"

namespace rung::amdgpu {

// A branch back alone makes no loop: compilers place blocks that run once behind what follows them.
struct Loop {
  std::vector<size_t> blocks;  // all of it, with the loops in it
  bool innermost = true;       // no other loop is in it
};
// Inner loops come behind those that hold them. The rest of a loop without its first block is searched for further
// ones, to a depth of kMostLoopDepth.
inline constexpr int kMostLoopDepth = 16;
std::vector<Loop> loops_of(const std::vector<Block>& blocks);

// By the instruction's index: whether it is in one of the loops that `chosen` says yes to.
template <class Chosen>
std::vector<bool> within(const std::vector<Loop>& loops, const std::vector<Block>& blocks, Chosen chosen) {
  std::vector<bool> inside(blocks.empty() ? 0 : blocks.back().last);
  for (const Loop& loop : loops) {
    if (!chosen(loop)) continue;
    for (const size_t block : loop.blocks)
      for (size_t i = blocks[block].first; i < blocks[block].last; ++i) inside[i] = true;
  }
  return inside;
}

}  // namespace rung::amdgpu
