// Makes allocations of the emulated device in mappings of their own, each with bits that mark written bytes.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace rung::amdgpu {
namespace {

constexpr size_t kGuard = size_t{64} << 10;  // on both sides: an access a little out of bounds hits no one's memory

size_t pages(size_t bytes) {
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// guard | data, up to a page | guard | one bit for each byte of it
struct Mapping {
  size_t data_bytes = 0, bit_bytes = 0;
  explicit Mapping(size_t bytes) : data_bytes(pages(bytes)), bit_bytes(pages((bytes + 7) / 8)) {}
  size_t total() const { return 2 * kGuard + data_bytes + bit_bytes; }
};

uint8_t bits_between(size_t from, size_t to) { return static_cast<uint8_t>((1u << to) - (1u << from)); }

// Calls `each(word or byte of bits, which of them)` for the bits of [from, from + count), which begin at a page, until
// it returns false.
template <class Each>
bool for_bits(uint8_t* bits, size_t from, size_t count, Each each) {
  constexpr size_t kWord = 64;
  const size_t end = from + count;
  for (size_t at = from; at < end;) {
    if (at % kWord == 0 && end - at >= kWord) {
      if (!each(*reinterpret_cast<uint64_t*>(bits + at / 8), ~uint64_t{0})) return false;
      at += kWord;
      continue;
    }
    const size_t first = at % 8, last = std::min<size_t>(8, first + (end - at));
    if (!each(bits[at / 8], bits_between(first, last))) return false;
    at += last - first;
  }
  return true;
}

}  // namespace

struct Memory::State {
  mutable std::shared_mutex mutex;
  std::map<uint64_t, Region> regions;  // by address; entries do not move
  size_t used = 0;

  const Region* find(uint64_t address, size_t bytes) const {
    std::shared_lock lock(mutex);
    auto it = regions.upper_bound(address);
    if (it == regions.begin()) return nullptr;
    const Region& region = std::prev(it)->second;
    return region.holds(address, bytes) ? &region : nullptr;
  }
};

Memory::Memory() : state_(std::make_unique<State>()) {}

Memory::~Memory() {
  while (!state_->regions.empty()) {
    const Region& region = state_->regions.begin()->second;
    if (region.written)
      release(region.address());
    else
      forget(region.data);
  }
}

size_t Memory::total() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

Result<uint64_t> Memory::allocate(size_t bytes) {
  std::unique_lock lock(state_->mutex);
  const size_t free = total() - std::min(total(), state_->used);
  if (bytes > free) return no_memory("wanted {} bytes, {} of {} are free", bytes, free, total());
  const Mapping mapping(bytes);
  void* all = mmap(nullptr, mapping.total(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return no_memory("the system has no {} bytes", mapping.total());
  std::byte* data = static_cast<std::byte*>(all) + kGuard;
  std::byte* bits = data + mapping.data_bytes + kGuard;
  if (mprotect(data, mapping.data_bytes, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(bits, mapping.bit_bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(all, mapping.total());
    return no_memory("the system has no {} bytes", mapping.total());
  }
  const Region region{data, bytes, reinterpret_cast<uint8_t*>(bits), true};
  state_->regions.emplace(region.address(), region);
  state_->used += bytes;
  return region.address();
}

bool Memory::release(uint64_t address) {
  std::unique_lock lock(state_->mutex);
  auto it = state_->regions.find(address);
  if (it == state_->regions.end() || !it->second.written) return false;
  const Mapping mapping(it->second.bytes);
  munmap(it->second.data - kGuard, mapping.total());
  state_->used -= it->second.bytes;
  state_->regions.erase(it);
  return true;
}

void Memory::lend(std::byte* data, size_t bytes, bool writable) {
  std::unique_lock lock(state_->mutex);
  const Region region{data, bytes, nullptr, writable};
  state_->regions.insert_or_assign(region.address(), region);
}

bool Memory::forget(const std::byte* data) {
  std::unique_lock lock(state_->mutex);
  auto it = state_->regions.find(reinterpret_cast<uint64_t>(data));
  if (it == state_->regions.end() || it->second.written) return false;
  state_->regions.erase(it);
  return true;
}

const Region* Memory::find(uint64_t address, size_t bytes) const { return state_->find(address, bytes); }

// Groups on several cores may write bytes whose bits share a byte or word.
void Region::mark(uint64_t at, size_t count) const {
  if (!written) return;
  for_bits(written, at - address(), count, []<class Bits>(Bits& bits, Bits which) {
    std::atomic_ref<Bits> shared(bits);
    if (which == static_cast<Bits>(~Bits{0}))
      shared.store(which, std::memory_order_relaxed);
    else if ((shared.load(std::memory_order_relaxed) & which) != which)
      shared.fetch_or(which, std::memory_order_relaxed);
    return true;
  });
}

void Region::unmark(uint64_t at, size_t count) const {
  if (!written) return;
  for_bits(written, at - address(), count, []<class Bits>(Bits& bits, Bits which) {
    std::atomic_ref<Bits>(bits).fetch_and(static_cast<Bits>(~which), std::memory_order_relaxed);
    return true;
  });
}

bool Region::all_written(uint64_t at, size_t count) const {
  return !written || for_bits(written, at - address(), count, []<class Bits>(Bits& bits, Bits which) {
    return (std::atomic_ref<Bits>(bits).load(std::memory_order_relaxed) & which) == which;
  });
}

void Memory::mark_written(uint64_t address, size_t bytes) {
  if (const Region* region = find(address, bytes)) region->mark(address, bytes);
}

bool Memory::is_written(uint64_t address, size_t bytes) const {
  const Region* region = find(address, bytes);
  return region && region->all_written(address, bytes);
}

size_t Memory::used() const {
  std::shared_lock lock(state_->mutex);
  return state_->used;
}

}  // namespace rung::amdgpu
