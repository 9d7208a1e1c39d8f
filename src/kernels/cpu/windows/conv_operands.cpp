// Operands and the end of convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/conv_operands.hpp"

#include "base/numeric.hpp"
#include "ir/windows.hpp"

namespace rung::cpu {

Verdict supports_conv(const Problem& problem) {
  const Conv& op = problem.as<Conv>();
  if (op.transposed) return reject("it is transposed");
  for (const Operand& operand : problem.inputs)
    if (!is_computed_float(operand.dtype)) return reject("only f32, bf16 and f16");
  for (size_t i = 2; i < problem.inputs.size(); ++i)
    if (!problem.inputs[i].contiguous()) return reject("bias or residual is not dense");
  const Operand* bias = op.slots.find(problem.inputs, ConvSlot::bias);
  if (bias && has_factors(bias->shape)) return reject("its bias has factors");
  if (!op.tail.empty() && (op.activation != Activation::none || op.last != Activation::none || !tail_of(op)))
    return reject("its tail is no clipped line, or comes after an activation");
  return accept();
}

Verdict supports_constant_conv(const Problem& problem) {
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be packed ahead");
  return supports_conv(problem);
}

std::optional<ClippedLine> tail_of(const Conv& op) {
  if (op.activation == Activation::none && op.last == Activation::relu) return ClippedLine{.low = 0};
  const auto program = parse_pointwise(op.tail, 1);
  return program ? clipped_line_of(*program) : std::nullopt;
}

float ConvWeights::at(int64_t row, int64_t tap, int64_t channel) const {
  int64_t offset = row * w_.strides[0] + channel * w_.strides.back();
  for (int axis = w_.shape.rank() - 2; axis > 0; --axis) {
    offset += tap % w_.shape[axis] * w_.strides[axis];
    tap /= w_.shape[axis];
  }
  return element_at(from_, w_.dtype, offset);
}

float element_at(const void* from, DType type, int64_t at) {
  if (type == DType::f32) return static_cast<const float*>(from)[at];
  if (type == DType::bf16) return static_cast<float>(static_cast<const bf16*>(from)[at]);
  return static_cast<float>(static_cast<const f16*>(from)[at]);
}

ConvFinish::ConvFinish(const Call& call, const gemm::MicroKernels& micro, const std::optional<ClippedLine>& tail)
    : op_(call.problem.as<Conv>()),
      finish_(micro.finish),
      tail_(tail ? &*tail : nullptr),
      bias_(nullptr),
      residual_(nullptr),
      out_(call.output),
      columns_(call.problem.output.shape.back()),
      out_type_(call.problem.output.dtype) {
  const auto type_of = [&](ConvSlot slot) { return op_.slots.find(call.problem.inputs, slot)->dtype; };
  if (const auto* bias = op_.slots.find(call.inputs, ConvSlot::bias))
    bias_ = *bias, bias_type_ = type_of(ConvSlot::bias);
  if (const auto* residual = op_.slots.find(call.inputs, ConvSlot::residual))
    residual_ = *residual, residual_type_ = type_of(ConvSlot::residual);
}

const std::byte* ConvFinish::element(const void* base, DType type, int64_t at) const {
  return base ? static_cast<const std::byte*>(base) + at * static_cast<int64_t>(size_of(type)) : nullptr;
}

void ConvFinish::run(Sums sums, Part results, Part columns) const {
  const int64_t first = results.begin * columns_ + columns.begin;
  auto* out = static_cast<std::byte*>(out_) + first * static_cast<int64_t>(size_of(out_type_));
  gemm::Finish f;
  f.sums = sums.at, f.width = sums.width;
  f.rows = results.count, f.columns = columns.count;
  f.bias = element(bias_, bias_type_, columns.begin), f.bias_type = bias_type_;
  f.residual = element(residual_, residual_type_, first), f.residual_type = residual_type_,
  f.residual_stride = columns_;
  f.out = out, f.out_stride = columns_, f.out_type = out_type_;
  f.activation = op_.activation, f.tail = tail_;
  if (tail_ || op_.last == Activation::none) return finish_(f);
  f.out = sums.at, f.out_stride = sums.width, f.out_type = DType::f32;
  finish_(f);
  gemm::Finish end;
  end.sums = sums.at, end.width = sums.width, end.rows = f.rows, end.columns = f.columns;
  end.out = out, end.out_stride = columns_, end.out_type = out_type_;
  end.activation = op_.last;
  finish_(end);
}

}  // namespace rung::cpu
