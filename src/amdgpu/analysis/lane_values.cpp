// Applies one instruction's effect to the facts that are known about lanes.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/lane_values.hpp"

#include <algorithm>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/alu/vector.hpp"

namespace rung::amdgpu {
namespace {

constexpr size_t kMostDepths = 16;

bool is_scalar(const InstructionOperand& operand, uint32_t number) {
  return operand.kind == OperandKind::scalar && operand.number == number;
}
bool is_uniform(const std::array<uint32_t, kWaveLanes>& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [&](uint32_t value) { return value == lanes[0]; });
}

// The way in which an addend that a source lacks shows in the result: as one addend, too; as a product with the other
// source; or not at all, for the source must be exact and the same in all lanes.
enum class Part : uint8_t { addend, factor, constant };
struct Linear {
  Opcode opcode;
  std::array<Part, 3> parts;
};
constexpr Part a = Part::addend, f = Part::factor, c = Part::constant;
constexpr Linear kLinear[] = {
    {Opcode::v_mov_b32, {a}},
    {Opcode::v_mov_b64, {a}},
    {Opcode::v_accvgpr_read_b32, {a}},
    {Opcode::v_accvgpr_write_b32, {a}},
    {Opcode::v_accvgpr_mov_b32, {a}},
    {Opcode::v_add_u32, {a, a}},
    {Opcode::v_sub_u32, {a, a}},
    {Opcode::v_subrev_u32, {a, a}},
    {Opcode::v_add_co_u32, {a, a}},
    {Opcode::v_sub_co_u32, {a, a}},
    {Opcode::v_subrev_co_u32, {a, a}},
    {Opcode::v_add3_u32, {a, a, a}},
    {Opcode::v_lshl_add_u32, {a, c, a}},
    {Opcode::v_add_lshl_u32, {a, a, c}},
    {Opcode::v_lshl_add_u64, {a, c, a}},
    {Opcode::v_lshlrev_b32, {c, a}},
    {Opcode::v_lshlrev_b64, {c, a}},
    {Opcode::v_mul_lo_u32, {f, f}},
    {Opcode::v_mad_u64_u32, {f, f, a}},
};
const Linear* linear_of(Opcode opcode) {
  const auto* found =
      std::find_if(std::begin(kLinear), std::end(kLinear), [&](const Linear& row) { return row.opcode == opcode; });
  return found == std::end(kLinear) ? nullptr : found;
}

// A source as far as it is known: the lanes of each register, exact or not; null: the register is not known at all.
struct Source {
  std::array<LaneValuePtr, 2> words;
  bool exact = false;
};

LaneValuePtr uniform_value(uint32_t value, bool exact) {
  auto made = std::make_shared<LaneValue>();
  made->exact = exact;
  made->at.fill(value);
  return made;
}

// Returns the facts that are true of both; `mine` itself if these are no fewer.
LaneValuePtr common(const LaneValuePtr& mine, const LaneValuePtr& theirs) {
  if (!mine || !theirs) return nullptr;
  if (mine == theirs || *mine == *theirs) return mine;
  const uint32_t apart = theirs->at[0] - mine->at[0];
  for (size_t l = 0; l < kWaveLanes; ++l)
    if (theirs->at[l] - mine->at[l] != apart) return nullptr;
  if (!mine->exact) return mine;
  auto made = std::make_shared<LaneValue>(*mine);
  made->exact = false;
  return made;
}

}  // namespace

// The parts of a state that an instruction reads and writes.
struct LaneStep {
  LaneState& state;
  const Placed& placed;
  Isa isa;
  const Instruction& made = placed.instruction;

  std::optional<uint32_t> scalar(uint32_t number) const {
    return number < LaneState::kScalars ? state.scalars_[number] : std::nullopt;
  }
  LaneValuePtr word_of(const InstructionOperand& operand, int word) const;
  Source source_of(const LaneRow& row, int k) const;
  bool sees_all_lanes() const { return state.depths_.empty(); }

  void forget_results();
  bool change_exec();
  void reach_others(std::optional<size_t> from, std::optional<size_t> held);
  std::optional<size_t> depth_in(const InstructionOperand& operand) const;
  void read_first_lane();
  void run_scalar();
  void run_vector();
  void store(const LaneRow& row, const uint32_t* result, const uint32_t* mask, bool exact);
  bool is_linear(const std::array<Source, 4>& sources) const;
};

LaneValuePtr LaneStep::word_of(const InstructionOperand& operand, int word) const {
  if (operand.kind == OperandKind::constant)
    return uniform_value(static_cast<uint32_t>(operand.bits >> 32 * word), true);
  if (is_vector(operand)) return state.vectors_[std::min<size_t>(Wave::place_of(operand) + word, 511)];
  if (operand.kind != OperandKind::scalar) return nullptr;
  if (operand.number == kExec || operand.number == kExec + 1)
    return sees_all_lanes() ? uniform_value(~0u, true) : nullptr;
  const auto value = scalar(operand.number + static_cast<uint32_t>(word));
  return uniform_value(value.value_or(0), value.has_value());
}

