// How a vector instruction runs: its operands fetched, its row's function over 64 lanes, the results of active ones
// kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "amdgpu/run/alu/lane_row.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {

inline constexpr int kMostRegisters = 32;  // of an operand

// Room for what an instruction reads and writes; only what it does is touched.
struct Room {
  alignas(64) uint32_t source[4][kMostRegisters * kWaveLanes];
  alignas(64) uint32_t result[kMostRegisters * kWaveLanes];
  alignas(64) uint32_t mask[kWaveLanes];
  Room() {}  // not filled
};

// The operand that is source `k`; null: VCC, which the assembler does not write.
inline const Operand* source_operand(const Instruction& i, const LaneRow& row, int k) {
  const bool last = k + 1 == row.source_count;
  if (last && row.accumulates) return &i.destination;
  if (last && row.reads_vcc && k >= i.source_count) return nullptr;
  return &i.sources[k];
}

// Refuses an operand whose register is not written in all of `lanes`, or will be written by an instruction under way.
void refuse_vector(Wave& w, const Instruction& i, const Operand& operand, int registers, uint64_t lanes);
// Whether it may be read in `lanes`; tells what is wrong. `copies`: what nobody wrote may be, too.
inline bool may_read(Wave& w, const Instruction& i, const Operand& operand, int registers, uint64_t lanes) {
  const uint32_t place = Wave::place_of(operand);
  uint64_t missing = 0, pending = 0;
  for (int r = 0; r < registers; ++r) missing |= lanes & ~w.written[place + r], pending |= w.pending[place + r];
  if ((missing | pending) == 0) [[likely]]
    return true;
  refuse_vector(w, i, operand, registers, lanes);
  return w.pause == Pause::none;
}
// Compilers compute with lanes that nobody wrote, and throw the results away: what is made of them counts as unwritten,
// too, and a store or an address tells. A comparison decides something, so all of its lanes count at once.
inline uint64_t lanes_that_count(const LaneRow& row, uint64_t lanes) { return row.result == Kind::mask ? lanes : 0; }
// Whether it may be written: nothing is on its way to it.
inline bool may_write(Wave& w, const Instruction& i, const Operand& operand, int registers) {
  const uint32_t place = Wave::place_of(operand);
  for (int r = 0; r < registers; ++r)
    if (w.pending[place + r]) [[unlikely]] {
      refuse_vector(w, i, operand, registers, 0);
      return w.pause == Pause::none;
    }
  return true;
}

// `registers` of a scalar operand or constant, in all lanes; false: the wave ended.
bool broadcast(Wave& w, const Instruction& i, const Operand& operand, int registers, uint32_t* lanes);
// A mask's bits as lanes.
bool expand_mask(Wave& w, const Instruction& i, const Operand* operand, uint32_t* lanes);
// Keeps the results of `lanes`. `written`: of them, those in which it was made of what somebody wrote.
void blend(Wave& w, uint32_t place, const uint32_t* result, uint64_t lanes, uint64_t written);
// Masks that a row makes: a carry out, a comparison.
void store_masks(Wave& w, const Instruction& i, const LaneRow& row, const Room& room);

// The handler of instructions with any modifiers; handlers of those without are vector.cpp's own.
void run_modified(Wave& w, const Instruction& i);
// The same while MODE says that M0 moves registers.
void run_indexed(Wave& w, const Instruction& i);
// Whether MODE says so; ends the wave then: `i` is not executed with registers moved.
bool refuse_indexed(Wave& w, const Instruction& i);
// Whether `i` asks for anything beyond plain registers and constants.
bool is_modified(const Instruction& i, const LaneRow& row);

}  // namespace rung::amdgpu
