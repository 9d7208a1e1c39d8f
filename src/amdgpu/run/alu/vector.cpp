// Executes vector instructions without modifiers, which nearly all are; with modifiers: modified.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/alu/vector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "amdgpu/run/alu/handlers.hpp"
#include "amdgpu/run/alu/scalar_operand.hpp"
#include "amdgpu/run/group.hpp"

namespace rung::amdgpu {

void refuse_vector(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers, uint64_t lanes) {
  const uint32_t place = Wave::place_of(operand);
  for (uint32_t p = place; p < place + registers; ++p) {
    const std::string name = p < Wave::kFirstAgpr ? fmt::format("v{}", p) : fmt::format("a{}", p - Wave::kFirstAgpr);
    if (w.pending[p]) return fail_pending(w, i, {p, false}, fmt::format("{} is still to be written by a load", name));
    if (const uint64_t missing = lanes & ~w.written[p])
      return w.fail(DefectKind::uninitialised, i, std::countr_zero(missing), fmt::format("nobody wrote {}", name));
  }
}

namespace {

// Returns whether both results of a packed operation on f32 read the same one of a pair of scalars.
bool reads_one_of_pair(const Instruction& i, const InstructionOperand& operand, int registers) {
  return registers == 2 && i.encoding == Encoding::vop3p && operand.kind == OperandKind::scalar &&
         operand.number < 128 && operand.op_sel == operand.op_sel_hi;
}

}  // namespace

bool broadcast(Wave& w, const Instruction& i, const InstructionOperand& operand, int registers, uint32_t* lanes) {
  if (reads_one_of_pair(i, operand, registers)) {
    InstructionOperand one = operand;
    one.number = static_cast<uint16_t>(operand.number + (operand.op_sel ? 1 : 0));
    std::fill_n(lanes, 2 * kWaveLanes, read_scalar32(w, i, one));
    return w.pause == Pause::none;
  }
  const uint64_t value = registers == 1 ? read_scalar32(w, i, operand) : read_scalar64(w, i, operand);
  for (int r = 0; r < std::min(registers, 2); ++r)
    std::fill_n(lanes + r * kWaveLanes, kWaveLanes, static_cast<uint32_t>(value >> (32 * r)));
  for (int r = 2; r < registers; ++r) {
    InstructionOperand next = operand;  // above 64 bits: each by itself
    next.number = static_cast<uint16_t>(operand.number + r);
    next.bits = 0;
    std::fill_n(lanes + r * kWaveLanes, kWaveLanes, read_scalar32(w, i, next));
  }
  return w.pause == Pause::none;
}

bool expand_mask(Wave& w, const Instruction& i, const InstructionOperand* operand, uint32_t* lanes) {
  static constexpr InstructionOperand kVccItself{.kind = OperandKind::scalar, .registers = 2, .number = kVcc};
  lanes_of(read_scalar64(w, i, operand ? *operand : kVccItself), lanes);
  return w.pause == Pause::none;
}

void blend(Wave& w, uint32_t place, const uint32_t* result, uint64_t lanes, uint64_t written) {
  uint32_t* const at = w.v[place].at;
  if (lanes == ~uint64_t{0}) {
    std::memcpy(at, result, sizeof(Lanes));
  } else {
    alignas(64) uint32_t keep[kWaveLanes];
    lanes_of(lanes, keep);
    for (int l = 0; l < kWaveLanes; ++l) at[l] ^= (at[l] ^ result[l]) & keep[l];
  }
  w.written[place] = (w.written[place] & ~lanes) | (lanes & written);
}

void store_masks(Wave& w, const Instruction& i, const LaneRow& row, const Room& room) {
  const uint64_t exec = w.exec();
  if (row.carry_out) write_scalar64(w, i, i.carry_out, bits_of(room.mask) & exec);
  if (row.result != Kind::mask) return;
  const uint64_t bits = bits_of(room.result) & exec;
  write_scalar64(w, i, i.destination, bits);
  if (row.writes_exec) w.set_exec(bits);
}

namespace {

// Returns whether the low and the high result of a packed pair of f32 read other registers than their own.
bool chooses_registers(const InstructionOperand& operand, Kind kind, const Instruction& i) {
  return kind == Kind::packed_f32 && i.encoding == Encoding::vop3p && (operand.op_sel || !operand.op_sel_hi);
}
const uint32_t* chosen_registers(const Wave& w, const InstructionOperand& operand, uint32_t* room) {
  const Lanes* from = &w.v[Wave::place_of(operand)];
  std::memcpy(room, from[operand.op_sel].at, sizeof(Lanes));
  std::memcpy(room + kWaveLanes, from[operand.op_sel_hi].at, sizeof(Lanes));
  return room;
}

// Returns a source's 64 lanes, in place if they lie there; null: the wave ended.
const uint32_t* plain_source(Wave& w, const Instruction& i, const LaneRow& row, int k, uint32_t* room) {
  const InstructionOperand* const operand = source_operand(i, row, k);
  if (row.sources[k] == Kind::mask) return expand_mask(w, i, operand, room) ? room : nullptr;
  const int registers = row.source_registers[k];
  if (!is_vector(*operand)) return broadcast(w, i, *operand, registers, room) ? room : nullptr;
  if (!may_read(w, i, *operand, registers, lanes_that_count(row, w.exec()))) [[unlikely]]
    return nullptr;
  if (chooses_registers(*operand, row.sources[k], i)) return chosen_registers(w, *operand, room);
  return w.v[Wave::place_of(*operand)].at;
}

// Returns the lanes in which a copy's sources of register r of the result were written.
uint64_t written_of_copy(const Wave& w, const Instruction& i, const LaneRow& row, const Frame& f, int r) {
  uint64_t written[2] = {~uint64_t{0}, ~uint64_t{0}};
  for (int k = 0; k < 2 && k < i.source_count; ++k)
    if (row.sources[k] != Kind::mask && is_vector(i.sources[k]))
      written[k] = w.written[Wave::place_of(i.sources[k]) + r];
  if (row.source_count < 3) return written[0] & written[1];
  const uint64_t second = bits_of(f.source[2]);
  return (written[0] & ~second) | (written[1] & second);
}

// Returns the lanes in which the sources of register r of the result were written. A low half that depends on the
// sources' low halves alone does not need their high halves.
uint64_t written_of_sources(const Wave& w, const Instruction& i, const LaneRow& row, int r) {
  const bool low_alone = row.low_of_low && r == 0;
  uint64_t written = ~uint64_t{0};
  for (int k = 0; k < row.source_count; ++k) {
    const InstructionOperand* const operand = source_operand(i, row, k);
    if (row.sources[k] == Kind::mask || !operand || !is_vector(*operand)) continue;
    if (row.sources[k] == Kind::packed_f32) {  // each result has a register
      const bool chosen = chooses_registers(*operand, row.sources[k], i);
      const int n = !chosen ? r : r == 0 ? operand->op_sel : operand->op_sel_hi;
      written &= w.written[Wave::place_of(*operand) + n];
      continue;
    }
    const int registers = low_alone && row.sources[k] == Kind::b64 ? 1 : row.source_registers[k];
    for (int n = 0; n < registers; ++n) written &= w.written[Wave::place_of(*operand) + n];
  }
  return written;
}

// Returns whether all lanes of all vector sources were written, as they usually are, and always when nobody checks.
bool wrote_all_sources(const Wave& w, const Instruction& i, const LaneRow& row) {
  uint64_t written = ~uint64_t{0};
  for (int k = 0; k < row.source_count; ++k) {
    const InstructionOperand* const operand = source_operand(i, row, k);
    if (row.sources[k] == Kind::mask || !operand || !is_vector(*operand)) continue;
    for (int n = 0; n < row.source_registers[k]; ++n) written &= w.written[Wave::place_of(*operand) + n];
  }
  return written == ~uint64_t{0};
}

// Lanes are computed independently, so results may go straight to their registers, even to sources. If some lanes are
// off, they go through `result`.
void keep_results(Wave& w, const Instruction& i, const LaneRow& row, const Frame& f) {
  const uint64_t exec = w.exec();
  const uint32_t place = Wave::place_of(i.destination);
  uint64_t written[kMostRegisters];
  const bool all = wrote_all_sources(w, i, row);
  for (int r = 0; r < row.result_registers; ++r)
    written[r] = all ? ~uint64_t{0} : row.copies ? written_of_copy(w, i, row, f, r) : written_of_sources(w, i, row, r);
  for (int r = 0; r < row.result_registers; ++r) {
    if (exec != ~uint64_t{0})
      blend(w, place + r, f.result + r * kWaveLanes, exec, written[r]);
    else
      w.written[place + r] = written[r];
  }
}

template <int kSources>
void run_plain(Wave& w, const Instruction& i) {
  constexpr uint32_t kUsual = Mode::kDenormals32 | Mode::kDenormals16And64;
  if ((w.mode & (0xff | Mode::kIndexed)) != kUsual) [[unlikely]]
    return run_modified(w, i);
  const LaneRow& row = lane_row_of(i.opcode);
  Room room;
  Frame f{.result = room.result, .mask = room.mask, .mode = w.mode, .immediate = i.immediate, .isa = w.isa};
  for (int k = 0; k < kSources; ++k)
    if (f.source[k] = plain_source(w, i, row, k, room.source[k]); !f.source[k]) return;
  if (row.result_registers != 0) {
    if (!may_write(w, i, i.destination, row.result_registers)) return;
    if (w.exec() == ~uint64_t{0}) f.result = w.v[Wave::place_of(i.destination)].at;
  }
  row.run(f);
  if (row.result == Kind::mask || row.carry_out) store_masks(w, i, row, room);
  if (row.result_registers != 0) keep_results(w, i, row, f);
}

// A scalar that nobody wrote may be copied, as between scalars; the lanes stay unwritten.
void copy_scalar(Wave& w, const Instruction& i) {
  const uint32_t from = i.sources[0].number;
  const int registers = lane_row_of(i.opcode).source_registers[0];
  uint64_t written[2] = {~uint64_t{0}, ~uint64_t{0}};
  for (int r = 0; r < registers; ++r)
    if (!w.scalar_written[from + r] && !w.scalar_pending[from + r]) written[r] = 0, w.scalar_written[from + r] = true;
  run_plain<1>(w, i);
  for (int r = 0; r < registers; ++r) {
    if (written[r] != 0) continue;
    w.scalar_written[from + r] = false;
    if (w.pause == Pause::none) w.written[Wave::place_of(i.destination) + r] &= ~w.exec();
  }
}

}  // namespace

bool is_modified(const Instruction& i, const LaneRow& row) {
  if (i.is_dpp || i.is_sdwa || i.clamp || i.omod || i.op_sel_destination || row.keeps_half) return true;
  if (row.own_halves || i.opcode == Opcode::v_pk_mov_b32) return true;
  for (int k = 0; k < row.source_count; ++k) {
    const InstructionOperand* const o = source_operand(i, row, k);
    if (!o || o == &i.destination) continue;
    const Kind kind = row.sources[k];
    const bool packed = kind == Kind::packed_b16 || kind == Kind::packed_f16 || kind == Kind::packed_f32;
    const bool plain = kind == Kind::packed_f32 && is_vector(*o);  // each register of a pair is one or the other
    const bool halves = packed && !plain && i.encoding == Encoding::vop3p && (o->op_sel || !o->op_sel_hi);
    if (o->neg || o->abs || o->neg_hi || halves || kind == Kind::mix || (o->op_sel && !plain)) return true;
  }
  return false;
}

Handler vector_handler(const Instruction& i) {
  const LaneRow& row = lane_row_of(i.opcode);
  if (!row.run) return nullptr;
  const int written = row.source_count - row.accumulates - (row.reads_vcc && i.source_count < row.source_count);
  if (written != i.source_count) return nullptr;
  const bool integer =
      row.result == Kind::b16 || row.result == Kind::b32 || row.result == Kind::b64 || row.result == Kind::packed_b16;
  if (i.clamp && integer && !row.saturated) return nullptr;
  if (is_modified(i, row)) return run_modified;
  const bool copies = i.opcode == Opcode::v_mov_b32 || i.opcode == Opcode::v_mov_b64;
  if (copies && i.sources[0].kind == OperandKind::scalar && i.sources[0].number < 128) return copy_scalar;
  static constexpr Handler kPlain[] = {run_plain<0>, run_plain<1>, run_plain<2>, run_plain<3>, run_plain<4>};
  return kPlain[row.source_count];
}

}  // namespace rung::amdgpu
