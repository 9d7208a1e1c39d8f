// The end of linear layers on CDNA, where a thread has four neighbouring results in registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/cdna/matrix_f8.cuh"
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"
#include "kernels/gpu/linear/linear_ends.cuh"
#include "kernels/gpu/quantize/byte_elements.cuh"

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

// With kScales, products are of 8 bits, and results may be.
template <CdnaEpilogue kEpilogue, bool kScales>
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
  // Returns the sums of four columns from `column` on, which are neighbours or partners of the place's, with their
  // scales.
  __device__ float4 scaled(float4 sum, Place at, uint32_t column) const {
    if constexpr (!kScales) return sum;
    const float of_x = a.end.x_scale ? element<const float>(a.end.x_scale, at.token) : 1.0f;
    return sum * load4(a.end.w_scale, DType::f32, column) * of_x;
  }
  __device__ void store(int64_t to, float4 y) const {
    if (kScales && is_e4m3(a.end.out_type))
      element<uint32_t>(a.end.out, to / 4) = pack_4<f8e4m3>(y * a.end.factor);
    else
      store_quad(a.end.out, a.end.out_type, to, y);
  }

  __device__ void finish_row(Activation activation, Place at, float4 sum, float4 partner) const {
    float4 y = activate4(activation, scaled(sum, at, at.column) + bias(at.column));
    if (kEpilogue == CdnaEpilogue::gated)
      y = y * (scaled(partner, at, a.n + at.column) + bias(a.n + at.column));
    store(to(at), y + residual(at));
  }
  __device__ void finish_rotated(Place at, float4 sum, float4 partner) const {
    const float4 x = scaled(sum, at, at.column) + bias(at.column);
    const float4 upper = scaled(partner, at, at.column + a.end.half) + bias(at.column + a.end.half);
    float4 y = x, upper_y = upper;
    if (at.column < a.end.rotated) {
      const Angles by = load_angles(a.end, {a.end.cos_type, a.end.sin_type}, at.token, at.column);
      y = rotate_lower(by, x, upper), upper_y = rotate_upper(by, x, upper);
    }
    store(to(at), y);
    store(to(at) + a.end.half, upper_y);
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
