// What the skinny linear rows of all architectures take, and how their kernels' arguments say it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/kernel.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

constexpr int64_t kSquares = 4;                   // f32 in 16 bytes: that many squares are read together
constexpr int64_t kNormed = kSquares * kNormRun;  // and stand for that many columns

constexpr int64_t kSkinnyMostTokens = 64;

// x and w of one type that the row `takes`, w constant, operands that can be read several elements together.
Verdict supports_streamed(const Problem& problem, bool (*takes)(DType) = is_narrow);
// The same for few tokens, with what a norm takes and gives.
Verdict supports_skinny(const Problem& problem, bool (*takes)(DType) = is_narrow);

// ---- the fields of an argument that say how a layer ends; they have the same names in all kernels

template <class Arguments>
void set_skinny_angles(Arguments& a, const Call& call, const LinearShape& shape) {
  const Operand& cos = *call.problem.linear_operand(LinearSlot::cos);
  const Operand& sin = *call.problem.linear_operand(LinearSlot::sin);
  a.cos = address_of(call, LinearSlot::cos), a.cos_type = cos.dtype, a.cos_stride = cos.row_stride();
  a.sin = address_of(call, LinearSlot::sin), a.sin_type = sin.dtype, a.sin_stride = sin.row_stride();
  a.rotated = static_cast<uint32_t>(shape.rotated);
}

template <class Arguments>
void set_skinny_norms(Arguments& a, const Call& call, const LinearShape& shape) {
  const auto& op = call.problem.as<Linear>();
  a.scale = address_of(call, LinearSlot::norm_weight), a.squares = address_of(call, LinearSlot::squares);
  if (op.has(LinearSlot::norm_weight)) {
    const auto results = results_of(call.problem);
    a.scaled = call.output + results[1].offset, a.means = call.output + results[2].offset;
  }
  const Operand* squares = call.problem.linear_operand(LinearSlot::squares);
  if (!squares) return;
  a.eps = op.eps;
  a.squares_stride = static_cast<uint32_t>(squares->row_stride() / kSquares);
  a.squares_vectors = static_cast<uint32_t>(shape.k / kNormed);
  a.squares_share = static_cast<float>(kNormRun) / static_cast<float>(shape.k);
}

template <class Arguments>
void set_skinny_epilogue(Arguments& a, const Call& call, const LinearShape& shape) {
  const Problem& problem = call.problem;
  a.activation = static_cast<int32_t>(problem.as<Linear>().activation);
  a.out = call.output, a.out_type = problem.output.dtype;
  set_addends(a, call);
  if (shape.rotated > 0) set_skinny_angles(a, call, shape);
  set_skinny_norms(a, call, shape);
}

}  // namespace rung::gpu
