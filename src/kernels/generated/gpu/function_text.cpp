// Writes expressions.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/gpu/function_text.hpp"

#include <cmath>

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

void define(std::string& text, const FunctionText& f) {
  text += fmt::format("__device__ inline float f_{}({}) {{ return {}; }}\n", f.name, f.operands, f.f32);
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
      return "Int64";
    default:
      return "float";
  }
}

std::string literal_text(float value) {
  if (std::isnan(value)) return "float_of(0x7fc00000u)";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  return fmt::format("({:a}f)", value);
}

std::string call_text(const PointwiseFunction& function, const std::array<std::string, 3>& x) {
  if (const auto* unary = std::get_if<UnaryKind>(&function))
    return fmt::format("f_{}({})", kUnary[static_cast<size_t>(*unary)].name, x[0]);
  if (const auto* binary = std::get_if<BinaryKind>(&function))
    return fmt::format("f_{}({}, {})", kBinary[static_cast<size_t>(*binary)].name, x[0], x[1]);
  if (const auto* round = std::get_if<Round>(&function))
    return fmt::format("to_float(from_float<{}>({}))", element_type(round->to), x[0]);
  return fmt::format("({} != 0.0f ? {} : {})", x[0], x[1], x[2]);
}

const std::string& function_definitions() {
  static const std::string kText = [] {
    std::string text;
    for (const FunctionText& f : kUnary) define(text, f);
    for (const FunctionText& f : kBinary) define(text, f);
    return text;
  }();
  return kText;
}

std::string_view neutral_text(RowKind kind) {
  switch (kind) {
    case RowKind::max:
      return "(-INFINITY)";
    case RowKind::min:
      return "INFINITY";
    case RowKind::product:
      return "1.0f";
    default:
      return "0.0f";
  }
}

std::string join_text(RowKind kind, std::string_view x, std::string_view y) {
  switch (kind) {
    case RowKind::max:
      return fmt::format("max_of({}, {})", x, y);
    case RowKind::min:
      return fmt::format("min_of({}, {})", x, y);
    case RowKind::product:
      return fmt::format("{} * {}", x, y);
    default:
      return fmt::format("{} + {}", x, y);
  }
}

}  // namespace rung::gpu
