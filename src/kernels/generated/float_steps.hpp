// Records steps of floats: operands are loaded as f32, computed with, and stored in their types.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "ir/pointwise.hpp"
#include "kernels/generated/symbolic.hpp"
#include "kernels/problem.hpp"

namespace rung::generated {

// A longer program, of which files may have any, would take code and stack without limit.
inline constexpr size_t kMostInstructions = 128;

bool is_small_integer(DType type);
bool is_taken(DType type);  // as an operand or a result

cpu::symbolic::Ints load_bits(int operand, DType type);
cpu::symbolic::Vec load_float(int operand, DType type);

// A result by its number, and the primitive that stores it: store or store_row.
struct Destination {
  int result = 0;
  DType type = DType::f32;
  Primitive how = Primitive::store;
};
void store_bits(cpu::symbolic::Ints value, const Destination& to);
void store_integer(cpu::symbolic::Ints value, const Destination& to);
void store_float(cpu::symbolic::Vec value, const Destination& to);

// Returns the function's value; of three operands those that it takes.
cpu::symbolic::Vec value_of(const PointwiseFunction& function, const std::array<cpu::symbolic::Vec, 3>& x);

}  // namespace rung::generated
