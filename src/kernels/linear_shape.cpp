// Reads a linear problem out of its operands, and checks the requirements of the fast linear rows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear_shape.hpp"

namespace rung {

LinearShape::LinearShape(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  k = problem.inputs[0].shape.back();
  w_rows = problem.inputs[1].shape[0];
  n = op.epilogue.gated ? w_rows / 2 : w_rows;
  m = problem.output.rows();
  if (const Operand* cos = problem.linear_operand(LinearSlot::cos)) head = cos->shape.back();
  rotated = op.epilogue.rotated_heads * head;
}

Verdict supports_slots(const Problem& problem, const LinearSlots& taken) {
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::cos) && !taken.has(LinearSlot::cos)) return reject("it does not rotate heads (RoPE)");
  const bool scales = op.has(LinearSlot::scale) || op.has(LinearSlot::x_scale) || op.epilogue.factor != 1;
  if ((scales || op.epilogue.normed != DType::bf16) && !taken.has(LinearSlot::scale))
    return reject("it takes no scales");
  if (op.has(LinearSlot::group_scale) && !taken.has(LinearSlot::group_scale))
    return reject("it takes no groups of columns with scales of their own");
  if (op.has(LinearSlot::w_outliers) && !taken.has(LinearSlot::w_outliers))
    return reject("it takes no outliers beside columns of 8 bits");
  return op.is_within(taken) ? accept() : reject("it takes no norm from its neighbours");
}

Verdict supports_linear(const Problem& problem, bool (*known)(DType)) {
  if (auto verdict = supports_slots(problem, {LinearSlot::bias, LinearSlot::residual}); !verdict) return verdict;
  return supports_linear_operands(problem, known);
}

Verdict supports_linear_operands(const Problem& problem, bool (*known)(DType)) {
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if (!known(problem.inputs[i].dtype))
      return reject(fmt::format("operand {} is {}", i, name_of(problem.inputs[i].dtype)));
  if (!known(problem.output.dtype)) return reject(fmt::format("result is {}", name_of(problem.output.dtype)));
  for (LinearSlot slot :
       {LinearSlot::w, LinearSlot::bias, LinearSlot::norm_weight, LinearSlot::scale, LinearSlot::x_scale,
        LinearSlot::group_scale, LinearSlot::group_offset, LinearSlot::x_outliers, LinearSlot::w_outliers})
    if (const Operand* operand = problem.linear_operand(slot); operand && !operand->contiguous())
      return reject(fmt::format("{} is not dense", name_of(slot)));
  for (LinearSlot slot : {LinearSlot::x, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin, LinearSlot::squares})
    if (const Operand* operand = problem.linear_operand(slot); operand && !operand->is_rows())
      return reject(fmt::format("{} is not made of dense rows", name_of(slot)));
  return accept();
}

Verdict supports_distances(const Problem& problem, int64_t together) {
  for (LinearSlot slot : {LinearSlot::residual, LinearSlot::cos, LinearSlot::sin})
    if (const Operand* rows = problem.linear_operand(slot); rows && rows->row_stride() % together)
      return reject(fmt::format("rows of {} are not a multiple of {} elements apart", name_of(slot), together));
  return accept();
}

Verdict supports_heads(const LinearShape& shape, int64_t columns) {
  if (shape.rotated == 0 || (shape.head % columns == 0 && shape.n % shape.head == 0)) return accept();
  return reject(fmt::format("heads of {} columns in {}, wanted a multiple of {} that divides them", shape.head, shape.n,
                            columns));
}

Verdict supports_library(const Problem& problem) {
  const LinearShape shape(problem);
  for (LinearSlot slot : {LinearSlot::x, LinearSlot::residual}) {
    const Operand* rows = problem.linear_operand(slot);
    if (!rows) continue;
    if (rows->rows() > 1 && rows->row_stride() < rows->shape.back()) return reject("rows of x or residual overlap");
    if (rows->row_stride() > INT32_MAX) return reject("rows of x or residual are too far apart");
  }
  const bool counted = shape.m <= INT32_MAX && shape.w_rows <= INT32_MAX && shape.k <= INT32_MAX;
  return counted ? accept() : reject("sizes that an int does not hold");
}

}  // namespace rung
