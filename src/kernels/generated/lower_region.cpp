// Records the bodies of a region: sweeps first, as the vectors that they have in flight are known then; then, from the
// last one on, what is computed between them, as it is known then which values of rows are read behind it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/lower_region.hpp"

#include <algorithm>
#include <optional>

#include "kernels/generated/float_steps.hpp"
#include "kernels/generated/lost_nan.hpp"
#include "kernels/generated/region_memory.hpp"
#include "kernels/generated/registers.hpp"
#include "kernels/generated/row_reductions.hpp"
#include "kernels/strided.hpp"

namespace rung::generated {
namespace {

using cpu::symbolic::Mask;
using cpu::symbolic::recorder;
using cpu::symbolic::Vec;
using rows::Variables;

constexpr int kMostVariables = 8;                    // of a sweep
constexpr int64_t kMostElements = int64_t{1} << 30;  // of a row: code counts in 32 bits

class RegionRecorder {
 public:
  RegionRecorder(const Problem& problem, const RegionProgram& program, VectorSet set)
      : problem_(problem),
        program_(program),
        set_(set),
        types_(operand_types(problem)),
        shape_(*region_shape(types_)),
        rows_(row_registers(program, types_, shape_)),
        stages_(program, rows_),
        memory_({program, rows_, stages_, set}),
        numbers_(program.registers(), -1) {}

  Result<RegionBody> run() {
    set_frame();
    if (body_.width <= lanes_of(set_)) return record_at_once(), std::move(body_);
    for (int sweep = 0; sweep < stages_.sweeps(); ++sweep) {
      body_.sweeps.push_back(record_sweep(sweep));
      if (body_.sweeps.back().variables > kMostVariables)
        return fail("a sweep that carries {} values, wanted at most {}", body_.sweeps.back().variables, kMostVariables);
    }
    body_.rows.resize(body_.sweeps.size() + 1);
    for (size_t stage = body_.rows.size(); stage-- > 0;) body_.rows[stage] = record_rows(static_cast<int>(stage));
    return std::move(body_);
  }

 private:
  void set_frame() {
    body_.width = shape_.rank() > 0 ? shape_.back() : 1;
    body_.results = static_cast<int>(program_.results.size());
    body_.buffers = static_cast<int>(memory_.buffered().size());
    for (size_t i = 0; i < problem_.inputs.size(); ++i)
      body_.same.push_back(rows_[i] || broadcast_strides(problem_.inputs[i], shape_).back() == 0);
  }

  // ---- rows of one vector

  // Every value of the row stands in one vector, so that nothing is carried, kept or read again.
  void record_at_once() {
    Recorder made(set_);
    const Recording recording(made);
    values_.assign(program_.registers(), std::nullopt);
    for (const RegionResult& result : program_.results) at_once(static_cast<size_t>(result.index));
    for (const bool row : {false, true})  // storing a row's value takes the register of the index, so they come last
      for (size_t i = 0; i < program_.results.size(); ++i)
        if (const auto reg = static_cast<size_t>(program_.results[i].index); rows_[reg] == row)
          store_float(at_once(reg),
                      {static_cast<int>(i), program_.results[i].type, row ? Primitive::store_row : Primitive::store});
    body_.at_once = made.take();
    body_.buffers = 0;
  }

