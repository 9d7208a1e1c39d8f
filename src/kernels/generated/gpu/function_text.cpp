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
std::string text_of(const Select&, const Operands& x) {
  return fmt::format("({} != 0.0f ? {} : {})", x[0], x[1], x[2]);
}

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

std::string call_text(const PointwiseFunction& function, const std::array<std::string, 3>& operands) {
  return std::visit([&](const auto& which) { return text_of(which, operands); }, function);
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
