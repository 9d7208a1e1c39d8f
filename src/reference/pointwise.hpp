// Runs pointwise programs over columns of values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/pointwise.hpp"

namespace rung::reference {

using Column = std::vector<double>;  // a register's value at every element of the result

// Returns the program's result; `registers` has its operands, one at least, all of one size.
Column run_program(const PointwiseProgram& program, std::vector<Column> registers);

}  // namespace rung::reference
