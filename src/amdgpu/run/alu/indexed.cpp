// Executes vector instructions between s_set_gpr_idx_on and _off: M0 is added to the numbers of the chosen registers.
// SPDX-License-Identifier: Apache-2.0
// M0 has the index in 7:0, and in 15:12 a bit each for sources 0 to 2 and the destination.
#include "amdgpu/run/alu/handlers.hpp"
#include "amdgpu/run/alu/scalar_operand.hpp"
#include "amdgpu/run/alu/vector.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint32_t kIndex = 0xff, kFirstWay = 12, kWays = 0xf;

bool move_register(Wave& w, const Instruction& i, InstructionOperand& operand, uint32_t index) {
  if (operand.kind != OperandKind::vgpr) return true;
  if (operand.number + index + operand.registers > Wave::kFirstAgpr) {
    w.fail(DefectKind::out_of_bounds, i, -1, "M0 leads beyond the vector registers");
    return false;
  }
  operand.number = static_cast<uint16_t>(operand.number + index);
  return true;
}

uint32_t m0_of(Wave& w, const Instruction& i) {
  return read_scalar32(w, i, {.kind = OperandKind::scalar, .number = kM0});
}
void set_m0(Wave& w, uint32_t mask, uint32_t value) {
  w.s[kM0] = (w.s[kM0] & ~mask) | (value & mask);
  w.scalar_written[kM0] = true;
}
void set_ways(Wave& w, const Instruction& i) {
  set_m0(w, kWays << kFirstWay, static_cast<uint32_t>(i.immediate) << kFirstWay);
}
void set_index(Wave& w, const Instruction& i) {
  const uint32_t index = read_scalar32(w, i, i.sources[0]);
  if (w.pause == Pause::none) set_m0(w, kIndex, index);
}
void begin(Wave& w, const Instruction& i) {
  set_index(w, i);
  set_ways(w, i);
  w.mode |= Mode::kIndexed;
}
void end(Wave& w, const Instruction&) { w.mode &= ~Mode::kIndexed; }

}  // namespace

bool refuse_indexed(Wave& w, const Instruction& i) {
  const bool indexed = w.mode & Mode::kIndexed;
  if (indexed) w.fail(DefectKind::bad_instruction, i, -1, "it is not executed while M0 moves registers");
  return indexed;
}

void run_indexed(Wave& w, const Instruction& i) {
  const LaneRow& row = lane_row_of(i.opcode);
  const uint32_t m0 = m0_of(w, i), ways = m0 >> kFirstWay, index = m0 & kIndex;
  if (w.pause != Pause::none) return;
  const bool moves_sum = row.accumulates && (ways & 8);
  if (i.is_dpp || i.is_sdwa || moves_sum) return (void)refuse_indexed(w, i);
  Instruction moved = i;
  for (int k = 0; k < 3; ++k)
    if (ways >> k & 1 && !move_register(w, i, moved.sources[k], index)) return;
  if (ways & 8 && !move_register(w, i, moved.destination, index)) return;
  w.mode &= ~Mode::kIndexed;
  run_modified(w, moved);
  w.mode |= Mode::kIndexed;
}

Handler index_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_set_gpr_idx_on:
      return begin;
    case Opcode::s_set_gpr_idx_off:
      return end;
    case Opcode::s_set_gpr_idx_mode:
      return set_ways;
    case Opcode::s_set_gpr_idx_idx:
      return set_index;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
