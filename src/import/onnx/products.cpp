// Products, patch convolutions and attention of ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
  if (!call.has(2)) return {y};
  const double beta = call.number("beta", 1);
  return {call.binary(BinaryKind::add, y, beta == 1 ? call[2] : call.scale(call[2], beta))};
}

Outputs conv(const Call& call) {
  const std::string padding = call.text("auto_pad", "NOTSET");
  const bool adds = std::ranges::any_of(call.integers("pads"), [](int64_t width) { return width != 0; });
  return {call.patches({.x = call[0],
                        .w = call[1],
                        .bias = call.optional(2),
                        .stride = call.integers("strides"),
                        .dilation = call.integers("dilations"),
                        .is_padded = adds || (padding != "NOTSET" && padding != "VALID"),
                        .groups = call.integer("group", 1)})};
}

// Heads apart, [B,H,S,D], or side by side, [B,S,H D].
Outputs attention(const Call& call) {
  if (call.has(4) || call.has(5)) refuse("an attention with a cache");
  if (call.number("softcap", 0) != 0) refuse("an attention with softcap {}", call.number("softcap", 0));
  const auto apart = [&](NodeId x, const char* heads) {
    if (call.rank(x) == 4) return x;
    const int64_t count = call.integer(heads);
    if (call.rank(x) != 3 || count < 1 || call.shape(x)[2] % count) refuse("{} heads of {}", count, call.type(x));
    const Shape& s = call.shape(x);
    return call.swap_axes(call.reshape(x, Shape{s[0], s[1], count, s[2] / count}), 1, 2);
  };
  const double scale = call.number("scale", 0);
  const NodeId y = call.attention({.q = apart(call[0], "q_num_heads"),
                                   .k = apart(call[1], "kv_num_heads"),
                                   .v = apart(call[2], "kv_num_heads"),
                                   .mask = call.optional(3),
                                   .scale = scale == 0 ? std::nullopt : std::optional(scale),
                                   .causal = call.integer("is_causal", 0) != 0});
  if (call.rank(call[0]) == 4) return {y};
  const Shape& s = call.shape(y);
  return {call.reshape(call.swap_axes(y, 1, 2), Shape{s[0], s[2], s[1] * s[3]})};
}

}  // namespace rung::onnx::operators
