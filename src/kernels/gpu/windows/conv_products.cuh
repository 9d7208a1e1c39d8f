// The products of one warp of a convolution's block: matrix instructions for 16-bit types, f32 for f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/windows/conv_tiles.hpp"

namespace rung::gpu {

template <ConvTile tile, bool is_16_bit = tile.type != DType::f32>
struct ConvProducts;

template <ConvTile tile>
struct ConvProducts<tile, true> {
  using T = Element<tile.type>;
  static constexpr int kRows = tile.warp_rows() / 16, kColumns = tile.warp_columns() / 16;
  FragmentC sums[kRows][kColumns * kFragmentsOf16];

  // Adds the products of the warp's lines of both matrices, of `depth` elements.
  template <int depth>
  __device__ void add(const T* x, const T* w) {
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      FragmentA a[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) a[i] = load_a(x + i * 16 * tile.pitch() + k, tile.pitch());
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        FragmentB b[kFragmentsOf16];
        load_b_by_columns(b, w + j * 16 * tile.pitch() + k, tile.pitch());
#pragma unroll
        for (int i = 0; i < kRows; ++i) multiply_add_16<T>(sums[i] + j * kFragmentsOf16, a[i], b);
      }
    }
  }
  // Stores the sums to rows of f32 in shared memory.
  __device__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int own = 0; own < kLaneRows; ++own)
#pragma unroll
        for (int j = 0; j < kColumns * kFragmentsOf16; ++j)
          store_row(to + (i * 16 + own * kRowStep + fragment_row(lane())) * tile.sums_pitch() + j * kFragmentColumns,
                    sums[i][j], own);
  }
};

// A lane's lines of either matrix lie apart, so that the lanes of a warp read eight neighbouring lines at once.
template <ConvTile tile>
struct ConvProducts<tile, false> {
  static constexpr int kRowLanes = 8, kColumnLanes = kLanes / kRowLanes;
  static constexpr int kRows = tile.warp_rows() / kRowLanes, kColumns = tile.warp_columns() / kColumnLanes;
  float sums[kRows][kColumns] = {};

  __device__ static int row(int i) { return lane() / kColumnLanes + i * kRowLanes; }
  __device__ static int column(int j) { return lane() % kColumnLanes + j * kColumnLanes; }

  template <int depth>
  __device__ void add(const float* x, const float* w) {
#pragma unroll 2
    for (int k = 0; k < depth; k += 4) {
      float4 a[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) a[i] = *reinterpret_cast<const float4*>(x + row(i) * tile.pitch() + k);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float4 b = *reinterpret_cast<const float4*>(w + column(j) * tile.pitch() + k);
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          sums[i][j] = fmaf(a[i].w, b.w, fmaf(a[i].z, b.z, fmaf(a[i].y, b.y, fmaf(a[i].x, b.x, sums[i][j]))));
      }
    }
  }
  __device__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j) to[row(i) * tile.sums_pitch() + column(j)] = sums[i][j];
  }
};

}  // namespace rung::gpu
