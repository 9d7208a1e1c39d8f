// The primitives of generated element-wise code: a list of steps over vectors, which an emitter turns into
// instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "ir/dtype.hpp"

namespace rung::generated {

// A value is a vector of 32-bit lanes, of f32 or integers as its step says, or a mask with a truth for each lane.
//
// RUNG_PRIMITIVE(name, operands)
#define RUNG_EACH_PRIMITIVE(X)                                                                                        \
  /* immediate: a constant's bits; the operand's index and, in the low byte, its DType */                             \
  X(constant, 0)                                                                                                      \
  X(load, 0) /* f32; fma: a b + c, fnma: c - a b; min and max give b if either is NaN */                              \
  X(add, 2)                                                                                                           \
  X(sub, 2)                                                                                                           \
  X(mul, 2)                                                                                                           \
  X(div, 2)                                                                                                           \
  X(fma, 3) X(fnma, 3) X(min, 2) X(max, 2)                                                                            \
      X(sqrt, 1) /* immediate: a Rounding. AVX-512 alone: an estimate good to 2^-14, and a 2^b */                     \
      X(round, 1) X(estimate_reciprocal, 1) X(scale, 2) /* f32 through f16 and back */                                \
      X(round_f16, 1) /* bits; bit_andnot: ~a & b; shifts by the immediate, or lane by lane, where 32 places or more  \
                         leave no bit */                                                                              \
      X(bit_and, 2) X(bit_or, 2) X(bit_xor, 2) X(bit_andnot, 2) X(shift_left, 1) X(shift_right, 1)                    \
          X(shift_right_signed, 1) X(shift_left_by, 2) X(shift_right_by, 2)                                           \
              X(shift_right_signed_by, 2) /* integers; multiply_high: the upper half of the unsigned product */       \
      X(add_int, 2) X(sub_int, 2) X(mul_int, 2) X(multiply_high, 2) X(                                                \
          divide_int,                                                                                                 \
          2) /* conversions: to_int rounds to even, to_int_toward_zero cuts; what has no i32 becomes the least one */ \
      X(to_int, 1) X(to_int_toward_zero, 1)                                                                           \
          X(to_float, 1) /* word b mod 8 of the eight words that the immediate numbers among the body's tables */     \
      X(table_word, 1)   /* masks; compare: immediate: a Predicate */                                                 \
      X(compare, 2) X(equal_int, 2) X(greater_int, 2) X(mask_and, 2) X(mask_or, 2)                                    \
          X(mask_not, 1) /* a: mask ? b : c */                                                                        \
      X(select, 3)       /* the steps up to the matching end may be left out where no lane of the mask is true */     \
      X(begin_rare, 1) X(end_rare, 0) /* immediate: the DType to write; the value is f32, or an integer */            \
      X(store, 1)

enum class Primitive : uint8_t {
#define RUNG_NAME(name, operands) name,
  RUNG_EACH_PRIMITIVE(RUNG_NAME)
#undef RUNG_NAME
};

constexpr int operands_of(Primitive primitive) {
  constexpr int kOperands[] = {
#define RUNG_OPERANDS(name, operands) operands,
      RUNG_EACH_PRIMITIVE(RUNG_OPERANDS)
#undef RUNG_OPERANDS
  };
  return kOperands[static_cast<int>(primitive)];
}

constexpr bool gives_mask(Primitive p) { return p >= Primitive::compare && p <= Primitive::mask_not; }
constexpr bool has_effect(Primitive p) { return p >= Primitive::begin_rare; }

// The numbers that the instructions take.
enum class Rounding : uint8_t { even = 8, down = 9, up = 10, toward_zero = 11 };
enum class Predicate : uint8_t { equal = 0, less = 1, less_equal = 2, unordered = 3, not_equal = 4 };

struct Step {
  Primitive primitive = Primitive::constant;
  int operand[3] = {-1, -1, -1};  // steps before this one
  uint32_t immediate = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

constexpr uint32_t loads(int operand, DType type) {
  return static_cast<uint32_t>(operand) << 8 | static_cast<uint32_t>(type);
}
constexpr int loaded_operand(const Step& load) { return static_cast<int>(load.immediate >> 8); }
constexpr DType loaded_type(const Step& load) { return static_cast<DType>(load.immediate & 0xff); }

struct Table {
  uint32_t words[8] = {};
  friend bool operator==(const Table&, const Table&) = default;
};

// What is computed for one vector of elements.
struct Body {
  std::vector<Step> steps;
  std::vector<Table> tables;
};

enum class VectorSet : uint8_t { avx2, avx512 };
constexpr int lanes_of(VectorSet set) { return set == VectorSet::avx512 ? 16 : 8; }

}  // namespace rung::generated