  Vec at_once(size_t reg) {
    if (!values_[reg]) values_[reg] = computed_at_once(reg);
    return *values_[reg];
  }
  Vec computed_at_once(size_t reg) {
    if (reg < program_.inputs) return load_float(static_cast<int>(reg), problem_.inputs[reg].dtype);
    const auto value_of_one = [&](const PointwiseOperand& operand) {
      const auto* from = std::get_if<Register>(&operand);
      return from ? at_once(static_cast<size_t>(from->index)) : cpu::symbolic::set1(std::get<float>(operand));
    };
    const size_t instruction = reg - program_.inputs;
    if (const auto* reduction = std::get_if<RowReduction>(&program_.instructions[instruction]))
      return total_of_vector(reducing(instruction), value_of_one(reduction->of));
    if (const auto* scan = std::get_if<RowScan>(&program_.instructions[instruction]))
      return rows::scanned(scan->kind, value_of_one(scan->of), cpu::symbolic::set1(rows::neutral(scan->kind)));
    return value_of_instruction(reg, value_of_one);
  }
  Vec total_of_vector(const rows::Reducing& reducing, Vec x) {
    Variables first{};
    for (int i = 0; i < rows::variables_of(reducing.kind); ++i)
      first[static_cast<size_t>(i)] = cpu::symbolic::set1(rows::first_value(reducing.kind, i));
    Variables all = rows::with_elements(reducing, first, x);
    if (body_.width < lanes_of(set_))
      for (int i = 0; i < rows::variables_of(reducing.kind); ++i) {
        const Mask is_element{recorder().record(Primitive::is_element, -1)};
        all[static_cast<size_t>(i)] = select(is_element, all[static_cast<size_t>(i)], first[static_cast<size_t>(i)]);
      }
    return rows::total(reducing, std::span(&all, 1), body_.width);
  }

  // ---- sweeps

  Sweep record_sweep(int sweep) {
    Sweep made;
    made.whole = record_elements(sweep, false);
    made.variables = variables_;
    if (body_.width % lanes_of(set_) != 0) made.tail = record_elements(sweep, true);
    const int64_t vectors = body_.width / lanes_of(set_);
    const int most = scans_ ? 1 : vectors_in_flight(made.whole, body_.same, registers_of(set_), variables_);
    made.copies = static_cast<int>(std::clamp<int64_t>(vectors, 1, most));
    return made;
  }

  Body record_elements(int sweep, bool tail) {
    Recorder made(set_);
    const Recording recording(made);
    sweep_ = sweep, variables_ = 0, scans_ = false;
    count_scans();
    values_.assign(program_.registers(), std::nullopt);
    for (size_t i = 0; i < program_.instructions.size(); ++i)
      if (const auto* reduction = std::get_if<RowReduction>(&program_.instructions[i]);
          reduction && stages_.sweep_of(i) == sweep)
        take_in(reducing(i), value_of_operand(reduction->of), tail);
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const auto reg = static_cast<size_t>(program_.results[i].index);
      if (!rows_[reg] && stages_.of(reg) == sweep)
        store_float(element(reg), {static_cast<int>(i), program_.results[i].type});
    }
    for (size_t i = 0; i < memory_.buffered().size(); ++i)
      if (const size_t reg = memory_.buffered()[i]; stages_.of(reg) == sweep)
        store_float(element(reg), {body_.results + static_cast<int>(i), DType::f32});
    return made.take();
  }

  rows::Reducing reducing(size_t instruction) const {
    return {std::get<RowReduction>(program_.instructions[instruction]).kind, may_lose_nan(program_, instruction)};
  }

  void take_in(const rows::Reducing& reducing, Vec x, bool tail) {
    const int variables = rows::variables_of(reducing.kind);
    Variables sofar{};
    for (int i = 0; i < variables; ++i) sofar[static_cast<size_t>(i)] = carried(variables_ + i);
    const Variables with = rows::with_elements(reducing, sofar, x);
    for (int i = 0; i < variables; ++i) {
      Vec value = with[static_cast<size_t>(i)];
      if (tail)
        value = select(Mask{recorder().record(Primitive::is_element, -1)}, value, sofar[static_cast<size_t>(i)]);
      carry(variables_++, value);
    }
  }

  Vec carried(int variable) {
    return {recorder().record(Primitive::carried, -1, -1, -1, static_cast<uint32_t>(variable))};
  }
  void carry(int variable, Vec value) {
    recorder().record(Primitive::carry, value.step, -1, -1, static_cast<uint32_t>(variable));
  }

