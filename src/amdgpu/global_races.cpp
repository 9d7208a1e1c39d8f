// The shadow of global memory that races between work-groups are found with, in pages that are made when touched.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/lane_access.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint64_t kHalf = 0xffffffff, kAtomic = 0x80000000;

}  // namespace

GlobalRaces::GlobalRaces() : buckets_(std::make_unique<std::atomic<Page*>[]>(kBuckets)) {}

GlobalRaces::~GlobalRaces() { forget(); }

void GlobalRaces::forget() {
  for (size_t n = 0; n < kBuckets; ++n)
    for (Page* page = buckets_[n].exchange(nullptr); page != nullptr;) delete std::exchange(page, page->next);
  pages_ = 0;
}

void GlobalRaces::begin(uint64_t groups) {
  uint64_t many = uint64_t{many_} + groups_ + 1;
  if (pages_ > kMostKept || many + groups >= kAtomic) forget(), many = 1;
  many_ = static_cast<uint32_t>(many), groups_ = static_cast<uint32_t>(groups);
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
  ++pages_;
  return *made;
}

inline bool GlobalRaces::is_live(uint64_t mark) const {
  return (static_cast<uint32_t>(mark) & ~static_cast<uint32_t>(kAtomic)) - many_ <= groups_;
}

bool GlobalRaces::touch_half(Cell& cell, const Touch& touch, bool low, bool high) const {
  uint64_t writes = cell.writes.load(std::memory_order_relaxed), reads = cell.reads.load(std::memory_order_relaxed);
  bool fine = true;
  for (const int shift : {0, 32}) {
    if (!(shift == 0 ? low : high)) continue;
    const uint64_t write = writes >> shift & kHalf, read = reads >> shift & kHalf;
    const bool written = is_live(write) && (write & ~kAtomic) != touch.me, known = is_live(read);
    if (written && !(touch.atomic && (write & kAtomic))) fine = false;
    if (touch.writes && !touch.atomic && known && read != touch.me) fine = false;
    uint64_t& marks = touch.writes ? writes : reads;
    const uint64_t mark = touch.writes                ? touch.me | (touch.atomic ? kAtomic : 0)
                          : known && read != touch.me ? many_
                                                      : touch.me;
    marks = (marks & ~(kHalf << shift)) | mark << shift;
  }
  (touch.writes ? cell.writes : cell.reads).store(touch.writes ? writes : reads, std::memory_order_relaxed);
  return fine;
}

// Whole dwords whose halves are alike, and that nobody else writes, nor reads where this group writes.
inline bool GlobalRaces::touch_dword(Cell& cell, const Touch& touch) const {
  const uint64_t writes = cell.writes.load(std::memory_order_relaxed);
  const uint64_t reads = cell.reads.load(std::memory_order_relaxed);
  const uint64_t both = touch.me | touch.me << 32;
  const bool alike = writes >> 32 == (writes & kHalf) && reads >> 32 == (reads & kHalf);
  const bool unwritten = writes == both || !is_live(writes), unread = reads == both || !is_live(reads);
  if (touch.atomic || !alike || !unwritten || (touch.writes && !unread)) [[unlikely]]
    return touch_half(cell, touch, true, true);
  if (touch.writes) {
    if (writes != both) cell.writes.store(both, std::memory_order_relaxed);
  } else {
    const uint64_t now = unread ? both : many_ | uint64_t{many_} << 32;
    if (reads != now) cell.reads.store(now, std::memory_order_relaxed);
  }
  return true;
}

uint64_t GlobalRaces::touch_run(uint64_t begin, uint64_t end, const Touch& touch) {
  uint64_t wrong = kNowhere;
  for (uint64_t at = begin & ~uint64_t{1}; at < end;) {
    Page& page = page_of(at);
    const uint64_t stop = std::min(end, (page.number + 1) * kPageBytes);
    while (at < stop) {
      Cell& cell = page.cells[at % kPageBytes / 4];
      const bool low = at % 4 == 0, high = (at & ~uint64_t{3}) + 2 < end;
      const bool fine = low && high ? touch_dword(cell, touch) : touch_half(cell, touch, low, high);
      if (!fine) wrong = std::min(wrong, at);
      at = (at & ~uint64_t{3}) + 4;
    }
  }
  return wrong;
}

void GlobalRaces::touch(Wave& wave, const Addresses& addresses, const LanePattern& pattern,
                        const GlobalAccess& access) {
  Group& group = *wave.group;
  if (access.bytes == 1 || group.synchronised) return;
  const Touch touch{uint64_t{many_} + 1 + group.number, access.write, access.atomic};
  const uint64_t lowest = addresses.at[0] + static_cast<uint64_t>(pattern.lowest);
  uint64_t wrong = kNowhere;
  for (const ByteRun& run : pattern.runs)
    wrong = std::min(wrong, touch_run(lowest + run.begin, lowest + run.begin + run.count, touch));
  if (wrong == kNowhere) return;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const uint64_t at = addresses.at[lane];
    if (!(addresses.lanes >> lane & 1) || wrong + 4 <= at || wrong >= at + access.bytes) continue;
    return group.tell_race(wave, lane, fmt::format("{} bytes at {:#x}", access.bytes, at));
  }
}

}  // namespace rung::amdgpu