Source LaneStep::source_of(const LaneRow& row, int k) const {
  static constexpr InstructionOperand kVccItself{.kind = OperandKind::scalar, .registers = 2, .number = kVcc};
  const InstructionOperand* const operand = source_operand(made, row, k);
  Source source;
  const bool mask = row.sources[k] == Kind::mask;
  const int words = mask ? 2 : row.source_registers[k];
  if (words > 2) return source;
  source.exact = true;
  for (int w = 0; w < words; ++w) {
    source.words[w] = word_of(operand ? *operand : kVccItself, w);
    source.exact &= source.words[w] && source.words[w]->exact;
  }
  if (mask && !source.exact) source.words = {};  // each lane has a bit: no addend is the same in all
  return source;
}

void LaneStep::forget_results() {
  const auto forget = [&](const InstructionOperand& operand) {
    for (uint32_t r = 0; r < operand.registers; ++r) {
      if (is_vector(operand)) state.set_vector(Wave::place_of(operand) + r, nullptr);
      if (operand.kind == OperandKind::scalar) state.set_scalar(operand.number + r, std::nullopt);
    }
  };
  forget(made.destination), forget(made.carry_out);
  if (name_of(made.opcode).ends_with("swap_b32")) forget(made.sources[made.source_count - 1]);
}

std::optional<size_t> LaneStep::depth_in(const InstructionOperand& operand) const {
  if (operand.kind != OperandKind::scalar || operand.number >= LaneState::kScalars) return std::nullopt;
  return state.depth_in_[operand.number];
}

// Goes from a condition's lanes to the others, or to all. The lanes before are saved, to be or-ed into EXEC at the end.
void LaneStep::reach_others(std::optional<size_t> from, std::optional<size_t> held) {
  const bool all = made.opcode == Opcode::s_or_saveexec_b64 && from && *from < state.depths_.size();
  state.widen(all ? *from : state.depths_.size());
  if (all || is_scalar(made.sources[0], made.destination.number))
    state.depth_in_[made.destination.number] = all ? from : held;
}

// Returns whether the instruction writes EXEC; if so, its other effects are applied, too.
bool LaneStep::change_exec() {
  const std::string_view name = name_of(made.opcode);
  const bool saves = name.ends_with("saveexec_b64");
  if (!saves && !name.starts_with("v_cmpx") && !is_scalar(made.destination, kExec)) return false;
  const size_t depth = state.depths_.size();
  const auto held = depth_in(made.destination), from = depth_in(made.sources[made.source_count > 1]);
  forget_results();
  if (made.opcode == Opcode::s_and_saveexec_b64 || made.opcode == Opcode::s_andn1_saveexec_b64)
    return state.narrow(made.destination.number), true;
  const bool of_itself =
      made.source_count == 2 && (is_scalar(made.sources[0], kExec) || is_scalar(made.sources[1], kExec));
  if (name.starts_with("v_cmpx") || (made.opcode == Opcode::s_and_b64 && of_itself) ||
      (made.opcode == Opcode::s_andn2_b64 && is_scalar(made.sources[0], kExec)))
    return state.narrow(std::nullopt), true;
  if (saves) return reach_others(from, held), true;
  const bool joins = made.opcode == Opcode::s_or_b64 && of_itself;
  if ((joins || made.opcode == Opcode::s_mov_b64) && from && *from < depth) return state.widen(*from), true;
  // The lanes that s_or_saveexec saved are taken out of the lanes that it made.
  if (made.opcode == Opcode::s_xor_b64 && of_itself && from == depth) return state.narrow(made.sources[1].number), true;
  // At a loop's end the lanes that left it come back.
  if (depth && !state.depths_.back().saved && joins) return state.widen(depth - 1), true;
  state.widen(0);
  state.narrow(std::nullopt);
  return true;
}

