// Runs vector instructions: fetches operands, calls the row's function over 64 lanes, keeps results of active lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "amdgpu/run/alu/lane_row.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

inline constexpr int kMostRegisters = 32;  // per operand

// Room for an instruction's sources and results; only what the instruction uses is touched.
struct Room {
  alignas(64) uint32_t source[4][kMostRegisters * kWaveLanes];
  alignas(64) uint32_t result[kMostRegisters * kWaveLanes];
  alignas(64) uint32_t mask[kWaveLanes];
  Room() {}  // not filled
};

// Returns the operand that is source `k`; null: VCC, which the assembler does not write.
inline const InstructionOperand* source_operand(const Instruction& i, const LaneRow& row, int k) {
  const bool last = k + 1 == row.source_count;
  if (last && row.accumulates) return &i.destination;
  if (last && row.reads_vcc && k >= i.source_count) return nullptr;
  return &i.sources[k];
}

// Refuses an operand whose register is not written in all of `lanes`, or will be written by an instruction under way.
void refuse_vector(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers, uint64_t lanes);
// Returns whether the wave may go on after reading the operand in `lanes`; if it is not readable, reports a defect.
inline bool may_read(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers, uint64_t lanes) {
  const uint32_t place = Wave::place_of(operand);
  uint64_t missing = 0, pending = 0;
  for (int r = 0; r < registers; ++r) missing |= lanes & ~w.written[place + r], pending |= w.pending[place + r];
  if ((missing | pending) == 0) [[likely]]
    return true;
  refuse_vector(w, i, operand, registers, lanes);
  return w.pause == Pause::none;
}
// Compilers compute with lanes that nobody wrote and drop the results: these count as unwritten, too, and the defect is
// a store's or an address's. A comparison decides something, so all its lanes count at once.
inline uint64_t lanes_that_count(const LaneRow& row, uint64_t lanes) { return row.result == Kind::mask ? lanes : 0; }
// Returns whether the operand may be written: no instruction under way will write it.
inline bool may_write(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers) {
  const uint32_t place = Wave::place_of(operand);
  for (int r = 0; r < registers; ++r)
    if (w.pending[place + r]) [[unlikely]] {
      refuse_vector(w, i, operand, registers, 0);
      return w.pause == Pause::none;
    }
  return true;
}

// Puts `registers` of a scalar operand or constant into all lanes; returns false if the wave ended.
bool broadcast(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers, uint32_t* lanes);
// Turns a mask's bits into lanes.
bool expand_mask(Wave& w, const Instruction& i, const InstructionOperand* operand, uint32_t* lanes);
// Keeps the results of `lanes`; in those of `written` the result was made of written values.
void blend(Wave& w, uint32_t place, const uint32_t* result, uint64_t lanes, uint64_t written);
// Stores the masks that a row makes: a carry out, a comparison.
void store_masks(Wave& w, const Instruction& i, const LaneRow& row, const Room& room);

// Runs instructions with any modifiers; handlers of those without are vector.cpp's own.
void run_modified(Wave& w, const Instruction& i);
// Does the same while MODE says that M0 moves registers.
void run_indexed(Wave& w, const Instruction& i);
// Returns whether MODE says that M0 moves registers, and then ends the wave: `i` is not executed like that.
bool refuse_indexed(Wave& w, const Instruction& i);
// Returns whether `i` asks for anything beyond plain registers and constants.
bool is_modified(const Instruction& i, const LaneRow& row);

}  // namespace rung::amdgpu
