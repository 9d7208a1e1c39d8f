// Anonymous mappings advised to use huge pages; blocks of under half a huge page come from shared slabs.
// SPDX-License-Identifier: Apache-2.0
#include "base/big_block.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <mutex>

namespace rung {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSlab = 4 * kHugePage;  // small: one piece keeps the whole slab

std::shared_ptr<std::byte> map_block(size_t bytes) {
  size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  // Over-map by one huge page and give back the ends, so that the block starts on a huge-page boundary.
  void* raw = mmap(nullptr, rounded + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  size_t head = (kHugePage - reinterpret_cast<uintptr_t>(raw) % kHugePage) % kHugePage;
  auto* data = static_cast<std::byte*>(raw) + head;
  if (head) munmap(raw, head);
  munmap(data + rounded, kHugePage - head);
  madvise(data, rounded, MADV_HUGEPAGE);
  return {data, [rounded](std::byte* p) { munmap(p, rounded); }};
}

// Hands out consecutive pieces of a slab; a piece keeps its slab alive.
class SlabAllocator {
 public:
  std::shared_ptr<std::byte> allocate(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto slab = slab_.lock();
    if (!slab || used_ + bytes > kSlab) {
      slab = map_block(kSlab);
      if (!slab) return nullptr;
      slab_ = slab;
      used_ = 0;
    }
    std::shared_ptr<std::byte> piece(slab, slab.get() + used_);
    used_ += (bytes + 63) / 64 * 64;
    return piece;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<std::byte> slab_;  // weak: a slab that no piece uses any more is freed
  size_t used_ = 0;
};

}  // namespace

std::shared_ptr<std::byte> allocate_block(size_t bytes) {
  if (bytes > kSlab / 2) return map_block(bytes);
  static SlabAllocator slabs;
  return slabs.allocate(bytes + 64);  // a vector past the end stays readable
}

}  // namespace rung
