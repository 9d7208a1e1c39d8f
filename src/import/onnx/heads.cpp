// Moves heads of attentions in ONNX graphs.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/heads.hpp"

namespace rung::onnx {

NodeId heads_apart(const Call& call, NodeId x, int64_t heads) {
  const Shape s = call.shape(x);
  if (s.rank() != 3 || heads < 1 || s[2] % heads) exported::refuse("{} heads of {}", heads, call.type(x));
  return call.swap_axes(call.reshape(x, Shape{s[0], s[1], heads, s[2] / heads}), 1, 2);
}

NodeId heads_together(const Call& call, NodeId x) {
  const Shape s = call.shape(x);
  return call.reshape(call.swap_axes(x, 1, 2), Shape{s[0], s[2], s[1] * s[3]});
}

}  // namespace rung::onnx
