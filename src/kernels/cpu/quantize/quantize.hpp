// The arguments of the vectorised quantize, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "ir/dtype.hpp"

namespace rung::cpu {

// Rows of x, `x_stride` elements apart, become dense rows of i8 and a scale each. The scale leaves outliers out, which
// become zeros beside dense rows of their own.
struct QuantizeWork {
  DType x_type;  // f32, bf16 or f16
  const void* x;
  int64_t x_stride, rows, width;
  int8_t* to;
  float* scales;
  std::span<const int64_t> outliers;  // columns, ascending
  float* outlier_values;
};

namespace avx2 {
void quantize(const QuantizeWork& work);
}
namespace avx512 {
void quantize(const QuantizeWork& work);
}

}  // namespace rung::cpu
