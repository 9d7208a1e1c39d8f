// The effect of modifiers on the 64 lanes of an operand, whatever the instruction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/run/alu/lane_row.hpp"

namespace rung::amdgpu {

// SDWA: a byte or half of each lane, extended to 32 bits; and into a part of the destination.
void select_part(Select part, bool sign_extends, uint32_t* lanes);
void insert_part(const Sdwa& sdwa, const uint32_t* old, uint32_t* result);
// op_sel: halves of 16 bits; packed ones into their places; of v_fma_mix the chosen half, or all 32 bits, as f32.
void choose_halves(const Operand& operand, Kind kind, uint32_t* lanes);
// abs, then neg; packed: the low half by neg, the high one by neg_hi.
void apply_signs(const Operand& operand, Kind kind, uint32_t* lanes);

// Denormals become zeros of their sign where MODE says so for operands of this kind.
enum class Denormals : uint8_t { sources, results };
void flush_denormals(Kind kind, uint32_t mode, Denormals which, uint32_t* lanes);
// omod and, for floats, clamp.
void scale_and_clamp(const Instruction& i, Kind kind, uint32_t mode, uint32_t* lanes);

// The host's rounding is the row's by MODE while it lives.
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
