// The device memory of the emulator: allocations that bounds and first writes are checked against.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/status.hpp"

namespace rung::amdgpu {

// One allocation, whose device address is its host address: `bytes` at `data`, and one bit a byte in `written`.
struct Region {
  std::byte* data = nullptr;
  size_t bytes = 0;
  uint8_t* written = nullptr;  // null: all of it counts as written (code, host memory)
  bool writable = true;
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }
};

// Allocations may be made and freed while kernels run on others.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // At multiples of 256, with unmapped or unowned space on both sides. Errors (ErrorKind::memory): more than is free.
  Result<uint64_t> allocate(size_t bytes);
  bool release(uint64_t address);  // false: no allocation begins there
  // Makes memory of the host's (a loaded image, pinned memory) reachable; the caller keeps it until forget().
  void lend(std::byte* data, size_t bytes, bool writable);
  void forget(const std::byte* data);
  // The region that holds [address, address + bytes); null: none does, or only in part.
  const Region* find(uint64_t address, size_t bytes) const;
  void mark_written(uint64_t address, size_t bytes);
  bool is_written(uint64_t address, size_t bytes) const;
  size_t used() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rung::amdgpu
