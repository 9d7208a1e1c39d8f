// Writes expressions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/function_text.hpp"

#include <cmath>
#include <set>

#include "kernels/generated/gpu/body_text.hpp"
#include "kernels/generated/lower.hpp"

namespace rung::gpu {
namespace {

struct FunctionText {
  std::string_view name, operands, f32;
};

constexpr FunctionText kUnary[] = {
#define RUNG_UNARY(kind, word, takes, use, f64, f32, integer) {#kind, "float x", #f32},
#include "ir/functions.inc"
};
constexpr FunctionText kBinary[] = {
#define RUNG_BINARY(kind, word, takes, infinity, order, use, f64, f32, integer) {#kind, "float x, float y", #f32},
#include "ir/functions.inc"
};

using Operands = std::array<std::string, 3>;

std::string text_of(UnaryKind kind, const Operands& x) {
  return fmt::format("f_{}({})", kUnary[static_cast<size_t>(kind)].name, x[0]);
}
std::string text_of(BinaryKind kind, const Operands& x) {
  return fmt::format("f_{}({}, {})", kBinary[static_cast<size_t>(kind)].name, x[0], x[1]);
}
std::string text_of(const Round& round, const Operands& x) {
  return fmt::format("to_float(from_float<{}>({}))", element_type(round.to), x[0]);
}
std::string name_of_function(FormulaKind kind) { return fmt::format("formula_{}", name_of(kind)); }
std::string text_of(FormulaKind kind, const Operands& x) {
  return fmt::format("{}({}{}{})", name_of_function(kind), x[0], x[1].empty() ? "" : ", ", x[1]);
}
std::string text_of(const Select&, const Operands& x) {
  return fmt::format("({} != 0.0f ? {} : {})", x[0], x[1], x[2]);
}

void define(std::string& text, const FunctionText& f) {
  text += fmt::format("__device__ inline float f_{}({}) {{ return {}; }}\n", f.name, f.operands, f.f32);
}

std::string definition_of(FormulaKind kind) {
  const Operand number{.dtype = DType::f32, .shape = {1}, .strides = {1}};
  const size_t operands = facts_of(kind).operands;
  const Problem problem{.op = Formula{kind}, .inputs = std::vector<Operand>(operands, number), .output = number};
  const auto body = generated::lower(problem, generated::VectorSet::avx2);
  assert(body && "formulas have primitives");
  return function_definition(name_of_function(kind), static_cast<int>(operands), *body);
}

}  // namespace

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return "Bf16";
    case DType::f16:
      return "F16";
    case DType::boolean:
      return "Flag";
    case DType::i64:
      return "int64_t";
    case DType::i32:
      return "int";
    case DType::i8:
      return "signed char";
    case DType::u8:
      return "unsigned char";
    default:
      return "float";
  }
}

std::string literal_text(float value) {
  if (std::isnan(value)) return "float_of(0x7fc00000u)";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  return fmt::format("({:a}f)", value);
}

std::string call_text(const PointwiseFunction& function, const std::array<std::string, 3>& operands) {
  return std::visit([&](const auto& which) { return text_of(which, operands); }, function);
}

std::string function_definitions(const RegionProgram& program) {
  std::string text;
  for (const FunctionText& f : kUnary) define(text, f);
  for (const FunctionText& f : kBinary) define(text, f);
  std::set<FormulaKind> formulas;
  for (const RegionInstruction& instruction : program.instructions)
    if (const auto* element = std::get_if<PointwiseInstruction>(&instruction))
      if (const auto* formula = std::get_if<FormulaKind>(&element->function)) formulas.insert(*formula);
  for (const FormulaKind formula : formulas)
    if (facts_of(formula).takes != FormulaTakes::integers) text += definition_of(formula);
  return text;
}

std::string_view neutral_text(RowKind kind) {
  switch (kind) {
    case RowKind::max:
      return "(-INFINITY)";
    case RowKind::min:
      return "INFINITY";
    case RowKind::product:
      return "1.0f";
    case RowKind::argmax:
      return "Largest{-INFINITY, INFINITY}";
    default:
      return "0.0f";
  }
}

std::string part_text(RowKind kind, std::string_view x, std::string_view at) {
  return kind == RowKind::argmax ? fmt::format("Largest{{{}, float({})}}", x, at) : std::string(x);
}

std::string join_text(RowKind kind, std::string_view x, std::string_view y) {
  switch (kind) {
    case RowKind::max:
      return fmt::format("max_of({}, {})", x, y);
    case RowKind::min:
      return fmt::format("min_of({}, {})", x, y);
    case RowKind::product:
      return fmt::format("{} * {}", x, y);
    case RowKind::argmax:
      return fmt::format("first_largest({}, {})", x, y);
    default:
      return fmt::format("{} + {}", x, y);
  }
}

std::string_view join_type(ScanKind kind) { return kind == ScanKind::sum ? "Sum" : "Product"; }
std::string_view neutral_text(ScanKind kind) { return kind == ScanKind::sum ? "0.0f" : "1.0f"; }

}  // namespace rung::gpu
