// Products of two matrices of a batch on CDNA's matrix units, of 16-bit floats or of f32: both operands go through
// shared memory, a chunk of K ahead in registers.
// SPDX-License-Identifier: Apache-2.0
// In shared memory every operand has lines of K, whatever its layout in memory, so that a lane has its share of a
// fragment in 16 bytes.
#include "kernels/gpu/cdna/matrix.cuh"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/linear/matmul_cdna_arguments.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kThreads = kMatmulWaves * kLanes;

// Returns the place of a line's 16 bytes in a stage, so that lanes use all banks together: eight lanes that read 16
// bytes of neighbouring lines, or write two whole lines; and threads that write across lines, eight or four apart.
__device__ inline uint32_t place_of(uint32_t line, uint32_t unit) {
  return (line ^ (line / 32 & 1)) * kMatmulChunkBytes + (unit + line / 2 + line / 8) % kMatmulUnits * 16;
}

// A thread's part of one operand: 16 bytes of each chunk, for `kLines` lines.
template <class T, MatmulSide side, uint32_t kLines>
struct Share {
  static constexpr uint32_t kTogether = 16 / sizeof(T), kChunk = kMatmulChunkBytes / sizeof(T);
  static constexpr uint32_t kAcross = kLines / kTogether;  // groups of lines
  static constexpr bool kAllBring = kLines * kMatmulUnits == kThreads;
  static_assert(kLines * kMatmulUnits <= kThreads);

  const T* from;      // this thread's first element of the first chunk
  int64_t step;       // elements from one of a line to the next
  uint32_t first, k;  // line of the block, and place in the chunk
  bool inside;        // the line is one of the matrix

  __device__ Share(const MatmulLines& lines, int64_t matrix, uint32_t begin)
      : step(side == MatmulSide::along ? 1 : lines.step) {
    const uint32_t unit = threadIdx.x;
    if constexpr (side == MatmulSide::across)
      first = unit % kAcross * kTogether, k = unit / kAcross;
    else
      first = unit / kMatmulUnits, k = unit % kMatmulUnits * kTogether;
    inside = brings() && begin + first < lines.lines;
    from = in_memory<const T>(lines.address) + matrix +
           (begin + first) * (side == MatmulSide::across ? 1 : lines.line) + k * step;
  }
  static __device__ bool brings() { return kAllBring || threadIdx.x < kLines * kMatmulUnits; }
  // Loads 16 bytes, with zeros beyond the last line and the last element of lines.
  __device__ WordQuad load(uint32_t chunk, uint32_t depth) const {
    const uint32_t at = chunk * kChunk;
    const T* here = from + at * step;
    if constexpr (side != MatmulSide::single)
      return inside && at + k < depth ? *reinterpret_cast<const WordQuad*>(here) : WordQuad{};
    T elements[kTogether];
#pragma unroll
    for (uint32_t i = 0; i < kTogether; ++i)
      elements[i] = inside && at + k + i < depth ? here[i * step] : from_float<T>(0);
    WordQuad words;
    __builtin_memcpy(&words, elements, sizeof words);
    return words;
  }
  __device__ void keep(const WordQuad& words, char* stage) const {
    if (!brings()) return;
    if constexpr (side == MatmulSide::across) {
      T elements[kTogether];
      __builtin_memcpy(elements, &words, sizeof words);
#pragma unroll
      for (uint32_t i = 0; i < kTogether; ++i)
        *reinterpret_cast<T*>(stage + place_of(first + i, k / kTogether) + k % kTogether * sizeof(T)) = elements[i];
    } else {
      *reinterpret_cast<WordQuad*>(stage + place_of(first, k / kTogether)) = words;
    }
  }
};

template <CdnaMatmulConfig config>
struct MatmulCdna {
  using T = Element<config.type>;
  static constexpr uint32_t kLines = config.lines();
  static constexpr int kTiles = config.tiles;
  static constexpr uint32_t kSideBytes = kLines * kMatmulChunkBytes, kStageBytes = 2 * kSideBytes;
  using Sums = FragmentC[kTiles][kTiles];

  const CdnaMatmulArguments& a;
  char* shared;
  uint32_t z, first_x, first_y;

