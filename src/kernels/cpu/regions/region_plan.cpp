// Gives each instruction its sweep, each register its memory, and writes the actions in order.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/regions/region_plan.hpp"

#include <algorithm>

#include "kernels/elementwise_program.hpp"
#include "kernels/region_stages.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

class Planner {
 public:
  Planner(const Problem& problem, RegionProgram program, RegionPlan& plan)
      : problem_(problem),
        program_(std::move(program)),
        plan_(plan),
        types_(operand_types(problem)),
        shape_(*region_shape(types_)),
        rows_(row_registers(program_, types_, shape_)) {
    if (!program_.reduces() && !std::ranges::any_of(program_.results, [&](const auto& r) { return is_row(r.index); }))
      std::fill(rows_.begin(), rows_.end(), false);  // one long row then serves
  }

  bool run() {
    if (!set_operands() || !set_literals() || !set_spread()) return false;
    const RegionStages stages(program_, rows_);
    sweeps_ = stages.sweeps();
    if (sweeps_ > kMaxRegionSweeps) return false;
    plan_.sweeps = sweeps_;
    set_results();
    set_memory(stages);
    return write_actions(stages);
  }

 private:
  bool is_row(int reg) const { return rows_[static_cast<size_t>(reg)]; }
  int64_t block() const { return std::min(plan_.width * plan_.batch, kPointwiseBlock); }
  // A cache line lies between slots: loads from one and stores to another would else wait for each other, as their
  // addresses agree in the lowest bits.
  int64_t padded(int64_t floats) const { return (floats + 15) / 16 * 16 + 16; }

  bool set_operands() {
    plan_.inputs = static_cast<int>(program_.inputs);
    if (program_.inputs > kMaxPointwiseInputs || program_.registers() >= kMaxRegionSlots) return false;
    std::vector<Strides> strides;
    for (const Operand& x : problem_.inputs) strides.push_back(broadcast_strides(x, shape_));
    const bool flat = std::ranges::none_of(rows_, [](bool row) { return row; }) && !program_.reduces();
    Shape outer = shape_;
    if (flat) strides.push_back(contiguous_strides(shape_));
    plan_.width = flat || shape_.rank() == 0 ? 1 : shape_.back();
    if (!flat && shape_.rank() > 0) {
      outer.erase(shape_.rank() - 1);
      for (size_t i = 0; i < strides.size(); ++i) {
        plan_.stride[i] = strides[i].back();
        strides[i].erase(shape_.rank() - 1);
      }
    }
    plan_.loops = collapse(outer, strides);
    plan_.flat = flat;
    plan_.batch = 1, plan_.rows = plan_.loops.outer;
    if (flat) {
      plan_.width = plan_.loops.inner;
    } else {
      plan_.rows *= plan_.loops.inner;
      plan_.batch = std::clamp<int64_t>(kPointwiseBlock / std::max<int64_t>(plan_.width, 1), 1, plan_.loops.inner);
    }
    for (size_t i = 0; i < problem_.inputs.size(); ++i) {
      if (flat) plan_.stride[i] = plan_.loops.inner_strides[i];
      plan_.input[i] = problem_.inputs[i].dtype;
    }
    return true;
  }

  bool set_literals() {
    for (const RegionInstruction& instruction : program_.instructions)
      for (const PointwiseOperand& operand : operands_of(instruction))
        if (const auto* value = std::get_if<float>(&operand)) {
          if (program_.registers() + static_cast<size_t>(plan_.literals) >= kMaxRegionSlots) return false;
          plan_.literal[plan_.literals++] = *value;
        }
    plan_.registers = static_cast<int>(program_.registers());
    plan_.slots = plan_.registers + plan_.literals;
    return true;
  }

  // Element-wise instructions of rows read values of rows; all other instructions read elements.
  bool reads_elements(size_t i) const {
    return !rows_[program_.inputs + i] || std::holds_alternative<RowReduction>(program_.instructions[i]);
  }

  bool set_spread() {
    spread_.assign(program_.registers(), 0);
    for (size_t i = 0; i < program_.instructions.size(); ++i)
      for (const PointwiseOperand& operand : operands_of(program_.instructions[i])) {
        const auto* from = std::get_if<Register>(&operand);
        if (!reads_elements(i) || !from || !is_row(from->index) || spread_[size_t(from->index)] != 0) continue;
        if (plan_.slots >= kMaxRegionSlots) return false;
        spread_[size_t(from->index)] = static_cast<uint8_t>(plan_.slots++);
      }
    return true;
  }

