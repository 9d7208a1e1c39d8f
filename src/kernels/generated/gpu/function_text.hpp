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
// Returns definitions of the functions that a program may call: by the f32 expressions of ir/functions.inc, and those
// of its formulas, over f32 or over integers of this type, by the primitives that processors' vectors compute them
// with.
std::string function_definitions(const RegionProgram& program, DType formulas_of);
// Returns what a reduction begins with, and how it joins two values of `x` and `y`: "max_of(x, y)".
std::string_view neutral_text(RowKind kind);
std::string join_text(RowKind kind, std::string_view x, std::string_view y);

}  // namespace rung::gpu
