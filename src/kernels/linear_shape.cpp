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
  if (op.has_bias) bias_at = 2;
  if (op.has_residual) residual_at = op.has_bias ? 3 : 2;
}

Verdict supports_linear(const Problem& problem, bool (*known)(DType)) {
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
  return accept();
}

}  // namespace rung
