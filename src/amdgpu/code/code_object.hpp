// A code object: an ELF file of machine code with the facts of each kernel in it that a launch needs.
// SPDX-License-Identifier: Apache-2.0
// Source: LLVM's "User Guide for AMDGPU Backend" (code object version 5: ELF, notes, kernel descriptors).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "amdgpu/isa/isa.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

struct KernelArgument {
  std::string kind;  // "by_value", "global_buffer", "hidden_block_count_x", ...
  uint32_t offset = 0, size = 0;
};

// A kernel: the descriptor NAME.kd, 64 bytes that hardware reads, and the note's words about the same kernel.
struct KernelInfo {
  std::string name;
  uint64_t entry = 0;          // virtual address of its first instruction
  uint64_t code_bytes = 0;     // the size of its symbol
  uint32_t lds_bytes = 0;      // static
  uint32_t scratch_bytes = 0;  // per lane
  uint32_t argument_bytes = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  uint16_t properties = 0;                   // say which user SGPRs hold what
  uint32_t sgprs = 0, vgprs = 0, agprs = 0;  // as the note counts them; vgprs: both kinds together
  uint32_t sgpr_spills = 0, vgpr_spills = 0;
  uint32_t most_threads = 0;                                          // .max_flat_workgroup_size
  uint32_t accum_offset() const { return ((rsrc3 & 0x3f) + 1) * 4; }  // the first AGPR's place in the common file
  std::vector<KernelArgument> arguments;
};

// Returns how many vector registers both kinds take together: accumulation registers begin at a multiple of four.
uint32_t unified_registers(uint32_t vgprs, uint32_t agprs);

struct Segment {
  uint64_t address = 0, bytes = 0;  // in memory
  std::span<const std::byte> data;  // from the file; the rest is zeros
  bool executable = false, writable = false;
};

// Loading the object sets the 8 bytes at `address` to `value` plus the address where it is loaded.
struct Relocation {
  uint64_t address = 0, value = 0;
};

struct CodeObject {
  Isa isa{};
  std::vector<Segment> segments;  // by address; they do not overlap
  std::vector<Relocation> relocations;
  std::vector<KernelInfo> kernels;
  const KernelInfo* find(std::string_view name) const;
  // Returns the file's bytes at virtual addresses; empty if there are none.
  std::span<const std::byte> at(uint64_t address, uint64_t bytes) const;
};

// Views `file`, which must outlive it. Errors (ErrorKind::file): no ELF file of AMD's, an unknown architecture or
// version, offsets beyond the file, no metadata, a kernel without a descriptor; each says what was found.
Result<CodeObject> read_code_object(std::span<const std::byte> file);

}  // namespace rung::amdgpu
