// Linear layers of at most 64 tokens on CDNA: every weight is read once, in the order of the lanes that multiply it;
// the waves of a block share K, and add their sums through shared memory in their order.
// SPDX-License-Identifier: Apache-2.0
// Blocks that follow each other run on different dies (XCDs), each with an L2 of its own: no two need the same weights,
// and x is small enough for all of them.
#include "kernels/gpu/linear/linear_cdna.cuh"
#include "kernels/gpu/linear/linear_skinny_cdna_arguments.hpp"

namespace rung::gpu {
namespace {

template <CdnaSkinnyConfig config>
struct SkinnyCdna {
  using T = Element<config.type>;
  static constexpr int kTokenTiles = config.token_tiles, kRowTiles = config.row_tiles;
  static constexpr bool kPaired = is_paired(config.epilogue);
  static constexpr uint32_t kTokens = config.tokens(), kPitch = config.pitch();
  static constexpr uint32_t kColumns = kPaired ? kCdnaTile : config.rows();  // of out, but for the partners
  static constexpr uint32_t kQuads = kColumns / 4;
  using Sums = FragmentC[kRowTiles][kTokenTiles];

  const LinearCdnaArguments& a;
  const CdnaEnd<config.epilogue> end;
  float* shared;  // sums of each wave, then a factor of each token
  uint32_t part, parts, column;

  __device__ SkinnyCdna(const LinearCdnaArguments& arguments, float* memory)
      : a(arguments), end{arguments}, shared(memory) {
    part = warp(), parts = blockDim.x / kLanes;
    column = end.column_of(blockIdx.x * kColumns);
  }
  __device__ float* factors() const { return shared + parts * kTokens * kPitch; }

  // ---- products of this wave's part of K

