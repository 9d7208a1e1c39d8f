// A linear problem read out of its operands, as every linear row needs it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

struct LinearShape {
  int64_t m = 0, n = 0, k = 0;    // n: columns of the result, which has one value in each
  int64_t w_rows = 0;             // n, or 2 n when gated
  int64_t head = 0, rotated = 0;  // columns of a head, and of all RoPE-rotated heads; 0: none is rotated
  explicit LinearShape(const Problem& problem);
};

// Returns the address of the slot's operand in a call on either device; null or 0: the call has none.
template <class Call>
auto address_of(const Call& call, LinearSlot slot) {
  const auto* found = call.problem.template as<Linear>().slots.find(call.inputs, slot);
  return found ? *found : std::remove_cvref_t<decltype(*found)>{};
}

// Checks the operands as all rows but the fallbacks need them: rows of one stride for x, residual, angles and squares,
// dense w, bias and norm weights, float types that `known` accepts.
Verdict supports_linear_operands(const Problem& problem, bool (*known)(DType));
// Checks the same for rows that know no extended form (Linear::is_extended).
Verdict supports_linear(const Problem& problem, bool (*known)(DType));
// Checks for rows that take only the operands `taken` beside x and w, each in its common form. Rows that take scales
// take a factor of the result as well.
Verdict supports_slots(const Problem& problem, const LinearSlots& taken);
inline constexpr LinearSlots kSlotsOfBytes{LinearSlot::bias, LinearSlot::residual, LinearSlot::scale,
                                           LinearSlot::x_scale};
inline constexpr LinearSlots kSlotsOfOutliers{LinearSlot::bias,    LinearSlot::residual,   LinearSlot::scale,
                                              LinearSlot::x_scale, LinearSlot::x_outliers, LinearSlot::w_outliers};
inline constexpr LinearSlots kSlotsOfGroups{LinearSlot::bias, LinearSlot::residual, LinearSlot::scale,
                                            LinearSlot::group_scale, LinearSlot::group_offset};
inline constexpr LinearSlots kSlotsButNorms{LinearSlot::bias, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin};
inline constexpr LinearSlots kSlotsWithScales{LinearSlot::bias, LinearSlot::residual, LinearSlot::cos,
                                              LinearSlot::sin,  LinearSlot::scale,    LinearSlot::x_scale};
// Checks for rows that read `together` elements of residual and angles at once: rows are a multiple of that apart.
Verdict supports_distances(const Problem& problem, int64_t together);
// Checks for rows whose tiles have partners in both halves of a head: RoPE-rotated heads have a multiple of `columns`.
Verdict supports_heads(const LinearShape& shape, int64_t columns);
// Checks for libraries, which also need rows of x and residual that do not overlap, and sizes that an int holds.
Verdict supports_library(const Problem& problem);
inline bool f32_or_bf16(DType type) { return type == DType::f32 || type == DType::bf16; }

}  // namespace rung
