// Linear layers of at most 64 tokens on CDNA: every weight is read once, in the order of the lanes that multiply it;
// the waves of a block share K, and add their sums through shared memory in their order.
// SPDX-License-Identifier: Apache-2.0
// Blocks that follow each other run on different dies (XCDs), each with an L2 of its own: no two need the same weights,
// and x is small enough for all of them.
#include "kernels/gpu/cdna/matrix.cuh"
#include "kernels/gpu/linear/linear_skinny_cdna_arguments.hpp"
#include "kernels/gpu/linear/quads.cuh"
#include "kernels/gpu/pointwise/activation.cuh"

namespace rung::gpu {
namespace {

static_assert(kCdnaChunk == kDeep && kCdnaTile == kFragmentColumns && kRowStep == kCdnaTile);

__device__ inline float4 operator-(float4 a, float4 b) { return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w}; }
__device__ inline float4 operator*(float4 a, float4 b) { return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w}; }
__device__ inline float4 operator*(float4 a, float b) { return {a.x * b, a.y * b, a.z * b, a.w * b}; }
__device__ inline float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ inline float4 activate4(int32_t kind, float4 v) {
  if (kind == 0) return v;
  return {activate(kind, v.x), activate(kind, v.y), activate(kind, v.z), activate(kind, v.w)};
}
// With a base that all lanes share and a distance of each, as the machine adds them.
__device__ inline uint4 load_at(const char* base, uint32_t distance) {
  return *reinterpret_cast<const uint4*>(base + distance);
}

template <CdnaSkinnyConfig config>
struct SkinnyCdna {
  using T = Element<config.type>;
  static constexpr int kTokenTiles = config.token_tiles, kRowTiles = config.row_tiles;
  static constexpr bool kGated = config.epilogue == CdnaEpilogue::gated;
  static constexpr uint32_t kTokens = config.tokens(), kPitch = config.pitch();
  static constexpr uint32_t kColumns = config.paired() ? kCdnaTile : config.rows();  // of out, but for the partners
  static constexpr uint32_t kQuads = kColumns / 4;
  static constexpr uint32_t kChunkBytes = kLanes * 16;
  using Sums = FragmentC[kRowTiles][kTokenTiles];

  const LinearSkinnyCdnaArguments& a;
  float* shared;  // sums of each wave, then a factor of each token
  uint32_t part, parts, column;

  __device__ SkinnyCdna(const LinearSkinnyCdnaArguments& arguments, float* memory) : a(arguments), shared(memory) {
    part = warp(), parts = blockDim.x / kLanes;
    column = blockIdx.x * kColumns;
    if (config.epilogue == CdnaEpilogue::rotated) column += column / a.half * a.half;  // past the upper halves before
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
    Places at{global_pointer<const char>(a.x) + first * (kDeep * sizeof(T)),
              global_pointer<const char>(a.w) + (uint64_t{blockIdx.x} * kRowTiles * a.chunks + first) * kChunkBytes,
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
      const auto* squares = global_pointer<const float4>(a.squares) + min(token, a.m - 1) * a.squares_stride;
      float total = 0;
      for (uint32_t i = threadIdx.x % 8; i < a.squares_vectors; i += 8) total += sum_of(squares[i]);
      total = lanes_sum<8>(total);
      factors()[token] = rsqrtf(total * a.squares_share + a.eps);
    }
  }

  // ---- the result: a thread finishes four neighbouring columns of a token, and with them their partners

  struct Place {
    uint32_t token, first, column;  // first: in the tile; column: of out
    bool valid;
    float factor;
  };
  __device__ Place place(uint32_t i) const {
    const uint32_t token = i / kQuads, first = i % kQuads * 4;
    return {token, first, column + first, token < a.m && column + first < a.n, a.squares ? factors()[token] : 1.0f};
  }
  __device__ float4 sum(const Place& at, uint32_t tile) const {
    const float* from = shared + at.token * kPitch + at.first + tile * kCdnaTile;
    float4 total = *reinterpret_cast<const float4*>(from);
    for (uint32_t i = 1; i < parts; ++i) total = total + *reinterpret_cast<const float4*>(from + i * kTokens * kPitch);
    return total * at.factor;
  }
  __device__ float4 bias(uint32_t at) const { return a.bias ? load4(a.bias, a.bias_type, at) : float4{}; }
  __device__ float4 residual(const Place& at) const {
    return a.residual ? load4(a.residual, a.residual_type, at.token * a.residual_stride + at.column) : float4{};
  }
  __device__ int64_t to(const Place& at) const { return int64_t{at.token} * a.n + at.column; }

  __device__ void finish_rows(const Place& at) const {
    if (!at.valid) return;
    float4 y = activate4(a.activation, sum(at, 0) + bias(at.column));
    if (kGated) y = y * (sum(at, 1) + bias(a.n + at.column));
    store4(a.out, a.out_type, to(at), y + residual(at));
  }
  // Three results. Eight neighbouring threads have a run of a token; all columns are valid.
  __device__ void finish_for_norm(const Place& at) const {
    float4 y{};
    if (at.valid) {
      y = activate4(a.activation, sum(at, 0) + bias(at.column)) + residual(at);
      store4(a.out, DType::f32, to(at), y);
      store4(a.scaled, DType::bf16, to(at), y * load4(a.scale, DType::f32, at.column));
    }
    const float run = lanes_sum<kNormRun / 4>(sum_of(y * y));
    if (at.valid && at.column % kNormRun == 0) element<float>(a.means, to(at) / kNormRun) = run / kNormRun;
  }
  __device__ void finish_rotated(const Place& at) const {
    if (!at.valid) return;
    const float4 x = sum(at, 0) + bias(at.column), upper = sum(at, 1) + bias(at.column + a.half);
    float4 y = x, upper_y = upper;
    if (at.column < a.rotated) {
      const int64_t cos = at.token * a.cos_stride + at.column % a.half;
      const int64_t sin = at.token * a.sin_stride + at.column % a.half;
      y = x * load4(a.cos, a.cos_type, cos) - upper * load4(a.sin, a.sin_type, sin);
      upper_y = upper * load4(a.cos, a.cos_type, cos + a.half) + x * load4(a.sin, a.sin_type, sin + a.half);
    }
    store4(a.out, a.out_type, to(at), y);
    store4(a.out, a.out_type, to(at) + a.half, upper_y);
  }
  __device__ void finish() const {
    for (uint32_t i = threadIdx.x; i < kTokens * kQuads; i += blockDim.x) {
      const Place at = place(i);
      if constexpr (config.epilogue == CdnaEpilogue::norm)
        finish_for_norm(at);
      else if constexpr (config.epilogue == CdnaEpilogue::rotated)
        finish_rotated(at);
      else
        finish_rows(at);
    }
  }
};

template <CdnaSkinnyConfig config>
__device__ void linear_skinny_cdna(const LinearSkinnyCdnaArguments& a) {
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
      entry(const __grid_constant__ LinearSkinnyCdnaArguments a) { linear_skinny_cdna<CdnaSkinnyConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