  Vec value_of_operand(const PointwiseOperand& operand) {
    const auto* from = std::get_if<Register>(&operand);
    return from ? element(static_cast<size_t>(from->index)) : cpu::symbolic::set1(std::get<float>(operand));
  }
  Vec element(size_t reg) {
    if (!values_[reg]) values_[reg] = computed(reg);
    return *values_[reg];
  }
  Vec computed(size_t reg) {
    if (rows_[reg]) return row_value(reg);
    if (reg < program_.inputs) return load_float(static_cast<int>(reg), problem_.inputs[reg].dtype);
    const auto address = memory_.address_of(reg);
    if (address && stages_.of(reg) < sweep_) return load_float(*address, DType::f32);
    if (const auto* scan = std::get_if<RowScan>(&program_.instructions[reg - program_.inputs]))
      return scanned(reg, *scan);
    return value_of_instruction(reg, [&](const PointwiseOperand& operand) { return value_of_operand(operand); });
  }

  // Scans have the first variables of their sweep, in the order of the program.
  bool is_scan_of(size_t reg, int sweep) const {
    return reg >= program_.inputs && std::holds_alternative<RowScan>(program_.instructions[reg - program_.inputs]) &&
           stages_.of(reg) == sweep;
  }
  void count_scans() {
    for (size_t reg = 0; reg < program_.registers(); ++reg) variables_ += is_scan_of(reg, sweep_);
    scans_ = variables_ > 0;
  }
  // A scan goes on from vector to vector, so there is one in flight.
  Vec scanned(size_t reg, const RowScan& scan) {
    int variable = 0;
    for (size_t before = 0; before < reg; ++before) variable += is_scan_of(before, sweep_);
    const Vec value = rows::scanned(scan.kind, value_of_operand(scan.of), carried(variable));
    carry(variable, {recorder().record(Primitive::last_lane, value.step)});
    return value;
  }
  template <class ValueOf>
  Vec value_of_instruction(size_t reg, const ValueOf& value_of_one) {
    const auto& instruction = std::get<PointwiseInstruction>(program_.instructions[reg - program_.inputs]);
    std::array<Vec, 3> x{};
    for (size_t i = 0; i < instruction.arity(); ++i) x[i] = value_of_one(instruction.operands[i]);
    return value_of(instruction.function, x);
  }

  // A value of rows that another body computes.
  Vec row_value(size_t reg) {
    if (numbers_[reg] < 0) numbers_[reg] = body_.row_values++;
    return {recorder().record(Primitive::row_value, -1, -1, -1, static_cast<uint32_t>(numbers_[reg]))};
  }

  // ---- rows

  Body record_rows(int stage) {
    Recorder made(set_);
    const Recording recording(made);
    sweep_ = stage;
    values_.assign(program_.registers(), std::nullopt);
    for (size_t i = 0; i < program_.results.size(); ++i)
      if (const auto reg = static_cast<size_t>(program_.results[i].index); is_of(reg, stage))
        store_float(row(reg), {static_cast<int>(i), program_.results[i].type, Primitive::store_row});
    for (size_t reg = 0; reg < numbers_.size(); ++reg)
      if (is_of(reg, stage) && numbers_[reg] >= 0)
        recorder().record(Primitive::keep_row, row(reg).step, -1, -1, static_cast<uint32_t>(numbers_[reg]));
    begin_sweep(static_cast<size_t>(stage));
    return made.take();
  }

  bool is_of(size_t reg, int stage) const { return rows_[reg] && stages_.of(reg) == stage; }

  // Gives the variables of the next sweep their first values.
  void begin_sweep(size_t sweep) {
    if (sweep == body_.sweeps.size()) return;
    const auto& [whole, tail, variables, copies] = body_.sweeps[sweep];
    int variable = 0;
    for (size_t reg = program_.inputs; reg < program_.registers(); ++reg)
      if (is_scan_of(reg, static_cast<int>(sweep)))
        carry(variable++,
              cpu::symbolic::set1(rows::neutral(std::get<RowScan>(program_.instructions[reg - program_.inputs]).kind)));
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const auto* reduction = std::get_if<RowReduction>(&program_.instructions[i]);
      if (!reduction || stages_.sweep_of(i) != static_cast<int>(sweep)) continue;
      for (int j = 0; j < rows::variables_of(reduction->kind); ++j, ++variable)
        for (int copy = 0; copy < copies; ++copy)
          carry(copy * variables + variable, cpu::symbolic::set1(rows::first_value(reduction->kind, j)));
    }
  }

