// Products, patch convolutions and attention of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
  NodeId product = call.matmul(call.tensor("mat1"), call.tensor("mat2")), added = call.tensor("self");
  if (const double alpha = call.number("alpha", 1); alpha != 1) product = call.scale(product, alpha);
  if (const double beta = call.number("beta", 1); beta != 1) added = call.scale(added, beta);
  return one(call.binary(BinaryKind::add, product, added));
}

Values conv2d(const Call& call) {
  if (call.flag("transposed")) refuse("a transposed convolution");
  const Value* padding = call.find("padding");
  const bool is_word = padding && std::holds_alternative<std::string>(padding->is);
  const auto widths = is_word ? std::vector<int64_t>() : call.integers("padding", {});
  const bool adds = std::ranges::any_of(widths, [](int64_t width) { return width != 0; });
  return one(call.patches({.x = call.tensor("input"),
                           .w = call.tensor("weight"),
                           .bias = call.optional_tensor("bias"),
                           .stride = call.integers("stride", {}),
                           .dilation = call.integers("dilation", {}),
                           .is_padded = adds || (is_word && call.text("padding", "") != "valid"),
                           .groups = call.integer("groups", 1)}));
}

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
