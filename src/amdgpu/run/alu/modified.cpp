// Executes vector instructions with modifiers: lanes and halves, signs, denormals and rounding by MODE, clamp, omod.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "amdgpu/run/alu/lane_map.hpp"
#include "amdgpu/run/alu/modifiers.hpp"
#include "amdgpu/run/alu/vector.hpp"

namespace rung::amdgpu {
namespace {

struct Modified {
  Wave& w;
  const Instruction& i;
  const LaneRow& row;
  const LaneMap& map;
};

// Fetches the registers, or the values that DPP brings there from other lanes.
bool fetch_vector(const Modified& m, const InstructionOperand& operand, int k, uint32_t* lanes) {
  const int registers = m.row.source_registers[k];
  const uint32_t place = Wave::place_of(operand);
  const bool mapped = m.i.is_dpp && k == 0;
  const uint64_t read = mapped ? m.map.read : m.map.write;
  if (!may_read(m.w, m.i, operand, registers, lanes_that_count(m.row, read))) return false;
  for (int r = 0; r < registers; ++r) {
    const uint32_t* const from = m.w.v[place + r].at;
    uint32_t* const to = lanes + r * kWaveLanes;
    if (!mapped)
      std::memcpy(to, from, sizeof(Lanes));
    else
      for (int l = 0; l < kWaveLanes; ++l) to[l] = m.map.valid >> l & 1 ? from[m.map.from[l]] : 0;
  }
  return true;
}

bool fetch(const Modified& m, int k, uint32_t* lanes) {
  const InstructionOperand* const operand = source_operand(m.i, m.row, k);
  const Kind kind = m.row.sources[k];
  if (kind == Kind::mask) return expand_mask(m.w, m.i, operand, lanes);
  const bool accumulator = operand == &m.i.destination;
  if (is_vector(*operand)) {
    if (!fetch_vector(m, *operand, k, lanes)) return false;
  } else if (!broadcast(m.w, m.i, *operand, m.row.source_registers[k], lanes)) {
    return false;
  }
  if (m.i.is_sdwa && k < 2 && !accumulator) select_part(m.i.sdwa.source[k], m.i.sdwa.sext[k], lanes);
  const bool is_packed = kind == Kind::packed_b16 || kind == Kind::packed_f16 || kind == Kind::packed_f32;
  if (!accumulator && (!is_packed || m.i.encoding == Encoding::vop3p)) choose_halves(*operand, kind, lanes);
  apply_signs(accumulator ? InstructionOperand{} : *operand, kind, lanes);
  flush_denormals(kind, m.w.mode, Denormals::sources, lanes);
  return true;
}

// Returns the lanes for which register n of source k was written in the lane that they read.
uint64_t written_of_source(const Modified& m, const InstructionOperand& operand, int k, int n) {
  const uint64_t source = m.w.written[Wave::place_of(operand) + n];
  if (!m.i.is_dpp || k != 0) return source;
  uint64_t written = ~m.map.valid;  // lanes without a source read zeros
  for (int l = 0; l < kWaveLanes; ++l) written |= (source >> m.map.from[l] & m.map.valid >> l & 1) << l;
  return written;
}

uint64_t written_of_copy(const Modified& m, int r) {
  if (m.i.opcode == Opcode::v_pk_mov_b32) {  // each register has a source of its own
    const InstructionOperand& from = m.i.sources[r];
    return is_vector(from) ? m.w.written[Wave::place_of(from) + from.op_sel] : ~uint64_t{0};
  }
  if (m.row.source_count > 1) {
    uint64_t written = ~uint64_t{0};
    for (int k = 0; k < 2; ++k)
      if (is_vector(m.i.sources[k])) written &= m.w.written[Wave::place_of(m.i.sources[k]) + r];
    return written;
  }
  return is_vector(m.i.sources[0]) ? written_of_source(m, m.i.sources[0], 0, r) : ~uint64_t{0};
}

// Returns the lanes in which all sources of register r of the result were written.
uint64_t written_of_sources(const Modified& m, int r) {
  uint64_t written = ~uint64_t{0};
  for (int k = 0; k < m.row.source_count; ++k) {
    const InstructionOperand* const operand = source_operand(m.i, m.row, k);
    const Kind kind = m.row.sources[k];
    if (kind == Kind::mask || !operand || !is_vector(*operand)) continue;
    const bool merged = m.row.own_halves && operand == &m.i.destination;  // only a part of it changes
    if (kind == Kind::packed_f32 && m.i.encoding == Encoding::vop3p && operand != &m.i.destination)
      written &= written_of_source(m, *operand, k, r == 0 ? operand->op_sel : operand->op_sel_hi);
    else
      for (int n = 0; n < (merged ? 0 : m.row.source_registers[k]); ++n)
        written &= written_of_source(m, *operand, k, n);
  }
  return written;
}

// Returns whether the instruction leaves a part of the destination's 32 bits as it is.
bool keeps_part(const Modified& m) {
  const bool half = m.row.keeps_half || m.i.op_sel_destination || (m.row.own_halves && m.row.accumulates);
  return half || (m.i.is_sdwa && m.i.sdwa.destination != Select::dword && m.i.sdwa.unused == Unused::preserve);
}

void place_result(const Modified& m, uint32_t* result) {
  const uint32_t* const old = m.w.v[Wave::place_of(m.i.destination)].at;
  if (m.i.is_sdwa)
    insert_part(m.i.sdwa, old, result);
  else if (m.row.writes_high || (m.i.op_sel_destination && !m.row.own_halves))
    insert_part({.destination = Select::word1, .unused = Unused::preserve}, old, result);
  else if (m.row.keeps_half)
    insert_part({.destination = Select::word0, .unused = Unused::preserve}, old, result);
}

void store(const Modified& m, Room& room) {
  if (m.row.result == Kind::mask || m.row.carry_out) store_masks(m.w, m.i, m.row, room);
  const int registers = m.row.result_registers;
  if (registers == 0 || !may_write(m.w, m.i, m.i.destination, registers)) return;
  flush_denormals(m.row.result, m.w.mode, Denormals::results, room.result);
  scale_and_clamp(m.i, m.row.result, m.w.mode, room.result);
  place_result(m, room.result);
  for (int r = 0; r < registers; ++r) {
    const uint32_t place = Wave::place_of(m.i.destination) + r;
    uint64_t written = m.row.copies ? written_of_copy(m, r) : written_of_sources(m, r);
    if (keeps_part(m)) written &= m.w.written[place];
    blend(m.w, place, room.result + r * kWaveLanes, m.map.write, written);
  }
}

uint32_t op_sel_of(const Instruction& i) {
  return i.sources[0].op_sel | i.sources[1].op_sel << 1 | i.sources[2].op_sel << 2 | i.op_sel_destination << 3;
}

}  // namespace

void run_modified(Wave& w, const Instruction& i) {
  if (w.mode & Mode::kIndexed) return run_indexed(w, i);
  const LaneRow& row = lane_row_of(i.opcode);
  const LaneMap map = i.is_dpp ? lane_map(i.dpp, w.exec()) : LaneMap{.write = w.exec()};
  const Modified m{w, i, row, map};
  Room room;
  Frame f{.result = room.result,
          .mask = room.mask,
          .mode = w.mode,
          .op_sel = op_sel_of(i),
          .immediate = i.immediate,
          .isa = w.isa};
  for (int k = 0; k < row.source_count; ++k) {
    if (!fetch(m, k, room.source[k])) return;
    f.source[k] = room.source[k];
  }
  {
    const Rounding rounding(row, w.mode);
    (i.clamp && row.saturated ? row.saturated : row.run)(f);
  }
  store(m, room);
}

}  // namespace rung::amdgpu
