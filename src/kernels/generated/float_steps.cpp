// The functions and conversions of floats that element-wise programs and regions share.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/float_steps.hpp"

#include "ir/formulas.hpp"
#include "kernels/generated/vector_functions.hpp"

namespace rung::generated {

using namespace cpu::symbolic;

namespace {

#define RUNG_FLOAT_floats(call) floats::call
#define RUNG_FLOAT_numbers(call) floats::call
#define RUNG_FLOAT_integers(call) x
#define RUNG_FLOAT_1(kind) kind(x)
#define RUNG_FLOAT_2(kind) kind(x, y)

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
    return RUNG_FLOAT_##takes(RUNG_FLOAT_##operands(kind));
#include "ir/formulas.inc"
  }
  return x;
}

// Rounds to nearest even; a NaN stays a quiet NaN.
Ints bf16_bits(Vec x) {
  const Ints bits = bits_of(x), upper = shift_right(bits, 16);
  const Ints rounded = shift_right(bits + set1(0x7fff) + (upper & set1(1)), 16);
  return select(is_nan(x), upper | set1(0x40), rounded);
}

}  // namespace

bool is_small_integer(DType type) {
  return type == DType::i32 || type == DType::i8 || type == DType::u8 || type == DType::boolean;
}
bool is_taken(DType type) { return is_computed_float(type) || is_small_integer(type); }

Ints load_bits(int operand, DType type) {
  return {recorder().record(Step{Primitive::load, {-1, -1, -1}, loads(operand, type)})};
}
Vec load_float(int operand, DType type) {
  const Ints loaded = load_bits(operand, type);
  if (is_computed_float(type)) return floats_of(loaded);
  const Vec value = to_float(loaded);
  if (type != DType::boolean) return value;
  return truth(!equal(loaded, set1(0)));
}

void store_integer(Ints value, const Destination& to) {
  if (to.type == DType::boolean) return store_bits(select(equal(value, set1(0)), set1(0), set1(1)), to);
  store_bits(size_of(to.type) == 1 ? value & set1(0xff) : value, to);
}
void store_float(Vec value, const Destination& to) {
  if (to.type == DType::bf16) return store_bits(bf16_bits(value), to);
  if (to.type == DType::boolean) return store_bits(select(is_true(value), set1(1), set1(0)), to);
  if (is_small_integer(to.type)) return store_integer(to_int_toward_zero(value), to);
  store_bits(bits_of(value), to);
}
void store_bits(Ints value, const Destination& to) {
  recorder().record(Step{to.how, {value.step, -1, -1}, loads(to.result, to.type)});
}

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

}  // namespace rung::generated
