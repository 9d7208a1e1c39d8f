// Checks a plan that came from a file before anything trusts it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan.hpp"

namespace rung {

// Proves every access of every step, from what each kernel row declares (kernels/access.hpp): operands lie within the
// value that their buffer or weight holds, are of its type and were written before; packed weights and scratch have the
// size that the row wants; a buffer holds one value, and no two alive at once overlap. An operand is marked constant
// exactly if it is a weight. No step reads or writes a value without elements, as rows divide by sizes; an input or
// output may be one. It proves nothing about machine code that a plan's file holds: take_code() (plan/code.hpp) decides
// whether that may run. Errors name the step or the port.
Status check_plan(const Plan& plan);

}  // namespace rung
