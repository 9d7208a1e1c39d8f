// Linear layers of at most 64 tokens on CDNA: every weight is read once, in the order of the lanes that multiply it;
// the waves of a block share K, and add up their sums through shared memory in the waves' order.
// SPDX-License-Identifier: Apache-2.0
// Blocks that follow each other run on different dies (XCDs), each with its own L2: no two blocks need the same
// weights, and x is small enough for every L2.
#include "kernels/gpu/linear/linear_cdna.cuh"
#include "kernels/gpu/linear/linear_skinny_cdna_arguments.hpp"

namespace rung::gpu {
namespace {

template <CdnaSkinnyConfig config>
struct SkinnyCdna {
  using T = Element<config.type>;
  static constexpr uint32_t kChunk = cdna_chunk(config.type);
  static constexpr int kTokenTiles = config.token_tiles, kRowTiles = config.row_tiles;
  static constexpr bool kPaired = is_paired(config.epilogue);
  static constexpr uint32_t kTokens = config.tokens(), kPitch = config.pitch();
  static constexpr uint32_t kColumns = kPaired ? kCdnaTile : config.rows();  // of out, without partners
  static constexpr uint32_t kQuads = kColumns / 4;
  using Sums = FragmentC[kRowTiles][kTokenTiles];

  const LinearCdnaArguments& a;
  static constexpr bool k8Bits = config.type == DType::f8e4m3fn;
  const CdnaEnd<config.epilogue, k8Bits> end;
  float* shared;  // each wave's sums, then each token's factor
  uint32_t part, parts, column;

  __device__ SkinnyCdna(const LinearCdnaArguments& arguments, float* memory)
      : a(arguments), end{arguments}, shared(memory) {
    part = warp(), parts = a.waves;
    column = end.column_of(blockIdx.x * kColumns);
  }
  __device__ float* factors() const { return shared + parts * kTokens * kPitch; }

  // ---- products of this wave's part of K

  // The operands of one chunk of K; lanes beyond the end of K have zeros for x.
  struct Chunk {
    uint4 w[kRowTiles], x[kTokenTiles];
  };
  struct Places {
    const char *x, *w;             // of the block
    uint32_t from_x[kTokenTiles];  // bytes to the lane's share of the next chunk; below 4 GiB
    uint32_t from_w;
    __device__ void advance(uint32_t chunks) {
#pragma unroll
      for (uint32_t& from : from_x) from += chunks * kCdnaLineBytes;
      from_w += chunks * kChunkBytes;
    }
  };
  __device__ Places places(uint32_t first) const {
    Places at{in_memory<const char>(a.x),
              in_memory<const char>(a.w) + uint64_t{blockIdx.x} * (kRowTiles * a.tile_bytes),
              {},
              lane() * 16u + first * kChunkBytes};
    const uint32_t begin = lane() / kCdnaTile * 16 + first * kCdnaLineBytes;
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
      at.from_x[t] = min(t * kCdnaTile + lane() % kCdnaTile, a.m - 1) * a.x_stride + begin;
    return at;
  }
  __device__ Chunk load(const Places& at, uint32_t ahead) const {
    Chunk chunk;
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
      chunk.w[r] = load_at(at.w + r * a.tile_bytes + ahead * kChunkBytes, at.from_w);
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
      chunk.x[t] = load_at(at.x + ahead * kCdnaLineBytes, at.from_x[t]);
    return chunk;
  }
  static __device__ void multiply(Sums& sums, const Chunk& chunk) {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(sums[r][t], chunk.x[t], chunk.w[r]);
  }
  __device__ void multiply_last(Sums& sums, const Places& at) const {
    const bool inside = lane() / kCdnaTile * 16 < a.k % kChunk * sizeof(T);
    Chunk chunk = {};
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) chunk.w[r] = load_at(at.w + r * a.tile_bytes, at.from_w);
    if (inside)
#pragma unroll
      for (int t = 0; t < kTokenTiles; ++t) chunk.x[t] = load_at(at.x, at.from_x[t]);
    multiply(sums, chunk);
  }
  __device__ void multiply(Sums& sums) const {
    constexpr uint32_t kAhead = kRowTiles * kTokenTiles > 4 ? 2 : 4;
    const uint32_t first = part * a.chunks_of_wave, last = min(first + a.chunks_of_wave, a.chunks);
    const uint32_t whole = min(last, a.k / kChunk);
    Places at = places(first);
    uint32_t chunk = first;
#pragma unroll 1
    for (; chunk + kAhead <= whole; chunk += kAhead, at.advance(kAhead)) {
      Chunk now[kAhead];
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) now[i] = load(at, i);
#pragma unroll
      for (uint32_t i = 0; i < kAhead; ++i) multiply(sums, now[i]);
    }
#pragma unroll 1
    for (; chunk < whole; ++chunk, at.advance(1)) multiply(sums, load(at, 0));
    if (whole < last && first < last) multiply_last(sums, at);
  }

