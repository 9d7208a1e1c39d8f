// The accesses to memory and LDS in a listing: how wide each is, and where its lanes go as far as code alone says.
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
  size_t index = 0;  // of its instruction
  bool lds = false, load = false, store = false;
  uint32_t bytes = 0;    // of a lane
  int64_t offset = 0;    // added to the address
  LaneValuePtr address;  // the vector register's low word; null: not derivable
  // Which value the address is made of: registers by their number, and how often each was written before.
  std::array<uint32_t, 4> base{};
};
std::vector<Access> accesses_of(const Listing& listing, const std::vector<Block>& blocks);

bool is_memory_access(const Instruction& instruction);  // flat, global and buffer

// Why an access is not of 16 bytes. alignment: its neighbour in memory is accessed by itself from the same base, which
// only an alignment that the compiler does not know forbids to join; type: lanes take one element each, in a row;
// stride: they take one each, apart from each other; unknown: where lanes go is not derivable.
enum class Narrow : uint8_t { alignment, type, stride, unknown };
inline constexpr std::array<const char*, 4> kNarrowWords{"alignment", "type", "stride", "unknown"};
// By the access's place in `accesses`; of those of 16 bytes it means nothing.
std::vector<Narrow> narrow_reasons(const std::vector<Access>& accesses);

// Cycles that an access to LDS takes beyond those of one without bank conflicts, if all lanes are active; its address
// must be derivable. What is missing of an address is taken for a multiple of 4.
uint64_t conflict_cycles(const Access& access);

// Indices of reads of LDS in which each lane gets back what it wrote itself: bytes of one write before it, with no
// branch, no change of EXEC, at most one barrier (others write there only behind a second one) and no write that may
// overlap in between.
std::vector<size_t> round_trips(const Listing& listing, const std::vector<Access>& accesses);

}  // namespace rung::amdgpu
