// The shadow of global memory that races between work-groups are found with, in pages that are made when touched.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/lane_access.hpp"

namespace rung::amdgpu {
namespace {

// Flags of a mark: the write was atomic; a dword's marks are those of its halves. Numbers are below.
constexpr uint32_t kAtomic = 0x80000000, kSplit = 0x40000000;

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
  if (pages_ > kMostKept || many + groups >= kSplit) forget(), many = 1;
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

inline bool GlobalRaces::is_live(uint32_t mark) const { return (mark & ~(kAtomic | kSplit)) - many_ <= groups_; }

inline bool GlobalRaces::note(Cell& cell, const Touch& touch) const {
  const uint64_t marks = cell.load(std::memory_order_relaxed);
  auto write = static_cast<uint32_t>(marks), read = static_cast<uint32_t>(marks >> 32);
  const bool written = is_live(write) && (write & ~kAtomic) != touch.me, other = is_live(read) && read != touch.me;
  bool fine = !written || (touch.atomic && (write & kAtomic));
  if (touch.writes) {
    fine &= touch.atomic || !other;
    write = touch.me | (touch.atomic ? kAtomic : 0);
  } else {
    read = other ? many_ : touch.me;
  }
  const uint64_t now = write | uint64_t{read} << 32;
  if (now != marks) cell.store(now, std::memory_order_relaxed);
  return fine;
}

inline bool GlobalRaces::touch_dword(Page& page, size_t dword, const Touch& touch) const {
  const auto write = static_cast<uint32_t>(page.dwords[dword].load(std::memory_order_relaxed));
  if (!(write & kSplit) || !is_live(write)) [[likely]]
    return note(page.dwords[dword], touch);
  Halves& halves = *page.halves.load(std::memory_order_acquire);
  const bool low = note(halves[2 * dword], touch), high = note(halves[2 * dword + 1], touch);
  return low && high;
}

// What several threads do here at once may be lost to each other, never invented.
bool GlobalRaces::touch_part(Page& page, size_t dword, bool low, const Touch& touch) {
  Halves* halves = page.halves.load(std::memory_order_acquire);
  if (halves == nullptr) {
    std::lock_guard lock(adding_);
    halves = page.halves.load(std::memory_order_acquire);
    if (halves == nullptr) page.halves.store(halves = new Halves{}, std::memory_order_release);
  }
  const uint64_t marks = page.dwords[dword].load(std::memory_order_relaxed);
  const auto write = static_cast<uint32_t>(marks);
  if (!(write & kSplit) || !is_live(write)) {
    const uint64_t before = write & kSplit ? 0 : marks;
    for (const size_t half : {2 * dword, 2 * dword + 1}) (*halves)[half].store(before, std::memory_order_relaxed);
    page.dwords[dword].store(many_ | kSplit, std::memory_order_relaxed);
  }
  return note((*halves)[2 * dword + (low ? 0 : 1)], touch);
}

uint64_t GlobalRaces::touch_run(uint64_t begin, uint64_t end, const Touch& touch) {
  uint64_t wrong = kNowhere;
  for (uint64_t at = begin & ~uint64_t{1}; at < end;) {
    Page& page = page_of(at);
    const uint64_t stop = std::min(end, (page.number + 1) * kPageBytes);
    while (at < stop) {
      const size_t dword = at % kPageBytes / 4;
      const bool low = at % 4 == 0, high = (at & ~uint64_t{3}) + 2 < end;
      const bool fine = low && high ? touch_dword(page, dword, touch) : touch_part(page, dword, low, touch);
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
  const Touch touch{many_ + 1 + group.number, access.write, access.atomic};
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
