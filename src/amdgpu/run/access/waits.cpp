// Executes s_waitcnt, s_barrier, and instructions that empty vector caches, of which there are none here.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

void nothing(Wave&, const Instruction&) {}

// The immediate has vmcnt in bits 15:14 and 3:0, lgkmcnt in 11:8. expcnt, in 6:4, counts exports, which no kernel has.
void wait(Wave& wave, const Instruction& instruction) {
  if (!wave.group->checks.waits) return;
  const auto bits = static_cast<uint32_t>(instruction.immediate);
  Scoreboard& board = wave.group->of(wave).in_flight;
  const size_t vector = (bits & 0xf) | (bits >> 14 & 3) << 4, local = bits >> 8 & 0xf;
  if (vector < Scoreboard::kMostVector) board.wait_vector(wave, vector);
  if (local < Scoreboard::kMostLocal) board.wait_local(wave, local);
}

void barrier(Wave& wave, const Instruction&) {
  if (wave.group->checks.waits) wave.group->of(wave).in_flight.mark_writes(wave.group->lds);
  wave.pause = Pause::barrier;
}

}  // namespace

Handler wait_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_waitcnt:
      return wait;
    case Opcode::s_barrier:
      return barrier;
    case Opcode::buffer_inv:
    case Opcode::buffer_invl2:
    case Opcode::buffer_wbl2:
    case Opcode::buffer_wbinvl1:
    case Opcode::buffer_wbinvl1_vol:
      return nothing;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
