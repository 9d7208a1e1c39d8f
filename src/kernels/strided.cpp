// How broadcasting and views read as strides.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided.hpp"

namespace rung {

Strides broadcast_strides(const Operand& operand, const Shape& shape) {
  Strides strides = Strides::filled(shape.rank(), 0);
  int shift = shape.rank() - operand.shape.rank();
  for (int axis = 0; axis < operand.shape.rank(); ++axis)
    if (operand.shape[axis] != 1) strides[axis + shift] = operand.strides[axis];
  return strides;
}

namespace {

View transposed(const Transpose& op, const Operand& operand) {
  View view;
  for (int64_t axis : op.permutation) view.strides.push_back(operand.strides[static_cast<int>(axis)]);
  return view;
}

View sliced(const Slice& op, const Operand& operand) {
  int axis = static_cast<int>(op.axis < 0 ? op.axis + operand.shape.rank() : op.axis);
  int64_t begin = op.begin < 0 ? op.begin + operand.shape[axis] : op.begin;
  View view{operand.strides, begin * operand.strides[axis]};
  view.strides[axis] *= op.step;
  return view;
}

}  // namespace

View view_of(const Op& op, const Operand& operand, const Shape& result) {
  if (auto* transpose = as<Transpose>(op)) return transposed(*transpose, operand);
  if (auto* slice = as<Slice>(op)) return sliced(*slice, operand);
  return {broadcast_strides(operand, result), 0};
}

}  // namespace rung
