// The race shadow of LDS: marks of the last write and read of each dword, or of each byte where these differ.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/lds.hpp"

#include <algorithm>

namespace rung::amdgpu {

void Lds::reset(size_t bytes, const Checks& checks) {
  checks_ = checks;
  watched_ = checks.races || checks.uninitialised || checks.waits;
  bytes_.assign(bytes, std::byte{0});
  dwords_.assign(watched_ ? (bytes + 3) / 4 : 0, Cell{});
  epoch_ = 1;
}

std::optional<LdsFault> Lds::read_cell(Cell& cell, uint32_t byte, uint32_t me) const {
  const uint32_t write = cell.write;
  if ((write & kWho) == 0 && checks_.uninitialised) return LdsFault{FindingKind::uninitialised, byte, -1};
  if (must_wait(write, me)) return LdsFault{FindingKind::missing_wait, byte, other_of(write)};
  if (write >> kEpoch == epoch_ && (write & kWho) != me && checks_.races)
    return LdsFault{FindingKind::lds_race, byte, other_of(write)};
  const uint32_t mark = epoch_ << kEpoch | me;
  if (cell.read >> kEpoch != epoch_)
    cell.read = mark;
  else if (cell.read != mark)
    cell.read = epoch_ << kEpoch | kMany;
  return std::nullopt;
}

std::optional<LdsFault> Lds::write_cell(Cell& cell, uint32_t byte, uint32_t me, bool atomic) const {
  const uint32_t write = cell.write;
  if (atomic && (write & kWho) == 0 && checks_.uninitialised) return LdsFault{FindingKind::uninitialised, byte, -1};
  if (must_wait(write, me)) return LdsFault{FindingKind::missing_wait, byte, other_of(write)};
  if (cell.read >> kEpoch == epoch_ && (cell.read & kWho) != me && checks_.races)
    return LdsFault{FindingKind::lds_race, byte, other_of(cell.read)};
  uint32_t who = me;
  if (write >> kEpoch == epoch_ && (write & kWho) != me && checks_.races) {
    if (!atomic || !(write & kAtomic)) return LdsFault{FindingKind::lds_race, byte, other_of(write)};
    who = kMany;
  }
  cell.write = epoch_ << kEpoch | who | (atomic ? kAtomic : 0) | (write & kSplit);
  return std::nullopt;
}

void Lds::split(uint32_t dword) {
  if (byte_cells_.size() < dwords_.size() * 4) byte_cells_.resize(dwords_.size() * 4);
  std::fill_n(byte_cells_.begin() + dword * 4, 4, dwords_[dword]);
  dwords_[dword].write |= kSplit;
}

std::optional<LdsFault> Lds::touch(uint32_t address, uint32_t count, uint32_t wave, LdsUse use) {
  const uint32_t me = wave + 1, end = address + count;
  for (uint32_t byte = address; byte < end;) {
    const uint32_t dword = byte / 4;
    const bool whole = byte % 4 == 0 && byte + 4 <= end;
    if (whole && !(dwords_[dword].write & kSplit)) {
      if (auto fault = touch_cell(dwords_[dword], byte, me, use)) return fault;
      byte += 4;
      continue;
    }
    if (!(dwords_[dword].write & kSplit)) split(dword);
    for (const uint32_t stop = std::min(end, dword * 4 + 4); byte < stop; ++byte)
      if (auto fault = touch_cell(byte_cells_[byte], byte, me, use)) return fault;
  }
  return std::nullopt;
}

// Whole dwords of which nothing is wrong, nor split; false: touch() is to look, and none of the rest is touched.
template <bool kReads>
bool Lds::touch_fast(uint32_t address, uint32_t count, uint32_t mark) {
  if ((address | count) % 4 != 0) return false;
  const uint32_t me = mark & kWho, epoch = epoch_;
  Cell* cell = &dwords_[address / 4];
  for (const Cell* end = cell + count / 4; cell != end; ++cell) {
    const uint32_t write = cell->write, read = cell->read;
    if (write & (kPending | kLate | kSplit | kAtomic)) return false;
    if (write >> kEpoch == epoch && write != mark) return false;
    if (kReads) {
      if ((write & kWho) == 0) return false;
      if (read != mark) cell->read = read >> kEpoch == epoch ? epoch << kEpoch | kMany : mark;
    } else {
      if (read >> kEpoch == epoch && (read & kWho) != me) return false;
      cell->write = mark;
    }
  }
  return true;
}

int Lds::touch(const Access& access, LdsFault& fault) {
  const uint32_t mark = epoch_ << kEpoch | (access.wave + 1);
  uint64_t last = ~uint64_t{0};
  for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctzll(lanes);
    const uint64_t address = access.addresses[lane];
    if (address == last) continue;
    last = address;
    const auto at = static_cast<uint32_t>(address);
    if (access.use == LdsUse::read && touch_fast<true>(at, access.count, mark)) continue;
    if (access.use == LdsUse::write && touch_fast<false>(at, access.count, mark)) continue;
    if (const auto found = touch(at, access.count, access.wave, access.use)) {
      fault = *found;
      return lane;
    }
  }
  return -1;
}

void Lds::set_pending(uint32_t address, uint32_t count, bool pending, bool others) {
  if (!watched_) return;
  const uint32_t flag = others ? kLate : kPending;
  for (uint32_t byte = address; byte < address + count; ++byte) {
    if (!(dwords_[byte / 4].write & kSplit)) split(byte / 4);
    uint32_t& write = byte_cells_[byte].write;
    write = pending ? write | flag : write & ~flag;
  }
}

}  // namespace rung::amdgpu
