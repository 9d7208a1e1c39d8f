// Linear layers of more than 64 tokens on CDNA: weights come straight from memory, in the order of the lanes that
// multiply them; tokens go through shared memory, a chunk of K ahead.
// SPDX-License-Identifier: Apache-2.0
// Tiles are counted along the tokens first, so that what a die's L2 holds of the weights is read from memory once.
#include "kernels/gpu/linear/linear_cdna.cuh"
#include "kernels/gpu/linear/linear_wide_cdna_arguments.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kThreads = kWideBlockWaves * kLanes;

template <CdnaWideConfig config>
struct WideCdna {
  using T = Element<config.type>;
  static constexpr int kTokenTiles = config.token_tiles, kRowTiles = config.row_tiles;
  static constexpr uint32_t kPitch = config.pitch(), kStageBytes = config.stage_bytes();
  static constexpr bool kPaired = is_paired(config.epilogue);
  static constexpr uint32_t kUnits = kCdnaChunk * sizeof(T) / 16;                  // of a token's chunk
  static constexpr uint32_t kShares = config.tokens() * kUnits / kThreads;         // of them that a thread copies
  static constexpr uint32_t kResultTiles = kPaired ? kRowTiles / 2 : kRowTiles;    // of a wave, in out
  static_assert(config.tokens() * kUnits % kThreads == 0);
  using Sums = FragmentC[kRowTiles][kTokenTiles];
  struct Weights {
    uint4 at[kRowTiles];
  };
  struct Tokens {
    uint4 at[kShares];
  };

  const LinearCdnaArguments& a;
  char* shared;
  uint32_t first_token, first_tile;  // of the block; of the wave, among the tiles of w

  __device__ WideCdna(const LinearCdnaArguments& arguments, char* memory, uint32_t tile)
      : a(arguments), shared(memory) {
    first_token = tile % a.token_tiles * config.tokens();
    first_tile = (tile / a.token_tiles * kWideWavesAlong + warp() % kWideWavesAlong) * kRowTiles;
  }
  __device__ static uint32_t wave_token() { return warp() / kWideWavesAlong * kTokenTiles * kCdnaTile; }

  // ---- operands: beyond the last token and the last rows of w those stand again, beyond
  // the last column of K zeros

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
  __device__ Tokens load_tokens(uint32_t chunk) const {
    Tokens tokens;
#pragma unroll
    for (uint32_t i = 0; i < kShares; ++i) {
      const uint32_t unit = threadIdx.x + i * kThreads, token = min(first_token + unit / kUnits, a.m - 1);
      const uint32_t k = chunk * kCdnaChunk + unit % kUnits * kDeepOfLane;
      const char* x = in_memory<const char>(a.x) + uint64_t{token} * a.x_stride + k * sizeof(T);
      tokens.at[i] = k < a.k ? *reinterpret_cast<const uint4*>(x) : uint4{};
    }
    return tokens;
  }
  __device__ void keep(const Tokens& tokens, uint32_t chunk) const {
    char* stage = shared + chunk % 2 * kStageBytes;
#pragma unroll
    for (uint32_t i = 0; i < kShares; ++i) {
      const uint32_t unit = threadIdx.x + i * kThreads;
      *reinterpret_cast<uint4*>(stage + unit / kUnits * kPitch + unit % kUnits * 16) = tokens.at[i];
    }
  }

  // ---- products

  __device__ void multiply(Sums& sums, const Weights& weights, uint32_t chunk) const {
    const char* stage = shared + chunk % 2 * kStageBytes + (wave_token() + lane() % kCdnaTile) * kPitch;
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t) {
      const uint4 x = *reinterpret_cast<const uint4*>(stage + t * kCdnaTile * kPitch + lane() / kCdnaTile * 16);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(sums[r][t], x, weights.at[r]);
    }
  }
  // One barrier a chunk: a stage is written again by waves that all others have followed past their reads of it.
  __device__ void multiply(Sums& sums) const {
    keep(load_tokens(0), 0);
    Weights weights = load_weights(0);
#pragma unroll 1
    for (uint32_t chunk = 0; chunk + 1 < a.chunks; ++chunk) {
      const Tokens tokens = load_tokens(chunk + 1);
      const Weights next = load_weights(chunk + 1);
      sync_block();
      multiply(sums, weights, chunk);
      keep(tokens, chunk + 1);
      weights = next;
    }
    sync_block();
    multiply(sums, weights, a.chunks - 1);
  }

  // ---- results: a lane has four neighbouring columns of a token, and of pairs their partners

  __device__ void finish(const Sums& sums) const {
    const CdnaEnd<config.epilogue> end{a};
#pragma unroll
    for (uint32_t r = 0; r < kResultTiles; ++r) {
      const uint32_t tile = kPaired ? first_tile / 2 + r : first_tile + r;
      const uint32_t column = end.column_of(tile * kCdnaTile) + fragment_column(lane());
#pragma unroll
      for (int t = 0; t < kTokenTiles; ++t) {
        const Place at{first_token + wave_token() + t * kCdnaTile + fragment_row(lane()), column};
        if (!end.is_inside(at)) continue;
        const FragmentC &sum = sums[kPaired ? 2 * r : r][t], &partner = sums[kPaired ? 2 * r + 1 : r][t];
        end.finish(a.activation, at, {sum.x[0], sum.x[1], sum.x[2], sum.x[3]},
                   {partner.x[0], partner.x[1], partner.x[2], partner.x[3]});
      }
    }
  }
};

template <CdnaWideConfig config>
__device__ void linear_wide_cdna(const LinearCdnaArguments& a) {
  __shared__ __align__(16) char shared[2 * config.stage_bytes()];
  const uint32_t tile = a.tiles.tile_of(blockIdx.x);
  if (tile >= a.tiles.tiles) return;
  const WideCdna<config> work(a, shared, tile);
  typename WideCdna<config>::Sums sums;
  work.multiply(sums);
  work.finish(sums);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kThreads) \
      entry(const __grid_constant__ LinearCdnaArguments a) { linear_wide_cdna<CdnaWideConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_wide_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
