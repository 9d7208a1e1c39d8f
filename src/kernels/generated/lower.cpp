// Chooses between floats, in which most programs are computed, and integers, which are computed exactly.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/lower.hpp"

#include <array>
#include <optional>

#include "ir/formulas.hpp"
#include "kernels/elementwise_program.hpp"
#include "kernels/generated/integer_functions.hpp"
#include "kernels/generated/vector_functions.hpp"

namespace rung::generated {
namespace {

using namespace cpu::symbolic;

// ---- functions; where the type rule refuses the type, floats stay as they are, and integers have none

#define RUNG_INTEGER_floats(call) std::nullopt
#define RUNG_INTEGER_booleans(call) std::nullopt
#define RUNG_INTEGER_numbers(call) integers::call
#define RUNG_INTEGER_integers(call) integers::call
#define RUNG_INTEGER_compares_numbers(call) integers::call
#define RUNG_INTEGER_compares_any(call) integers::call
#define RUNG_FLOAT_floats(call) floats::call
#define RUNG_FLOAT_numbers(call) floats::call
#define RUNG_FLOAT_integers(call) x
#define RUNG_CALL_1(kind) kind(x)
#define RUNG_CALL_2(kind) kind(x, y)

Vec value_of(UnaryKind kind, Vec x) {
  switch (kind) {
#define RUNG_UNARY(kind, ...) \
  case UnaryKind::kind:       \
    return floats::kind(x);
#include "ir/functions.inc"
  }
  return x;
}
Vec value_of(BinaryKind kind, Vec x, Vec y) {
  switch (kind) {
#define RUNG_BINARY(kind, ...) \
  case BinaryKind::kind:       \
    return floats::kind(x, y);
#include "ir/functions.inc"
  }
  return x;
}
Vec value_of(FormulaKind kind, Vec x, Vec y) {
  switch (kind) {
#define RUNG_FORMULA(kind, word, operands, takes, ...) \
  case FormulaKind::kind:                              \
    return RUNG_FLOAT_##takes(RUNG_CALL_##operands(kind));
#include "ir/formulas.inc"
  }
  return x;
}

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

// ---- operands and results

// A longer program, of which files may have any, would take code and stack without limit.
constexpr size_t kMostInstructions = 128;

bool is_small_integer(DType type) {
  return type == DType::i32 || type == DType::i8 || type == DType::u8 || type == DType::boolean;
}
bool is_taken(DType type) { return is_computed_float(type) || is_small_integer(type); }

Ints load_bits(const Problem& problem, size_t operand) {
  return {recorder().record(
      Step{Primitive::load, {-1, -1, -1}, loads(static_cast<int>(operand), problem.inputs[operand].dtype)})};
}
Vec load_float(const Problem& problem, size_t operand) {
  const Ints loaded = load_bits(problem, operand);
  if (is_computed_float(problem.inputs[operand].dtype)) return floats_of(loaded);
  const Vec value = to_float(loaded);
  if (problem.inputs[operand].dtype != DType::boolean) return value;
  return truth(!equal(loaded, set1(0)));
}

void store_bits(Ints value, DType type) {
  recorder().record(Step{Primitive::store, {value.step, -1, -1}, static_cast<uint32_t>(type)});
}
void store_integer(Ints value, DType type) {
  if (type == DType::boolean) return store_bits(select(equal(value, set1(0)), set1(0), set1(1)), type);
  store_bits(size_of(type) == 1 ? value & set1(0xff) : value, type);
}
// Rounds to nearest even; a NaN stays a quiet NaN.
Ints bf16_bits(Vec x) {
  const Ints bits = bits_of(x), upper = shift_right(bits, 16);
  const Ints rounded = shift_right(bits + set1(0x7fff) + (upper & set1(1)), 16);
  return select(is_nan(x), upper | set1(0x40), rounded);
}
void store_float(Vec value, DType type) {
  if (type == DType::bf16) return store_bits(bf16_bits(value), type);
  if (type == DType::boolean) return store_bits(select(is_true(value), set1(1), set1(0)), type);
  if (is_small_integer(type)) return store_integer(to_int_toward_zero(value), type);
  store_bits(bits_of(value), type);
}

// ---- ops

Vec value_of(const PointwiseFunction& function, const std::array<Vec, 3>& x) {
  if (const auto* unary = std::get_if<UnaryKind>(&function)) return value_of(*unary, x[0]);
  if (const auto* binary = std::get_if<BinaryKind>(&function)) return value_of(*binary, x[0], x[1]);
  if (const auto* formula = std::get_if<FormulaKind>(&function)) return value_of(*formula, x[0], x[1]);
  if (const auto* round = std::get_if<Round>(&function)) {
    if (round->to == DType::f16) return round_f16(x[0]);
    return floats_of(cpu::symbolic::shift_left(bf16_bits(x[0]), 16));
  }
  return select(is_true(x[0]), x[1], x[2]);
}

Status lower_program(const Problem& problem) {
  RUNG_TRY(const PointwiseProgram program, program_of(problem));
  if (program.instructions.size() > kMostInstructions)
    return fail("{} steps, wanted at most {}", program.instructions.size(), kMostInstructions);
  std::vector<Vec> registers;
  for (size_t i = 0; i < program.inputs; ++i) registers.push_back(load_float(problem, i));
  for (const PointwiseInstruction& instruction : program.instructions) {
    std::array<Vec, 3> x{};
    for (size_t i = 0; i < instruction.arity(); ++i) {
      const auto* reg = std::get_if<Register>(&instruction.operands[i]);
      x[i] = reg ? registers[static_cast<size_t>(reg->index)] : set1(std::get<float>(instruction.operands[i]));
    }
    registers.push_back(value_of(instruction.function, x));
  }
  store_float(registers.back(), problem.output.dtype);
  return {};
}

Status lower_integers(const Problem& problem) {
  std::array<Ints, 3> x{};
  for (size_t i = 0; i < problem.inputs.size(); ++i) x[i] = load_bits(problem, i);
  std::optional<Ints> value;
  if (const auto* unary = as<Unary>(problem.op)) value = value_of(unary->kind, x[0]);
  if (const auto* binary = as<Binary>(problem.op)) value = value_of(binary->kind, x[0], x[1]);
  if (const auto* formula = as<Formula>(problem.op)) value = value_of(formula->kind, x[0], x[1]);
  if (as<Select>(problem.op)) value = select(equal(x[0], set1(0)), x[2], x[1]);
  if (as<Cast>(problem.op)) value = x[0];
  if (!value) return fail("no vectors compute this function of integers");
  store_integer(*value, problem.output.dtype);
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
  RUNG_CHECK(computes_integers(problem) ? lower_integers(problem) : lower_program(problem));
  return recorder.take();
}

}  // namespace rung::generated
