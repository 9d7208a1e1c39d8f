// A prepared launch: the arguments as the kernel reads them, and the registers that its waves begin with.
// SPDX-License-Identifier: Apache-2.0
// Source: LLVM's "User Guide for AMDGPU Backend", kernel dispatch and initial kernel execution state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "amdgpu/run/group.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

struct Extents {
  uint32_t x = 1, y = 1, z = 1;
};

struct Dispatch {
  const Program* program = nullptr;
  Extents groups, threads;
  uint32_t dynamic_lds_bytes = 0;
  std::span<const std::byte> arguments;  // the explicit ones; the metadata names the hidden ones
};

struct Launch {
  Dispatch dispatch;
  std::vector<std::byte> block;  // the dispatch packet, then the arguments
  uint32_t lds_bytes = 0, threads = 0, waves = 0;
  uint64_t groups = 0;
  uint64_t packet() const { return reinterpret_cast<uint64_t>(block.data()); }
  uint64_t arguments() const { return packet() + kPacketBytes; }
  static constexpr size_t kPacketBytes = 64;
};

// Errors: those of execute() (ErrorKind::usage), and scratch or arguments beyond what any kernel has (file).
Result<Launch> prepare(const Dispatch& dispatch);

// Puts group `number` of the grid, x fastest, at its kernel's entry. `group` keeps its memory between groups.
void begin_group(Group& group, const Launch& launch, uint64_t number);

}  // namespace rung::amdgpu
