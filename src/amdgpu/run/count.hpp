// Counts of executed instructions by class.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <span>

#include "amdgpu/isa/instruction.hpp"

namespace rung::amdgpu {

// Counts of executed wave instructions.
struct Counts {
  uint64_t waves = 0, instructions = 0;
  uint64_t vector = 0, scalar = 0, matrix = 0, branches = 0, waits = 0, barriers = 0;
  uint64_t global_loads = 0, global_stores = 0, lds_reads = 0, lds_writes = 0, atomics = 0, scratch = 0;
  uint64_t global_bytes_read = 0, global_bytes_written = 0, lds_bytes = 0;
  uint64_t cache_lines = 0;           // of 128 bytes, touched by each global access, summed
  uint64_t bank_conflict_cycles = 0;  // beyond the one cycle per 32 lanes of an access without conflicts
  uint64_t bytes_by_width[5] = {};    // of global accesses of 1-2, 4, 8, 12 and 16 bytes per lane
  std::map<Opcode, uint64_t> by_opcode;
  void add(const Counts& more);
};

enum class OperationClass : uint8_t {
  vector,  // lanes exchanged through LDS hardware included
  scalar,  // scalar loads included
  matrix,
  branch,
  wait,
  barrier,
  global_load,  // buffer and flat ones included
  global_store,
  lds_read,
  lds_write,
  atomic,  // of memory and of LDS
  scratch,
};
OperationClass class_of(const Instruction& instruction);

// Adds to `counts` the number of times that each of `instructions` was executed.
void count_classes(std::span<const Instruction> instructions, std::span<const uint64_t> executed, Counts& counts);

}  // namespace rung::amdgpu
