// Products and attention of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {

using exported::refuse;

Values linear(const Call& call) {
  return one(call.linear(call.tensor("input"), call.tensor("weight"), call.optional_tensor("bias")));
}

Values matmul(const Call& call) {
  const bool is_mm = call.find("mat2") != nullptr;
  return one(call.matmul(call.tensor("self"), call.tensor(is_mm ? "mat2" : "other")));
}

// beta self + alpha mat1 mat2
Values addmm(const Call& call) {
  const bool batched = call.find("batch1") != nullptr;
  NodeId product = call.matmul(call.tensor(batched ? "batch1" : "mat1"), call.tensor(batched ? "batch2" : "mat2"));
  NodeId added = call.tensor("self");
  if (const double alpha = call.number("alpha", 1); alpha != 1) product = call.scale(product, alpha);
  if (const double beta = call.number("beta", 1); beta != 1) added = call.scale(added, beta);
  return one(call.binary(BinaryKind::add, product, added));
}

Values outer(const Call& call) {
  return one(call.binary(BinaryKind::mul, call.unsqueeze(call.tensor("self"), 1), call.tensor("vec2")));
}
Values einsum(const Call& call) { return one(call.einsum(call.text("equation", ""), call.tensors("tensors"))); }

Values attention(const Call& call) {
  if (call.number("dropout_p", 0) != 0) refuse("dropout in training, wanted a model in eval mode: model.eval()");
  return one(call.attention({.q = call.tensor("query"),
                             .k = call.tensor("key"),
                             .v = call.tensor("value"),
                             .mask = call.optional_tensor("attn_mask"),
                             .scale = call.optional_number("scale"),
                             .causal = call.flag("is_causal")}));
}

}  // namespace rung::pt2::operators
