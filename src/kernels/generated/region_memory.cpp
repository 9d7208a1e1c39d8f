// A value is computed again if that takes hardly more than a load.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/region_memory.hpp"

#include <algorithm>

#include "kernels/generated/float_steps.hpp"

namespace rung::generated {
namespace {

constexpr int kMostSteps = 3;  // of what is computed again, loads included

// Returns the steps of a function; a quotient or a root takes as long as eight others.
int weight_of(const PointwiseFunction& function, VectorSet set) {
  using cpu::symbolic::Vec;
  Recorder recorder(set);
  const Recording recording(recorder);
  std::array<Vec, 3> x{};
  for (int i = 0; i < 3; ++i) x[static_cast<size_t>(i)] = load_float(i, DType::f32);
  store_float(value_of(function, x), {});
  int weight = 0;
  for (const Step& step : recorder.take().steps) {
    const bool slow = step.primitive == Primitive::div || step.primitive == Primitive::sqrt;
    const bool free =
        step.primitive == Primitive::constant || step.primitive == Primitive::load || has_effect(step.primitive);
    weight += free ? 0 : slow ? 8 : 1;
  }
  return weight;
}

}  // namespace

RegionMemory::RegionMemory(const Source& source) : source_(source) {
  const auto& [program, rows, stages, set] = source_;
  for (const RegionInstruction& instruction : program.instructions) {
    const auto* element = std::get_if<PointwiseInstruction>(&instruction);
    weights_.push_back(element ? weight_of(element->function, set) : kMostSteps + 1);
  }
  for (size_t i = 0; i < program.instructions.size(); ++i)
    if (stages.is_reduction(i)) want_operands(program.inputs + i, stages.sweep_of(i));
  for (const RegionResult& result : program.results)
    want(static_cast<size_t>(result.index), stages.of(static_cast<size_t>(result.index)));
}

std::optional<int> RegionMemory::address_of(size_t reg) const {
  const auto& results = source_.program.results;
  const auto inputs = static_cast<int>(source_.program.inputs);
  if (source_.rows[reg] || reg < source_.program.inputs) return std::nullopt;
  const auto stored = std::ranges::find(results, RegionResult{static_cast<int>(reg), DType::f32});
  if (stored != results.end()) return inputs + static_cast<int>(stored - results.begin());
  const auto buffer = std::ranges::find(buffered_, reg);
  if (buffer == buffered_.end()) return std::nullopt;
  return inputs + static_cast<int>(results.size()) + static_cast<int>(buffer - buffered_.begin());
}

void RegionMemory::want_operands(size_t reg, int sweep) {
  for (const PointwiseOperand& operand : operands_of(source_.program.instructions[reg - source_.program.inputs]))
    if (const auto* from = std::get_if<Register>(&operand)) want(static_cast<size_t>(from->index), sweep);
}

void RegionMemory::want(size_t reg, int sweep) {
  if (source_.rows[reg] || reg < source_.program.inputs || !wanted_.insert({reg, sweep}).second) return;
  const int computed = source_.stages.of(reg);
  if (computed == sweep) return want_operands(reg, sweep);
  int budget = kMostSteps;
  if (address_of(reg)) return;
  if (is_cheap(reg, budget)) return want_operands(reg, sweep);
  buffered_.push_back(reg);
  want(reg, computed);
}

// Takes what computing the register costs from the budget, and returns whether it lasts.
bool RegionMemory::is_cheap(size_t reg, int& budget) const {
  if (source_.rows[reg]) return true;
  if (reg < source_.program.inputs || address_of(reg)) return --budget >= 0;
  const size_t instruction = reg - source_.program.inputs;
  budget -= std::max(1, weights_[instruction]);
  if (budget < 0) return false;
  return std::ranges::all_of(operands_of(source_.program.instructions[instruction]), [&](const auto& operand) {
    const auto* from = std::get_if<Register>(&operand);
    return !from || is_cheap(static_cast<size_t>(from->index), budget);
  });
}

}  // namespace rung::generated
