// Quantisation in ONNX graphs: floats to integers and back, with the roundings that the operators say.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"

namespace rung::onnx::operators {
namespace {

// Where a scale or a zero point broadcasts to x. One number needs no axis, which x may not have.
NodeId along_axis(const Call& call, NodeId x, NodeId vector) {
  const int64_t block = call.integer("block_size", 0);
  if (block == 0 && call.type(vector).elements() == 1) return along(call, x, vector, 0);
  const int axis = call.axis(x, call.integer("axis", 1));
  return block == 0 ? along(call, x, vector, axis) : by_block(call, x, vector, axis, block);
}

}  // namespace

Outputs quantize_linear(const Call& call) {
  const NodeId x = call[0], scale = along_axis(call, x, call[1]);
  if (call.has(2)) return {quantised(call, x, scale, along_axis(call, x, call[2]), type_number(call, 2))};
  const int64_t number = call.integer("output_dtype", 0);
  return {quantised(call, x, scale, std::nullopt, number == 0 ? kU8 : number)};
}

// (x - zero) scale; weights whose values lie in the file become floats when a plan is built.
Outputs dequantize_linear(const Call& call) {
  const NodeId x = call[0], scale = along_axis(call, x, call[1]);
  NodeId y = call.cast(x, DType::f32);
  if (call.has(2)) y = call.binary(BinaryKind::sub, y, along_axis(call, x, call[2]));
  return {call.cast(call.binary(BinaryKind::mul, y, scale), call.dtype(call[1]))};
}

Outputs dynamic_quantize_linear(const Call& call) {
  const DynamicallyQuantised y = dynamically_quantised(call, call[0]);
  return {y.values, y.scale, y.zero};
}

}  // namespace rung::onnx::operators