  void set_results() {
    const std::vector<ResultPlace> places = results_of(problem_);
    plan_.results = static_cast<int>(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      plan_.result[i] = places[i].type.dtype;
      plan_.offset[i] = static_cast<int64_t>(places[i].offset);
      plan_.step[i] = is_row(program_.results[i].index) ? 1 : plan_.width;
    }
  }

  // Slots are the registers, then the literals, then values of rows that are spread.
  void set_memory(const RegionStages& stages) {
    for (size_t reg = 0; reg < size_t(plan_.slots); ++reg) {
      RegionSlot& slot = plan_.slot[reg];
      slot = {RegionMemory::block, 0, 0};
      if (reg < program_.registers() && !rows_[reg]) place_elements(stages, reg, slot);
      if (slot.memory == RegionMemory::row) slot.offset = take(padded(plan_.width * plan_.batch));
      if (slot.memory == RegionMemory::block) slot.offset = take(padded(block()));
    }
  }

  void place_elements(const RegionStages& stages, size_t reg, RegionSlot& slot) {
    if (reg < program_.inputs) {
      const bool follows = plan_.batch == 1 || plan_.loops.inner_strides[reg] == plan_.width;
      if (plan_.input[reg] == DType::f32 && plan_.stride[reg] == 1 && follows)
        slot = {RegionMemory::operand, static_cast<uint8_t>(reg), 0};
      return;
    }
    if (is_read_later(stages, reg)) slot.memory = RegionMemory::row;
    for (size_t i = 0; i < program_.results.size(); ++i)
      if (size_t(program_.results[i].index) == reg && plan_.result[i] == DType::f32)
        slot = {RegionMemory::result, static_cast<uint8_t>(i), 0};
  }

  bool is_read_later(const RegionStages& stages, size_t reg) const {
    for (size_t i = 0; i < program_.instructions.size(); ++i)
      for (const PointwiseOperand& operand : operands_of(program_.instructions[i]))
        if (operand == PointwiseOperand(Register{static_cast<int>(reg)}) && stages.sweep_of(i) != stages.of(reg))
          return true;
    return false;
  }

  int64_t take(int64_t floats) {
    const int64_t at = plan_.thread_floats;
    plan_.thread_floats += floats;
    return at;
  }

  bool write_actions(const RegionStages& stages) {
    write_row(stages, 0);
    for (int sweep = 0; sweep < sweeps_; ++sweep) {
      plan_.first[sweep] = actions_;
      reductions_ = scans_ = 0;
      if (!write_blocks(stages, sweep)) return false;
      plan_.row[sweep] = actions_;
      reductions_ = 0;
      write_row(stages, sweep + 1);
    }
    plan_.first[sweeps_] = actions_;
    return actions_ < kMaxRegionActions;
  }