  // What one chunk of K takes; the lanes of x that are beyond its end have zeros.
  struct Chunk {
    uint4 w[kRowTiles], x[kTokenTiles];
  };
  struct Places {
    const char *x, *w;           // of the next chunk
    uint32_t from_x[kTokenTiles];  // bytes
    uint32_t from_w;
  };
  __device__ Places places(uint32_t first) const {
    Places at{in_memory<const char>(a.x) + first * (kDeep * sizeof(T)),
              in_memory<const char>(a.w) + (uint64_t{blockIdx.x} * kRowTiles * a.chunks + first) * kChunkBytes,
              {},
              lane() * 16u};
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
      at.from_x[t] = min(t * kCdnaTile + lane() % kCdnaTile, a.m - 1) * a.x_stride + lane() / kCdnaTile * 16;
    return at;
  }
  __device__ Chunk load(const Places& at, uint32_t ahead) const {
    Chunk chunk;
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
      chunk.w[r] = load_at(at.w + uint64_t{r * a.chunks} * kChunkBytes + ahead * kChunkBytes, at.from_w);
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
      chunk.x[t] = load_at(at.x + ahead * (kDeep * sizeof(T)), at.from_x[t]);
    return chunk;
  }
  static __device__ void multiply(Sums& sums, const Chunk& chunk) {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(sums[r][t], chunk.x[t], chunk.w[r]);
  }
  __device__ void multiply_last(Sums& sums, const Places& at) const {
    const bool inside = a.k / kDeep * kDeep + lane() / kCdnaTile * kDeepOfLane < a.k;
    Chunk chunk = {};
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) chunk.w[r] = load_at(at.w + uint64_t{r * a.chunks} * kChunkBytes, at.from_w);
    if (inside)
#pragma unroll
      for (int t = 0; t < kTokenTiles; ++t) chunk.x[t] = load_at(at.x, at.from_x[t]);
    multiply(sums, chunk);
  }
  __device__ void multiply(Sums& sums) const {
    constexpr uint32_t kAhead = kRowTiles * kTokenTiles > 4 ? 2 : 4;
    const uint32_t first = part * a.chunks_of_wave, last = min(first + a.chunks_of_wave, a.chunks);
    const uint32_t whole = min(last, a.k / kDeep);
    Places at = places(first);
    const auto advance = [&at](uint32_t chunks) {
      at.x += chunks * (kDeep * sizeof(T)), at.w += chunks * kChunkBytes;
    };
    uint32_t chunk = first;
#pragma unroll 1
    for (; chunk + kAhead <= whole; chunk += kAhead, advance(kAhead)) {
      Chunk now[kAhead];
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) now[i] = load(at, i);
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) multiply(sums, now[i]);
    }
#pragma unroll 1
    for (; chunk < whole; ++chunk, advance(1)) multiply(sums, load(at, 0));
    if (whole < last && first < last) multiply_last(sums, at);
  }

  // ---- into shared memory

  __device__ void keep(const Sums& sums) const {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r)
        store_row(shared + (part * kTokens + t * kCdnaTile + fragment_row(lane())) * kPitch + r * kCdnaTile,
                  sums[r][t], 0);
  }
  // Eight lanes for a token.
  __device__ void find_factors() const {
    for (uint32_t token = threadIdx.x / 8; token < kTokens; token += blockDim.x / 8) {
      const auto* squares = in_memory<const float4>(a.squares) + min(token, a.m - 1) * a.squares_stride;
      float total = 0;
      for (uint32_t i = threadIdx.x % 8; i < a.squares_vectors; i += 8) total += sum_of(squares[i]);
      total = lanes_sum<8>(total);
      factors()[token] = rsqrtf(total * a.squares_share + a.eps);
    }
  }

  // ---- the result: a thread finishes four neighbouring columns of a token, and with them their partners

  __device__ float4 sum(uint32_t token, uint32_t first) const {
    const float* from = shared + token * kPitch + first;
    float4 total = *reinterpret_cast<const float4*>(from);
    for (uint32_t i = 1; i < parts; ++i) total = total + *reinterpret_cast<const float4*>(from + i * kTokens * kPitch);
    return a.squares ? total * factors()[token] : total;
  }
  // Three results. Eight neighbouring threads have a run of a token; all columns are inside.
  __device__ void finish_for_norm(Place at, float4 sum) const {
    float4 y{};
    if (end.is_inside(at)) {
      y = activate4(a.activation, sum + end.bias(at.column)) + end.residual(at);
      store4(a.out, DType::f32, end.to(at), y);
      store4(a.scaled, DType::bf16, end.to(at), y * load4(a.scale, DType::f32, at.column));
    }
    const float run = lanes_sum<kNormRun / 4>(sum_of(y * y));
    if (end.is_inside(at) && at.column % kNormRun == 0)
      element<float>(a.means, end.to(at) / kNormRun) = run / kNormRun;
  }
  __device__ void finish() const {
    for (uint32_t i = threadIdx.x; i < kTokens * kQuads; i += blockDim.x) {
      const uint32_t token = i / kQuads, first = i % kQuads * 4;
      const Place at{token, column + first};
      if constexpr (config.epilogue == CdnaEpilogue::norm) {
        finish_for_norm(at, sum(token, first));
      } else if (end.is_inside(at)) {
        end.finish(at, sum(token, first), kPaired ? sum(token, first + kCdnaTile) : float4{});
      }
    }
  }
};

template <CdnaSkinnyConfig config>
__device__ void linear_skinny_cdna(const LinearCdnaArguments& a) {
  extern __shared__ __align__(16) float shared_memory[];
  const SkinnyCdna<config> work(a, shared_memory);
  typename SkinnyCdna<config>::Sums sums;
  work.multiply(sums);
  work.keep(sums);
  if (a.squares) work.find_factors();
  sync_block();
  work.finish();
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kCdnaMostWaves * kLanes) \
      entry(const __grid_constant__ LinearCdnaArguments a) { linear_skinny_cdna<CdnaSkinnyConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