void LaneStep::run_scalar() {
  std::array<std::optional<uint32_t>, 2> from;
  for (size_t s = 0; s < 2 && s < made.source_count; ++s) {
    const InstructionOperand& operand = made.sources[s];
    if (operand.kind == OperandKind::constant) from[s] = static_cast<uint32_t>(operand.bits);
    if (operand.kind == OperandKind::scalar) from[s] = scalar(operand.number);
  }
  // A saved mask keeps its depth, in both registers, when the active lanes are taken out of it.
  const bool keeps_depth = made.opcode == Opcode::s_xor_b64 && is_scalar(made.sources[0], kExec) &&
                           is_scalar(made.sources[1], made.destination.number) && made.destination.number < 128;
  const auto depth = keeps_depth ? state.depth_in_[made.destination.number] : std::nullopt;
  const bool copies_exec = made.opcode == Opcode::s_mov_b64 && is_scalar(made.sources[0], kExec);
  forget_results();
  if (made.destination.kind != OperandKind::scalar || made.destination.number >= LaneState::kScalars) return;
  if (depth) state.depth_in_[made.destination.number] = depth;
  if (copies_exec) state.depth_in_[made.destination.number] = state.depths_.size();
  const auto put = [&](auto compute) {
    if (from[0] && from[1]) state.set_scalar(made.destination.number, compute(*from[0], *from[1]));
  };
  switch (made.opcode) {
    case Opcode::s_mov_b32:
      return state.set_scalar(made.destination.number, from[0]);
    case Opcode::s_mov_b64:
      if (made.sources[0].kind != OperandKind::constant) return;
      state.set_scalar(made.destination.number, from[0]);
      return state.set_scalar(made.destination.number + 1u, static_cast<uint32_t>(made.sources[0].bits >> 32));
    case Opcode::s_movk_i32:
      return state.set_scalar(made.destination.number, static_cast<uint32_t>(made.immediate));
    case Opcode::s_add_i32:
    case Opcode::s_add_u32:
      return put([](uint32_t x, uint32_t y) { return x + y; });
    case Opcode::s_sub_i32:
    case Opcode::s_sub_u32:
      return put([](uint32_t x, uint32_t y) { return x - y; });
    case Opcode::s_mul_i32:
      return put([](uint32_t x, uint32_t y) { return x * y; });
    case Opcode::s_lshl_b32:
      return put([](uint32_t x, uint32_t y) { return x << (y & 31); });
    case Opcode::s_lshr_b32:
      return put([](uint32_t x, uint32_t y) { return x >> (y & 31); });
    case Opcode::s_and_b32:
      return put([](uint32_t x, uint32_t y) { return x & y; });
    case Opcode::s_or_b32:
      return put([](uint32_t x, uint32_t y) { return x | y; });
    default:
      return;
  }
}

bool LaneStep::is_linear(const std::array<Source, 4>& sources) const {
  const Linear* const linear = linear_of(made.opcode);
  if (!linear) return false;
  for (size_t k = 0; k < made.source_count && k < 3; ++k) {
    const LaneValuePtr& low = sources[k].words[0];
    if (!low) return false;
    const bool constant = low->exact && is_uniform(low->at);
    if (linear->parts[k] == Part::constant && !constant) return false;
    if (linear->parts[k] != Part::factor || low->exact) continue;
    const LaneValuePtr& other = sources[1 - k].words[0];
    if (!other || !other->exact || !is_uniform(other->at)) return false;
  }
  return true;
}

void LaneStep::store(const LaneRow& row, const uint32_t* result, const uint32_t* mask, bool exact) {
  const auto put_mask = [&](const InstructionOperand& operand, uint64_t bits) {
    if (operand.kind != OperandKind::scalar || !exact || !sees_all_lanes()) return;
    state.set_scalar(operand.number, static_cast<uint32_t>(bits));
    state.set_scalar(operand.number + 1u, static_cast<uint32_t>(bits >> 32));
  };
  if (row.carry_out) put_mask(made.carry_out, bits_of(mask));
  if (row.result == Kind::mask) return put_mask(made.destination, bits_of(result));
  if (!is_vector(made.destination)) return;
  for (uint32_t r = 0; r < row.result_registers; ++r) {
    if (r > 0 && !exact) break;  // a high word may lack a carry from the missing addend
    auto value = std::make_shared<LaneValue>();
    value->exact = exact;
    std::copy_n(result + r * kWaveLanes, kWaveLanes, value->at.begin());
    state.set_vector(Wave::place_of(made.destination) + r, std::move(value));
  }
}

// A value that is the same in all lanes can be read with any of them active.
void LaneStep::read_first_lane() {
  const LaneValuePtr value = word_of(made.sources[0], 0);
  const bool known = value && value->exact && (sees_all_lanes() || is_uniform(value->at));
  forget_results();
  if (known) state.set_scalar(made.destination.number, value->at[0]);
}

