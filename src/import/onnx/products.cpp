// Products and convolutions of ONNX graphs.
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
  const double beta = call.number("beta", 1);
  if (!call.has(2) || beta == 0) return {y};
  return {call.binary(BinaryKind::add, y, beta == 1 ? call[2] : call.scale(call[2], beta))};
}

Outputs einsum(const Call& call) {
  std::vector<NodeId> operands;
  for (size_t i = 0; i < call.count(); ++i) operands.push_back(call[i]);
  return {call.einsum(call.text("equation", ""), operands)};
}

namespace {

// The zeros of auto_pad: as many results as strides fit into the axis.
int64_t zeros_for_same(int64_t extent, int64_t window, int64_t stride, int64_t dilation) {
  const int64_t results = (extent + stride - 1) / stride;
  return std::max<int64_t>(0, (results - 1) * stride + dilation * (window - 1) + 1 - extent);
}

}  // namespace

Outputs conv(const Call& call) {
  const NodeId x = call[0], w = call[1];
  const auto axes = static_cast<size_t>(std::max(0, call.rank(x) - 2));
  const auto stride = call.integers("strides", std::vector<int64_t>(axes, 1));
  const auto dilation = call.integers("dilations", std::vector<int64_t>(axes, 1));
  const auto pads = call.integers("pads", std::vector<int64_t>(2 * axes, 0));
  if (stride.size() != axes || dilation.size() != axes || pads.size() != 2 * axes || call.rank(w) != call.rank(x))
    refuse("a convolution of {} with {}, {} strides, {} dilations and {} pads", call.type(x), call.type(w),
           stride.size(), dilation.size(), pads.size());
  std::vector<int64_t> before(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  std::vector<int64_t> after(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  const std::string word = call.text("auto_pad", "NOTSET");
  if (word == "VALID") before.assign(axes, 0), after.assign(axes, 0);
  if (word == "SAME_UPPER" || word == "SAME_LOWER") {
    for (size_t i = 0; i < axes; ++i) {
      const int axis = static_cast<int>(i) + 2;
      if (stride[i] < 1 || stride[i] > exported::kMostMade || dilation[i] < 1 || dilation[i] > exported::kMostMade)
        refuse("a convolution with stride {} and dilation {}", stride[i], dilation[i]);
      const int64_t zeros = zeros_for_same(call.shape(x)[axis], call.shape(w)[axis], stride[i], dilation[i]);
      before[i] = word == "SAME_UPPER" ? zeros / 2 : zeros - zeros / 2;
      after[i] = zeros - before[i];
    }
  } else if (word != "VALID" && word != "NOTSET") {
    refuse("auto_pad: got '{}', wanted NOTSET, VALID, SAME_UPPER or SAME_LOWER", word);
  }
  return {call.convolution({.x = x,
                            .w = w,
                            .bias = call.optional(2),
                            .stride = stride,
                            .dilation = dilation,
                            .before = before,
                            .after = after,
                            .groups = call.integer("group", 1)})};
}

}  // namespace rung::onnx::operators
