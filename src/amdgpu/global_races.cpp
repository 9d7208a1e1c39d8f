// The shadow of global memory that races between work-groups are found with, in pages that are made when touched.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/lane_access.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint64_t kHalf = 0xffffffff, kManyReaders = 0xffffffff, kAtomic = 0x80000000;

// One group's access of half a dword; `write` and `read` are that half's marks. False: a race.
struct HalfAccess {
  uint64_t me;
  bool writes, atomic;

  static uint64_t group_of(uint64_t mark) { return mark & ~kAtomic; }
  bool allowed(uint64_t write, uint64_t read) const {
    if (write != 0 && group_of(write) != me && !(atomic && (write & kAtomic))) return false;
    return !writes || atomic || read == 0 || read == me;
  }
};

}  // namespace

GlobalRaces::GlobalRaces() : buckets_(std::make_unique<std::atomic<Page*>[]>(kBuckets)) {}

GlobalRaces::~GlobalRaces() {
  for (size_t n = 0; n < kBuckets; ++n)
    for (Page* page = buckets_[n]; page != nullptr;) delete std::exchange(page, page->next);
}

GlobalRaces::Page& GlobalRaces::page_of(uint64_t address) {
  const uint64_t number = address / kPageBytes;
  std::atomic<Page*>& bucket = buckets_[number % kBuckets];
  const auto find = [&]() -> Page* {
    for (Page* page = bucket.load(std::memory_order_acquire); page != nullptr; page = page->next)
      if (page->number == number) return page;
    return nullptr;
  };
  if (Page* page = find()) return *page;
  std::lock_guard lock(adding_);
  if (Page* page = find()) return *page;
  Page* made = new Page;
  made->number = number;
  made->next = bucket.load(std::memory_order_relaxed);
  bucket.store(made, std::memory_order_release);
  return *made;
}

void GlobalRaces::touch(Wave& wave, const Addresses& addresses, const GlobalAccess& access) {
  Group& group = *wave.group;
  if (access.bytes == 1 || group.synchronised) return;
  const HalfAccess mine{uint64_t{group.number} + 1, access.write, access.atomic};
  const uint64_t both = mine.me | mine.me << 32;
  Page* page = nullptr;
  bool told = false;
  const auto tell = [&](int lane, uint64_t address) {
    if (!std::exchange(told, true))
      group.tell_race(wave, lane, fmt::format("{} bytes at {:#x}", access.bytes, address));
  };
  for_lanes(addresses.lanes, [&](int lane) {
    const uint64_t begin = addresses.at[lane] & ~uint64_t{1}, end = addresses.at[lane] + access.bytes;
    for (uint64_t at = begin; at < end; at = (at & ~uint64_t{3}) + 4) {
      if (page == nullptr || page->number != at / kPageBytes) page = &page_of(at);
      Cell& cell = page->cells[at % kPageBytes / 4];
      const bool low = at % 4 == 0, high = (at & ~uint64_t{3}) + 2 < end;
      const uint64_t chosen = (low ? kHalf : 0) | (high ? kHalf << 32 : 0);
      const uint64_t writes = cell.writes.load(std::memory_order_relaxed);
      const uint64_t reads = cell.reads.load(std::memory_order_relaxed);
      const bool others =
          ((writes ^ both) & chosen && writes & chosen) || (mine.writes && (reads ^ both) & chosen && reads & chosen);
      if (others &&
          ((low && !mine.allowed(writes & kHalf, reads & kHalf)) || (high && !mine.allowed(writes >> 32, reads >> 32))))
        tell(lane, addresses.at[lane]);
      if (mine.writes) {
        const uint64_t mark = both | (mine.atomic ? kAtomic | kAtomic << 32 : 0);
        if ((writes & chosen) != (mark & chosen))
          cell.writes.store((writes & ~chosen) | (mark & chosen), std::memory_order_relaxed);
      } else if ((reads & chosen) != (both & chosen)) {
        uint64_t now = reads;
        if (low)
          now = (now & ~kHalf) | ((reads & kHalf) == 0 ? mine.me : (reads & kHalf) == mine.me ? mine.me : kManyReaders);
        if (high) {
          const uint64_t old = reads >> 32;
          now = (now & kHalf) | (old == 0 || old == mine.me ? mine.me : kManyReaders) << 32;
        }
        if (now != reads) cell.reads.store(now, std::memory_order_relaxed);
      }
    }
  });
}

}  // namespace rung::amdgpu
