// The end of one result of a product of any strides and types: its operands, and what becomes of its sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/float_bits.cuh"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"
#include "kernels/gpu/pointwise/activation.cuh"

namespace rung::gpu {

// Returns the other row of w, and of the bias, that the result's column needs: up's, or that of the head's other half.
__device__ inline uint32_t partner_of(const TiledArguments& a, uint32_t column) {
  if (a.end.gated) return a.n + column;
  if (column >= a.end.rotated) return column;
  return column / a.end.half % 2 == 0 ? column + a.end.half : column - a.end.half;
}

// The parts that the ends of a kernel's results may have: partners, and scales of 8-bit operands.
struct EndKind {
  bool pairs = false, scales = false;
};
// The operands of the end of one result; a scale is w's times x's.
struct ResultEnds {
  FloatBits bias, partner_bias, residual, cos, sin;
  float scale = 1, partner_scale = 1;
};
template <EndKind kind>
__device__ inline void load_scales(ResultEnds& ends, const TiledArguments& a, uint32_t row, uint32_t column) {
  const float of_x = a.end.x_scale ? element<const float>(a.end.x_scale, row) : 1.0f;
  const auto scale = [&](uint32_t of) { return a.end.w_scale ? element<const float>(a.end.w_scale, of) * of_x : of_x; };
  ends.scale = scale(column);
  if (kind.pairs) ends.partner_scale = scale(partner_of(a, column));
}
// `begin`: the row's first elements in x, the residual, cos and sin, as TiledArguments::rows locates them.
template <EndKind kind>
__device__ inline ResultEnds load_ends(const TiledArguments& a, const int64_t (&begin)[4], uint32_t row,
                                       uint32_t column) {
  ResultEnds ends;
  if constexpr (kind.scales) load_scales<kind>(ends, a, row, column);
  const auto bias = [&](uint32_t of) {
    return a.end.bias ? load_bits(a.end.bias, a.end.bias_type, of * a.bias_step) : FloatBits{};
  };
  ends.bias = bias(column);
  if (a.end.residual)
    ends.residual = load_bits(a.end.residual, a.end.residual_type, begin[1] + column * a.residual_step);
  if (!kind.pairs) return ends;
  ends.partner_bias = bias(partner_of(a, column));
  if (column >= a.end.rotated) return ends;
  const uint32_t angle = column % (2 * a.end.half);
  ends.cos = load_bits(a.end.cos, a.end.cos_type, begin[2] + angle * a.cos_step);
  ends.sin = load_bits(a.end.sin, a.end.sin_type, begin[3] + angle * a.sin_step);
  return ends;
}

// Returns the result of a column from its sum and its partner's.
template <EndKind kind>
__device__ inline float end_result(const TiledArguments& a, const ResultEnds& ends, uint32_t column, float sum,
                                   float partner_sum) {
  if constexpr (kind.scales) sum *= ends.scale, partner_sum *= ends.partner_scale;
  float y = activate(a.end.activation, sum + ends.bias.value(a.end.bias_type));
  if (kind.pairs) {
    const float partner = partner_sum + ends.partner_bias.value(a.end.bias_type);
    if (a.end.gated) y *= partner;
    if (column < a.end.rotated)
      y = y * ends.cos.value(a.end.cos_type) +
          (column % (2 * a.end.half) < a.end.half ? -partner : partner) * ends.sin.value(a.end.sin_type);
  }
  y += ends.residual.value(a.end.residual_type);
  return kind.scales ? y * a.end.factor : y;
}

}  // namespace rung::gpu