  __device__ MatmulCdna(const CdnaMatmulArguments& arguments, char* memory, uint32_t tile)
      : a(arguments), shared(memory) {
    const uint32_t rows = a.y_tiles.divide(tile);
    z = a.x_tiles.divide(rows);
    first_x = (rows - z * a.x_tiles.value) * kLines;
    first_y = (tile - rows * a.y_tiles.value) * kLines;
  }
  // The wave's first line of x, and of y, among the block's.
  __device__ static uint32_t wave_x() { return warp() / 2 * kTiles * 16; }
  __device__ static uint32_t wave_y() { return warp() % 2 * kTiles * 16; }
  __device__ char* stage(uint32_t chunk) const { return shared + chunk % 2 * kStageBytes; }

  __device__ static uint4 fragment(const char* side, uint32_t line) {
    return *reinterpret_cast<const uint4*>(side + place_of(line + lane() % 16, lane() / 16));
  }
  __device__ void multiply(Sums& sums, uint32_t chunk) const {
    const char* side = stage(chunk);
    uint4 y[kTiles];
#pragma unroll
    for (int j = 0; j < kTiles; ++j) y[j] = fragment(side + kSideBytes, wave_y() + j * 16);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const uint4 x = fragment(side, wave_x() + i * 16);
#pragma unroll
      for (int j = 0; j < kTiles; ++j) multiply_add_deep<T>(sums[i][j], x, y[j]);
    }
  }
  // One barrier for each chunk is enough: a wave writes a stage again only behind the barrier that all waves reach
  // after they read it.
  __device__ void multiply(Sums& sums) const {
    int64_t matrix[2] = {};
    a.batch.locate(z, matrix);
    const Share<T, config.x, kLines> x(a.x, matrix[0], first_x);
    const Share<T, config.y, kLines> y(a.y, matrix[1], first_y);
    x.keep(x.load(0, a.k), stage(0)), y.keep(y.load(0, a.k), stage(0) + kSideBytes);
#pragma unroll 1
    for (uint32_t chunk = 0; chunk + 1 < a.chunks; ++chunk) {
      const WordQuad next_x = x.load(chunk + 1, a.k), next_y = y.load(chunk + 1, a.k);
      sync_block();
      multiply(sums, chunk);
      x.keep(next_x, stage(chunk + 1)), y.keep(next_y, stage(chunk + 1) + kSideBytes);
    }
    sync_block();
    multiply(sums, a.chunks - 1);
  }

  // Stores the four neighbouring columns of a row that a lane has.
  __device__ void store(int64_t at, const FragmentC& sum, uint32_t columns) const {
    T values[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) values[i] = from_float<T>(sum.x[i]);
    T* to = &element<T>(a.out, at);
    if constexpr (!config.single()) {
      Unit<4 * sizeof(T)> together;
      __builtin_memcpy(&together, values, sizeof together);
      *reinterpret_cast<Unit<4 * sizeof(T)>*>(to) = together;
    } else {
      store_first(to, values, columns);
    }
  }
  __device__ void finish(const Sums& sums) const {
#pragma unroll
    for (int i = 0; i < kTiles; ++i)
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        const uint32_t row = first_x + wave_x() + i * 16 + fragment_row(lane());
        const uint32_t column = first_y + wave_y() + j * 16 + fragment_column(lane());
        if (row < a.x.lines && column < a.y.lines)
          store((int64_t{z} * a.x.lines + row) * a.y.lines + column, sums[i][j], a.y.lines - column);
      }
  }
};

template <CdnaMatmulConfig config>
__device__ void matmul_cdna(const CdnaMatmulArguments& a) {
  __shared__ __align__(16) char shared[2 * MatmulCdna<config>::kStageBytes];
  const uint32_t tile = a.tiles.tile_of(blockIdx.x);
  if (tile >= a.tiles.tiles) return;
  const MatmulCdna<config> work(a, shared, tile);
  typename MatmulCdna<config>::Sums sums;
  work.multiply(sums);
  work.finish(sums);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kThreads) \
      entry(const __grid_constant__ CdnaMatmulArguments a) { matmul_cdna<CdnaMatmulConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/matmul_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
