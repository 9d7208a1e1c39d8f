// Integers that stand for floats by a scale and a zero point: x is (q - zero) scale.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// Numbers of the element types that zero points have where they are left out.
inline constexpr int64_t kU8 = 2, kI8 = 3;

// Inputs of a call: a value, its scale and its zero point, which may be left out.
struct QuantisedInput {
  size_t value, scale, zero;
};

// A scale or a zero point, in f32, where it broadcasts to x: one number, or one for each place of the axis.
NodeId along(const Call& call, NodeId x, NodeId vector, int axis);
// The same for each block of neighbours along an axis, repeated to x.
NodeId by_block(const Call& call, NodeId x, NodeId vector, int axis, int64_t block);
// One number in f32; throws where there are more.
NodeId one_number(const Call& call, size_t input);
// The number of the type of an input.
int64_t type_number(const Call& call, size_t input);

// (value - zero) scale, in f32, of one scale and zero point.
NodeId dequantised(const Call& call, const QuantisedInput& input);
// round(x / scale) + zero within the bounds of the type that has this number; without a zero point: round(x / scale).
NodeId quantised(const Call& call, NodeId x, NodeId scale, std::optional<NodeId> zero, int64_t data_type);
// x by the scale and the zero point that are inputs, in the zero point's type or, without one, in that of an input.
NodeId quantised_by(const Call& call, NodeId x, size_t scale, size_t zero, size_t typed);
// round(x factor) + zero, as ONNX Runtime scales the sums of integers: by one factor, which is rounded to f32.
NodeId rescaled(const Call& call, NodeId sums, NodeId factor, size_t zero, size_t typed);

// x in 256 steps between its bounds, which hold 0.
struct DynamicallyQuantised {
  NodeId values, scale, zero;  // u8, f32, u8
};
DynamicallyQuantised dynamically_quantised(const Call& call, NodeId x);

}  // namespace rung::onnx
