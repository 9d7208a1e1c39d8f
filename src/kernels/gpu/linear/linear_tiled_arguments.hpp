// What the tiled product takes, on host and device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "kernels/gpu/nest.hpp"

namespace rung::gpu {

// out[z, m, n] = activation(sum over k of x[z, m, k] w[z, n, k] + bias[n]) (* up, when gated) + residual[m, n]; when
// gated, w and bias hold n rows of the gate and then n of up. Rotated:
// columns below `rotated` are the heads of 2 * half columns that the row's angles rotate (RoPE).
struct TiledArguments {
  uint64_t x, w, bias, residual, cos, sin, out;          // 0: absent; out is dense
  Nest<2> batch;                                         // where matrix z begins in x and w
  Nest<4> rows;                                          // where row m begins in x, the residual, cos and sin
  int64_t x_step, w_row, w_step;                         // elements from one k to the next, and from one n to the next
  int64_t bias_step, residual_step, cos_step, sin_step;  // from one n to the next
  uint32_t m, n, k;
  uint32_t half, rotated;
  int32_t activation;  // rung::Activation
  DType x_type, w_type, bias_type, residual_type, cos_type, sin_type, out_type;
  bool gated;
};

constexpr uint32_t kTile = 64;  // rows and columns of the result per block

}  // namespace rung::gpu
