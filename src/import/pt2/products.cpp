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

// Patches that do not overlap; their stride is the kernel's size.
Values conv2d(const Call& call) {
  const NodeId x = call.tensor("input"), w = call.tensor("weight");
  const auto all = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::ranges::all_of(values, [wanted](int64_t value) { return value == wanted; });
  };
  if (call.rank(w) != 4) refuse("a convolution with a kernel of {}, wanted patches in two dimensions", call.type(w));
  const int64_t patch = call.shape(w)[2];
  const Value* padding = call.find("padding");
  const bool is_word = padding && std::holds_alternative<std::string>(padding->is);
  const bool is_padded = is_word ? call.text("padding", "") != "valid" : !all(call.integers("padding", {0}), 0);
  if (call.shape(w)[3] != patch || !all(call.integers("stride", {1}), patch) || is_padded ||
      !all(call.integers("dilation", {1}), 1) || call.integer("groups", 1) != 1 || call.flag("transposed"))
    refuse("a convolution with kernel {} and stride {}, wanted square patches that do not overlap, without padding",
           call.shape(w), fmt::join(call.integers("stride", {1}), ","));
  const auto bias = call.optional_tensor("bias");
  const NodeId zeros = bias ? *bias : call.broadcast(call.scalar(0, call.dtype(x)), Shape{call.shape(w)[0]});
  return one(call.add(Conv2d{.stride = patch}, {x, w, zeros}));
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