void LaneStep::run_vector() {
  if (made.opcode == Opcode::v_readfirstlane_b32) return read_first_lane();
  const LaneRow& row = lane_row_of(made.opcode);
  const int written = row.source_count - row.accumulates - (row.reads_vcc && made.source_count < row.source_count);
  const bool plain = placed.whole && row.run && !row.accumulates && written == made.source_count &&
                     row.result_registers <= 2 && !is_modified(made, row);
  std::array<Source, 4> sources;
  bool exact = plain, uniform = plain;
  for (int k = 0; plain && k < row.source_count; ++k) {
    sources[k] = source_of(row, k);
    exact &= sources[k].exact;
    for (int w = 0; w < std::min<int>(row.source_registers[k], 2); ++w)
      uniform &= sources[k].words[w] && is_uniform(sources[k].words[w]->at);
    uniform &= row.sources[k] != Kind::mask;
  }
  const bool known = exact || (plain && is_linear(sources)), has_vector = is_vector(made.destination);
  if (!known) {
    forget_results();
    if (uniform && has_vector)
      for (uint32_t r = 0; r < row.result_registers; ++r)
        state.set_vector(Wave::place_of(made.destination) + r, uniform_value(0, false));
    return;
  }
  Room room;
  Frame frame{.result = room.result, .mask = room.mask, .mode = Mode::kUsual, .immediate = made.immediate, .isa = isa};
  for (int k = 0; k < row.source_count; ++k) {
    frame.source[k] = room.source[k];
    for (size_t w = 0; w < 2; ++w) {
      std::fill_n(room.source[k] + w * kWaveLanes, kWaveLanes, 0u);
      if (sources[k].words[w])
        std::copy_n(sources[k].words[w]->at.begin(), kWaveLanes, room.source[k] + w * kWaveLanes);
    }
    if (row.sources[k] != Kind::mask) continue;
    lanes_of(room.source[k][0] | uint64_t{room.source[k][kWaveLanes]} << 32, room.source[k]);
  }
  row.run(frame);
  forget_results();
  store(row, room.result, room.mask, exact);
}

LaneState LaneState::at_entry() {
  LaneState made;
  auto lanes = std::make_shared<LaneValue>();
  for (uint32_t l = 0; l < kWaveLanes; ++l) lanes->at[l] = l;
  made.vectors_[0] = std::move(lanes);
  return made;
}

void LaneState::set_vector(size_t place, LaneValuePtr value) {
  if (place >= kVectors) return;
  vectors_[place] = std::move(value);
  if (!depths_.empty()) depths_.back().written[place] = true;
}

void LaneState::set_scalar(size_t number, std::optional<uint32_t> value) {
  if (number >= kScalars) return;
  scalars_[number] = value;
  depth_in_[number].reset();
  if (number > 0) depth_in_[number - 1].reset();
}

// A loop goes on to narrow the mask that is not saved, at one depth.
void LaneState::narrow(std::optional<size_t> saved_in) {
  if (saved_in && *saved_in < kScalars) depth_in_[*saved_in] = depths_.size();
  if (!saved_in && !depths_.empty() && !depths_.back().saved) return;
  if (depths_.size() == kMostDepths) return;
  depths_.push_back({.saved = saved_in.has_value()});
}

// Widening to the current depth itself activates lanes of that depth that were not active.
void LaneState::widen(size_t to_depth) {
  const size_t first = to_depth == depths_.size() && to_depth > 0 ? to_depth - 1 : to_depth;
  for (size_t d = first; d < depths_.size(); ++d)
    for (size_t place = 0; place < kVectors; ++place)
      if (depths_[d].written[place]) vectors_[place] = nullptr;
  depths_.resize(std::min(depths_.size(), to_depth));
}

void LaneState::step(const Placed& placed, Isa isa) {
  LaneStep step{*this, placed, isa};
  if (step.change_exec()) return;
  switch (placed.instruction.encoding) {
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopk:
      return step.run_scalar();
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3:
    case Encoding::vop3p:
      return step.run_vector();
    default:
      return step.forget_results();
  }
}

bool LaneState::meet(const LaneState& other) {
  bool changed = false;
  for (size_t place = 0; place < kVectors; ++place) {
    LaneValuePtr& mine = vectors_[place];
    const LaneValuePtr& theirs = other.vectors_[place];
    LaneValuePtr both = common(mine, theirs);
    if (both == mine) continue;
    mine = std::move(both);
    changed = true;
  }
  for (size_t s = 0; s < kScalars; ++s) {
    if (scalars_[s] && scalars_[s] != other.scalars_[s]) scalars_[s].reset(), changed = true;
    if (depth_in_[s] && depth_in_[s] != other.depth_in_[s]) depth_in_[s].reset(), changed = true;
  }
  while (depths_.size() < other.depths_.size()) depths_.push_back({}), changed = true;
  for (size_t d = 0; d < other.depths_.size(); ++d) {
    for (size_t place = 0; place < kVectors; ++place)
      if (other.depths_[d].written[place] && !depths_[d].written[place])
        depths_[d].written[place] = true, changed = true;
    if (depths_[d].saved && !other.depths_[d].saved) depths_[d].saved = false, changed = true;
  }
  return changed;
}

}  // namespace rung::amdgpu
