// Locates a value's elements, and lets view ops re-address them without moving anything.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "plan/plan.hpp"

namespace rung {

// Returns the operand that addresses a dense value of `type` at the start of a buffer or weight.
PlanOperand dense_operand(Storage storage, uint32_t index, const Type& type);
// Returns the result of a view op over `from` as an operand over the same storage; nullopt when no strides can express
// it (a reshape that would have to cut across a strided axis).
std::optional<PlanOperand> view_of(const Op& op, const PlanOperand& from, const Type& result);

}  // namespace rung
