// Addresses of flat, global and scratch instructions, and loads and stores of each space by its lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "amdgpu/run/access/lane_access.hpp"
#include "amdgpu/run/handler.hpp"

namespace rung::amdgpu {

// Computes addresses of the active lanes, of which there must be one. `base` is the index of the scalar base among the
// sources. Returns false if the wave has failed.
bool global_addresses(Wave& wave, const Instruction& instruction, int base, Addresses& addresses);
bool scratch_addresses(Wave& wave, const Instruction& instruction, int base, Addresses& addresses);

// Generic addresses, grouped by the memory they lead to; those of LDS and scratch become offsets.
struct Spaces {
  Addresses global, local, scratch;  // `lanes` may be none
};
void split_spaces(const Addresses& addresses, Spaces& spaces);

Handler flat_handler(const Instruction& instruction);
Handler buffer_handler(const Instruction& instruction, Isa isa);
Handler direct_handler(const Instruction& instruction);  // from memory straight to LDS
Handler atomic_handler(const Instruction& instruction);
Handler local_handler(const Instruction& instruction);  // DS
Handler local_lanes_handler(const Instruction& instruction);
Handler local_atomic_handler(const Instruction& instruction);
Handler scalar_memory_handler(const Instruction& instruction);
Handler wait_handler(const Instruction& instruction);

template <class F>
bool load_global(Wave& wave, const Instruction& instruction, const Addresses& from) {
  const LanePattern* pattern = check_global(wave, instruction, from, {F::kBytes, true, false});
  if (pattern == nullptr) return false;
  load_lanes<F>(registers_of(wave, instruction.destination), 0, from, *pattern);
  mark_written(wave, instruction.destination, from.lanes);
  return true;
}

template <class F>
bool load_local(Wave& wave, const Instruction& instruction, const Addresses& from) {
  const LanePattern* pattern = check_local(wave, instruction, from, {F::kBytes, LdsUse::read});
  if (pattern == nullptr) return false;
  load_lanes<F>(registers_of(wave, instruction.destination), wave.group->lds.address(), from, *pattern);
  mark_written(wave, instruction.destination, from.lanes);
  return true;
}

// A byte that was not written becomes unwritten in the register, too: spilled registers need not be whole.
template <class F>
bool load_scratch(Wave& wave, const Instruction& instruction, const Addresses& from) {
  if (!check_scratch(wave, instruction, from, F::kBytes)) return false;
  Lanes* to = registers_of(wave, instruction.destination);
  const auto& known = wave.group->of(wave).scratch_written;
  const unsigned first = Wave::place_of(instruction.destination);
  for_lanes(from.lanes, [&](int lane) {
    std::byte value[16];
    bool whole[4] = {true, true, true, true};
    for (unsigned k = 0; k < F::kBytes; ++k) {
      const size_t place = scratch_place(from.at[lane] + k, lane);
      value[k] = wave.scratch[place];
      whole[k / 4] &= known[place];
    }
    F::put(to, lane, value);
    for (unsigned k = 0; k < instruction.destination.registers; ++k)
      wave.written[first + k] = (wave.written[first + k] & ~(uint64_t{1} << lane)) | uint64_t{whole[k]} << lane;
  });
  return true;
}

template <class F>
bool store_global(Wave& wave, const Instruction& instruction, const Addresses& to) {
  const InstructionOperand& data = instruction.sources[1];
  if (!readable(wave, instruction, data, to.lanes)) return false;
  const LanePattern* pattern = check_global(wave, instruction, to, {F::kBytes, false, true});
  if (pattern == nullptr) return false;
  store_lanes<F>(registers_of(wave, data), 0, to, *pattern);
  return true;
}

template <class F>
bool store_local(Wave& wave, const Instruction& instruction, const Addresses& to) {
  const InstructionOperand& data = instruction.sources[1];
  if (!readable(wave, instruction, data, to.lanes)) return false;
  const LanePattern* pattern = check_local(wave, instruction, to, {F::kBytes, LdsUse::write});
  if (pattern == nullptr) return false;
  store_lanes<F>(registers_of(wave, data), wave.group->lds.address(), to, *pattern);
  return true;
}

template <class F>
bool store_scratch(Wave& wave, const Instruction& instruction, const Addresses& to) {
  const InstructionOperand& data = instruction.sources[1];
  if (!readable(wave, instruction, data, 0) || !check_scratch(wave, instruction, to, F::kBytes)) return false;
  const Lanes* from = registers_of(wave, data);
  auto& known = wave.group->of(wave).scratch_written;
  const unsigned first = Wave::place_of(data);
  for_lanes(to.lanes, [&](int lane) {
    std::byte value[16];
    F::get(from, lane, value);
    for (unsigned k = 0; k < F::kBytes; ++k) {
      const size_t place = scratch_place(to.at[lane] + k, lane);
      wave.scratch[place] = value[k];
      known[place] = wave.written[first + k / 4] >> lane & 1;
    }
  });
  return true;
}

}  // namespace rung::amdgpu
