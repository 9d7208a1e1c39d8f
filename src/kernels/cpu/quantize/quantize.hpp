// The arguments of the vectorised quantize, in plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "ir/dtype.hpp"

namespace rung::cpu {

// Rows of x, `x_stride` elements apart, become dense rows of i8 and a scale each.
struct QuantizeWork {
  DType x_type;  // f32, bf16 or f16
  const void* x;
  int64_t x_stride, rows, width;
  int8_t* to;
  float* scales;
};

namespace avx2 {
void quantize(const QuantizeWork& work);
}
namespace avx512 {
void quantize(const QuantizeWork& work);
}

}  // namespace rung::cpu
