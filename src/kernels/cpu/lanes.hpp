// Ops along one axis: the lanes of a tensor (all positions of the other axes) and the step along the axis.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/kernel.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {

inline int axis_of(int64_t axis, const Shape& shape) { return static_cast<int>(axis < 0 ? axis + shape.rank() : axis); }

// Calls f(offset of the lane in x, offset in y) for each of this thread's lanes, in order. x and y differ in shape
// along `axis` only; both strides have x's rank.
struct Lanes {
  Shape outer;  // x's shape with `axis` made 1
  Strides x, y;
  template <class F>
  void each(const Call& call, F&& f) const {
    Range mine = share(outer.product(), call.thread, call.problem.threads);
    if (mine.begin == mine.end) return;
    Walk<2> walk(outer, {x, y}, mine.begin);
    for (int64_t i = mine.begin; i < mine.end; ++i, walk.next()) f(walk[0], walk[1]);
  }
};

inline Lanes lanes_of(const Operand& x, int axis, const Shape& y_shape) {
  Lanes lanes{x.shape, x.strides, contiguous_strides(y_shape)};
  lanes.outer[axis] = 1;
  return lanes;
}

}  // namespace rung::cpu
