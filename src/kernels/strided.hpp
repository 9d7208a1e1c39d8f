// Views and broadcasts as strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kernels/problem.hpp"

namespace rung {

// Returns the operand's strides as if it were broadcast to `shape` by numpy's rule: 0 where it repeats.
Strides broadcast_strides(const Operand& operand, const Shape& shape);

// A view op (reshape aside) as strides over its result, from the element `offset` of the operand on.
struct View {
  Strides strides;
  int64_t offset = 0;
};
View view_of(const Op& op, const Operand& operand, const Shape& result);

// Returns the strides that read `operand` as `shape` without moving an element; nullopt if there are none.
std::optional<Strides> reshaped_strides(const Operand& operand, const Shape& shape);

// Returns the axis counted from the front; a negative `axis` counts from the back.
inline int axis_of(int64_t axis, const Shape& shape) { return static_cast<int>(axis < 0 ? axis + shape.rank() : axis); }

}  // namespace rung
