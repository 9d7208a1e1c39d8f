// Which work-group of a launch wrote and read each byte of memory: what two touch, one by a plain write, is a race.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace rung::amdgpu {

struct Wave;
struct Addresses;
struct LanePattern;

struct GlobalAccess {
  unsigned bytes;  // at each address
  bool read, write, atomic = false;
};

// One launch at a time uses it, whose groups on several threads share it; what earlier ones noted is nobody's then.
// A group is not watched after it got a value back from an atomic, or by an atomic load one that another group's atomic
// had written: it may know by that what other groups have done.
class GlobalRaces {
 public:
  static constexpr uint64_t kMostGroups = (uint64_t{1} << 30) - 2;  // whose numbers stay below the flags of a mark
  GlobalRaces();
  ~GlobalRaces();
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;
  // Before a launch of `groups`, kMostGroups at most.
  void begin(uint64_t groups);
  // Notes an access of the instruction before wave.next, and a finding for its group if another group's access makes
  // it a race; one an instruction.
  void touch(Wave& wave, const Addresses& addresses, const LanePattern& pattern, const GlobalAccess& access);
  // The same of a scalar load.
  void touch_scalar(Wave& wave, uint64_t address, uint64_t bytes);

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kBuckets = 1 << 14;
  static constexpr size_t kMostKept = 16384;  // pages from launch to launch: 128 MB, for 64 MB of memory
  static constexpr size_t kDwords = kPageBytes / 4;
  // The marks of a dword, or of a byte of it: of the last write in 31:0, of reads in 63:32. A mark is a number that a
  // launch gives to each of its groups; no other launch gives it.
  using Cell = std::atomic<uint64_t>;
  using Bytes = std::array<Cell, kPageBytes>;
  struct Page {
    uint64_t number = 0;
    Page* next = nullptr;
    std::atomic<Bytes*> bytes{nullptr};  // of dwords that were touched in part
    std::array<Cell, kDwords> dwords{};
    ~Page() { delete bytes.load(); }
  };
  // A group's access: its mark, and what it does.
  struct Touch {
    uint32_t me;
    bool writes, atomic;
    bool* meets;  // set where an atomic access reads what another group's wrote
  };
  static constexpr uint64_t kNowhere = ~uint64_t{0};

  void forget();
  Page& page_of(uint64_t address);
  bool is_live(uint32_t mark) const;
  bool note(Cell& cell, const Touch& touch) const;  // false: a race
  bool touch_dword(Page& page, size_t dword, const Touch& touch) const;
  Bytes& bytes_of(Page& page, size_t dword);
  bool touch_part(Page& page, uint64_t begin, uint64_t end, const Touch& touch);
  uint64_t touch_run(uint64_t begin, uint64_t end, const Touch& touch);  // the first place of a race, or kNowhere

  std::unique_ptr<std::atomic<Page*>[]> buckets_;
  std::mutex adding_;
  size_t pages_ = 0;
  uint32_t many_ = 1, groups_ = 0;  // of this launch: the mark of several readers, after which those of its groups come
};

}  // namespace rung::amdgpu
