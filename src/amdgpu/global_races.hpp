// Which work-group of a launch wrote and read each half dword of memory: what two touch, one by a plain write, is a
// race.
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
struct GlobalAccess;

// One for a launch; groups on several threads share it. Accesses of single bytes are not watched, nor is a group after
// it got a value back from an atomic: it may know by that what other groups have done.
class GlobalRaces {
 public:
  static constexpr uint64_t kMostGroups = uint64_t{1} << 30;
  GlobalRaces();
  ~GlobalRaces();
  GlobalRaces(const GlobalRaces&) = delete;
  GlobalRaces& operator=(const GlobalRaces&) = delete;
  // Notes an access of the instruction before wave.next, and a finding for its group if another group's access makes
  // it a race; one an instruction.
  void touch(Wave& wave, const Addresses& addresses, const GlobalAccess& access);

 private:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kBuckets = 1 << 14;
  // The marks of both halves of a dword: a group's number + 1, 0: nobody; above kMostGroups: flags.
  struct Cell {
    std::atomic<uint64_t> writes{0}, reads{0};
  };
  struct Page {
    uint64_t number = 0;
    Page* next = nullptr;
    std::array<Cell, kPageBytes / 4> cells;
  };
  Page& page_of(uint64_t address);

  std::unique_ptr<std::atomic<Page*>[]> buckets_;
  std::mutex adding_;
};

}  // namespace rung::amdgpu
