// Reads the addresses, strides and types of a linear layer's prologue and epilogue.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/fill_ends.hpp"

#include "kernels/linear_shape.hpp"

namespace rung::gpu {
namespace {

void set_angles(LinearEpilogue& end, const Call& call) {
  const Operand& cos = *call.problem.linear_operand(LinearSlot::cos);
  const Operand& sin = *call.problem.linear_operand(LinearSlot::sin);
  end.cos = address_of(call, LinearSlot::cos), end.cos_type = cos.dtype, end.cos_stride = cos.row_stride();
  end.sin = address_of(call, LinearSlot::sin), end.sin_type = sin.dtype, end.sin_stride = sin.row_stride();
}

}  // namespace

LinearPrologue prologue_of(const Call& call) {
  const Operand* squares = call.problem.linear_operand(LinearSlot::squares);
  if (!squares) return {};
  const int64_t means = squares->shape.back();
  return {.squares = address_of(call, LinearSlot::squares),
          .squares_stride = static_cast<uint32_t>(squares->row_stride() / kSquares),
          .squares_vectors = static_cast<uint32_t>(means / kSquares),
          .squares_share = 1.0f / static_cast<float>(means),
          .eps = call.problem.as<Linear>().prologue.eps};
}

LinearEpilogue epilogue_of(const Call& call) {
  const Problem& problem = call.problem;
  const auto& op = problem.as<Linear>();
  const LinearShape shape(problem);
  LinearEpilogue end{.bias = address_of(call, LinearSlot::bias),
                     .residual = address_of(call, LinearSlot::residual),
                     .out = call.output,
                     .out_type = problem.output.dtype,
                     .activation = op.epilogue.activation,
                     .gated = op.epilogue.gated,
                     .half = static_cast<uint32_t>(op.epilogue.gated ? shape.n : shape.head / 2),
                     .rotated = static_cast<uint32_t>(shape.rotated),
                     .w_scale = address_of(call, LinearSlot::scale),
                     .x_scale = address_of(call, LinearSlot::x_scale),
                     .factor = op.epilogue.factor,
                     .scale = address_of(call, LinearSlot::norm_weight)};
  if (const Operand* bias = problem.linear_operand(LinearSlot::bias)) end.bias_type = bias->dtype;
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual))
    end.residual_type = residual->dtype, end.residual_stride = residual->row_stride();
  if (shape.rotated > 0) set_angles(end, call);
  if (op.has(LinearSlot::norm_weight)) {
    const auto results = results_of(problem);
    end.scaled_type = op.epilogue.normed;
    end.scaled = call.output + results[1].offset, end.means = call.output + results[2].offset;
  }
  return end;
}

}  // namespace rung::gpu
