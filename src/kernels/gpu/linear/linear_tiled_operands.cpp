// Reads the addresses, strides and types of a linear layer or a matmul for kernels that take any.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_tiled_operands.hpp"

#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/gpu/linear/matmul_batch.hpp"
#include "kernels/linear_shape.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::gpu {
namespace {

Dims first(const Dims& dims, int count) { return Dims(std::span(dims.begin(), static_cast<size_t>(count))); }

TiledArguments base_arguments(const Call& call) {
  const Problem& p = call.problem;
  TiledArguments a{};
  a.x = call.inputs[0], a.w = call.inputs[1];
  a.x_type = p.inputs[0].dtype, a.w_type = p.inputs[1].dtype;
  a.x_step = p.inputs[0].strides.back(), a.k = static_cast<uint32_t>(p.inputs[0].shape.back());
  return a;
}

}  // namespace

TiledArguments tiled_linear(const Call& call) {
  const Problem& p = call.problem;
  LinearShape shape(p);
  TiledArguments a = base_arguments(call);
  a.w_row = p.inputs[1].strides[0], a.w_step = p.inputs[1].strides[1];
  a.m = static_cast<uint32_t>(shape.m), a.n = static_cast<uint32_t>(shape.n);
  a.end = epilogue_of(call);
  int leading = p.output.shape.rank() - 1;
  Strides x = first(p.inputs[0].strides, leading), residual = x, cos = x, sin = x;
  if (const Operand* bias = p.linear_operand(LinearSlot::bias)) a.bias_step = bias->strides[0];
  const auto walk = [&](LinearSlot slot, Strides& rows, int64_t& step) {
    if (const Operand* operand = p.linear_operand(slot))
      rows = first(operand->strides, leading), step = operand->strides.back();
  };
  walk(LinearSlot::residual, residual, a.residual_step);
  walk(LinearSlot::cos, cos, a.cos_step), walk(LinearSlot::sin, sin, a.sin_step);
  a.rows = make_nest<4>(collapse(first(p.output.shape, leading), std::array{x, residual, cos, sin}));
  return a;
}

TiledArguments tiled_matmul(const Call& call) {
  const Problem& p = call.problem;
  const Strides &x = p.inputs[0].strides, &y = p.inputs[1].strides;
  MatMulShape shape(p);
  TiledArguments a = base_arguments(call);
  a.w_row = y.back(), a.w_step = y.back(1);
  a.m = static_cast<uint32_t>(shape.m), a.n = static_cast<uint32_t>(shape.n);
  a.end.out = call.output, a.end.out_type = p.output.dtype;
  const Strides none{0};
  a.rows = make_nest<4>(collapse(Shape{shape.m}, std::array{Strides{x.back(1)}, none, none, none}));
  a.batch = batch_of(p);
  return a;
}

}  // namespace rung::gpu
