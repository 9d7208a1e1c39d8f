// Reads a kernel's machine code without running it: its loops, the widths of accesses, its waits and its spills.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "amdgpu/analysis/accesses.hpp"
#include "amdgpu/analysis/occupancy.hpp"
#include "amdgpu/code/code_object.hpp"
#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

// Accesses to memory, counted by the bytes that each moves per lane; an instruction that names two places makes two.
struct Widths {
  static constexpr std::array<uint32_t, 6> kBytes{1, 2, 4, 8, 12, 16};
  std::array<uint32_t, 6> accesses{};
  uint64_t bytes() const;
  uint64_t bytes_of_16() const;
  // The share of all bytes that 16-byte accesses move; 1 if nothing is moved.
  double wide_share() const;
};

// The bank conflicts of accesses to LDS in loops.
struct BankReading {
  uint32_t accesses = 0, derived = 0, conflicting = 0;
  uint64_t cycles = 0;  // beyond those of accesses without conflicts, for a wave with all lanes active
  std::string worst;    // the instruction with the most cycles: "ds_read_b32 at 0x88, 7 cycles"
};

// "Loops" are the loops that loops_of() finds; an inner loop holds no other.
struct CodeReading {
  uint32_t instructions = 0, in_loops = 0, undecoded = 0;
  uint64_t bytes = 0;  // 0: the listing is text that does not say
  uint32_t loops = 0;
  uint32_t vector = 0, scalar = 0, matrix = 0, matrix_in_loops = 0;
  std::map<std::string, uint32_t> matrix_by_name;
  Widths global, global_in_loops, global_in_inner_loops;  // flat, global and buffer accesses
  Widths lds, lds_in_loops;
  // Accesses in loops that are narrower than 16 bytes, by Narrow.
  std::array<uint32_t, kNarrowWords.size()> narrow_global{}, narrow_lds{};
  BankReading banks;
  uint32_t round_trips = 0;  // the number of reads that round_trips() finds
  // How often s_and_saveexec chooses lanes, and the next instruction gives the others back. What the chosen lanes did
  // was needless, or the compiler has lost it: clang 22 does where a store to an element of a vector stands behind
  // conditions of a whole wave and of lanes, such as `if ((!whole && key >= keys) || !sees(key)) score[i] = c`.
  uint32_t empty_branches = 0;
  uint32_t scratch = 0, scratch_in_loops = 0;
  // s_waitcnt in loops after which nothing is in flight: vmcnt(0) in loops that load from memory, lgkmcnt(0) in loops
  // that access LDS or load scalars.
  uint32_t drains_in_loops = 0, local_drains_in_loops = 0;
};

CodeReading read_listing(const Listing& listing);

enum class IsaFinding : uint8_t {
  spill,
  scratch,
  narrow_load,
  narrow_lds,
  drain,
  drain_lds,
  bank_conflict,
  round_trip,
  empty_branch,
  undecoded
};
inline constexpr std::array<const char*, 10> kIsaFindingWords{
    "spill",     "scratch",       "narrow-load", "narrow-lds",   "drain",
    "drain-lds", "bank-conflict", "round-trip",  "empty-branch", "undecoded"};

struct KernelReading {
  Isa isa{};
  KernelInfo kernel;
  CodeReading code;
  Occupancy occupancy;
  bool described = true;  // see AssemblyKernel::described
  struct Found {
    IsaFinding kind;
    std::string text;  // "3 vector registers are spilled"
  };
  std::vector<Found> findings;
};

// Options of a reading.
struct IsaOptions {
  OccupancyFormula formula = OccupancyFormula::exact;
  uint32_t lds_bytes = 0;  // the bytes that launches add to those the kernel declares
  bool code = true;        // false: reports only what a kernel takes, without reading its instructions
};
// Errors: those of occupancy_of().
Result<KernelReading> read_kernel(const KernelInfo& kernel, const Listing& listing, const IsaOptions& options);
// Reads each kernel of the object; its bound on threads is taken for the group's size.
Result<std::vector<KernelReading>> read_kernels(const CodeObject& object, const IsaOptions& options);

}  // namespace rung::amdgpu
