// A work-group while it runs: its waves, its LDS, and the facts of its launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "amdgpu/run/checks.hpp"
#include "amdgpu/run/count.hpp"
#include "amdgpu/run/defect.hpp"
#include "amdgpu/run/lane_pattern.hpp"
#include "amdgpu/run/lds.hpp"
#include "amdgpu/run/scoreboard.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

class GlobalRaces;  // global_races.hpp
class Memory;       // memory.hpp
struct Region;
class Program;  // program.hpp

// The apertures by which generic pointers find LDS and scratch: src_shared_base and src_private_base read as their
// upper halves. No host address of user memory is as high.
inline constexpr uint64_t kSharedAperture = uint64_t{1} << 48;
inline constexpr uint64_t kPrivateAperture = uint64_t{2} << 48;

// The state that a wave's memory instructions keep from one to the next.
struct WaveMemory {
  Scoreboard in_flight;
  const Region* last = nullptr;       // the region of its last access
  std::vector<bool> scratch_written;  // for each byte of Wave::scratch
};

struct Group {
  const Program* program = nullptr;
  Memory* memory = nullptr;
  Checks checks;
  GlobalRaces* races = nullptr;  // null: not looked for
  std::array<uint32_t, 3> id{};
  uint32_t number = 0;        // in the grid, x fastest
  bool synchronised = false;  // an atomic on memory returned a value: it may know of others' writes
  bool goes_on = false;       // a defect that leaves values does not end its wave
  std::vector<Defect> found;  // the defects told; their `offset` is the instruction's index
  Lds lds;
  LanePatterns patterns;
  std::vector<Wave> waves;
  std::vector<WaveMemory> memory_of;  // by the wave's number
  Counts counts;                      // bytes, lines and conflicts; `executed` counts instructions
  std::vector<uint64_t> executed;     // by the instruction's index
  uint64_t instructions = 0;          // by all its waves

  // Notes a defect at the instruction before wave.next, once.
  void tell(const Wave& wave, DefectKind kind, int lane, std::string detail);
  WaveMemory& of(const Wave& wave) { return memory_of[wave.number]; }
};

// Reports the defect that a register of Wave::pending, or of Wave::scalar_pending, is still to be written. If the wave
// goes on, the register counts as waited for, so that one missing wait is one defect.
struct PendingRegister {
  uint32_t number;
  bool scalar;
};
void fail_pending(Wave& wave, const Instruction& instruction, PendingRegister reg, std::string detail);

}  // namespace rung::amdgpu
