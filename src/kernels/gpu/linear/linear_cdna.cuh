// The end of linear layers on CDNA, where a thread has four neighbouring results in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/cdna/matrix.cuh"
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"
#include "kernels/gpu/linear/linear_ends.cuh"

namespace rung::gpu {

static_assert(kCdnaTile == kFragmentColumns && kRowStep == kCdnaTile);
constexpr uint32_t kChunkBytes = kLanes * 16;  // of a tile of w

// The machine adds a base that all lanes share, in scalar registers, and a distance of each lane. A loop must move the
// distance: where the distance stays, the compiler makes 64-bit addresses by vector instructions.
__device__ inline uint4 load_at(const char* base, uint32_t distance) {
  return *reinterpret_cast<const uint4*>(base + distance);
}

// Stores as store4() does, but with one instruction for both types of 16 bits.
__device__ inline void store_quad(uint64_t base, DType type, int64_t at, float4 v) {
  if (type == DType::f32) {
    element<float4>(base, at / 4) = v;
  } else {
    const bool is_bf16 = type == DType::bf16;
    element<WordPair>(base, at / 4) = WordPair{is_bf16 ? pack<bf16>(v.x, v.y) : pack<f16>(v.x, v.y),
                                               is_bf16 ? pack<bf16>(v.z, v.w) : pack<f16>(v.z, v.w)};
  }
}

struct Place {
  uint32_t token, column;  // of out
};

template <CdnaEpilogue kEpilogue>
struct CdnaEnd {
  const LinearCdnaArguments& a;

  // Returns the column of out of number `lower` of all lower partners.
  __device__ uint32_t column_of(uint32_t lower) const {
    return kEpilogue == CdnaEpilogue::rotated ? lower + lower / a.end.half * a.end.half : lower;
  }
  __device__ bool is_inside(Place at) const { return at.token < a.m && at.column < a.n; }
  __device__ float4 bias(uint32_t at) const { return load_bias(a.end, at); }
  __device__ float4 residual(Place at) const { return load_residual(a.end, at.token, at.column); }
  __device__ int64_t to(Place at) const { return int64_t{at.token} * a.n + at.column; }

  __device__ void finish_row(Activation activation, Place at, float4 sum, float4 partner) const {
    float4 y = activate4(activation, sum + bias(at.column));
    if (kEpilogue == CdnaEpilogue::gated) y = y * (partner + bias(a.n + at.column));
    store_quad(a.end.out, a.end.out_type, to(at), y + residual(at));
  }
  __device__ void finish_rotated(Place at, float4 sum, float4 partner) const {
    const float4 x = sum + bias(at.column), upper = partner + bias(at.column + a.end.half);
    float4 y = x, upper_y = upper;
    if (at.column < a.end.rotated) {
      const Angles by = load_angles(a.end, {a.end.cos_type, a.end.sin_type}, at.token, at.column);
      y = rotate_lower(by, x, upper), upper_y = rotate_upper(by, x, upper);
    }
    store_quad(a.end.out, a.end.out_type, to(at), y);
    store_quad(a.end.out, a.end.out_type, to(at) + a.end.half, upper_y);
  }
  // Finishes four columns; `partner` is used only for pairs.
  __device__ void finish(Activation activation, Place at, float4 sum, float4 partner) const {
    if constexpr (kEpilogue == CdnaEpilogue::rotated)
      finish_rotated(at, sum, partner);
    else
      finish_row(activation, at, sum, partner);
  }
};

}  // namespace rung::gpu
