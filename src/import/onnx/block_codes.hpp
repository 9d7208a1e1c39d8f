// Weights of few bits, several in a byte, whose blocks of columns have a scale and a zero point each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>

#include "ir/tensor.hpp"

namespace rung::onnx {

using SharedWeight = std::shared_ptr<const Weight>;

// Returns numbers of `bits` bits, which divide 8, as u8 of a shape. Each row, along the last axis, begins with a byte
// of its own, and the first number has the lowest bits. `packed` is u8 of as many bytes as that takes.
SharedWeight unpacked_codes(SharedWeight packed, int bits, const Shape& to);

// (code - zero) scale of a matrix [N,K].
struct BlockCodes {
  SharedWeight codes;   // u8[N, at least K]
  SharedWeight scales;  // floats, for each row as many as it has blocks
  SharedWeight zeros;   // u8 or floats, as many as scales; null: all are `zero`
  float zero;
  int64_t block;             // columns
  SharedWeight packed = {};  // the codes, as the file has them, if they have 4 bits
};
// Returns floats of a type [N,K], which are made when they are loaded: a GroupedWeight where products can read its
// parts.
SharedWeight dequantised_blocks(BlockCodes blocks, const Type& type);

// Floats of a type [N,K]: those that codes of 4 bits name in a table, times the scale of each run of `block` of them,
// row after row. The upper half of a byte comes first.
struct NamedFloats {
  SharedWeight codes;   // u8, two in each
  SharedWeight scales;  // floats
  std::array<float, 16> table;
  int64_t block;
};
// Made when they are loaded.
SharedWeight named_floats(NamedFloats floats, const Type& type);

}  // namespace rung::onnx
