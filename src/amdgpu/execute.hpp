// Executes a kernel of a code object on this processor, and tells what it did and what is wrong with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/code_object.hpp"
#include "amdgpu/finding.hpp"
#include "amdgpu/instruction.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

class Memory;   // memory.hpp
class Program;  // program.hpp: a kernel in code that was decoded once

struct Extents {
  uint32_t x = 1, y = 1, z = 1;
};

struct Checks {
  bool uninitialised = true, races = true, waits = true;  // bounds, alignment and barriers are always looked at
  uint64_t most_instructions = uint64_t{1} << 36;         // of a launch, by all waves; more: FindingKind::endless
  uint64_t shuffle_seed = 0;                              // of the order of waves; 0: in turn
};

struct Dispatch {
  const Program* program = nullptr;
  Extents groups, threads;
  uint32_t dynamic_lds_bytes = 0;
  std::span<const std::byte> arguments;  // the explicit ones; hidden ones are filled by the metadata
};

// What was executed, by wave instruction.
struct Counts {
  uint64_t waves = 0, instructions = 0;
  uint64_t vector = 0, scalar = 0, matrix = 0, branches = 0, waits = 0, barriers = 0;
  uint64_t global_loads = 0, global_stores = 0, lds_reads = 0, lds_writes = 0, atomics = 0, scratch = 0;
  uint64_t global_bytes_read = 0, global_bytes_written = 0, lds_bytes = 0;
  uint64_t cache_lines = 0;           // of 128 bytes, touched by each global access, added up
  uint64_t bank_conflict_cycles = 0;  // beyond the one that an access without conflicts takes for each 32 lanes
  uint64_t bytes_by_width[5] = {};    // of global accesses of 1-2, 4, 8, 12 and 16 bytes a lane
  std::map<Opcode, uint64_t> by_opcode;
  void add(const Counts& more);
};

struct Execution {
  static constexpr size_t kMostFindings = 16;
  Counts counts;
  // In their order, each instruction's of a kind once; races between groups stand last. One behind which nothing can go
  // on ends the launch, as kMostFindings do.
  std::vector<Finding> findings;
};

// Runs all groups, on as many threads as `threads` says. Errors: a dispatch that cannot be meant (more threads than the
// kernel's bound, too much LDS, arguments of another size). What the kernel does wrong is a finding, not an error.
Result<Execution> execute(const Dispatch& dispatch, Memory& memory, const Checks& checks, int threads);

}  // namespace rung::amdgpu
