// Reads windows out of problems.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

WindowShape window_shape_of(const Problem& problem) {
  const Operand& x = problem.inputs[0];
  const int axes = x.shape.rank() - 2;
  WindowShape out;
  out.batch = x.shape[0], out.x_batch = x.strides[0];
  for (int axis = 0; axis < axes; ++axis) {
    const auto at = static_cast<size_t>(kWindowAxes - axes + axis);
    const auto* conv = as<Conv>(problem.op);
    out.axes[at] =
        conv ? window_of(*conv, x.shape, problem.inputs[1].shape, axis) : window_of(problem.as<Pool>(), x.shape, axis);
    out.x_strides[at] = x.strides[axis + 1];
  }
  return out;
}

}  // namespace rung::cpu
