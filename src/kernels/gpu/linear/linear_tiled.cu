// A matrix product in f32 for any strides and types: 64 x 64 results per block, 4 x 4 per thread. The last resort.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_tiled_ends.cuh"

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

// A thread's elements of a tile as they are in memory: they are on their way while the tile before is multiplied.
using Held = uint32_t[kPerThread];

template <class Bits>
__device__ void fetch_tile(Held& held, const Lines& from, uint32_t first, uint32_t depth) {
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const uint32_t k = first + slot_of(i, from.step == 1).k;
    held[i] = from.begin[i] >= 0 && k < depth ? element<const Bits>(from.base, from.begin[i] + k * from.step) : 0;
  }
}
__device__ void fetch_tile(Held& held, const Lines& from, uint32_t first, uint32_t depth) {
  if (from.type == DType::f32)
    fetch_tile<uint32_t>(held, from, first, depth);
  else
    fetch_tile<uint16_t>(held, from, first, depth);
}
__device__ void store_tile(Tile& tile, const Held& held, const Lines& from) {
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const Slot slot = slot_of(i, from.step == 1);
    float both[2] = {as_float(held[i])};
    if (from.type != DType::f32) unpack_pair(held[i], from.type, both);
    tile[slot.k][slot.line] = both[0];
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

__device__ Lines lines_of_w(const TiledArguments& a, int64_t matrix, bool partners) {
  Lines lines{a.w, a.w_type, a.w_step, {}};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const uint32_t column = blockIdx.x * kTile + slot_of(i, a.w_step == 1).line;
    lines.begin[i] = column < a.n ? matrix + int64_t{partners ? partner_of(a, column) : column} * a.w_row : -1;
  }
  return lines;
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
      const ResultEnds ends = load_ends<kPairs>(a, begin, column);
      const float value = end_result<kPairs>(a, ends, column, sums[i][j], partners[i][j]);
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
  Held held_x, held_w, held_second;
  const auto fetch = [&](uint32_t k) {
    fetch_tile(held_x, x, k, a.k), fetch_tile(held_w, w, k, a.k);
    if (kPairs) fetch_tile(held_second, second, k, a.k);
  };
  Sums sums = {}, partners = {};
  fetch(0);
  for (uint32_t k = 0; k < a.k; k += kDepth) {
    store_tile(x_tile, held_x, x), store_tile(w_tile[0], held_w, w);
    if (kPairs) store_tile(w_tile[kPairs], held_second, second);
    sync_block();
    if (k + kDepth < a.k) fetch(k + kDepth);
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
