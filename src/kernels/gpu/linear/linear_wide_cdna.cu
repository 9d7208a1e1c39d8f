// Linear layers of more than 64 tokens on CDNA: waves load weights straight from memory, in the order of the lanes that
// multiply them, and tokens through shared memory, a chunk of K ahead.
// SPDX-License-Identifier: Apache-2.0
// Tiles are counted along the tokens first, so that a die reads the weights in its L2 from memory once.
#include "kernels/gpu/cdna/wave_copies.cuh"
#include "kernels/gpu/linear/linear_cdna.cuh"
#include "kernels/gpu/linear/linear_wide_cdna_arguments.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kThreads = kWideBlockWaves * kLanes;

template <CdnaWideConfig config>
struct WideCdna {
  using T = Element<config.type>;
  static constexpr int kTokenTiles = config.token_tiles, kRowTiles = config.row_tiles;
  static constexpr uint32_t kStageBytes = config.stage_bytes();
  static constexpr bool kPaired = is_paired(config.epilogue);
  static constexpr int kShares = config.tokens() / kCdnaTile / kWideBlockWaves;   // tiles of tokens that a wave copies
  static constexpr uint32_t kResultTiles = kPaired ? kRowTiles / 2 : kRowTiles;    // tiles of out of a wave
  static_assert(config.tokens() % (kCdnaTile * kWideBlockWaves) == 0 && kChunkBytes == kCopyBytes);
  using Sums = FragmentC[kRowTiles][kTokenTiles];
  struct Weights {
    uint4 at[kRowTiles];
  };
  using Copies = WaveCopies<kShares, kWideBlockWaves * kCopyBytes>;

  const LinearCdnaArguments& a;
  uint32_t first_token, first_tile;   // of the block; of the wave, among the tiles of w
  uint32_t part, first_chunk, chunks;  // of K; chunks: the end of the part
  uint32_t whole, turn;                // the end of the part's whole chunks, and the chunk that it begins with

  __device__ WideCdna(const LinearCdnaArguments& arguments, uint32_t tile) : a(arguments) {
    part = a.part_tiles.divide(tile), tile -= part * a.part_tiles.value;
    const uint32_t along_w = a.token_tiles.divide(tile);
    first_token = (tile - along_w * a.token_tiles.value) * config.tokens();
    first_tile = (along_w * kWideWavesAlong + warp() % kWideWavesAlong) * kRowTiles;
    first_chunk = part * a.parts.chunks, chunks = min(first_chunk + a.parts.chunks, a.chunks);
    whole = min(chunks, a.k / cdna_chunk(config.type));
    turn = begin_with(along_w);
  }
  // Returns the chunk, from the part's first on, that a block begins with. Rows of tokens are often a multiple of 512
  // bytes or more apart, and then a chunk comes from few channels of memory. Blocks that share weights read them
  // together; other blocks begin elsewhere in K.
  __device__ uint32_t begin_with(uint32_t along_w) const {
    constexpr uint32_t kScatter = 0x9e3779b9;  // the golden ratio's bits, which put neighbours far apart
    return whole > first_chunk ? uint64_t{along_w * kScatter} * (whole - first_chunk) >> 32 : 0;
  }
  __device__ uint32_t turned(uint32_t chunk) const {
    return chunk + turn < whole ? chunk + turn : chunk + turn - (whole - first_chunk);
  }
  __device__ static uint32_t wave_token() { return warp() / kWideWavesAlong * kTokenTiles * kCdnaTile; }

  // ---- operands: the last token and the last tile of w stand for those beyond

