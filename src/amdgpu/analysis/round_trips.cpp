// Finds values that a lane writes to LDS and reads back itself.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "amdgpu/analysis/accesses.hpp"
#include "amdgpu/isa/decode.hpp"

namespace rung::amdgpu {
namespace {

constexpr size_t kMostKept = 16;  // writes that a read is compared with

struct Kept {
  const Access* write;
  uint32_t barriers = 0;  // since the write
};

// Returns whether the distance between the lanes' places is known: both addresses are exact, or lack the same addend.
bool comparable(const Access& one, const Access& two) {
  if (!one.address || !two.address) return false;
  return (one.address->exact && two.address->exact) || one.address == two.address;
}
int64_t place(const Access& access, size_t lane) { return int64_t{access.address->at[lane]} + access.offset; }

bool brings_back(const Access& read, const Access& write) {
  if (!comparable(read, write)) return false;
  for (size_t l = 0; l < kWaveLanes; ++l) {
    const int64_t from = place(read, l) - place(write, l);
    if (from < 0 || from + read.bytes > write.bytes) return false;
  }
  return true;
}

bool may_overlap(const Access& one, const Access& two) {
  if (!comparable(one, two)) return true;
  for (size_t l = 0; l < kWaveLanes; ++l)
    for (size_t other = 0; other < kWaveLanes; ++other)
      if (place(one, l) < place(two, other) + two.bytes && place(two, other) < place(one, l) + one.bytes) return true;
  return false;
}

bool ends_comparison(const Placed& placed, const std::vector<int64_t>& goals) {
  const Instruction& made = placed.instruction;
  const bool writes_exec = (made.destination.kind == OperandKind::scalar && made.destination.number == kExec) ||
                           name_of(made.opcode).ends_with("saveexec_b64") || name_of(made.opcode).starts_with("v_cmpx");
  const bool may_write =
      made.encoding == Encoding::flat && name_of(made.opcode).find("_load") == std::string_view::npos;
  return writes_exec || goal_of(placed) >= 0 || ends_path(made) || made.memory.lds || may_write ||
         std::binary_search(goals.begin(), goals.end(), static_cast<int64_t>(placed.offset));
}

std::vector<int64_t> goals_of(const Listing& listing) {
  std::vector<int64_t> goals;
  for (const Placed& placed : listing.instructions)
    if (const int64_t goal = goal_of(placed); goal >= 0) goals.push_back(goal);
  std::sort(goals.begin(), goals.end());
  return goals;
}

void keep(std::vector<Kept>& kept, const Access& write) {
  std::erase_if(kept, [&](const Kept& one) { return may_overlap(*one.write, write); });
  if (kept.size() == kMostKept) kept.erase(kept.begin());
  if (write.store) kept.push_back({&write});
}

}  // namespace

std::vector<size_t> round_trips(const Listing& listing, const std::vector<Access>& accesses) {
  const std::vector<int64_t> goals = goals_of(listing);
  std::vector<size_t> found;
  std::vector<Kept> kept;
  size_t next = 0;
  for (size_t i = 0; i < listing.instructions.size(); ++i) {
    if (ends_comparison(listing.instructions[i], goals)) kept.clear();
    if (listing.instructions[i].instruction.opcode == Opcode::s_barrier)
      std::erase_if(kept, [](Kept& one) { return ++one.barriers > 1; });
    bool all_back = false;
    for (bool first = true; next < accesses.size() && accesses[next].index == i; ++next, first = false) {
      const Access& access = accesses[next];
      if (!access.lds) continue;
      const bool back = access.load && std::any_of(kept.begin(), kept.end(),
                                                   [&](const Kept& one) { return brings_back(access, *one.write); });
      all_back = back && (first || all_back);
      if (!access.load) keep(kept, access);
    }
    if (all_back) found.push_back(i);
  }
  return found;
}

}  // namespace rung::amdgpu
