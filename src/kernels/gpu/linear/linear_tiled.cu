// A matrix product in f32 for any strides and types: 64 x 64 results per block, 4 x 4 per thread. The last resort.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/pointwise/activation.cuh"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/linear/linear_tiled_arguments.hpp"

namespace rung::gpu {
namespace {

constexpr int kThreads = 256, kDepth = 16, kPerThread = 4;
constexpr int kTileSize = static_cast<int>(kTile);
static_assert(kTileSize * kDepth == kThreads * kPerThread);

using Tile = float[kDepth][kTileSize + 1];

// The line (row of x or w) and the k that a thread loads: neighbouring threads take neighbours in memory.
struct Slot {
  int line, k;
};
__device__ Slot slot_of(int i, bool along_k) {
  const int at = static_cast<int>(threadIdx.x) + i * kThreads;
  return along_k ? Slot{at / kDepth, at % kDepth} : Slot{at % kTileSize, at / kTileSize};
}

struct Lines {
  uint64_t base;
  DType type;
  int64_t step;               // from one k to the next
  int64_t begin[kPerThread];  // the first element of the line that slot i loads; -1: beyond the matrix
};

__device__ void load_tile(Tile& tile, const Lines& from, uint32_t first, uint32_t depth) {
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const Slot slot = slot_of(i, from.step == 1);
    const uint32_t k = first + slot.k;
    const bool inside = from.begin[i] >= 0 && k < depth;
    tile[slot.k][slot.line] = inside ? load_as<float>(from.base, from.type, from.begin[i] + k * from.step) : 0.0f;
  }
}

using Sums = float[kPerThread][kPerThread];

// A thread's rows and columns lie 16 apart, so that a warp reads shared memory without conflicts.
__device__ int own(int i, int position) { return position + i * kTileSize / kPerThread; }
__device__ int own_row(int i) { return own(i, static_cast<int>(threadIdx.x) / 16); }
__device__ int own_column(int i) { return own(i, static_cast<int>(threadIdx.x) % 16); }

__device__ void multiply_tiles(Sums& sums, const Tile& x, const Tile& w) {
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    float a[kPerThread], b[kPerThread];
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) a[i] = x[k][own_row(i)], b[i] = w[k][own_column(i)];
#pragma unroll
    for (int i = 0; i < kPerThread; ++i)
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
  }
}

__device__ Lines lines_of_x(const TiledArguments& a, int64_t matrix) {
  Lines lines{a.x, a.x_type, a.x_step, {}};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const uint32_t row = blockIdx.y * kTile + slot_of(i, a.x_step == 1).line;
    int64_t begin[4] = {matrix, 0, 0, 0};
    if (row < a.m) a.rows.locate(row, begin);
    lines.begin[i] = row < a.m ? begin[0] : -1;
  }
  return lines;
}

// Returns the other row of w, and of the bias, that the result's column needs: up's, or that of the head's other half.
__device__ uint32_t partner_of(const TiledArguments& a, uint32_t column) {
  if (a.end.gated) return a.n + column;
  if (column >= a.end.rotated) return column;
  return column / a.end.half % 2 == 0 ? column + a.end.half : column - a.end.half;
}

__device__ Lines lines_of_w(const TiledArguments& a, int64_t matrix, bool partners) {
  Lines lines{a.w, a.w_type, a.w_step, {}};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const uint32_t column = blockIdx.x * kTile + slot_of(i, a.w_step == 1).line;
    lines.begin[i] = column < a.n ? matrix + int64_t{partners ? partner_of(a, column) : column} * a.w_row : -1;
  }
  return lines;
}

__device__ float bias_of(const TiledArguments& a, uint32_t column) {
  return a.end.bias ? load_as<float>(a.end.bias, a.end.bias_type, column * a.bias_step) : 0.0f;
}

__device__ float rotated(const TiledArguments& a, uint32_t column, const int64_t (&begin)[4], float y, float partner) {
  const uint32_t angle = column % (2 * a.end.half);
  const float cos = load_as<float>(a.end.cos, a.end.cos_type, begin[2] + angle * a.cos_step);
  const float sin = load_as<float>(a.end.sin, a.end.sin_type, begin[3] + angle * a.sin_step);
  return y * cos + (angle < a.end.half ? -partner : partner) * sin;
}

template <bool kPairs>
__device__ void store_results(const TiledArguments& a, uint32_t z, const Sums& sums, const Sums& partners) {
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const uint32_t row = blockIdx.y * kTile + own_row(i);
    if (row >= a.m) continue;
    int64_t begin[4] = {};
    a.rows.locate(row, begin);
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const uint32_t column = blockIdx.x * kTile + own_column(j);
      if (column >= a.n) continue;
      float value = activate(a.end.activation, sums[i][j] + bias_of(a, column));
      if (kPairs) {
        const float partner = partners[i][j] + bias_of(a, partner_of(a, column));
        if (a.end.gated) value *= partner;
        if (column < a.end.rotated) value = rotated(a, column, begin, value, partner);
      }
      if (a.end.residual)
        value += load_as<float>(a.end.residual, a.end.residual_type, begin[1] + column * a.residual_step);
      store_as<float>(a.end.out, a.end.out_type, (int64_t{z} * a.m + row) * a.n + column, value);
    }
  }
}

template <bool kPairs>
__device__ void product(const TiledArguments& a, uint32_t z) {
  __shared__ Tile x_tile, w_tile[kPairs ? 2 : 1];
  int64_t matrices[2] = {};
  a.batch.locate(z, matrices);
  const Lines x = lines_of_x(a, matrices[0]), w = lines_of_w(a, matrices[1], false);
  const Lines second = kPairs ? lines_of_w(a, matrices[1], true) : w;
  Sums sums = {}, partners = {};
  for (uint32_t k = 0; k < a.k; k += kDepth) {
    load_tile(x_tile, x, k, a.k);
    load_tile(w_tile[0], w, k, a.k);
    if (kPairs) load_tile(w_tile[kPairs], second, k, a.k);
    sync_block();
    multiply_tiles(sums, x_tile, w_tile[0]);
    if (kPairs) multiply_tiles(partners, x_tile, w_tile[kPairs]);
    sync_block();
  }
  store_results<kPairs>(a, z, sums, partners);
}

template <bool kPairs>
__device__ void products(const TiledArguments& a) {
  allow_dependents();
  wait_for_producers();
  for (uint32_t z = blockIdx.z; z < a.batch.count; z += gridDim.z) product<kPairs>(a, z);
}

}  // namespace
}  // namespace rung::gpu

RUNG_KERNEL(256) tiled(const __grid_constant__ rung::gpu::TiledArguments a) { rung::gpu::products<false>(a); }
RUNG_KERNEL(256) tiled_pairs(const __grid_constant__ rung::gpu::TiledArguments a) { rung::gpu::products<true>(a); }