  Vec row(size_t reg) {
    if (!is_of(reg, sweep_)) return row_value(reg);
    if (!values_[reg]) values_[reg] = computed_row(reg);
    return *values_[reg];
  }
  Vec computed_row(size_t reg) {
    if (reg < program_.inputs) return load_float(static_cast<int>(reg), problem_.inputs[reg].dtype);
    if (stages_.is_reduction(reg - program_.inputs)) return total(reg - program_.inputs);
    return value_of_instruction(reg, [&](const PointwiseOperand& operand) {
      const auto* from = std::get_if<Register>(&operand);
      return from ? row(static_cast<size_t>(from->index)) : cpu::symbolic::set1(std::get<float>(operand));
    });
  }

  // Joins what the sweep before has left in its variables.
  Vec total(size_t instruction) {
    const auto& [whole, tail, variables, copies] = body_.sweeps[static_cast<size_t>(stages_.sweep_of(instruction))];
    const RowKind kind = std::get<RowReduction>(program_.instructions[instruction]).kind;
    int first = 0;
    for (size_t reg = 0; reg < program_.registers(); ++reg) first += is_scan_of(reg, stages_.sweep_of(instruction));
    for (size_t i = 0; i < instruction; ++i)
      if (const auto* before = std::get_if<RowReduction>(&program_.instructions[i]);
          before && stages_.sweep_of(i) == stages_.sweep_of(instruction))
        first += rows::variables_of(before->kind);
    std::vector<Variables> parts(static_cast<size_t>(copies));
    for (int copy = 0; copy < copies; ++copy)
      for (int i = 0; i < rows::variables_of(kind); ++i)
        parts[static_cast<size_t>(copy)][static_cast<size_t>(i)] = carried(copy * variables + first + i);
    return rows::total(reducing(instruction), parts, body_.width);
  }

  const Problem& problem_;
  const RegionProgram& program_;
  const VectorSet set_;
  const std::vector<Type> types_;
  const Shape shape_;
  const std::vector<bool> rows_;  // by register
  const RegionStages stages_;
  const RegionMemory memory_;
  std::vector<int> numbers_;                // of values of rows, by register; -1: only its own body reads it
  std::vector<std::optional<Vec>> values_;  // by register, in the present body
  int sweep_ = 0, variables_ = 0;           // of the present body
  bool scans_ = false;                      // so does the present body
  RegionBody body_;
};

Status want_types(const Problem& problem, const RegionProgram& program) {
  for (const Operand& operand : problem.inputs)
    if (!is_taken(operand.dtype)) return fail("an operand is {}", name_of(operand.dtype));
  const std::vector<bool> rows = row_registers(program, operand_types(problem), *region_shape(operand_types(problem)));
  for (const RegionResult& result : program.results) {
    const bool is_place = result.type == DType::i64 && rows[static_cast<size_t>(result.index)];
    if (!is_taken(result.type) && !is_place) return fail("a result is {}", name_of(result.type));
  }
  return {};
}

}  // namespace

Result<RegionBody> lower_region(const Problem& problem, VectorSet set) {
  RUNG_TRY(const RegionProgram program, parse_region(problem.as<Region>().program, problem.inputs.size()));
  RUNG_CHECK(want_types(problem, program));
  if (program.instructions.size() > kMostInstructions)
    return fail("{} steps, wanted at most {}", program.instructions.size(), kMostInstructions);
  const Shape shape = *region_shape(operand_types(problem));
  if (shape.rank() > 0 && shape.back() > kMostElements)
    return fail("rows of {} elements, wanted at most {}", shape.back(), kMostElements);
  return RegionRecorder(problem, program, set).run();
}

}  // namespace rung::generated
