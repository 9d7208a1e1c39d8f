// Programs of one operand that are a straight line between two limits, or x times such a line: clip, hard sigmoid,
// hard swish.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/pointwise.hpp"
#include "kernels/clipped_line.hpp"

namespace rung {

// Returns the line that the program computes, but for rounding; none: it computes something else.
std::optional<ClippedLine> clipped_line_of(const PointwiseProgram& program);

}  // namespace rung
