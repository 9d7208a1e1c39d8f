// Moves channels to where an operator has them, and back.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/layouts.hpp"

namespace rung::onnx {
namespace {

bool are_channels_last(const Call& call) { return call.integer("channels_last", 0) != 0; }

}  // namespace

NodeId channels_first(const Call& call, NodeId x) {
  if (call.rank(x) < 2) exported::refuse("channels of {}", call.type(x));
  Dims order{0, call.rank(x) - 1};
  for (int axis = 1; axis < call.rank(x) - 1; ++axis) order.push_back(axis);
  return call.transpose(x, order);
}

NodeId channels_last(const Call& call, NodeId x) {
  Dims order{0};
  for (int axis = 2; axis < call.rank(x); ++axis) order.push_back(axis);
  order.push_back(1);
  return call.transpose(x, order);
}

NodeId image_of(const Call& call, NodeId x) { return are_channels_last(call) ? channels_first(call, x) : x; }
NodeId as_given(const Call& call, NodeId y) { return are_channels_last(call) ? channels_last(call, y) : y; }

}  // namespace rung::onnx
