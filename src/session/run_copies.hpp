// The copies that a run makes around its launches, between the plan's buffers and other memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung {

// The place of memory. `pinned`: host memory that the device reads and writes itself. `device`: the session's GPU. In a
// CPU session all memory counts as host memory.
enum class Place : uint8_t { host, pinned, device };

// The way of a copy between a buffer of the plan and other memory.
enum class Way : uint8_t {
  driver,  // the driver copies host memory that stays unchanged until the copy is done
  staged,  // the host copies its memory into that of Recorder::memory(), which is uploaded
  own,     // host memory of Recorder::memory(): the device's kernels reach it, too
  device,  // device memory
};

// A copy into a buffer; `bytes` is the buffer's size.
struct CopyIn {
  uint32_t buffer = 0;
  Way way = Way::driver;
  const void* from = nullptr;
  size_t bytes = 0;
  std::byte* through = nullptr;  // staging memory, if staged
};
// A copy out of a buffer; it is never staged.
struct CopyOut {
  uint32_t buffer = 0;
  Way way = Way::driver;
  void* to = nullptr;
  size_t bytes = 0;
};

// The copies of a run. They are empty on a CPU, where the host reads and writes the buffers.
struct RunCopies {
  std::vector<CopyIn> in;
  std::vector<CopyOut> out;
};

}  // namespace rung
