// The text of a body of primitives: what is recorded for processors' vectors, for one element of a GPU's thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kernels/generated/primitives.hpp"

namespace rung::gpu {

// Returns the definition of a device function of f32: operand i of the body is its parameter x<i>, and what the body
// stores is its result. The body loads no integers, and has no steps that are AVX-512's alone.
std::string function_definition(std::string_view name, int operands, const generated::Body& body);

}  // namespace rung::gpu
