// A linear problem read out of its operands, and what the fast linear rows want of it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_shape.hpp"

namespace rung {

LinearShape::LinearShape(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  k = problem.inputs[0].shape.back();
  w_rows = problem.inputs[1].shape[0];
  n = op.gated ? w_rows / 2 : w_rows;
  m = problem.output.rows();
  bias_at = op.bias_at(), residual_at = op.residual_at();
  cos_at = op.cos_at(), sin_at = op.sin_at(), scale_at = op.scale_at(), squares_at = op.squares_at();
  if (cos_at > 0) head = problem.inputs[static_cast<size_t>(cos_at)].shape.back();
  rotated = op.rotated_heads * head;
}

Verdict supports_linear(const Problem& problem, bool (*known)(DType)) {
  const auto& op = problem.as<Linear>();
  if (op.rotated_heads > 0) return reject("it does not turn heads");
  if (op.is_extended()) return reject("it takes no norm from its neighbours");
  return supports_linear_operands(problem, known);
}

Verdict supports_linear_operands(const Problem& problem, bool (*known)(DType)) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (!known(problem.inputs[i].dtype))
      return reject(fmt::format("operand {} is {}", i, name_of(problem.inputs[i].dtype)));
  if (!known(problem.output.dtype)) return reject(fmt::format("result is {}", name_of(problem.output.dtype)));
  const LinearShape shape(problem);
  if (!problem.inputs[0].is_rows()) return reject("x is not made of dense rows");
  if (!problem.inputs[1].contiguous()) return reject("w is not dense");
  for (int at : {shape.bias_at, shape.scale_at})
    if (at > 0 && !problem.inputs[static_cast<size_t>(at)].contiguous()) return reject("bias or scale is not dense");
  if (shape.residual_at > 0 && !problem.inputs[static_cast<size_t>(shape.residual_at)].is_rows())
    return reject("residual is not made of dense rows");
  for (int at : {shape.cos_at, shape.sin_at, shape.squares_at})
    if (at > 0 && !problem.inputs[static_cast<size_t>(at)].is_rows())
      return reject("angles or squares are not made of dense rows");
  return accept();
}

Verdict supports_library(const Problem& problem) {
  const LinearShape shape(problem);
  for (int at : {0, shape.residual_at}) {
    if (at < 0) continue;
    const Operand& rows = problem.inputs[static_cast<size_t>(at)];
    if (rows.rows() > 1 && rows.row_stride() < rows.shape.back()) return reject("rows of x or residual overlap");
    if (rows.row_stride() > INT32_MAX) return reject("rows of x or residual are too far apart");
  }
  const bool counted = shape.m <= INT32_MAX && shape.w_rows <= INT32_MAX && shape.k <= INT32_MAX;
  return counted ? accept() : reject("sizes that an int does not hold");
}

}  // namespace rung
