// Linear layers of few tokens in f32, without tensor cores, which would round: a tile of tokens reads every weight
// once, and the loads of the first weights start before the block waits for the layer's producers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_fma_arguments.hpp"
#include "kernels/gpu/linear/linear_ends.cuh"

namespace rung::gpu {

// A block works on its tile and its part of K. A lane multiplies kRows tokens, kTokenLanes apart, by 8 neighbouring
// columns.
template <FmaTile tile>
struct LinearFma {
  static constexpr FmaTile kTile = tile;
  static constexpr uint32_t kRows = kTile.rows, kTokenLanes = kTile.token_lanes(), kColumnLanes = kLanes / kTokenLanes;
  static constexpr uint32_t kThreads = kTile.threads(), kWarpColumns = kTile.warp_columns(kLanes);
  static constexpr uint32_t kTokens = kTile.tokens(), kColumns = kTile.columns(kLanes);
  static constexpr uint32_t kParts = kTile.parts(kLanes);  // of a chunk of K, one for a warp
  using Copies = CopyGroup<0>;  // a thread's number of copies depends on the depth of a chunk
  static constexpr uint32_t kSumPitch = FmaShared::pitch(kColumns), kQuads = kColumns / 4;

  const LinearFmaArguments& a;
  float* shared;
  uint32_t split, rank, first_token, first_column;
  uint32_t first_chunk, chunks, pitch;

  __device__ LinearFma(const LinearFmaArguments& arguments, float* memory) : a(arguments), shared(memory) {
    split = 1u << a.split_bits;
    rank = blockIdx.x & (split - 1);
    first_column = (blockIdx.x >> a.split_bits) * kColumns;
    first_token = blockIdx.y * kTokens;
    first_chunk = rank * a.chunks >> a.split_bits;
    chunks = ((rank + 1) * a.chunks >> a.split_bits) - first_chunk;
    pitch = FmaShared::pitch(1u << a.depth_bits);
  }
  __device__ float* x_stage(uint32_t chunk) const { return shared + chunk % a.stages * (kTokens + kColumns) * pitch; }
  __device__ float* w_stage(uint32_t chunk) const { return x_stage(chunk) + kTokens * pitch; }
  __device__ uint32_t tokens() const { return min(kTokens, a.m - first_token); }

  // ---- loads into shared memory, with zeros beyond the ends

  // Returns a column's row in shared memory: column 8 l + j of a warp is in row kColumnLanes j + l, so that
  // neighbouring lanes read neighbouring rows.
  static __device__ uint32_t row_of(uint32_t column) {
    return column / kWarpColumns * kWarpColumns + column % 8 * kColumnLanes + column % kWarpColumns / 8;
  }
  template <uint32_t kLines, class Place>
  __device__ void fetch(uint64_t base, int64_t stride, uint32_t lines, uint32_t chunk, Place place) const {
    const uint32_t bits = a.depth_bits - 2, column = (threadIdx.x & ((1u << bits) - 1)) * 4;
    const uint32_t k = ((first_chunk + chunk) << a.depth_bits) + column;
#pragma unroll 4
    for (uint32_t line = threadIdx.x >> bits; line < kLines; line += kThreads >> bits) {
      const bool inside = line < lines && k < a.k;
      Copies::issue(place(line) + column, &element<const float>(base, inside ? line * stride + k : 0), inside);
    }
  }
  __device__ void fetch_w(uint32_t chunk) const {
    if (chunk < chunks)
      fetch<kColumns>(a.w + uint64_t{first_column} * a.k * 4, a.k, a.n - first_column, chunk,
                      [&](uint32_t line) { return w_stage(chunk) + row_of(line) * pitch; });
  }
  __device__ void fetch_x(uint32_t chunk) const {
    if (chunk < chunks)
      fetch<kTokens>(a.x + first_token * a.x_stride * 4, a.x_stride, a.m - first_token, chunk,
                     [&](uint32_t line) { return x_stage(chunk) + line * pitch; });
  }

  // ---- products of this block's part of K

  using Sums = float[kRows][8];
  struct Pairs {  // operands of two neighbouring k
    float2 x[kRows], w[8];
  };

  static __device__ uint32_t token_lane() { return lane() % kTokenLanes; }
  static __device__ uint32_t column_lane() { return lane() / kTokenLanes; }
  static __device__ uint32_t part() { return warp() % kParts; }
  static __device__ uint32_t warp_column() { return warp() / kParts * kWarpColumns; }

