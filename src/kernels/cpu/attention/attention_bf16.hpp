// The matrix product of attention on bf16 operands, which each instruction set provides.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/attention/attention.hpp"

namespace rung::cpu {

// c[rows][16 panels] = a[rows][2 pairs] b, where a is row-major and b in panels of [pair][16 columns][2]; pairs is a
// multiple of 16. Strides are in elements; b_stride is the distance of panels, which may have more pairs.
struct Product {
  const uint16_t* a;
  int64_t a_stride;
  const uint16_t* b;
  int64_t b_stride;
  int64_t pairs;
  float* c;
  int64_t c_stride;
  int64_t rows, panels;
  bool adds;  // to what c has
};

}  // namespace rung::cpu
