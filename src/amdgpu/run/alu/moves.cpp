// Executes moves between one lane and a scalar register, and swaps of registers and of rows.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <utility>

#include "amdgpu/run/alu/handlers.hpp"
#include "amdgpu/run/alu/scalar_operand.hpp"
#include "amdgpu/run/alu/vector.hpp"

namespace rung::amdgpu {
namespace {

// Moves one lane, active or not.
void move_lane(Wave& w, const Instruction& i, int lane) {
  if (refuse_indexed(w, i)) return;
  const InstructionOperand& from = i.sources[0];
  if (!is_vector(from)) return write_scalar32(w, i, i.destination, read_scalar32(w, i, from));
  if (!may_read(w, i, from, 1, uint64_t{1} << lane)) return;
  write_scalar32(w, i, i.destination, w.v[Wave::place_of(from)].at[lane]);
}
void read_first_lane(Wave& w, const Instruction& i) { move_lane(w, i, w.exec() == 0 ? 0 : std::countr_zero(w.exec())); }
void read_lane(Wave& w, const Instruction& i) {
  const uint32_t lane = read_scalar32(w, i, i.sources[1]) & 63;
  if (w.pause == Pause::none) move_lane(w, i, static_cast<int>(lane));
}
void write_lane(Wave& w, const Instruction& i) {
  if (refuse_indexed(w, i)) return;
  const uint32_t value = read_scalar32(w, i, i.sources[0]), lane = read_scalar32(w, i, i.sources[1]) & 63;
  if (w.pause != Pause::none || !may_write(w, i, i.destination, 1)) return;
  const uint32_t place = Wave::place_of(i.destination);
  w.v[place].at[lane] = value;
  w.written[place] |= uint64_t{1} << lane;
}

// Swaps lanes of two registers if both are active.
template <class OtherLane>
void swap_lanes(Wave& w, const Instruction& i, OtherLane other_lane) {
  if (refuse_indexed(w, i)) return;
  const InstructionOperand& source = i.sources[i.source_count - 1];
  if (!may_read(w, i, i.destination, 1, 0) || !may_read(w, i, source, 1, 0)) return;
  const uint32_t one = Wave::place_of(i.destination), two = Wave::place_of(source);
  const uint64_t exec = w.exec();
  for (int l = 0; l < kWaveLanes; ++l) {
    const int other = other_lane(l);
    if (other < 0 || !(exec >> l & exec >> other & 1)) continue;
    const uint64_t first = w.written[one] >> l & 1, second = w.written[two] >> other & 1;
    std::swap(w.v[one].at[l], w.v[two].at[other]);
    w.written[one] = (w.written[one] & ~(uint64_t{1} << l)) | second << l;
    w.written[two] = (w.written[two] & ~(uint64_t{1} << other)) | first << other;
  }
}
void swap_registers(Wave& w, const Instruction& i) {
  swap_lanes(w, i, [](int l) { return l; });
}
// Swaps the odd rows of the first with the even rows of the second.
void swap_rows(Wave& w, const Instruction& i) {
  swap_lanes(w, i, [](int l) { return l & 16 ? l - 16 : -1; });
}
// Swaps the upper half of the first with the lower half of the second.
void swap_halves(Wave& w, const Instruction& i) {
  swap_lanes(w, i, [](int l) { return l & 32 ? l - 32 : -1; });
}

}  // namespace

Handler move_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    using enum Opcode;
    case v_readfirstlane_b32:
      return read_first_lane;
    case v_readlane_b32:
      return read_lane;
    case v_writelane_b32:
      return write_lane;
    case v_swap_b32:
      return swap_registers;
    case v_permlane16_swap_b32:
      return swap_rows;
    case v_permlane32_swap_b32:
      return swap_halves;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
