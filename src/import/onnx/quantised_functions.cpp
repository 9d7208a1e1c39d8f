// ONNX Runtime's functions of quantised values: their floats are computed with, and the result is quantised.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/onnx/layouts.hpp"
#include "import/onnx/operators.hpp"
#include "import/onnx/quantised.hpp"
#include "import/onnx/windows.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

// a, its scale and zero point, b with its own, then those of the result.
Outputs of_two(const Call& call, BinaryKind kind) {
  const NodeId a = dequantised(call, {0, 1, 2}), b = dequantised(call, {3, 4, 5});
  return {quantised_by(call, call.binary(kind, a, b), 6, 7, 0)};
}

// x, its scale and zero point; then those of the result.
NodeId quantised_input(const Call& call) { return dequantised(call, {0, 1, 2}); }
Outputs quantised_result(const Call& call, NodeId y) { return {quantised_by(call, y, 3, 4, 0)}; }

}  // namespace

Outputs qlinear_add(const Call& call) { return of_two(call, BinaryKind::add); }
Outputs qlinear_mul(const Call& call) { return of_two(call, BinaryKind::mul); }
Outputs qlinear_sigmoid(const Call& call) {
  return quantised_result(call, call.unary(UnaryKind::sigmoid, quantised_input(call)));
}

Outputs qlinear_leaky_relu(const Call& call) {
  const NodeId x = quantised_input(call), negative = call.binary(BinaryKind::lt, x, call.scalar(0, DType::f32));
  return quantised_result(call, call.select(negative, call.scale(x, call.number("alpha", 0.01)), x));
}

// Operators before opset 13 take all axes from `axis` on as one. The whole part of the scale's reciprocal multiplies
// the result, as in ONNX Runtime, whose operator it is.
Outputs qlinear_softmax(const Call& call) {
  const NodeId x = quantised_input(call);
  const int axis = call.axis(x, call.integer("axis", -1));
  const NodeId steps = call.binary(BinaryKind::div, call.scalar(1, DType::f32), one_number(call, 3));
  const auto quantised = [&](NodeId y) {
    return Outputs{rescaled(call, y, call.rounded(steps, exported::Rounding::down), 4, 0)};
  };
  if (call.integer("opset") >= 13) return quantised(call.softmax(x, axis));
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= call.shape(x)[i];
  const int64_t width = call.type(x).elements() / std::max<int64_t>(1, rows);
  return quantised(call.reshape(call.softmax(call.reshape(x, Shape{rows, width}), 1), call.shape(x)));
}

Outputs qlinear_average_pool(const Call& call) {
  exported::Emit::PoolCall pool = described_pool(call, image_of(call, quantised_input(call)), ReduceKind::mean);
  pool.counts_padding = call.integer("count_include_pad", 0) != 0;
  return quantised_result(call, as_given(call, call.pool(pool).values));
}

Outputs qlinear_global_average_pool(const Call& call) {
  const NodeId x = image_of(call, quantised_input(call));
  const NodeId means = call.reduce(ReduceKind::mean, x, axes_of_places(call, x), true);
  return quantised_result(call, as_given(call, means));
}

Outputs qlinear_reduce_mean(const Call& call) {
  return quantised_result(call, call.reduce(ReduceKind::mean, quantised_input(call), call.integers("axes"),
                                            call.integer("keepdims", 1) != 0));
}

// The result's scale and zero point, then three inputs for each part.
Outputs qlinear_concat(const Call& call) {
  if (call.count() < 5 || (call.count() - 2) % 3 != 0)
    refuse("got {} inputs, wanted two and three for each part", call.count());
  std::vector<NodeId> parts;
  for (size_t i = 2; i < call.count(); i += 3) parts.push_back(dequantised(call, {i, i + 1, i + 2}));
  return {quantised_by(call, call.concat(parts, call.integer("axis")), 0, 1, 2)};
}

// A condition, then x and y, each with a scale and a zero point, and those of the result.
Outputs qlinear_where(const Call& call) {
  const NodeId x = dequantised(call, {1, 2, 3}), y = dequantised(call, {4, 5, 6});
  return {quantised_by(call, call.select(call[0], x, y), 7, 8, 1)};
}

}  // namespace rung::onnx::operators
