// The vectors of kernels/cpu/simd.hpp as symbols: the same functions, but each records a primitive instead of running
// it.
// SPDX-License-Identifier: Apache-2.0
//
// Include it before kernels/cpu/simd_math.hpp and vector_functions.hpp, whose text then computes with symbols.
#pragma once
#include <bit>

#include "kernels/generated/recorder.hpp"

#define RUNG_ISA symbolic
#define RUNG_SIMD inline

namespace rung::cpu::symbolic {

using generated::Predicate;
using generated::Primitive;
using generated::Recorder;
using generated::Recording;
using generated::Rounding;

// Steps of the current recording.
struct Vec {
  int step;
};
struct Ints {
  int step;
};
struct Mask {
  int step;
};

RUNG_SIMD Recorder& recorder() { return Recording::current(); }
RUNG_SIMD bool has_avx512() { return recorder().set() == generated::VectorSet::avx512; }

RUNG_SIMD Vec set1(float x) { return {recorder().constant(std::bit_cast<uint32_t>(x))}; }
RUNG_SIMD Vec zero() { return set1(0.0f); }
RUNG_SIMD Ints set1(uint32_t x) { return {recorder().constant(x)}; }
RUNG_SIMD Ints set1(int32_t x) { return set1(static_cast<uint32_t>(x)); }
RUNG_SIMD Ints bits_of(Vec a) { return {a.step}; }
RUNG_SIMD Vec floats_of(Ints a) { return {a.step}; }

// These macros define the functions that are one primitive.
#define RUNG_RECORD1(Result, name, Operand, primitive) \
  RUNG_SIMD Result name(Operand a) { return {recorder().record(Primitive::primitive, a.step)}; }
#define RUNG_RECORD2(Result, name, Operand, primitive) \
  RUNG_SIMD Result name(Operand a, Operand b) { return {recorder().record(Primitive::primitive, a.step, b.step)}; }
#define RUNG_RECORD3(Result, name, Operand, primitive)                        \
  RUNG_SIMD Result name(Operand a, Operand b, Operand c) {                    \
    return {recorder().record(Primitive::primitive, a.step, b.step, c.step)}; \
  }
#define RUNG_SHIFT(name)                                                                        \
  RUNG_SIMD Ints name(Ints a, int places) {                                                     \
    return {recorder().record(Primitive::name, a.step, -1, -1, static_cast<uint32_t>(places))}; \
  }
#define RUNG_COMPARE(name, predicate)                                                                                \
  RUNG_SIMD Mask name(Vec a, Vec b) {                                                                                \
    return {recorder().record(Primitive::compare, a.step, b.step, -1, static_cast<uint32_t>(Predicate::predicate))}; \
  }
RUNG_RECORD2(Vec, operator+, Vec, add)
RUNG_RECORD2(Vec, operator-, Vec, sub)
RUNG_RECORD2(Vec, operator*, Vec, mul)
RUNG_RECORD2(Vec, operator/, Vec, div)
RUNG_RECORD3(Vec, fma, Vec, fma)
RUNG_RECORD3(Vec, fnma, Vec, fnma)
RUNG_RECORD2(Vec, min, Vec, min)
RUNG_RECORD2(Vec, max, Vec, max)
RUNG_RECORD1(Vec, sqrt, Vec, sqrt)
RUNG_RECORD1(Vec, estimate_reciprocal, Vec, estimate_reciprocal)
RUNG_RECORD1(Vec, round_f16, Vec, round_f16)
RUNG_RECORD2(Ints, operator+, Ints, add_int)
RUNG_RECORD2(Ints, operator-, Ints, sub_int)
RUNG_RECORD2(Ints, operator*, Ints, mul_int)
RUNG_RECORD2(Ints, operator&, Ints, bit_and)
RUNG_RECORD2(Ints, operator|, Ints, bit_or)
RUNG_RECORD2(Ints, operator^, Ints, bit_xor)
RUNG_RECORD2(Ints, multiply_high, Ints, multiply_high)
RUNG_RECORD2(Ints, quotient, Ints, divide_int)
RUNG_RECORD2(Ints, shift_left_by, Ints, shift_left_by)
RUNG_RECORD2(Ints, shift_right_by, Ints, shift_right_by)
RUNG_RECORD2(Ints, shift_right_signed_by, Ints, shift_right_signed_by)
RUNG_SHIFT(shift_left)
RUNG_SHIFT(shift_right)
RUNG_SHIFT(shift_right_signed)
RUNG_RECORD1(Ints, to_int, Vec, to_int)
RUNG_RECORD1(Ints, to_int_toward_zero, Vec, to_int_toward_zero)
RUNG_RECORD1(Vec, to_float, Ints, to_float)
RUNG_COMPARE(equal, equal)
RUNG_COMPARE(not_equal, not_equal)
RUNG_COMPARE(less, less)
RUNG_COMPARE(less_equal, less_equal)
RUNG_COMPARE(unordered, unordered)
RUNG_COMPARE(not_less_equal, not_less_equal)
RUNG_COMPARE(ordered, ordered)
RUNG_RECORD2(Mask, equal, Ints, equal_int)
RUNG_RECORD2(Mask, greater, Ints, greater_int)
RUNG_RECORD2(Mask, operator&, Mask, mask_and)
RUNG_RECORD2(Mask, operator|, Mask, mask_or)
RUNG_RECORD1(Mask, operator!, Mask, mask_not)
#undef RUNG_RECORD1
#undef RUNG_RECORD2
#undef RUNG_RECORD3
#undef RUNG_SHIFT
#undef RUNG_COMPARE

RUNG_SIMD Vec select(Mask m, Vec yes, Vec no) {
  return {recorder().record(Primitive::select, m.step, yes.step, no.step)};
}
RUNG_SIMD Ints select(Mask m, Ints yes, Ints no) {
  return {recorder().record(Primitive::select, m.step, yes.step, no.step)};
}
RUNG_SIMD Vec rounded(Vec a, Rounding way) {
  return {recorder().record(Primitive::round, a.step, -1, -1, static_cast<uint32_t>(way))};
}
RUNG_SIMD Vec round(Vec a) { return rounded(a, Rounding::even); }
RUNG_SIMD Vec floor(Vec a) { return rounded(a, Rounding::down); }
RUNG_SIMD Vec trunc(Vec a) { return rounded(a, Rounding::toward_zero); }
RUNG_SIMD Vec abs(Vec a) { return floats_of(bits_of(a) & set1(0x7fffffff)); }
RUNG_SIMD Vec negate(Vec a) { return floats_of(bits_of(a) ^ set1(0x80000000u)); }
RUNG_SIMD Ints table_word(const generated::Table& table, Ints index) {
  return {recorder().record(Primitive::table_word, index.step, -1, -1, recorder().table(table))};
}
// Returns what `computed()` gives, which has a meaning only where the mask is true: if it is true nowhere, the steps of
// `computed()` are left out.
template <class Computed>
auto rarely(Mask mask, const Computed& computed) {
  recorder().begin_rare(mask.step);
  const auto result = computed();
  recorder().end_rare();
  return result;
}

RUNG_SIMD Vec add_exponent(Vec y, Vec shifted) { return floats_of(bits_of(y) + shift_left(bits_of(shifted), 23)); }
RUNG_SIMD Vec scale2(Vec p, Vec n) {
  if (has_avx512()) return {recorder().record(Primitive::scale, p.step, n.step)};
  const Ints whole = to_int(n), half = shift_right_signed(whole, 1), rest = whole - half;
  const auto power = [](Ints exponent) { return floats_of(shift_left(exponent + set1(127), 23)); };
  return p * power(half) * power(rest);
}
RUNG_SIMD bool has_reciprocal_estimate() { return has_avx512(); }

}  // namespace rung::cpu::symbolic
