// What a kernel's machine code says without being run: loops, how wide its accesses are, where it waits, what it
// spills.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/code_object.hpp"
#include "amdgpu/occupancy.hpp"

namespace rung::amdgpu {

// Accesses to memory, by the bytes that each moves for a lane; an instruction that names two places makes two.
struct Widths {
  static constexpr std::array<uint32_t, 6> kBytes{1, 2, 4, 8, 12, 16};
  std::array<uint32_t, 6> accesses{};
  uint64_t bytes() const;
  uint64_t bytes_of_16() const;
  // Of all bytes, those that 16-byte accesses move; 1 where nothing is moved.
  double wide_share() const;
};

// Of an instruction in a loop: one that a later branch of the kernel jumps back over.
struct CodeReading {
  uint32_t instructions = 0, in_loops = 0, undecoded = 0;
  uint64_t bytes = 0;
  uint32_t loops = 0;
  uint32_t vector = 0, scalar = 0, matrix = 0;
  std::map<std::string, uint32_t> matrix_by_name;
  Widths global, global_in_loops;  // flat, global and buffer accesses
  Widths lds, lds_in_loops;
  uint32_t scratch = 0, scratch_in_loops = 0;
  // s_waitcnt vmcnt(0) in loops that load from memory: nothing is in flight behind it.
  uint32_t drains_in_loops = 0;
};

// `code` begins at the kernel's entry. What does not decode is skipped by words and counted.
CodeReading read_code(std::span<const std::byte> code, Target target);

enum class IsaFinding : uint8_t { spill, scratch, narrow_load, narrow_lds, drain, undecoded };
inline constexpr std::array<const char*, 6> kIsaFindingWords{"spill",      "scratch", "narrow-load",
                                                             "narrow-lds", "drain",   "undecoded"};

struct KernelReading {
  KernelInfo kernel;
  CodeReading code;
  Occupancy occupancy;
  struct Found {
    IsaFinding kind;
    std::string text;  // "3 vector registers are spilled"
  };
  std::vector<Found> findings;
};

// Each kernel of the object, with `formula` for its occupancy and its bound on threads for a group's size; `lds_bytes`
// is added to its own. Errors: as occupancy_of().
Result<std::vector<KernelReading>> read_kernels(const CodeObject& object, OccupancyFormula formula, uint32_t lds_bytes);

// The code objects within a file: itself, or those that a library, a program or a bundle holds uncompressed.
// Errors (ErrorKind::file): none.
Result<std::vector<std::span<const std::byte>>> find_code_objects(std::span<const std::byte> file);

}  // namespace rung::amdgpu
