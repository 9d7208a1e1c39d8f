// Problem keys.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/problem.hpp"

namespace rung {
namespace {

std::string operand_text(const Operand& operand) {
  std::string text = to_string(Type{operand.dtype, operand.shape});
  if (!operand.contiguous()) {
    std::string strides = to_string(operand.strides);
    text += "{" + strides.substr(1, strides.size() - 2) + "}";
  }
  return operand.constant ? text + "*" : text;
}

std::string linear_key(const Problem& problem, const Linear& op) {
  const auto &x = problem.inputs[0], &w = problem.inputs[1];
  std::string text = fmt::format("linear m={} n={} k={} x={} w={} out={}", problem.output.rows(),
                                 w.shape[0] / (op.gated ? 2 : 1), x.shape.back(), x.dtype, w.dtype, op.out);
  if (!x.contiguous()) text += x.is_rows() ? fmt::format(" ldx={}", x.row_stride()) : " x=strided";
  if (!w.constant) text += " w=dynamic";
  if (op.has_bias)
    text += problem.inputs[2].dtype == w.dtype ? " bias" : fmt::format(" bias={}", problem.inputs[2].dtype);
  if (op.gated) text += " gated";
  if (op.activation != Activation::none) text += fmt::format(" act={}", name_of(op.activation));
  const auto dtype = [&](int at) { return problem.inputs[static_cast<size_t>(at)].dtype; };
  if (op.has_residual) text += fmt::format(" residual={}{}", dtype(op.residual_at()), op.split_residual ? "x2" : "");
  if (op.rotated_heads > 0)
    text += fmt::format(" rotated={}x{} angles={}", op.rotated_heads,
                        problem.inputs[static_cast<size_t>(op.cos_at())].shape.back(), dtype(op.cos_at()));
  if (op.feeds_norm) text += fmt::format(" feeds_norm={}", dtype(op.scale_at()));
  if (op.normed) text += fmt::format(" normed={}", dtype(op.squares_at()));
  return text;
}

}  // namespace

std::string problem_key(const Problem& problem) {
  std::string text;
  if (const auto* linear = as<Linear>(problem.op)) {
    text = linear_key(problem, *linear);
  } else {
    text = name_of(problem.op);
    for (const auto& operand : problem.inputs) text += " " + operand_text(operand);
    if (auto fields = fields_to_string(problem.op); !fields.empty()) text += " " + fields;
  }
  return problem.threads > 0 ? fmt::format("{} threads={}", text, problem.threads) : text;
}

}  // namespace rung