  template <uint32_t kPitch>
  static __device__ void load(Pairs& to, const float* x, const float* w) {
#pragma unroll
    for (uint32_t i = 0; i < kRows; ++i) to.x[i] = *reinterpret_cast<const float2*>(x + i * kTokenLanes * kPitch);
#pragma unroll
    for (uint32_t j = 0; j < 8; ++j) to.w[j] = *reinterpret_cast<const float2*>(w + j * kColumnLanes * kPitch);
  }
  static __device__ void add_products(Sums& sums, const Pairs& of) {
#pragma unroll
    for (uint32_t i = 0; i < kRows; ++i)
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j) sums[i][j] = fmaf(of.x[i].x, of.w[j].x, sums[i][j]);
#pragma unroll
    for (uint32_t i = 0; i < kRows; ++i)
#pragma unroll
      for (uint32_t j = 0; j < 8; ++j) sums[i][j] = fmaf(of.x[i].y, of.w[j].y, sums[i][j]);
  }
  // Loads the next pairs while it multiplies these; the last pairs lie in the padding or in the next part, and are not
  // used.
  template <uint32_t kDepth>
  __device__ void multiply_chunk(Sums& sums, uint32_t chunk) const {
    constexpr uint32_t kDeep = kDepth / kParts, kPitch = FmaShared::pitch(kDepth);
    const float* x = x_stage(chunk) + token_lane() * kPitch + part() * kDeep;
    const float* w = w_stage(chunk) + (warp_column() + column_lane()) * kPitch + part() * kDeep;
    Pairs even, odd;
    load<kPitch>(even, x, w);
#pragma unroll 1
    for (uint32_t k = 0; k < kDeep; k += 4) {
      load<kPitch>(odd, x + k + 2, w + k + 2);
      add_products(sums, even);
      load<kPitch>(even, x + k + 4, w + k + 4);
      add_products(sums, odd);
    }
  }
  __device__ void multiply_chunk(Sums& sums, uint32_t chunk) const {
    static_assert(kFmaLeastDepthBits == 5 && kFmaMostDepthBits == 7);
    if (a.depth_bits == 5)
      multiply_chunk<32>(sums, chunk);
    else if (a.depth_bits == 6)
      multiply_chunk<64>(sums, chunk);
    else
      multiply_chunk<128>(sums, chunk);
  }
  // Takes all chunks through the stages; the weights of the first ones are on their way already.
  __device__ void multiply(Sums& sums) const {
    for (uint32_t chunk = 0; chunk < a.stages; ++chunk) {
      fetch_x(chunk);
      Copies::end();
    }
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      chunk + 1 < chunks && a.stages > 1 ? wait_for_groups<1>() : wait_for_groups<0>();
      sync_block();
      multiply_chunk(sums, chunk);
      if (chunk + a.stages >= chunks) continue;
      sync_block();
      fetch_w(chunk + a.stages), fetch_x(chunk + a.stages);
      Copies::end();
    }
    sync_block();  // all threads have read the stages
  }

  // ---- sums over the warps of the block, in the order of K

  __device__ void keep(const Sums& sums) const {
    float* to = shared + part() * kTokens * kSumPitch + warp_column() + column_lane() * 8;
#pragma unroll
    for (uint32_t i = 0; i < kRows; ++i) {
      auto* row = reinterpret_cast<float4*>(to + (token_lane() + i * kTokenLanes) * kSumPitch);
      row[0] = {sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
      row[1] = {sums[i][4], sums[i][5], sums[i][6], sums[i][7]};
    }
  }
  // A quad: 4 neighbouring columns of a token.
  struct Quad {
    uint32_t token, column;  // in the tile
  };
  __device__ float4 sum(Quad quad) const {
    const auto* from = reinterpret_cast<const float4*>(shared + quad.token * kSumPitch + quad.column);
    float4 parts[kParts];
#pragma unroll
    for (uint32_t p = 0; p < kParts; ++p) parts[p] = from[p * kTokens * kSumPitch / 4];
#pragma unroll
    for (uint32_t p = 1; p < kParts; ++p) parts[0] = parts[0] + parts[p];
    return parts[0];
  }
  // Calls use(quad) for this thread's share of the first `tokens` tokens.
  template <class Use>
  static __device__ void for_each_quad(uint32_t tokens, Use use) {
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < tokens * kQuads; i += kThreads) use(Quad{i / kQuads, i % kQuads * 4});
  }

  // ---- the result

  struct Epilogue {
    float4 bias{}, residual{};
  };
  __device__ bool is_inside(Quad quad) const { return first_column + quad.column < a.n; }
  __device__ Epilogue epilogue(Quad quad) const {
    Epilogue e;
    if (!is_inside(quad)) return e;
    e.bias = load_bias(a.end, first_column + quad.column);
    e.residual = load_residual(a.end, first_token + quad.token, first_column + quad.column);
    return e;
  }
  __device__ void store(Quad quad, float4 y, const Epilogue& e) const {
    if (!is_inside(quad)) return;
    y = activate4(a.end.activation, y + e.bias) + e.residual;
    store4(a.end.out, a.end.out_type, int64_t{first_token + quad.token} * a.n + first_column + quad.column, y);
  }

  // Runs the block; `peers` adds up the sums of the tile's blocks and stores.
  template <class Peers>
  __device__ void run(const Peers& peers) const {
    allow_dependents();
    peers.begin(*this);
    for (uint32_t chunk = 0; chunk < a.stages; ++chunk) fetch_w(chunk);
    wait_for_producers();
    Sums sums = {};
    multiply(sums);
    keep(sums);
    sync_block();
    peers.finish(*this);
  }
};

}  // namespace rung::gpu
