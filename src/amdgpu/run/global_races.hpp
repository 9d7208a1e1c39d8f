// Notes which work-groups write and read each byte of memory: two at one, one writing, not both atomically, race.
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

// One launch at a time uses it, whose groups on several threads share it; marks of earlier launches are ignored. A
// group is not watched after an atomic returned a value to it, or after an atomic load read a value that another
// group's atomic had written: the group may thereby know what other groups have done.
class GlobalRaces {
 public:
  static constexpr uint64_t kMostGroups = (uint64_t{1} << 30) - 2;  // their numbers stay below the flags of a mark
  GlobalRaces();
  ~GlobalRaces();
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;
  // Begins a launch of `groups`, at most kMostGroups.
  void begin(uint64_t groups);
  // Notes an access of the instruction before wave.next. If another group's access makes it a race, the group gets a
  // defect, one per instruction.
  void touch(Wave& wave, const Addresses& addresses, const LanePattern& pattern, const GlobalAccess& access);
  // Does the same for a scalar load.
  void touch_scalar(Wave& wave, uint64_t address, uint64_t bytes);

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kBuckets = 1 << 14;
  static constexpr size_t kMostKept = 16384;  // pages kept between launches: 128 MB, for 64 MB of memory
  static constexpr size_t kDwords = kPageBytes / 4;
  // The marks of a dword, or of a byte of it: the last write's in 31:0, reads' in 63:32. A mark is a number that a
  // launch gives to each of its groups; no other launch gives it.
  using Cell = std::atomic<uint64_t>;
  using Bytes = std::array<Cell, kPageBytes>;
  struct Page {
    uint64_t number = 0;
    Page* next = nullptr;
    std::atomic<Bytes*> bytes{nullptr};  // marks of dwords that were touched in part
    std::array<Cell, kDwords> dwords{};
    ~Page() { delete bytes.load(); }
  };
  // A group's access: its mark, and what it does.
  struct Touch {
    uint32_t me;
    bool writes, atomic;
    bool* meets;  // set when an atomic access reads what another group's atomic wrote
  };
  static constexpr uint64_t kNowhere = ~uint64_t{0};

  void forget();
  Page& page_of(uint64_t address);
  bool is_live(uint32_t mark) const;
  bool note(Cell& cell, uint64_t marks, const Touch& touch) const;  // of the cell as it was read; false: a race
  bool touch_dword(Page& page, size_t dword, const Touch& touch) const;
  Bytes& bytes_of(Page& page, size_t dword);
  bool touch_part(Page& page, uint64_t begin, uint64_t end, const Touch& touch);
  uint64_t touch_run(uint64_t begin, uint64_t end, const Touch& touch);  // the first place of a race, or kNowhere

  std::unique_ptr<std::atomic<Page*>[]> buckets_;
  std::mutex adding_;
  size_t pages_ = 0;
  uint32_t many_ = 1, groups_ = 0;  // this launch's mark of several readers; its groups' marks follow it
};

}  // namespace rung::amdgpu
