// Blocks begin where branches go and behind branches.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/blocks.hpp"

#include <algorithm>
#include <optional>

namespace rung::amdgpu {
namespace {

std::optional<size_t> index_of_goal(const Listing& listing, const Placed& placed) {
  const int64_t goal = goal_of(placed);
  const auto& all = listing.instructions;
  if (goal < 0) return std::nullopt;
  const auto found = std::lower_bound(all.begin(), all.end(), goal, [](const Placed& one, int64_t offset) {
    return static_cast<int64_t>(one.offset) < offset;
  });
  if (found == all.end() || static_cast<int64_t>(found->offset) != goal) return std::nullopt;
  return static_cast<size_t>(found - all.begin());
}

}  // namespace

std::vector<Block> blocks_of(const Listing& listing) {
  const size_t count = listing.instructions.size();
  std::vector<std::optional<size_t>> goals(count);
  std::vector<bool> begins(count + 1);
  for (size_t i = 0; i < count; ++i) {
    goals[i] = index_of_goal(listing, listing.instructions[i]);
    if (goals[i]) begins[*goals[i]] = begins[i + 1] = true;
    if (ends_path(listing.instructions[i].instruction)) begins[i + 1] = true;
  }
  std::vector<Block> blocks;
  std::vector<size_t> block_of(count);
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || begins[i]) blocks.push_back({.first = i, .last = i, .next = {}});
    ++blocks.back().last;
    block_of[i] = blocks.size() - 1;
  }
  for (Block& block : blocks) {
    const size_t end = block.last - 1;
    if (goals[end]) block.next.push_back(block_of[*goals[end]]);
    if (!ends_path(listing.instructions[end].instruction) && block.last < count)
      block.next.push_back(block_of[block.last]);
  }
  return blocks;
}

}  // namespace rung::amdgpu
