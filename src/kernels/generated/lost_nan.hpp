// Tells which extremes of rows may lose NaN, because every result that depends on them is NaN anyway.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/region.hpp"

namespace rung::generated {

// Returns whether the instruction is a row's maximum or minimum of a value whose NaN reach all its dependants by way of
// a sum, too, as in every spelling of softmax. A plain maximum takes a third of the instructions.
bool may_lose_nan(const RegionProgram& program, size_t instruction);

}  // namespace rung::generated
