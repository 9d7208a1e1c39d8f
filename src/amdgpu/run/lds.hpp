// The local memory of a work-group, with the waves that touched each of its bytes since the last barrier.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/defect.hpp"
#include "amdgpu/run/lane_pattern.hpp"

namespace rung::amdgpu {

enum class LdsUse : uint8_t { read, write, atomic };

struct LdsFault {
  DefectKind kind{};
  uint32_t byte = 0;
  int other = -1;  // the wave whose access conflicts; -1: several, or none
};

class Lds {
 public:
  // Makes all bytes unwritten.
  void reset(size_t bytes, const Checks& checks);
  std::byte* data() { return bytes_.data(); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_.data()); }
  size_t size() const { return bytes_.size(); }
  bool holds(uint32_t address, uint32_t count) const {
    return address <= bytes_.size() && count <= bytes_.size() - address;
  }
  bool watched() const { return watched_; }
  // Accesses to bytes within the LDS by lanes of a wave of number 0 to 15: `count` bytes at each address. touch()
  // returns the first lane in which something is wrong, and -1 if nothing is. Only if watched().
  struct Access {
    const uint64_t* addresses = nullptr;
    const LanePattern* pattern = nullptr;  // of the addresses
    uint32_t count = 0, wave = 0;
    LdsUse use{};
  };
  int touch(const Access& access, LdsFault& fault);
  // Lets a wave go on after a faulty access: bytes that it reads count as waited for, bytes that it writes as its own,
  // whoever read them before.
  void settle(const Access& access);
  // Touches `access.count` bytes at one address.
  std::optional<LdsFault> touch(uint32_t address, const Access& access);
  // Marks bytes that an instruction on its way writes. `others`: only waves other than their last writer must wait.
  void set_pending(uint32_t address, uint32_t count, bool pending, bool others);
  // Puts accesses before it and after it in order.
  void barrier() { ++epoch_; }

 private:
  // A mark has the epoch from bit kEpoch on, the wave's number + 1 in 4:0 (kMany: several), flags of a write between.
  struct Cell {
    uint32_t write = 0, read = 0;
  };
  // Marks of the last write and the last read of each place.
  struct Marks {
    std::vector<uint32_t> write, read;
  };
  static constexpr uint32_t kWho = 0x1f, kMany = 0x1f, kAtomic = 0x20, kPending = 0x40, kLate = 0x80, kSplit = 0x100;
  static constexpr int kEpoch = 9;

  std::optional<LdsFault> read_cell(Cell& cell, uint32_t byte, uint32_t me) const;
  std::optional<LdsFault> write_cell(Cell& cell, uint32_t byte, uint32_t me, bool atomic) const;
  std::optional<LdsFault> touch_place(Marks& marks, size_t place, uint32_t byte, const Access& access) const;
  void split(uint32_t dword);
  void join(uint32_t dword);
  bool touch_runs(const Access& access);
  static bool must_wait(uint32_t write, uint32_t me) {
    return (write & kPending) || ((write & kLate) && (write & kWho) != me);
  }
  static int other_of(uint32_t mark) { return (mark & kWho) == kMany ? -1 : static_cast<int>(mark & kWho) - 1; }

  std::vector<std::byte> bytes_;
  Marks dwords_;  // of whole dwords, unless split
  Marks each_;    // of the bytes of dwords that were touched in part
  uint32_t epoch_ = 1;
  Checks checks_;
  bool watched_ = false;
};

}  // namespace rung::amdgpu
