// Type rule and semantics of regions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/op_rules.hpp"
#include "ir/region.hpp"

namespace rung::infer {
namespace {

constexpr int64_t kMostPlaces = int64_t{1} << 24;  // f32 holds each of them exactly

// A program with the shape that it runs over, and the type of each result.
struct TypedRegion {
  RegionProgram program;
  Shape shape;
  std::vector<Type> results;
};

bool adds_up(const RegionInstruction& instruction) {
  const auto* reduction = std::get_if<RowReduction>(&instruction);
  const auto* scan = std::get_if<RowScan>(&instruction);
  return (reduction && (reduction->kind == RowKind::sum || reduction->kind == RowKind::mean)) ||
         (scan && scan->kind == ScanKind::sum);
}

Status want_rows(const RegionProgram& program, const Shape& shape) {
  if (!program.reduces()) return {};
  if (shape.rank() < 1 || shape.back() < 1) return fail("got rows of {}, wanted at least one element", shape);
  for (const RegionInstruction& instruction : program.instructions)
    if (const auto* reduction = std::get_if<RowReduction>(&instruction);
        reduction && reduction->kind == RowKind::argmax && shape.back() > kMostPlaces)
      return fail("{}: got rows of {} elements, wanted at most {}", name_of(reduction->kind), shape.back(),
                  kMostPlaces);
  return {};
}

Result<TypedRegion> typed(const Region& op, Types types) {
  RUNG_TRY(const Shape shape, region_shape(types));
  RUNG_TRY(RegionProgram program, parse_region(op.program, types.size()));
  RUNG_CHECK(want_rows(program, shape));
  const std::vector<bool> rows = row_registers(program, types, shape);
  TypedRegion region{std::move(program), shape, {}};
  for (const RegionResult& result : region.program.results) {
    const bool row = rows[static_cast<size_t>(result.index)];
    region.results.push_back({result.type, region_result_shape(shape, row)});
    if (region.results.back().shape == shape && region.results.front().shape != shape)
      return fail("r{}: got a result of elements behind one of rows, wanted it first", result.index);
  }
  return region;
}

// Returns whether -inf gets from the operand, through instructions that carry it, to one for which `ends` holds;
// without one, to a result.
bool carried(const RegionProgram& program, size_t operand, bool (*ends)(const RegionInstruction&)) {
  std::vector<bool> holds(program.registers());
  holds[operand] = true;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const auto operands = operands_of(program.instructions[i]);
    const auto* element = std::get_if<PointwiseInstruction>(&program.instructions[i]);
    for (size_t j = 0; j < operands.size(); ++j) {
      const auto* from = std::get_if<Register>(&operands[j]);
      if (!from || !holds[static_cast<size_t>(from->index)]) continue;
      if (ends && ends(program.instructions[i])) return true;
      if (element && element->carries(j)) holds[program.inputs + i] = true;
    }
  }
  return !ends && std::ranges::any_of(program.results, [&](const RegionResult& r) { return holds[size_t(r.index)]; });
}

bool is_maximum(const RegionInstruction& instruction) {
  const auto* reduction = std::get_if<RowReduction>(&instruction);
  return reduction && reduction->kind == RowKind::max;
}
bool is_exponential(const RegionInstruction& instruction) {
  const auto* element = std::get_if<PointwiseInstruction>(&instruction);
  return element && element->function == PointwiseFunction(UnaryKind::exp);
}

// A region that takes the maximum of masked scores, and exponentials of them, is a softmax.
InfinityUse use_of_infinity(const RegionProgram& program, size_t operand) {
  if (carried(program, operand, is_maximum) && carried(program, operand, is_exponential)) return InfinityUse::masks;
  return carried(program, operand, nullptr) ? InfinityUse::carries : InfinityUse::spoils;
}

}  // namespace

Result<Type> rule(const Region& op, Types types) {
  RUNG_TRY(const TypedRegion region, typed(op, types));
  for (const Type& result : region.results) RUNG_CHECK(want_countable(result));
  return region.results.front();
}

std::vector<Type> further_types(const Region& op, const Signature& s) {
  const auto region = typed(op, s.operands);
  return {region->results.begin() + 1, region->results.end()};
}

// Where a result of elements is the first one, each of them depends on its whole row of the operands.
Semantics semantics(const Region& op, const Signature& s) {
  const TypedRegion region = *typed(op, s.operands);
  const bool reduces = region.program.reduces();
  const Shape& shape = region.shape;
  const int last = shape.rank() - 1;
  const AxisRead row = s.result.shape == shape ? whole(last, 1) : reduced();
  Semantics out{.flops = static_cast<double>(region.program.instructions.size() * size_t(shape.product()))};
  if (std::ranges::any_of(region.program.instructions, adds_up)) out.terms = shape.back();
  for (size_t i = 0; i < s.operands.size(); ++i) {
    OperandUse use = broadcasting(reduces ? OperandRole::statistic : OperandRole::data, s.shape(i), shape);
    if (reduces && s.shape(i).rank() > 0 && s.shape(i).back() == shape.back()) use.axes.back() = row;
    use.any_float = true;
    use.infinity = use_of_infinity(region.program, i);
    out.operands.push_back(std::move(use));
  }
  return out;
}

}  // namespace rung::infer
