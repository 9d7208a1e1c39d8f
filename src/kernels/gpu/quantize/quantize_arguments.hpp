// The argument of the kernels that quantize rows, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"

namespace rung::gpu {

constexpr uint32_t kQuantizeHeld = 4;  // vectors that a thread keeps between finding the scale and using it
constexpr uint32_t kQuantizeMostThreads = 512;

// A variant of the kernel: x's type, whether results are i8 or the machine's e4m3, and the elements of a vector.
struct QuantizeConfig {
  DType x;
  bool to_i8;
  uint32_t vector;  // 8, or 4 of f32, or 1: rows of any length and place
  bool operator==(const QuantizeConfig&) const = default;
};

// One block takes a row: its scale is its largest magnitude times 1 / most, 1 for a row of zeros.
struct QuantizeArguments {
  uint64_t x, out, scales;  // addresses of rows of x, of dense rows of 8 bits, and of an f32 for each
  int64_t x_row;            // elements from row to row of x
  uint32_t vectors;         // of a row
  float most;               // the largest number of the result's type
};

}  // namespace rung::gpu
