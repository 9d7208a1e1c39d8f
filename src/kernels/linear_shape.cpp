// A linear problem read out of its operands, and what the fast linear rows want of it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_shape.hpp"

namespace rung {

LinearShape::LinearShape(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  k = problem.inputs[0].shape.back();
  n = problem.output.shape.back();
  m = problem.output.rows();
  w_rows = op.gated ? 2 * n : n;
  bias_at = op.bias_at(), residual_at = op.residual_at();
  cos_at = op.cos_at(), sin_at = op.sin_at();
  if (cos_at > 0) head = problem.inputs[static_cast<size_t>(cos_at)].shape.back();
  rotated = op.rotated_heads * head;
}

Verdict supports_linear(const Problem& problem, bool (*known)(DType)) {
  if (problem.as<Linear>().rotated_heads > 0) return reject("it does not turn heads");
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
  if (shape.bias_at > 0 && !problem.inputs[static_cast<size_t>(shape.bias_at)].contiguous())
    return reject("bias is not dense");
  if (shape.residual_at > 0 && !problem.inputs[static_cast<size_t>(shape.residual_at)].is_rows())
    return reject("residual is not made of dense rows");
  for (int at : {shape.cos_at, shape.sin_at})
    if (at > 0 && !problem.inputs[static_cast<size_t>(at)].is_rows())
      return reject("angles are not made of dense rows");
  return accept();
}

}  // namespace rung
