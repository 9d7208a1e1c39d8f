// The arguments of the tiled product, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_ends.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// The product sums x[z, m, k] w[z, n, k] over k; when gated, w and bias hold n rows of the gate and then n of up.
struct TiledArguments {
  uint64_t x, w;                                         // addresses
  LinearEpilogue end;                                    // its strides are not used
  Nest<2> batch;                                         // locates matrix z in x and w
  Nest<4> rows;                                          // locates row m in x, the residual, cos and sin
  int64_t x_step, w_row, w_step;                         // elements from one k to the next, and from one n to the next
  int64_t bias_step, residual_step, cos_step, sin_step;  // from one n to the next
  uint32_t m, n, k;
  DType x_type, w_type;
};

// The same where columns of w have scales in groups; w has numbers of 4 bits if there are offsets, two in an element.
struct TiledGroupArguments {
  TiledArguments of;
  uint64_t scale, offset;  // addresses of i8 [rows of w, k / columns]; 0: no offsets
  uint32_t columns;        // of a group
};

constexpr uint32_t kTile = 64, kSmallTile = 32;  // rows and columns of the result per block

}  // namespace rung::gpu
