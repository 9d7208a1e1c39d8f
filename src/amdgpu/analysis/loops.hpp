// The loops of a listing: sets of blocks in which each can be reached from each, itself included.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "amdgpu/analysis/blocks.hpp"

namespace rung::amdgpu {

// A branch back alone makes no loop: compilers place blocks that run once behind the code that follows them.
struct Loop {
  std::vector<size_t> blocks;  // all blocks of the loop, with those of loops in it
  bool innermost = true;       // no other loop is in it
};
// Inner loops come behind the loops that hold them. Each loop without its first block is searched for further loops, to
// a depth of kMostLoopDepth.
inline constexpr int kMostLoopDepth = 16;
std::vector<Loop> loops_of(const std::vector<Block>& blocks);

// Returns for each instruction's index whether it is in a loop for which `chosen` returns true.
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
