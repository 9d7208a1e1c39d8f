// The prologue and epilogue of linear layers in the arguments of all their kernels, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/dtype.hpp"
#include "ir/op_kinds.hpp"

namespace rung::gpu {

// The number of neighbouring columns whose squares share a mean: Linear::Epilogue::norm_run in skinny rows.
constexpr int64_t kNormRun = 32;

// A norm before the products multiplies them by a factor of their row, 1 / sqrt(sum of its squares * share + eps).
struct LinearPrologue {
  uint64_t squares = 0;                              // address of rows of f32; 0: no factor
  uint32_t squares_stride = 0, squares_vectors = 0;  // units of 16 bytes from row to row, and in each row
  float squares_share = 0, eps = 0;
};

// y = factor * (activation(products + bias) + residual); gated: factor * (activation(gate) * up + residual), where gate
// and up are the two halves of products + bias; rotated: products + bias with its first heads rotated (RoPE). Products
// of 8-bit operands are multiplied by the scales of their row of w and of their token first. Partners are columns that
// are finished together: gate and up, or the two halves of a head. With a scale of a norm, n is a multiple of the
// row's run, and there are two more results: scaled[m, n] = y * scale, and the means of y^2 of each run, in f32.
struct LinearEpilogue {
  uint64_t bias = 0, residual = 0, out = 0;  // addresses; 0: none. Rows of out are dense
  int64_t residual_stride = 0;               // elements from row to row
  DType bias_type{}, residual_type{}, out_type{};
  Activation activation = Activation::none;
  bool gated = false;
  uint32_t half = 0;                       // rows of w between partners; 0: no pairs
  uint32_t rotated = 0;                    // rotated columns of out; a multiple of 2 * half
  uint64_t cos = 0, sin = 0;               // addresses: 2 * half elements for each token
  int64_t cos_stride = 0, sin_stride = 0;  // elements from row to row
  DType cos_type{}, sin_type{};
  uint64_t w_scale = 0, x_scale = 0;  // addresses of f32, for each row of w and for each token; 0: none
  float factor = 1;                   // of results of 8 bits
  uint64_t scale = 0;                 // address of n weights, in f32, of the next norm; 0: there is none
  uint64_t scaled = 0, means = 0;     // addresses of the two more results
  DType scaled_type = DType::bf16;
};

}  // namespace rung::gpu
