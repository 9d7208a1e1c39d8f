// The rules by which an op's f32 result may be stored in a 16-bit float type, if a precision asks for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class Narrowing : uint8_t {
  stays,     // f32: statistics, sums and comparisons that decide
  products,  // always: it multiplies narrow operands, and adds up in f32 either way
  norm,      // if a product may read it
  with_all,  // if all the float data that it moves or computes with is narrow
  with_any,  // if any of that data is narrow
  converts,  // a cast: left out if its operand is narrow
};

}  // namespace rung
