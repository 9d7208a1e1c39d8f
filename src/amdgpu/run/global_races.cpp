// Keeps the shadow of global memory for finding races between work-groups, in pages that are made when touched.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/global_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "amdgpu/run/group.hpp"

namespace rung::amdgpu {
namespace {

// Flags of a mark: the write was atomic, or all reads were; the bytes of a dword have its marks. Numbers are below.
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

inline bool GlobalRaces::note(Cell& cell, uint64_t marks, const Touch& touch) const {
  auto write = static_cast<uint32_t>(marks), read = static_cast<uint32_t>(marks >> 32);
  const bool written = is_live(write) && (write & ~kAtomic) != touch.me;
  const bool other = is_live(read) && (read & ~kAtomic) != touch.me;
  bool fine = !written;
  if (touch.atomic) [[unlikely]] {
    fine |= (write & kAtomic) != 0;
    if (written && fine && touch.meets != nullptr) *touch.meets = true;
    if (touch.writes)
      fine &= !other || (read & kAtomic), write = touch.me | kAtomic;
    else
      read = (other ? many_ : touch.me) | (is_live(read) ? read & kAtomic : kAtomic);
  } else if (touch.writes) {
    fine &= !other;
    write = touch.me;
  } else {
    read = other ? many_ : touch.me;
  }
  const uint64_t now = write | uint64_t{read} << 32;
  if (now != marks) cell.store(now, std::memory_order_relaxed);
  return fine;
}

inline bool GlobalRaces::touch_dword(Page& page, size_t dword, const Touch& touch) const {
  // The marks are read once: another thread may split the dword meanwhile, and its flag is no group's write.
  const uint64_t marks = page.dwords[dword].load(std::memory_order_relaxed);
  const auto write = static_cast<uint32_t>(marks);
  if (!(write & kSplit) || !is_live(write)) [[likely]]
    return note(page.dwords[dword], marks, touch);
  Bytes& bytes = *page.bytes.load(std::memory_order_acquire);
  bool fine = true;
  for (size_t byte = 4 * dword; byte < 4 * dword + 4; ++byte)
    fine &= note(bytes[byte], bytes[byte].load(std::memory_order_relaxed), touch);
  return fine;
}

// Returns the marks of a page's single bytes, and gives those of this dword the dword's marks. Threads that are here at
// once may lose each other's marks, but never invent any.
GlobalRaces::Bytes& GlobalRaces::bytes_of(Page& page, size_t dword) {
  Bytes* bytes = page.bytes.load(std::memory_order_acquire);
  if (bytes == nullptr) {
    std::lock_guard lock(adding_);
    bytes = page.bytes.load(std::memory_order_acquire);
    if (bytes == nullptr) page.bytes.store(bytes = new Bytes{}, std::memory_order_release);
  }
  const uint64_t marks = page.dwords[dword].load(std::memory_order_relaxed);
  const auto write = static_cast<uint32_t>(marks);
  if (!(write & kSplit) || !is_live(write)) {
    // Reads since the launch that split it are noted for the whole dword.
    const uint64_t before = write & kSplit ? marks >> 32 << 32 : marks;
    for (size_t byte = 4 * dword; byte < 4 * dword + 4; ++byte) (*bytes)[byte].store(before, std::memory_order_relaxed);
    page.dwords[dword].store(many_ | kSplit, std::memory_order_relaxed);
  }
  return *bytes;
}

// Notes an access to bytes of one dword.
bool GlobalRaces::touch_part(Page& page, uint64_t begin, uint64_t end, const Touch& touch) {
  Bytes& bytes = bytes_of(page, begin % kPageBytes / 4);
  bool fine = true;
  for (uint64_t at = begin; at < end; ++at) {
    Cell& byte = bytes[at % kPageBytes];
    fine &= note(byte, byte.load(std::memory_order_relaxed), touch);
  }
  return fine;
}

uint64_t GlobalRaces::touch_run(uint64_t begin, uint64_t end, const Touch& touch) {
  uint64_t wrong = kNowhere;
  for (uint64_t at = begin; at < end;) {
    Page& page = page_of(at);
    const uint64_t stop = std::min(end, (page.number + 1) * kPageBytes);
    for (; at % 4 == 0 && stop - at >= 4; at += 4)
      if (!touch_dword(page, at % kPageBytes / 4, touch)) wrong = std::min(wrong, at);
    if (at == stop) continue;
    const uint64_t next = std::min(stop, (at & ~uint64_t{3}) + 4);
    if (!touch_part(page, at, next, touch)) wrong = std::min(wrong, at);
    at = next;
  }
  return wrong;
}

void GlobalRaces::touch(Wave& wave, const Addresses& addresses, const LanePattern& pattern,
                        const GlobalAccess& access) {
  Group& group = *wave.group;
  if (group.synchronised) return;
  bool meets = false;
  const bool loads = access.atomic && !access.write;  // its value may tell of other groups
  const Touch touch{many_ + 1 + group.number, access.write, access.atomic, loads ? &meets : nullptr};
  const uint64_t lowest = addresses.at[0] + static_cast<uint64_t>(pattern.lowest);
  uint64_t wrong = kNowhere;
  for (const ByteRun& run : pattern.runs)
    wrong = std::min(wrong, touch_run(lowest + run.begin, lowest + run.begin + run.count, touch));
  group.synchronised |= meets;
  if (wrong == kNowhere) return;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const uint64_t at = addresses.at[lane];
    if (!(addresses.lanes >> lane & 1) || wrong + 4 <= at || wrong >= at + access.bytes) continue;
    return group.tell(wave, DefectKind::global_race, lane, fmt::format("{} bytes at {:#x}", access.bytes, at));
  }
}

void GlobalRaces::touch_scalar(Wave& wave, uint64_t address, uint64_t bytes) {
  Group& group = *wave.group;
  if (group.synchronised) return;
  const Touch touch{many_ + 1 + group.number, false, false, nullptr};
  if (touch_run(address, address + bytes, touch) != kNowhere)
    group.tell(wave, DefectKind::global_race, -1, fmt::format("{} bytes at {:#x}", bytes, address));
}

}  // namespace rung::amdgpu