  // ---- sums and factors, to shared memory

  __device__ void keep(const Sums& sums) const {
#pragma unroll
    for (int t = 0; t < kTokenTiles; ++t)
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r)
        store_row(shared + (part * kTokens + t * kCdnaTile + fragment_row(lane())) * kPitch + r * kCdnaTile,
                  sums[r][t], 0);
  }
  // Computes the tokens' factors, with eight lanes for a token.
  __device__ void find_factors() const {
    for (uint32_t token = threadIdx.x / 8; token < kTokens; token += parts * (kLanes / 8)) {
      const auto* squares = in_memory<const float4>(a.begin.squares) + min(token, a.m - 1) * a.begin.squares_stride;
      float total = 0;
      for (uint32_t i = threadIdx.x % 8; i < a.begin.squares_vectors; i += 8) total += sum_of(squares[i]);
      total = lanes_sum<8>(total);
      factors()[token] = rsqrtf(total * a.begin.squares_share + a.begin.eps);
    }
  }

  // ---- the result: a thread finishes four neighbouring columns of a token, and with them their partners

  template <int kParts>
  static __device__ float4 sum_of_parts(const float* from) {
    Float4 total = *reinterpret_cast<const Float4*>(from);
#pragma unroll
    for (int i = 1; i < kParts; ++i) total += *reinterpret_cast<const Float4*>(from + i * kTokens * kPitch);
    return {total.x, total.y, total.z, total.w};
  }
  __device__ float4 sum(uint32_t token, uint32_t first) const {
    const float* from = shared + token * kPitch + first;
    const float4 total = parts == 4   ? sum_of_parts<4>(from)
                         : parts == 8 ? sum_of_parts<8>(from)
                         : parts == 2 ? sum_of_parts<2>(from)
                                      : sum_of_parts<1>(from);
    return a.begin.squares ? total * factors()[token] : total;
  }
  __device__ void store_normed(int64_t to, float4 y) const {
    if (k8Bits && is_e4m3(a.end.scaled_type))
      element<uint32_t>(a.end.scaled, to / 4) = pack_4<f8e4m3>(y);
    else
      store4(a.end.scaled, DType::bf16, to, y);
  }
  // Stores three results. Eight neighbouring threads have a run of a token; all columns are inside.
  __device__ void finish_for_norm(Activation activation, Place at, float4 sum) const {
    float4 y{};
    if (end.is_inside(at)) {
      y = activate4(activation, end.scaled(sum, at, at.column) + end.bias(at.column)) + end.residual(at);
      store4(a.end.out, DType::f32, end.to(at), y);
      store_normed(end.to(at), y * load4(a.end.scale, DType::f32, at.column));
    }
    const float run = lanes_sum<kNormRun / 4>(sum_of(y * y));
    if (end.is_inside(at) && at.column % kNormRun == 0)
      element<float>(a.end.means, end.to(at) / kNormRun) = run / kNormRun;
  }
  __device__ void finish(Activation activation) const {
    for (uint32_t i = threadIdx.x; i < kTokens * kQuads; i += parts * kLanes) {
      const uint32_t token = i / kQuads, first = i % kQuads * 4;
      const Place at{token, column + first};
      if constexpr (config.epilogue == CdnaEpilogue::norm) {
        finish_for_norm(activation, at, sum(token, first));
      } else if (end.is_inside(at)) {
        end.finish(activation, at, sum(token, first), kPaired ? sum(token, first + kCdnaTile) : float4{});
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
  if (a.begin.squares) work.find_factors();
  sync_block();
  // Without an activation, the kernel does not even load the constants of activations.
  if (config.epilogue == CdnaEpilogue::rotated || a.end.activation == Activation::none)
    work.finish(Activation::none);
  else
    work.finish(a.end.activation);
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(kCdnaMostWaves * kLanes) \
      entry(const __grid_constant__ LinearCdnaArguments a) { linear_skinny_cdna<CdnaSkinnyConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
