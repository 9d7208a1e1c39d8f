// The copies that a run makes around its launches, between buffers of a plan and other memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung {

// Where memory lies. `pinned`: the host's, where the device reads and writes it by itself. `device`: the session's GPU.
// A session of the processor has the host's alone, whatever is said.
enum class Place : uint8_t { host, pinned, device };

// Who copies between a buffer of the plan and a copy's other side.
enum class Way : uint8_t {
  driver,  // memory of the host's that stays as it is until the copy is done
  staged,  // memory of the host's that the host itself copies, by way of what Recorder::memory() gave
  own,     // what Recorder::memory() gave of the host's: the device's kernels reach it, too
  device,  // memory of the device
};

// `bytes` as the buffer has.
struct CopyIn {
  uint32_t buffer = 0;
  Way way = Way::driver;
  const void* from = nullptr;
  size_t bytes = 0;
  std::byte* through = nullptr;  // of a staged one
};
// Never staged.
struct CopyOut {
  uint32_t buffer = 0;
  Way way = Way::driver;
  void* to = nullptr;
  size_t bytes = 0;
};

// None on a processor, whose buffers the host reads and writes.
struct RunCopies {
  std::vector<CopyIn> in;
  std::vector<CopyOut> out;
};

}  // namespace rung
