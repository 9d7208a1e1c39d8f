// Products of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {

using exported::refuse;

Outputs matmul(const Call& call) { return {call.matmul(call[0], call[1])}; }

Outputs fused_matmul(const Call& call) {
  if (call.integer("transBatchA", 0) != 0 || call.integer("transBatchB", 0) != 0) refuse("transposed batches");
  const NodeId a = call.integer("transA", 0) ? call.swap_axes(call[0], -2, -1) : call[0];
  const NodeId b = call.integer("transB", 0) ? call.swap_axes(call[1], -2, -1) : call[1];
  const double alpha = call.number("alpha", 1);
  const NodeId y = call.matmul(a, b);
  return {alpha == 1 ? y : call.scale(y, alpha)};
}

// alpha A B + beta C
Outputs gemm(const Call& call) {
  const NodeId a = call.integer("transA", 0) ? call.swap_axes(call[0], 0, 1) : call[0];
  const NodeId b = call.integer("transB", 0) ? call.swap_axes(call[1], 0, 1) : call[1];
  NodeId y = call.matmul(a, b);
  if (const double alpha = call.number("alpha", 1); alpha != 1) y = call.scale(y, alpha);
  const double beta = call.number("beta", 1);
  if (!call.has(2) || beta == 0) return {y};
  return {call.binary(BinaryKind::add, y, beta == 1 ? call[2] : call.scale(call[2], beta))};
}

Outputs einsum(const Call& call) {
  std::vector<NodeId> operands;
  for (size_t i = 0; i < call.count(); ++i) operands.push_back(call[i]);
  return {call.einsum(call.text("equation", ""), operands)};
}

}  // namespace rung::onnx::operators
