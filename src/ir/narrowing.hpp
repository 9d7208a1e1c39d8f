// How an op's f32 result may be stored in a float type of 16 bits, where a precision asks for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung {

enum class Narrowing : uint8_t {
  stays,     // f32: statistics, sums and what decides by comparing
  products,  // always: it multiplies narrow operands, and adds up in f32 either way
  norm,      // wherever a product may read it
  with_all,  // where all the float data that it moves or computes with is narrow
  with_any,  // where any of that is
  converts,  // a cast: where its operand is narrow, it is left out
};

}  // namespace rung
