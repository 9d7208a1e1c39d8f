// The sizes of a linear layer or a matmul, and the axes along which the terms of its sums lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/linear_shape.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::gpu {

struct ProductShape {
  int64_t m, n, k, count = 1;  // count: of matrices
  int x_axis, w_axis;          // w of a linear is [n, k], y of a matmul [k, n]

  explicit ProductShape(const Problem& problem)
      : x_axis(problem.inputs[0].shape.rank() - 1), w_axis(problem.inputs[1].shape.rank() - 1) {
    if (std::holds_alternative<Linear>(problem.op)) {
      const LinearShape shape(problem);
      m = shape.m, n = shape.n, k = shape.k;
    } else {
      const MatMulShape shape(problem);
      m = shape.m, n = shape.n, k = shape.k, count = shape.batch, --w_axis;
    }
  }
};

// Returns whether all strides of the operand but the one of `axis` are multiples of `bytes`.
inline bool has_aligned_lines(const Operand& operand, int axis, int64_t bytes) {
  const auto size = static_cast<int64_t>(size_of(operand.dtype));
  for (int i = 0; i < operand.strides.rank(); ++i)
    if (i != axis && operand.strides[i] * size % bytes != 0) return false;
  return true;
}

}  // namespace rung::gpu
