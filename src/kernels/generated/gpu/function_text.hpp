// Expressions and types in the text of generated kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/region.hpp"

namespace rung::gpu {

// Returns the type of elements in memory: "Bf16".
std::string_view element_type(DType dtype);
// Returns a literal that has exactly this value: "0x1p-1f".
std::string literal_text(float value);
// Returns the call of a function over operands given as text: "f_sigmoid(r0)".
std::string call_text(const PointwiseFunction& function, const std::array<std::string, 3>& operands);
// Returns definitions of the functions that a program may call over f32: by the expressions of ir/functions.inc, and
// those of its formulas by the primitives that processors' vectors compute them with.
std::string function_definitions(const RegionProgram& program);
// Returns what a reduction begins with, the part of value `x` at place `at`, and how two parts `x` and `y` become one:
// "max_of(x, y)".
std::string_view neutral_text(RowKind kind);
std::string part_text(RowKind kind, std::string_view x, std::string_view at);
std::string join_text(RowKind kind, std::string_view x, std::string_view y);
// Returns the type of a function that joins values of a scan: "Sum"; and what the scan begins with.
std::string_view join_type(ScanKind kind);
std::string_view neutral_text(ScanKind kind);

}  // namespace rung::gpu
