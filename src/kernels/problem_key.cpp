// Writes problem keys.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/problem_key.hpp"

#include <algorithm>

namespace rung {
namespace {

// Returns text such as f32[128,384]{1152,1}.
std::string strided_text(const Operand& operand) {
  std::string strides = to_string(operand.strides);
  return to_string(Type{operand.dtype, operand.shape}) + "{" + strides.substr(1, strides.size() - 2) + "}";
}

std::string operand_text(const Operand& operand) {
  std::string text = operand.contiguous() ? to_string(Type{operand.dtype, operand.shape}) : strided_text(operand);
  return operand.constant ? text + "*" : text;
}

enum class Usually { rows, dense_constant };

// Returns the facts of an operand beyond the sizes and types of a linear: rows that are apart, other strides with the
// shape that they walk, and an operand that is constant where it usually is not, or the other way round.
std::string unusual_text(std::string_view name, const Operand& operand, Usually usually) {
  const bool constant = usually == Usually::dense_constant;
  const bool dense_rows = operand.is_rows() && operand.row_stride() == operand.shape.back();
  std::string text;
  if (!(constant ? operand.contiguous() : dense_rows))
    text += operand.is_rows() ? fmt::format(" ld{}={}", name, operand.row_stride())
                              : fmt::format(" {}={}", name, strided_text(operand));
  if (operand.constant != constant) text += fmt::format(" {}={}", name, constant ? "dynamic" : "constant");
  return text;
}

std::string text_of(const Linear& op, const Problem& problem) {
  const Operand &x = problem.inputs[0], &w = problem.inputs[1];
  const Linear::Epilogue& end = op.epilogue;
  std::string text = fmt::format("linear m={} n={} k={} x={} w={} out={}", problem.output.rows(),
                                 w.shape[0] / (end.gated ? 2 : 1), x.shape.back(), x.dtype, w.dtype, op.out);
  text += unusual_text("x", x, Usually::rows) + unusual_text("w", w, Usually::dense_constant);
  const auto operand = [&](LinearSlot slot) { return problem.linear_operand(slot); };
  if (const Operand* bias = operand(LinearSlot::bias)) {
    text += bias->dtype == w.dtype ? " bias" : fmt::format(" bias={}", bias->dtype);
    text += unusual_text("bias", *bias, Usually::dense_constant);
  }
  if (end.gated) text += " gated";
  if (end.activation != Activation::none) text += fmt::format(" act={}", name_of(end.activation));
  if (const Operand* residual = operand(LinearSlot::residual)) {
    text += fmt::format(" residual={}", residual->dtype) + unusual_text("residual", *residual, Usually::rows);
  }
  if (end.rotated_heads > 0) {
    const Operand &cos = *operand(LinearSlot::cos), &sin = *operand(LinearSlot::sin);
    text += fmt::format(" rotated={}x{} angles={}", end.rotated_heads, cos.shape.back(), cos.dtype);
    if (sin.dtype != cos.dtype) text += fmt::format(" sin={}", sin.dtype);
    text += unusual_text("cos", cos, Usually::rows) + unusual_text("sin", sin, Usually::rows);
  }
  if (const Operand* weight = operand(LinearSlot::norm_weight))
    text += fmt::format(" feeds_norm={}/{}", weight->dtype, end.norm_run) +
            unusual_text("scale", *weight, Usually::dense_constant);
  if (const Operand* squares = operand(LinearSlot::squares))
    text += fmt::format(" normed={}/{}", squares->dtype, x.shape.back() / squares->shape.back()) +
            unusual_text("squares", *squares, Usually::rows);
  if (const Operand* scale = operand(LinearSlot::scale))
    text += " scaled" + unusual_text("scales", *scale, Usually::dense_constant);
  if (const Operand* scale = operand(LinearSlot::x_scale))
    text += " x_scaled" + (scale->contiguous() ? "" : " x_scale=" + strided_text(*scale));
  for (const LinearSlot slot : {LinearSlot::group_scale, LinearSlot::group_offset})
    if (const Operand* groups = operand(slot))
      text += fmt::format(" {}={}{}", name_of(slot), x.shape.back() / groups->shape.back(),
                          groups->dtype == DType::f32 ? "/f32" : "") +
              unusual_text(name_of(slot), *groups, Usually::dense_constant);
  if (const Operand* outliers = operand(LinearSlot::w_outliers))
    text += fmt::format(" outliers={}/{}", outliers->shape.back(), outliers->dtype) +
            unusual_text("w_outliers", *outliers, Usually::dense_constant) +
            unusual_text("x_outliers", *operand(LinearSlot::x_outliers), Usually::rows);
  if (end.normed != DType::bf16) text += fmt::format(" gives_norm={}", end.normed);
  if (end.factor != 1) text += fmt::format(" factor={}", end.factor);
  return text;
}

// Another op's key has all facts of its operands and fields.
std::string text_of_any(const Op& op, const std::vector<Operand>& inputs) {
  std::string text(name_of(op));
  for (const auto& operand : inputs) text += " " + operand_text(operand);
  if (auto fields = fields_to_string(op); !fields.empty()) text += " " + fields;
  return text;
}
template <class Any>
std::string text_of(const Any&, const Problem& problem) {
  return text_of_any(problem.op, problem.inputs);
}

// A row takes as long whichever of its columns are the outliers.
std::string text_of(const Quantize& op, const Problem& problem) {
  const std::string text = text_of_any(Quantize{.to = op.to, .group = op.group, .outliers = {}}, problem.inputs);
  return op.outliers.empty() ? text : fmt::format("{} outliers={}", text, op.outliers.size());
}

// Fields whose numbers choose no row: factors that measured scales of 8 bits bring, which differ from layer to layer.
constexpr std::string_view kScaled[] = {" factor=", " weight_offset="};

}  // namespace

std::string without_factors(std::string key) {
  for (const std::string_view field : kScaled)
    for (size_t at = key.find(field); at != std::string::npos; at = key.find(field, at + field.size())) {
      const size_t begin = at + field.size(), end = std::min(key.find_first_of(", ", begin), key.size());
      key.replace(begin, end - begin, "any");
    }
  return key;
}

std::string problem_key(const Problem& problem) {
  const std::string text =
      without_factors(std::visit([&](const auto& op) { return text_of(op, problem); }, problem.op));
  return problem.threads > 0 ? fmt::format("{} threads={}", text, problem.threads) : text;
}

std::string library_key(const Problem& problem) { return problem_key(problem) + " rows=library"; }

}  // namespace rung
