// The registers of programs: one value at every element of the shape that a program runs over.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/pointwise.hpp"
#include "ir/tensor.hpp"

namespace rung::reference {

using Column = std::vector<double>;

// Returns an operand's values, broadcast to the shape and rounded to f32; this rounds integers beyond 2^24.
Column column_of(const Tensor& operand, const Shape& shape);
// Returns an operand of an instruction at element `i`.
double value_at(const PointwiseOperand& operand, const std::vector<Column>& registers, size_t i);
// Computes an instruction at each of `elements` elements, each value rounded to f32.
Column run(const PointwiseInstruction& instruction, const std::vector<Column>& registers, size_t elements);

// Runs a program; `registers` has its operands, one at least, all of one size. Returns its result.
Column run_program(const PointwiseProgram& program, std::vector<Column> registers);

}  // namespace rung::reference
