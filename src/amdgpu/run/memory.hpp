// The device memory of the emulator: allocations with checks of bounds and of first writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"

namespace rung::amdgpu {

// One allocation, whose device address is its host address: `bytes` at `data`, and one bit per byte in `written`.
struct Region {
  std::byte* data = nullptr;
  size_t bytes = 0;
  uint8_t* written = nullptr;  // null: all of it counts as written (code, host memory)
  bool writable = true;
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }
  bool holds(uint64_t at, size_t count) const {
    const uint64_t offset = at - address();
    return offset <= bytes && count <= bytes - offset;
  }
  // Marks a part of the region as written; any number of threads may do so at once.
  void mark(uint64_t at, size_t count) const;
  void unmark(uint64_t at, size_t count) const;
  bool all_written(uint64_t at, size_t count) const;
};

// Threads may make and free allocations while kernels run on others.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates from a page's begin, with unmapped space on both sides. Errors (ErrorKind::memory): more than is free.
  Result<uint64_t> allocate(size_t bytes);
  bool release(uint64_t address);  // false: no allocation begins there
  // Makes memory of the host's (a loaded image, pinned memory) reachable; the caller keeps it until forget().
  void lend(std::byte* data, size_t bytes, bool writable);
  bool forget(const std::byte* data);  // false: nothing lent begins there
  // Returns the region that holds [address, address + bytes); null: none holds all of it. A region does not move until
  // it is released, so whoever accesses much asks the last region's holds() first.
  const Region* find(uint64_t address, size_t bytes) const;
  void mark_written(uint64_t address, size_t bytes);
  bool is_written(uint64_t address, size_t bytes) const;  // false also if no region holds the bytes
  size_t used() const;
  static size_t total();  // the machine's memory: bytes that could be allocated if nothing else were there

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rung::amdgpu
