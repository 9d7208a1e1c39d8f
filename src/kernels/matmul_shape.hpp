// A matmul problem read out of its operands: matrix sizes, and the offset of each matrix of the batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung {

struct MatMulShape {
  int64_t m = 0, n = 0, k = 0, batch = 1;  // batch: matrices of the result
  explicit MatMulShape(const Problem& problem)
      : m(problem.output.shape.back(1)),
        n(problem.output.shape.back()),
        k(problem.inputs[0].shape.back()),
        batch(m * n > 0 ? problem.output.shape.product() / (m * n) : 0) {}
};

// Returns the elements from the operand's first to its matrix for the result's matrix `index`; broadcast axes add none.
inline int64_t matrix_offset(const Problem& problem, size_t operand, int64_t index) {
  const Operand& x = problem.inputs[operand];
  const Shape& out = problem.output.shape;
  int64_t offset = 0;
  for (int axis = out.rank() - 3, own = x.shape.rank() - 3; axis >= 0; --axis, --own) {
    const int64_t position = index % out[axis];
    if (own >= 0 && x.shape[own] != 1) offset += position * x.strides[own];
    index /= out[axis];
  }
  return offset;
}

}  // namespace rung