  __device__ Weights load_weights(uint32_t chunk) const {
    Weights weights;
    const char* w = in_memory<const char>(a.w) + uint64_t{chunk} * kChunkBytes;
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      const uint32_t tile = min(first_tile + r, a.w_tiles - 1);
      weights.at[r] = load_at(w + uint64_t{tile} * a.chunks * kChunkBytes, lane() * 16);
    }
    return weights;
  }
  // A stage has tile after tile of 16 tokens, each in the order of the lanes that multiply it.
  static __device__ char* place_of(char* stage) { return stage + warp() * kCopyBytes; }
  // Returns the source of the wave's i-th tile.
  __device__ CopySource source(uint32_t chunk, int i) const {
    const uint32_t token = first_token + (warp() + i * kWideBlockWaves) * kCdnaTile + lane() % kCdnaTile;
    return {in_memory<const char>(a.x) + uint64_t{first_token} * a.x_stride + chunk * kCdnaLineBytes,
            (min(token, a.m - 1) - first_token) * a.x_stride + lane() / kCdnaTile * 16};
  }

  // ---- products

  // A stage has a chunk's tokens in shared memory and its weights in registers.
  struct Stage {
    char* tokens;
    Weights weights;
  };
  static __device__ void multiply(Sums& sums, const Stage& stage) {
    const char* x = stage.tokens + wave_token() / kCdnaTile * kCopyBytes + lane() * 16;
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
      const uint4 tokens = *reinterpret_cast<const uint4*>(x + t * kCopyBytes);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(sums[r][t], tokens, stage.weights.at[r]);
    }
  }
  __device__ void fetch(Copies& copies, Stage& stage, uint32_t position) const {
    const uint32_t chunk = turned(position);
#pragma unroll
    for (int i = 0; i < kShares; ++i) copies.issue(i, source(chunk, i), place_of(stage.tokens));
    keep_order();
    stage.weights = load_weights(chunk);
    keep_order();
  }
  __device__ void fetch_first(Stage& stage, uint32_t chunk) const {
    Copies copies;
    fetch(copies, stage, chunk);
    copies.template land<kRowTiles>(place_of(stage.tokens));
  }
  // Multiplies a chunk while the next one arrives. One barrier for each chunk is enough: before a wave writes a stage
  // again, it passes a barrier that all waves reach after their reads. Copies that write at once are issued behind it.
  __device__ void step(Sums& sums, const Stage& now, Stage& next, uint32_t chunk) const {
    Copies copies;
    if constexpr (!Copies::kWritesAtOnce) fetch(copies, next, chunk + 1);
    sync_landed();
    if constexpr (Copies::kWritesAtOnce) fetch(copies, next, chunk + 1);
    multiply(sums, now);
    copies.template land<kRowTiles>(place_of(next.tokens));
  }
  // The two stages have names: the compiler would wait for registers that are copied from one to the other, and, if it
  // could not tell the stages apart, would make reads of one wait for copies to the other.
  __device__ void multiply_whole(Sums& sums, Stage& even, Stage& odd) const {
    uint32_t chunk = first_chunk;
    if ((whole - chunk) % 2 == 0) {
      fetch_first(odd, chunk);
      step(sums, odd, even, chunk++);
    } else {
      fetch_first(even, chunk);
    }
#pragma unroll 1
    for (; chunk + 1 < whole; chunk += 2) {
      step(sums, even, odd, chunk);
      step(sums, odd, even, chunk + 1);
    }
    sync_landed();
    multiply(sums, even);
  }
  // Multiplies the end of K, with zeros behind it.
  __device__ void multiply_rest(Sums& sums, Stage& stage, uint32_t chunk) const {
    const bool inside = chunk * kCdnaLineBytes + lane() / kCdnaTile * 16 < a.k * sizeof(T);
#pragma unroll
    for (int i = 0; i < kShares; ++i) {
      char* to = place_of(stage.tokens) + i * kWideBlockWaves * kCopyBytes;
      lanes_place(to) = inside ? *source(chunk, i).lanes() : WordQuad{};
    }
    stage.weights = load_weights(chunk);
    sync_block();
    multiply(sums, stage);
  }
  __device__ void multiply(Sums& sums, char* even_tokens, char* odd_tokens) const {
    Stage even{even_tokens, {}}, odd{odd_tokens, {}};
    if (first_chunk < whole) multiply_whole(sums, even, odd);
    if (whole < chunks) multiply_rest(sums, odd, whole);
  }

  // ---- results: a lane has four neighbouring columns of a token, and, for pairs, their partners

  __device__ uint32_t token_of(int tile) const {
    return first_token + wave_token() + tile * kCdnaTile + fragment_row(lane());
  }
  __device__ void keep_part(const Sums& sums) const {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
      if (token_of(t) >= a.m) continue;
      const int64_t row = (int64_t{part} * a.m + token_of(t)) * a.parts.columns;
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r)
        if (first_tile + r < a.w_tiles)
          store_row(&element<float>(a.parts.sums, row + (first_tile + r) * kCdnaTile), sums[r][t], 0);
    }
  }
  static __device__ void move(FragmentC& to, const FragmentC& from) {
#pragma unroll
    for (int i = 0; i < kLaneColumns; ++i) to.x[i] = from.x[i];
  }
  // All fragments share one code and move up in turns: no register can be chosen at run time, and separate code for
  // each of 16 fragments, with all activations, took 87 KB, more than the instruction cache holds.
  __device__ void finish(Sums& sums) const {
    const CdnaEnd<config.epilogue, config.type == DType::f8e4m3fn> end{a};
    constexpr int kLines = kPaired ? 2 : 1;
#pragma unroll 1
    for (uint32_t r = 0; r < kResultTiles; ++r) {
      const uint32_t tile = kPaired ? first_tile / 2 + r : first_tile + r;
      const uint32_t column = end.column_of(tile * kCdnaTile) + fragment_column(lane());
#pragma unroll 1
      for (int t = 0; t < kTokenTiles; ++t) {
        const Place at{token_of(t), column};
        const FragmentC &sum = sums[0][0], &partner = sums[kLines - 1][0];
        if (end.is_inside(at))
          end.finish(a.end.activation, at, {sum.x[0], sum.x[1], sum.x[2], sum.x[3]},
                     {partner.x[0], partner.x[1], partner.x[2], partner.x[3]});
#pragma unroll
        for (int line = 0; line < kLines; ++line)
#pragma unroll
          for (int i = 0; i + 1 < kTokenTiles; ++i) move(sums[line][i], sums[line][i + 1]);
      }
#pragma unroll
      for (int i = 0; i + kLines < kRowTiles; ++i)
#pragma unroll
        for (int t = 0; t < kTokenTiles; ++t) move(sums[i][t], sums[i + kLines][t]);
    }
  }
};

template <CdnaWideConfig config>
__device__ void linear_wide_cdna(const LinearCdnaArguments& a) {
  __shared__ __align__(16) char even[config.stage_bytes()], odd[config.stage_bytes()];
  const uint32_t tile = a.tiles.tile_of(blockIdx.x);
  if (tile >= a.tiles.tiles) return;
  const WideCdna<config> work(a, tile);
  typename WideCdna<config>::Sums sums;
  work.multiply(sums, even, odd);
  if (a.parts.sums)
    work.keep_part(sums);
  else
    work.finish(sums);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kThreads) \
      entry(const __grid_constant__ LinearCdnaArguments a) { linear_wide_cdna<CdnaWideConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_wide_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
