// Products of 8-bit integers as ONNX's operators sum them: exactly, in i32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/onnx/call.hpp"

namespace rung::onnx {

// Numbers of 8 bits, and what is taken from each; none: nothing.
struct Integers {
  NodeId values;
  std::optional<NodeId> zero;
};
Integers integers_at(const Call& call, size_t values, size_t zero);

// a b, i32. A vector of zero points is one for each row of a, or for each column of b.
NodeId integer_product(const Call& call, const Integers& a, const Integers& b);
// A convolution by the call's attributes, i32, around which x has its zero point; w may have one for each result.
NodeId integer_convolution(const Call& call, const Integers& x, const Integers& w);

}  // namespace rung::onnx
