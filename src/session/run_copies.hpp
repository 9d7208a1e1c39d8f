// What a run copies around its launches, between buffers of a plan and memory that the device reaches by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung {

// Where memory lies. `device`: the session's GPU; a session of the processor has the host's alone, whatever is said.
enum class Place : uint8_t { host, device };

// `bytes` as the buffer has. Host memory must be pinned, or stay as it is for as long as the session lives.
struct CopyIn {
  uint32_t buffer = 0;
  Place place = Place::host;
  const void* from = nullptr;
  size_t bytes = 0;
};
struct CopyOut {
  uint32_t buffer = 0;
  Place place = Place::host;
  void* to = nullptr;
  size_t bytes = 0;
};

// None on a processor, whose buffers the host reads and writes.
struct RunCopies {
  std::vector<CopyIn> in;
  std::vector<CopyOut> out;
};

}  // namespace rung
