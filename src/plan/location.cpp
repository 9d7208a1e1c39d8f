// Makes operands over views; the kernels' own code does the arithmetic of strides.
// SPDX-License-Identifier: Apache-2.0
#include "plan/location.hpp"

#include "kernels/strided.hpp"

namespace rung {

PlanOperand dense_operand(Storage storage, uint32_t index, const Type& type) {
  return {storage, index, 0, {type.dtype, type.shape, contiguous_strides(type.shape), storage == Storage::weight}};
}

std::optional<PlanOperand> view_of(const Op& op, const PlanOperand& from, const Type& result) {
  PlanOperand to = from;
  to.view.shape = result.shape;
  if (as<Reshape>(op)) {
    auto strides = reshaped_strides(from.view, result.shape);
    if (!strides) return std::nullopt;
    to.view.strides = *strides;
    return to;
  }
  View view = view_of(op, from.view, result.shape);
  to.view.strides = view.strides;
  to.offset += static_cast<uint64_t>(view.offset) * size_of(result.dtype);
  return to;
}

}  // namespace rung
