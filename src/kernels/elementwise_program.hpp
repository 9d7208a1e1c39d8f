// Every element-wise op as a pointwise program, so that one interpreter runs them all.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/verdict.hpp"
#include "ir/pointwise.hpp"
#include "kernels/elementwise_code.hpp"
#include "kernels/problem.hpp"

namespace rung {

// Returns the program of a unary, binary, cast, select, formula, gated_mul or pointwise op; a cast has no instruction.
Result<PointwiseProgram> program_of(const Problem& problem);
// Whether the interpreters run it: they have no code for formulas.
Verdict is_interpreted(const PointwiseInstruction& instruction);
Verdict is_interpreted(const PointwiseProgram& program);
// The function is no formula.
Code code_of(const PointwiseFunction& function);

}  // namespace rung
