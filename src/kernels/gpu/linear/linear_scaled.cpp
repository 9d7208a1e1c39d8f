// Checks the operands of products of 8 bits, and describes their rows to the copy engine.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_scaled.hpp"

#include "kernels/gpu/quantize/machine_f8.hpp"

namespace rung::gpu {
namespace {

template <DType... types>
bool is_computed_or(DType d) {
  return is_computed_float(d) || ((d == types) || ...);
}

LinearSlots joined(LinearSlots slots, const LinearSlots& norms) {
  for (LinearSlot slot : {LinearSlot::norm_weight, LinearSlot::squares})
    if (norms.has(slot)) slots.add(slot);
  return slots;
}

Verdict supports_scales(const Problem& problem) {
  const Operand* scale = problem.linear_operand(LinearSlot::scale);
  if (!scale) return reject("8 bits without a scale for each row of w");
  if (!scale->constant || !scale->contiguous()) return reject("scale is no dense constant");
  const Operand* of_x = problem.linear_operand(LinearSlot::x_scale);
  return !of_x || of_x->contiguous() ? accept() : reject("x_scale is not dense");
}

}  // namespace

Verdict supports_maybe_scaled(const Problem& problem, DType type, const LinearSlots& norms) {
  if (auto verdict = supports_slots(problem, joined(kSlotsWithScales, norms)); !verdict) return verdict;
  if (!is_quantised(type)) {
    for (LinearSlot slot : {LinearSlot::scale, LinearSlot::x_scale})
      if (problem.as<Linear>().has(slot)) return reject(fmt::format("{}, and x of {}", name_of(slot), name_of(type)));
    return supports_linear_operands(problem, is_computed_float);
  }
  const auto known = type == DType::f8e4m3fn     ? is_computed_or<DType::f8e4m3fn>
                     : type == DType::f8e4m3fnuz ? is_computed_or<DType::f8e4m3fnuz>
                                                 : is_computed_or<DType::i8, DType::f8e4m3fn>;
  if (auto verdict = supports_linear_operands(problem, known); !verdict) return verdict;
  for (LinearSlot slot :
       {LinearSlot::bias, LinearSlot::residual, LinearSlot::cos, LinearSlot::sin, LinearSlot::norm_weight})
    if (const Operand* operand = problem.linear_operand(slot); operand && is_quantised(operand->dtype))
      return reject(fmt::format("{} is {}", name_of(slot), name_of(operand->dtype)));
  if (const int64_t k = problem.inputs[0].shape.back(); type == DType::i8 && k > kMostIntegerProducts)
    return reject(fmt::format("{} columns of i8, wanted at most {}", k, kMostIntegerProducts));
  return supports_scales(problem);
}

Verdict supports_widened(const Problem& problem, const GpuInfo& gpu) {
  if (!as<Linear>(problem.op)) return reject("a matmul of 8 bits");
  if (auto verdict = supports_slots(problem, kSlotsWithScales); !verdict) return verdict;
  const auto known = [&](DType type) { return is_computed_float(type) || type == machine_f8(gpu); };
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const DType type = problem.inputs[i].dtype;
    if (i < 2 ? !known(type) && type != DType::i8 : !is_computed_float(type))
      return reject(fmt::format("operand {} is {}", i, name_of(type)));
  }
  if (!known(problem.output.dtype)) return reject(fmt::format("result is {}", name_of(problem.output.dtype)));
  for (LinearSlot slot : {LinearSlot::scale, LinearSlot::x_scale})
    if (const Operand* scale = problem.linear_operand(slot); scale && !scale->contiguous())
      return reject(fmt::format("{} is not dense", name_of(slot)));
  return accept();
}

Verdict supports_8_bit_result(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  const DType x = problem.inputs[0].dtype;
  const bool has_8_bits = is_quantised(op.out);
  if (has_8_bits && op.out != x && (x != DType::i8 || !is_f8(op.out)))
    return reject(fmt::format("the result is {}, and x is {}", name_of(op.out), name_of(x)));
  if (!has_8_bits && op.epilogue.factor != 1) return reject("a factor, and a result not of 8 bits");
  if (has_8_bits && op.has(LinearSlot::norm_weight)) return reject("a sum that a norm follows, in 8 bits");
  return accept();
}

bool has_box_rows(const Problem& problem) {
  const Operand& x = problem.inputs[0];
  return row_bytes_of_w(problem) % 16 == 0 && x.row_stride() * static_cast<int64_t>(size_of(x.dtype)) % 16 == 0;
}

BoxedMatrix boxes_of_x(const Call& call, uint32_t box_rows) {
  const Operand& x = call.problem.inputs[0];
  const LinearShape shape(call.problem);
  return {.address = call.inputs[0],
          .rows = static_cast<uint64_t>(shape.m),
          .columns = static_cast<uint64_t>(row_bytes_of_w(call.problem)) / 2,
          .pitch_bytes = static_cast<uint64_t>(x.row_stride()) * size_of(x.dtype),
          .box_rows = box_rows};
}

}  // namespace rung::gpu
