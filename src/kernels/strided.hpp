// Walking several operands of different strides through one shape together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "kernels/problem.hpp"

namespace rung {

// The operand's strides read as if it were broadcast to `shape` by numpy's rule: 0 where it repeats.
Strides broadcast_strides(const Operand& operand, const Shape& shape);

// A view op (reshape aside) as strides over its result, from the element `offset` of the operand on.
struct View {
  Strides strides;
  int64_t offset = 0;
};
View view_of(const Op& op, const Operand& operand, const Shape& result);

// Visits the positions of a shape in row-major order and keeps the element offset of each of N operands.
template <size_t N>
class Walk {
 public:
  Walk(const Shape& shape, const std::array<Strides, N>& strides, int64_t position = 0)
      : shape_(shape), strides_(strides), index_(Shape::filled(shape.rank(), 0)) {
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      index_[axis] = position % shape[axis];
      position /= shape[axis];
      for (size_t i = 0; i < N; ++i) offsets_[i] += index_[axis] * strides_[i][axis];
    }
  }
  int64_t operator[](size_t operand) const { return offsets_[operand]; }
  void next() {
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      for (size_t i = 0; i < N; ++i) offsets_[i] += strides_[i][axis];
      if (++index_[axis] < shape_[axis]) return;
      for (size_t i = 0; i < N; ++i) offsets_[i] -= shape_[axis] * strides_[i][axis];
      index_[axis] = 0;
    }
  }

 private:
  Shape shape_;
  std::array<Strides, N> strides_;
  Dims index_;
  std::array<int64_t, N> offsets_{};
};

}  // namespace rung
