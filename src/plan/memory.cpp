// Offline storage allocation: greedy by size, lowest fitting gap.
// SPDX-License-Identifier: Apache-2.0
#include "plan/memory.hpp"

#include <algorithm>
#include <numeric>

namespace rung {
namespace {

uint64_t padded(uint64_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }
bool overlap(const Buffer& a, const Buffer& b) { return a.first_step <= b.last_step && b.first_step <= a.last_step; }

// Sorts live buffers into buckets of steps, so that a buffer is compared only with those alive in the buckets it spans:
// plans have tens of thousands of short-lived buffers.
class Timeline {
 public:
  explicit Timeline(uint32_t steps) : width_(std::max<uint32_t>(1, steps / 256 + 1)), buckets_(steps / width_ + 1) {}

  uint64_t lowest_gap(const std::vector<Buffer>& buffers, const Buffer& wanted) {
    std::vector<uint32_t> alive;
    for (uint32_t b = wanted.first_step / width_; b <= wanted.last_step / width_; ++b)
      for (uint32_t other : buckets_[b])
        if (overlap(buffers[other], wanted)) alive.push_back(other);
    std::sort(alive.begin(), alive.end(),
              [&](uint32_t x, uint32_t y) { return buffers[x].offset < buffers[y].offset; });
    uint64_t offset = 0;
    for (uint32_t other : alive) {
      if (offset + padded(wanted.bytes) <= buffers[other].offset) break;
      offset = std::max(offset, buffers[other].offset + padded(buffers[other].bytes));
    }
    return offset;
  }

  void insert(uint32_t index, const Buffer& buffer) {
    for (uint32_t b = buffer.first_step / width_; b <= buffer.last_step / width_; ++b) buckets_[b].push_back(index);
  }

 private:
  uint32_t width_;
  std::vector<std::vector<uint32_t>> buckets_;
};

}  // namespace

uint64_t plan_memory(std::vector<Buffer>& buffers, const std::vector<PlanState>& states) {
  uint32_t steps = 0;
  for (const Buffer& buffer : buffers) steps = std::max(steps, buffer.last_step + 1);
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::erase_if(order, [&](uint32_t index) { return std::ranges::count(states, index, &PlanState::buffer) > 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return buffers[a].bytes > buffers[b].bytes; });
  Timeline timeline(steps);
  uint64_t arena = 0;
  for (uint32_t index : order) {
    Buffer& buffer = buffers[index];
    buffer.offset = timeline.lowest_gap(buffers, buffer);
    timeline.insert(index, buffer);
    arena = std::max(arena, buffer.offset + padded(buffer.bytes));
  }
  return arena;
}

}  // namespace rung
