// Loops are strongly connected parts of the graph of blocks.
// SPDX-License-Identifier: Apache-2.0
// Source: R. Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972).
#include "amdgpu/analysis/loops.hpp"

#include <algorithm>

namespace rung::amdgpu {
namespace {

constexpr size_t kNone = ~size_t{0};

// Finds the strongly connected parts of the chosen blocks, without recursion: code that others wrote may be deep.
class Parts {
 public:
  Parts(const std::vector<Block>& blocks, std::vector<bool>& chosen)
      : blocks_(blocks), chosen_(chosen), order_(blocks.size(), kNone), low_(blocks.size()), open_(blocks.size()) {}
  void search(size_t root) {
    enter(root);
    while (!way_.empty()) {
      auto& [block, edge] = way_.back();
      if (edge < blocks_[block].next.size()) {
        const size_t next = blocks_[block].next[edge++];
        if (!chosen_[next]) continue;
        if (order_[next] == kNone)
          enter(next);
        else if (open_[next])
          low_[block] = std::min(low_[block], order_[next]);
      } else {
        leave();
      }
    }
  }
  bool seen(size_t block) const { return order_[block] != kNone; }
  std::vector<std::vector<size_t>> found;  // the parts in which a block is reached again

 private:
  void enter(size_t block) {
    order_[block] = low_[block] = entered_++;
    open_[block] = true;
    stack_.push_back(block);
    way_.emplace_back(block, 0);
  }
  void leave() {
    const size_t block = way_.back().first;
    way_.pop_back();
    if (!way_.empty()) low_[way_.back().first] = std::min(low_[way_.back().first], low_[block]);
    if (low_[block] != order_[block]) return;
    std::vector<size_t> part;
    do {
      part.push_back(stack_.back());
      open_[part.back()] = false;
      stack_.pop_back();
    } while (part.back() != block);
    const auto& next = blocks_[block].next;
    if (part.size() > 1 || std::find(next.begin(), next.end(), block) != next.end()) {
      std::sort(part.begin(), part.end());
      found.push_back(std::move(part));
    }
  }

  const std::vector<Block>& blocks_;
  const std::vector<bool>& chosen_;
  std::vector<size_t> order_, low_;
  std::vector<bool> open_;
  std::vector<size_t> stack_;
  std::vector<std::pair<size_t, size_t>> way_;  // a block, and how many of its edges were followed
  size_t entered_ = 0;
};

// Returns all loops among the chosen blocks.
std::vector<std::vector<size_t>> parts_of(const std::vector<Block>& blocks, std::vector<bool>& chosen) {
  Parts parts(blocks, chosen);
  for (size_t block = 0; block < blocks.size(); ++block)
    if (chosen[block] && !parts.seen(block)) parts.search(block);
  return std::move(parts.found);
}

}  // namespace

std::vector<Loop> loops_of(const std::vector<Block>& blocks) {
  std::vector<bool> chosen(blocks.size(), true);
  std::vector<size_t> owner(blocks.size(), kNone);  // for each block the loop found last
  std::vector<Loop> loops;
  for (int depth = 0; depth < kMostLoopDepth; ++depth) {
    // Taking out the first block of each loop, where compilers enter it, leaves the loops inside it.
    const auto parts = parts_of(blocks, chosen);
    std::vector<bool> inner(blocks.size());
    for (const auto& part : parts)
      for (const size_t block : part) inner[block] = block != part.front();
    for (const auto& part : parts) {
      if (owner[part.front()] != kNone) loops[owner[part.front()]].innermost = false;
      for (const size_t block : part) owner[block] = loops.size();
      loops.push_back({.blocks = part});
    }
    if (parts.empty()) break;
    chosen = std::move(inner);
  }
  return loops;
}

}  // namespace rung::amdgpu
