// The local memory of a work-group, and who touched each of its bytes since the last barrier.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "amdgpu/finding.hpp"

namespace rung::amdgpu {

enum class LdsUse : uint8_t { read, write, atomic };

struct LdsFault {
  FindingKind kind{};
  uint32_t byte = 0;
  int other = -1;  // the wave whose access it meets; -1: several, or none
};

class Lds {
 public:
  // All bytes are unwritten then. `watched`: touch() looks at who writes and reads.
  void reset(size_t bytes, bool watched);
  std::byte* data() { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  bool holds(uint32_t address, uint32_t count) const {
    return address <= bytes_.size() && count <= bytes_.size() - address;
  }
  bool watched() const { return watched_; }
  // An access of bytes that it holds, by a wave of number 0 to 15. Only if watched().
  std::optional<LdsFault> touch(uint32_t address, uint32_t count, uint32_t wave, LdsUse use);
  // Bytes that an instruction on its way will write.
  void set_pending(uint32_t address, uint32_t count, bool pending);
  // Accesses before it and after it are in order.
  void barrier() { ++epoch_; }

 private:
  // When and by whom: the epoch in bits 31:8, the wave's number + 1 in 4:0 (kMany: several), flags of a write in 7:5.
  struct Cell {
    uint32_t write = 0, read = 0;
  };
  static constexpr uint32_t kWho = 0x1f, kMany = 0x1f, kAtomic = 0x20, kPending = 0x40, kSplit = 0x80;

  std::optional<LdsFault> read_cell(Cell& cell, uint32_t byte, uint32_t me) const;
  std::optional<LdsFault> write_cell(Cell& cell, uint32_t byte, uint32_t me, bool atomic) const;
  std::optional<LdsFault> touch_cell(Cell& cell, uint32_t byte, uint32_t me, LdsUse use) const {
    return use == LdsUse::read ? read_cell(cell, byte, me) : write_cell(cell, byte, me, use == LdsUse::atomic);
  }
  void split(uint32_t dword);
  static int other_of(uint32_t mark) { return (mark & kWho) == kMany ? -1 : static_cast<int>(mark & kWho) - 1; }

  std::vector<std::byte> bytes_;
  std::vector<Cell> dwords_;      // of whole dwords, unless split
  std::vector<Cell> byte_cells_;  // of dwords whose bytes were touched apart
  uint32_t epoch_ = 1;
  bool watched_ = false;
};

}  // namespace rung::amdgpu
