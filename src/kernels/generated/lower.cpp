// Chooses between floats, in which most programs are computed, and integers, which are computed exactly.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/lower.hpp"

#include <array>
#include <optional>

#include "ir/formulas.hpp"
#include "ir/region.hpp"
#include "kernels/elementwise_program.hpp"
#include "kernels/generated/float_steps.hpp"
#include "kernels/generated/integer_functions.hpp"
#include "kernels/generated/vector_functions.hpp"

namespace rung::generated {
namespace {

using namespace cpu::symbolic;

// ---- functions of integers; where the type rule refuses the type, there is none

#define RUNG_INTEGER_floats(call) std::nullopt
#define RUNG_INTEGER_booleans(call) std::nullopt
#define RUNG_INTEGER_numbers(call) integers::call
#define RUNG_INTEGER_integers(call) integers::call
#define RUNG_INTEGER_compares_numbers(call) integers::call
#define RUNG_INTEGER_compares_any(call) integers::call
#define RUNG_CALL_1(kind) kind(x)
#define RUNG_CALL_2(kind) kind(x, y)

std::optional<Ints> value_of(UnaryKind kind, Ints x) {
  switch (kind) {
#define RUNG_UNARY(kind, word, takes, ...) \
  case UnaryKind::kind:                    \
    return RUNG_INTEGER_##takes(kind(x));
#include "ir/functions.inc"
  }
  return std::nullopt;
}
std::optional<Ints> value_of(BinaryKind kind, Ints x, Ints y) {
  switch (kind) {
#define RUNG_BINARY(kind, word, takes, ...) \
  case BinaryKind::kind:                    \
    return RUNG_INTEGER_##takes(kind(x, y));
#include "ir/functions.inc"
  }
  return std::nullopt;
}
std::optional<Ints> value_of(FormulaKind kind, Ints x, Ints y) {
  switch (kind) {
#define RUNG_FORMULA(kind, word, operands, takes, ...) \
  case FormulaKind::kind:                              \
    return RUNG_INTEGER_##takes(RUNG_CALL_##operands(kind));
#include "ir/formulas.inc"
  }
  return std::nullopt;
}

// ---- programs

// Returns the registers of a program without values of rows.
Result<std::vector<Vec>> lower_instructions(const Problem& problem, std::span<const PointwiseInstruction> program) {
  if (program.size() > kMostInstructions) return fail("{} steps, wanted at most {}", program.size(), kMostInstructions);
  std::vector<Vec> registers;
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    registers.push_back(load_float(static_cast<int>(i), problem.inputs[i].dtype));
  for (const PointwiseInstruction& instruction : program) {
    std::array<Vec, 3> x{};
    for (size_t i = 0; i < instruction.arity(); ++i) {
      const auto* reg = std::get_if<Register>(&instruction.operands[i]);
      x[i] = reg ? registers[static_cast<size_t>(reg->index)] : set1(std::get<float>(instruction.operands[i]));
    }
    registers.push_back(generated::value_of(instruction.function, x));
  }
  return registers;
}

Status lower_program(const Problem& problem) {
  RUNG_TRY(const PointwiseProgram program, program_of(problem));
  RUNG_TRY(const std::vector<Vec> registers, lower_instructions(problem, program.instructions));
  store_float(registers.back(), {0, problem.output.dtype});
  return {};
}

// A region without values of rows, whose results stand at the same elements.
Status lower_elements(const Problem& problem) {
  RUNG_TRY(const RegionProgram program, parse_region(problem.as<Region>().program, problem.inputs.size()));
  std::vector<PointwiseInstruction> instructions;
  for (const RegionInstruction& instruction : program.instructions) {
    const auto* element = std::get_if<PointwiseInstruction>(&instruction);
    if (!element) return fail("values of rows");
    instructions.push_back(*element);
  }
  RUNG_TRY(const std::vector<Vec> registers, lower_instructions(problem, instructions));
  for (size_t i = 0; i < program.results.size(); ++i) {
    const auto& [index, type] = program.results[i];
    if (!is_taken(type)) return fail("a result is {}", name_of(type));
    store_float(registers[static_cast<size_t>(index)], {static_cast<int>(i), type});
  }
  return {};
}

Status lower_integers(const Problem& problem) {
  std::array<Ints, 3> x{};
  for (size_t i = 0; i < problem.inputs.size(); ++i) x[i] = load_bits(static_cast<int>(i), problem.inputs[i].dtype);
  std::optional<Ints> value;
  if (const auto* unary = as<Unary>(problem.op)) value = value_of(unary->kind, x[0]);
  if (const auto* binary = as<Binary>(problem.op)) value = value_of(binary->kind, x[0], x[1]);
  if (const auto* formula = as<Formula>(problem.op)) value = value_of(formula->kind, x[0], x[1]);
  if (as<Select>(problem.op)) value = select(equal(x[0], set1(0)), x[2], x[1]);
  if (as<Cast>(problem.op)) value = x[0];
  if (!value) return fail("no vectors compute this function of integers");
  store_integer(*value, {0, problem.output.dtype});
  return {};
}

// Programs compute with f32; an op of integers alone computes with integers. Truths are either.
bool computes_integers(const Problem& problem) {
  if (as<Pointwise>(problem.op) || is_computed_float(problem.output.dtype)) return false;
  const DType type = as<Select>(problem.op) ? problem.output.dtype : problem.inputs[0].dtype;
  return is_small_integer(type) && (type != DType::boolean || as<Cast>(problem.op) || as<Select>(problem.op));
}

}  // namespace

Result<Body> lower(const Problem& problem, VectorSet set) {
  for (const Operand& operand : problem.inputs)
    if (!is_taken(operand.dtype)) return fail("an operand is {}", name_of(operand.dtype));
  if (!is_taken(problem.output.dtype)) return fail("the result is {}", name_of(problem.output.dtype));
  Recorder recorder(set);
  const Recording recording(recorder);
  if (as<Region>(problem.op)) {
    RUNG_CHECK(lower_elements(problem));
  } else {
    RUNG_CHECK(computes_integers(problem) ? lower_integers(problem) : lower_program(problem));
  }
  return recorder.take();
}

}  // namespace rung::generated
