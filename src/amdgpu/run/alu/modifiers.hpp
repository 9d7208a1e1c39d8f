// Applies modifiers to the 64 lanes of an operand, whatever the instruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/run/alu/lane_row.hpp"

namespace rung::amdgpu {

// SDWA takes a byte or half of each lane, extended to 32 bits, and writes a part of the destination.
void select_part(Select part, bool sign_extends, uint32_t* lanes);
void insert_part(const Sdwa& sdwa, const uint32_t* old, uint32_t* result);
// op_sel chooses halves of 16 bits; packed ones go to their places; v_fma_mix takes the half, or all 32 bits, as f32.
void choose_halves(const InstructionOperand& operand, Kind kind, uint32_t* lanes);
// Applies abs, then neg; packed: neg to the low half, neg_hi to the high one.
void apply_signs(const InstructionOperand& operand, Kind kind, uint32_t* lanes);

// Turns denormals into zeros of their sign if MODE says so for operands of this kind.
enum class Denormals : uint8_t { sources, results };
void flush_denormals(Kind kind, uint32_t mode, Denormals which, uint32_t* lanes);
// Applies omod and, for floats, clamp.
void scale_and_clamp(const Instruction& i, Kind kind, uint32_t mode, uint32_t* lanes);

// Sets the host's rounding to the row's by MODE as long as the object lives.
class Rounding {
 public:
  Rounding(const LaneRow& row, uint32_t mode);
  ~Rounding();
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  uint32_t before_;
};

}  // namespace rung::amdgpu
