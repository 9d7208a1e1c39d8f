// The end of one result of a product of any strides and types: its operands, and what becomes of its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"
#include "kernels/gpu/pointwise/activation.cuh"

namespace rung::gpu {

// Returns the other row of w, and of the bias, that the result's column needs: up's, or that of the head's other half.
__device__ inline uint32_t partner_of(const TiledArguments& a, uint32_t column) {
  if (a.end.gated) return a.n + column;
  if (column >= a.end.rotated) return column;
  return column / a.end.half % 2 == 0 ? column + a.end.half : column - a.end.half;
}

// A float of a type known only at run time, as it is in memory. A conversion in the branch that loads would wait there:
// so several are loaded before the first is converted.
struct FloatBits {
  uint32_t bits = 0;
  __device__ float value(DType type) const {
    if (type == DType::f32) return as_float(bits);
    float both[2];
    unpack_pair(bits, type, both);
    return both[0];
  }
};
__device__ inline FloatBits load_bits(uint64_t base, DType type, int64_t at) {
  return {type == DType::f32 ? element<const uint32_t>(base, at) : element<const uint16_t>(base, at)};
}

// The operands of the end of one result.
struct ResultEnds {
  FloatBits bias, partner_bias, residual, cos, sin;
};
// `begin`: the row's first elements in x, the residual, cos and sin, as TiledArguments::rows locates them.
template <bool kPairs>
__device__ inline ResultEnds load_ends(const TiledArguments& a, const int64_t (&begin)[4], uint32_t column) {
  ResultEnds ends;
  const auto bias = [&](uint32_t of) {
    return a.end.bias ? load_bits(a.end.bias, a.end.bias_type, of * a.bias_step) : FloatBits{};
  };
  ends.bias = bias(column);
  if (a.end.residual)
    ends.residual = load_bits(a.end.residual, a.end.residual_type, begin[1] + column * a.residual_step);
  if (!kPairs) return ends;
  ends.partner_bias = bias(partner_of(a, column));
  if (column >= a.end.rotated) return ends;
  const uint32_t angle = column % (2 * a.end.half);
  ends.cos = load_bits(a.end.cos, a.end.cos_type, begin[2] + angle * a.cos_step);
  ends.sin = load_bits(a.end.sin, a.end.sin_type, begin[3] + angle * a.sin_step);
  return ends;
}

// Returns the result of a column from its sum and its partner's.
template <bool kPairs>
__device__ inline float end_result(const TiledArguments& a, const ResultEnds& ends, uint32_t column, float sum,
                                   float partner_sum) {
  float y = activate(a.end.activation, sum + ends.bias.value(a.end.bias_type));
  if (kPairs) {
    const float partner = partner_sum + ends.partner_bias.value(a.end.bias_type);
    if (a.end.gated) y *= partner;
    if (column < a.end.rotated)
      y = y * ends.cos.value(a.end.cos_type) +
          (column % (2 * a.end.half) < a.end.half ? -partner : partner) * ends.sin.value(a.end.sin_type);
  }
  return y + ends.residual.value(a.end.residual_type);
}

}  // namespace rung::gpu