  // The results that are operands themselves are written in the first sweep.
  bool write_blocks(const RegionStages& stages, int sweep) {
    read_.assign(program_.inputs, false);
    if (sweep == 0)
      for (size_t reg = 0; reg < program_.inputs; ++reg)
        if (!rows_[reg] && is_result(reg)) load(reg), store(reg);
    size_t literal = program_.registers();
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const PointwiseStep step = step_of(i, literal);
      if (stages.is_row(i) || stages.sweep_of(i) != sweep) continue;
      for (const PointwiseOperand& operand : operands_of(program_.instructions[i]))
        if (const auto* from = std::get_if<Register>(&operand);
            from && size_t(from->index) < program_.inputs && !is_row(from->index))
          load(size_t(from->index));
      if (const auto* scan = std::get_if<RowScan>(&program_.instructions[i])) {
        if (reductions_ + ++scans_ > kMaxRegionReductions) return false;
        const RowKind kind = scan->kind == ScanKind::sum ? RowKind::sum : RowKind::product;
        push({RegionDo::scan, kind, static_cast<uint8_t>(kMaxRegionReductions - scans_), step});
        store(program_.inputs + i);
      } else if (stages.is_reduction(i)) {
        if (reductions_ + scans_ == kMaxRegionReductions) return false;
        push({RegionDo::reduce, kind_of(i), static_cast<uint8_t>(reductions_++), step});
      } else {
        push({RegionDo::step, {}, 0, step});
        store(program_.inputs + i);
      }
    }
    return true;
  }

  // Writes what is known of a row once `stage` sweeps over it have ended.
  void write_row(const RegionStages& stages, int stage) {
    if (stage == 0)
      for (size_t reg = 0; reg < program_.inputs; ++reg)
        if (rows_[reg]) push({RegionDo::read, {}, static_cast<uint8_t>(reg), to_slot(reg)}), finish_row(reg);
    size_t literal = program_.registers();
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const PointwiseStep step = step_of(i, literal);
      if (!rows_[program_.inputs + i] || stages.of(program_.inputs + i) != stage) continue;
      if (stages.is_reduction(i))
        push({RegionDo::reduce, kind_of(i), static_cast<uint8_t>(reductions_++), step});
      else
        push({RegionDo::step, {}, 0, step});
      finish_row(program_.inputs + i);
    }
  }

  void finish_row(size_t reg) {
    store(reg);
    if (spread_[reg] != 0)
      push({RegionDo::spread, {}, 0, {Code::copy, {static_cast<uint8_t>(reg), 0, 0}, spread_[reg]}});
  }

  // Counts the literals of all instructions on the way, so that each finds its own.
  PointwiseStep step_of(size_t i, size_t& literal) const {
    PointwiseStep step = to_slot(program_.inputs + i);
    if (const auto* element = std::get_if<PointwiseInstruction>(&program_.instructions[i]))
      step.code = code_of(element->function);
    for (size_t j = 0; const PointwiseOperand& operand : operands_of(program_.instructions[i])) {
      const auto* from = std::get_if<Register>(&operand);
      const size_t slot = !from ? literal++ : slot_of(size_t(from->index), reads_elements(i));
      step.from[j++] = static_cast<uint8_t>(slot);
    }
    return step;
  }
  size_t slot_of(size_t reg, bool elements) const { return elements && rows_[reg] ? spread_[reg] : reg; }
  PointwiseStep to_slot(size_t reg) const { return {Code::copy, {0, 0, 0}, static_cast<uint8_t>(reg)}; }
  RowKind kind_of(size_t i) const { return std::get<RowReduction>(program_.instructions[i]).kind; }
  bool is_result(size_t reg) const {
    return std::ranges::any_of(program_.results, [&](const RegionResult& r) { return size_t(r.index) == reg; });
  }

  void load(size_t input) {
    if (read_[input] || plan_.slot[input].memory == RegionMemory::operand) return;
    push({RegionDo::read, {}, static_cast<uint8_t>(input), to_slot(input)});
    read_[input] = true;
  }
  void store(size_t reg) {
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const RegionSlot& slot = plan_.slot[reg];
      const bool in_place = slot.memory == RegionMemory::result && slot.index == i;
      if (size_t(program_.results[i].index) == reg && !in_place)
        push({RegionDo::write, {}, static_cast<uint8_t>(i), {Code::copy, {static_cast<uint8_t>(reg), 0, 0}, 0}});
    }
  }
  void push(const RegionAction& action) {
    if (actions_ < kMaxRegionActions) plan_.action[actions_++] = action;
  }

  const Problem& problem_;
  const RegionProgram program_;
  RegionPlan& plan_;
  std::vector<Type> types_;
  Shape shape_;
  std::vector<bool> rows_;       // by register
  std::vector<uint8_t> spread_;  // by register: the slot of rows' values at their elements; 0: none
  std::vector<bool> read_;       // by operand, in this sweep
  int sweeps_ = 0, actions_ = 0, reductions_ = 0, scans_ = 0;
};

}  // namespace

std::optional<RegionPlan> plan_region(const Problem& problem) {
  auto program = parse_region(problem.as<Region>().program, problem.inputs.size());
  RegionPlan plan{};
  if (!program) return std::nullopt;
  for (const RegionInstruction& instruction : program->instructions)
    if (const auto* element = std::get_if<PointwiseInstruction>(&instruction); element && !is_interpreted(*element))
      return std::nullopt;
  if (!Planner(problem, std::move(*program), plan).run()) return std::nullopt;
  return plan;
}

}  // namespace rung::cpu
