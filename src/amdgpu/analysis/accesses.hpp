// The accesses to memory and LDS in a listing: their widths, and their lanes' places as far as code alone tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "amdgpu/analysis/lane_values.hpp"
#include "amdgpu/isa/listing.hpp"

namespace rung::amdgpu {

// An access to one place; an instruction that names two places makes two accesses.
struct Access {
  size_t index = 0;  // the index of its instruction
  bool lds = false, load = false, store = false;
  uint32_t bytes = 0;    // per lane
  int64_t offset = 0;    // added to the address
  LaneValuePtr address;  // the vector register's low word; null: not derivable
  // The value that the address is made of: the registers' numbers, and how often each was written before.
  std::array<uint32_t, 4> base{};
};
std::vector<Access> accesses_of(const Listing& listing, const std::vector<Block>& blocks);

bool is_memory_access(const Instruction& instruction);  // flat, global and buffer

// The reason why an access is narrower than 16 bytes. alignment: the code accesses its neighbour from the same base by
// itself, as the compiler does not know the alignment that would let it join them; type: lanes take one element each,
// in a row; stride: lanes take one each, apart from each other; unknown: the lanes' places are not derivable.
enum class Narrow : uint8_t { alignment, type, stride, unknown };
inline constexpr std::array<const char*, 4> kNarrowWords{"alignment", "type", "stride", "unknown"};
// Returns a reason for each access of `accesses`; the reason of a 16-byte access means nothing.
std::vector<Narrow> narrow_reasons(const std::vector<Access>& accesses);

// Returns the cycles that bank conflicts add to an access to LDS if all lanes are active. The address must be
// derivable; an addend that it lacks is taken for a multiple of 4.
uint64_t conflict_cycles(const Access& access);

// Returns the indices of instructions that read from LDS and give each lane back its own data: bytes of one write
// before the read, with no branch, no change of EXEC, at most one barrier (other lanes write there only behind a second
// one) and no write that may overlap in between.
std::vector<size_t> round_trips(const Listing& listing, const std::vector<Access>& accesses);

}  // namespace rung::amdgpu
