// Scalar operands: reads and writes SGPRs, VCC, M0, EXEC, and reads operands that stand for a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

// Returns operands that are no register: apertures, VCCZ, EXECZ, SCC.
uint64_t special_scalar(const Wave& w, uint16_t number);
// Ends the wave with the reason why this register may not be read (or written, if something is on its way to it).
void refuse_scalar(Wave& w, const Instruction& i, uint32_t number);

inline bool is_readable(const Wave& w, uint32_t number) {
  return w.scalar_written[number] && !w.scalar_pending[number];
}

// Returns the low 32 bits of a scalar register or constant; w.pause tells whether it could be read.
inline uint32_t read_scalar32(Wave& w, const Instruction& i, const InstructionOperand& operand) {
  if (operand.kind == OperandKind::constant) return static_cast<uint32_t>(operand.bits);
  if (operand.number >= 128) return static_cast<uint32_t>(special_scalar(w, operand.number));
  if (!is_readable(w, operand.number)) [[unlikely]]
    refuse_scalar(w, i, operand.number);
  return w.s[operand.number];
}
inline uint64_t read_scalar64(Wave& w, const Instruction& i, const InstructionOperand& operand) {
  if (operand.kind == OperandKind::constant) return operand.bits;
  if (operand.number >= 128) return special_scalar(w, operand.number);
  if (!is_readable(w, operand.number)) [[unlikely]]
    refuse_scalar(w, i, operand.number);
  if (!is_readable(w, operand.number + 1)) [[unlikely]]
    refuse_scalar(w, i, operand.number + 1);
  return w.s[operand.number] | uint64_t{w.s[operand.number + 1]} << 32;
}
inline void write_scalar32(Wave& w, const Instruction& i, const InstructionOperand& operand, uint32_t value) {
  const uint32_t number = operand.number & 127;
  if (w.scalar_pending[number]) [[unlikely]]
    refuse_scalar(w, i, number);
  w.s[number] = value;
  w.scalar_written[number] = true;
}
inline void write_scalar64(Wave& w, const Instruction& i, const InstructionOperand& operand, uint64_t value) {
  const uint32_t number = operand.number & 127;
  if (w.scalar_pending[number] | w.scalar_pending[number + 1]) [[unlikely]]
    refuse_scalar(w, i, w.scalar_pending[number] ? number : number + 1);
  w.s[number] = static_cast<uint32_t>(value), w.s[number + 1] = static_cast<uint32_t>(value >> 32);
  w.scalar_written[number] = w.scalar_written[number + 1] = true;
}

}  // namespace rung::amdgpu
