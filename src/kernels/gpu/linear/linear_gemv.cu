// Products of a few rows with a matrix, which reads every element of w once, by vectors of the largest size that the
// rows of w are aligned to: the lanes of a team of warps share K, and add up their sums in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_gemv_arguments.hpp"
#include "kernels/gpu/linear/linear_tiled_ends.cuh"
#include "kernels/gpu/quantize/byte_elements.cuh"

namespace rung::gpu {
namespace {

constexpr uint32_t kWarps = kGemvThreads / kLanes;
static_assert(kWarps <= kGemvMostWarps);

template <GemvConfig config>
class Gemv {
 public:
  __device__ Gemv(const LinearGemvArguments& arguments, float* memory)
      : a(arguments.of),
        x(memory),
        team_lanes(arguments.team * kLanes),
        teams(kWarps / arguments.team),
        own_team(static_cast<uint32_t>(warp()) / arguments.team),
        first_vector(threadIdx.x % team_lanes),
        sides(a.end.gated || a.end.rotated > 0 ? 2 : 1) {
    a.batch.locate(blockIdx.y, matrices);
  }

  __device__ void run(const LinearGemvArguments& all) {
    allow_dependents();
    if (!all.w_constant) wait_for_producers();
    Item item{blockIdx.x * teams, 0};
    Vectors held;
    load(held, line_of(item), first_vector);
    prefetch(item, all.prefetch);
    wait_for_producers();
    load_x(all.x_quads != 0);
    sync_block();
    for (uint32_t parity = 0; item.column < a.n; parity ^= 1) {
      const Result mine = result_of(item.column);
      for (; item.side < sides; ++item.side) {
        Sums sums = {};
        multiply(sums, held, line_of(item));
        load(held, line_of(next(item)), first_vector);
        keep(sums, parity, item.side);
      }
      sync_block();
      finish(mine, parity);
      item = {item.column + gridDim.x * teams, 0};
    }
  }

 private:
  using T = Element<config.type>;
  static constexpr EndKind kEnd{.pairs = true, .scales = config.has_8_bits()};
  using Bits = Unit<config.bytes>;
  static constexpr uint32_t kVector = config.vector(), kRows = config.rows;
  static constexpr int kAhead = 4;  // vectors of a lane under way together
  using Vectors = Bits[kAhead];
  using Sums = float[kRows];

  // The columns that the block's teams compute, from `column` on; side 1: their partners.
  struct Item {
    uint32_t column, side;
  };
  __device__ Item next(const Item& item) const {
    return item.side + 1 < sides ? Item{item.column, item.side + 1} : Item{item.column + gridDim.x * teams, 0};
  }
  // The row of w that this team multiplies; it has no vectors if the team has no column.
  struct Line {
    int64_t first;  // element of w
    uint32_t vectors;
  };
  __device__ Line line_of(const Item& item) const {
    const uint32_t column = item.column + own_team;
    const uint32_t row = item.side > 0 ? partner_of(a, column) : column;
    return {matrices[1] + row * a.w_row, column < a.n ? a.k / kVector : 0};
  }

  // ---- products

  __device__ void load(Vectors& to, const Line& line, uint32_t at) const {
    const auto* from = reinterpret_cast<const Bits*>(in_memory<const T>(a.w) + line.first);
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (at + i * team_lanes < line.vectors) to[i] = from[at + i * team_lanes];
  }
  // Prefetches about that many bytes of this team's rows into the cache, from what load() has not asked for on.
  __device__ void prefetch(Item item, uint32_t bytes) const {
    constexpr uint32_t kLine = 128;
    uint32_t begin = kAhead * team_lanes * config.bytes;
    while (bytes > 0 && item.column < a.n) {
      const Line line = line_of(item);
      const uint32_t end = line.vectors * config.bytes;
      const auto* row = reinterpret_cast<const unsigned char*>(in_memory<const T>(a.w) + line.first);
      for (uint32_t at = begin + first_vector * kLine; at < end; at += team_lanes * kLine) prefetch_to_l2(row + at);
      bytes -= min(bytes, max(end, kLine));
      begin = 0;
      item = next(item);
    }
  }
  __device__ void multiply(Sums& sums, Vectors& held, const Line& line) const {
    for (uint32_t at = first_vector; at < line.vectors; at += kAhead * team_lanes) {
      Vectors following;
      load(following, line, at + kAhead * team_lanes);
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (at + i * team_lanes < line.vectors) add_products(sums, held[i], at + i * team_lanes);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) held[i] = following[i];
    }
  }
  __device__ void add_products(Sums& sums, const Bits& bits, uint32_t vector) const {
    float w[kVector];
    widen(w, bits);
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const float* from = x + row * a.k;
#pragma unroll
      for (uint32_t j = 0; j < kVector; j += kGroup) {
        const auto group = *reinterpret_cast<const Unit<kGroup * 4>*>(from + place(vector, j));
        const auto* words = reinterpret_cast<const uint32_t*>(&group);
#pragma unroll
        for (uint32_t i = 0; i < kGroup; ++i) sums[row] = fmaf(as_float(words[i]), w[j + i], sums[row]);
      }
    }
  }
  __device__ static void widen(float (&to)[kVector], const Bits& bits) {
    const auto* words = reinterpret_cast<const uint32_t*>(&bits);
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (uint32_t i = 0; i < kVector; ++i) to[i] = as_float(words[i]);
    } else if constexpr (config.has_8_bits() && kVector == 1) {
      to[0] = unpack_bytes<T>(bits).x;
    } else if constexpr (config.has_8_bits()) {
#pragma unroll
      for (uint32_t i = 0; i < kVector / 4; ++i) {
        const float4 four = unpack_bytes<T>(words[i]);
        to[4 * i] = four.x, to[4 * i + 1] = four.y, to[4 * i + 2] = four.z, to[4 * i + 3] = four.w;
      }
    } else if constexpr (kVector == 1) {
      to[0] = unpack<T>(bits).x;
    } else {
#pragma unroll
      for (uint32_t i = 0; i < kVector / 2; ++i) {
        const float2 pair = unpack<T>(words[i]);
        to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
      }
    }
  }

  // ---- x in shared memory: a row has the first four elements of all vectors, then their second four, so that
  // neighbouring lanes read neighbouring groups

  static constexpr uint32_t kGroup = kVector < 4 ? kVector : 4;
  __device__ uint32_t place(uint32_t vector, uint32_t element) const {
    return (element / kGroup * (a.k / kVector) + vector) * kGroup + element % kGroup;
  }
  __device__ void load_x(bool quads) const {
    if (a.x_type == DType::f32)
      quads ? load_x<float, 4>() : load_x<float, 1>();
    else if (a.x_type == DType::bf16)
      quads ? load_x<bf16, 4>() : load_x<bf16, 1>();
    else
      quads ? load_x<f16, 4>() : load_x<f16, 1>();
  }
  template <class X, uint32_t kTogether>
  __device__ void load_x() const {
#pragma unroll 1
    for (uint32_t row = 0; row < kRows; ++row) {
      int64_t begin[4] = {matrices[0], 0, 0, 0};
      if (row < a.m) a.rows.locate(row, begin);
#pragma unroll 4
      for (uint32_t k = threadIdx.x * kTogether; k < a.k; k += kGemvThreads * kTogether) {
        X from[kTogether] = {};
        using Together = Unit<kTogether * sizeof(X)>;
        if (row < a.m)
          *reinterpret_cast<Together*>(from) =
              *reinterpret_cast<const Together*>(in_memory<const X>(a.x) + begin[0] + k * a.x_step);
#pragma unroll
        for (uint32_t i = 0; i < kTogether; ++i)
          x[row * a.k + place((k + i) / kVector, (k + i) % kVector)] = to_float(from[i]);
      }
    }
  }

  // ---- results: the sums of a team's warps, added by the thread that stores the result

  using Parts = float[2][2][kRows][kWarps];  // by parity, by side
  static __device__ Parts& parts() {
    static __shared__ Parts all;
    return all;
  }
  __device__ static void keep(const Sums& sums, uint32_t parity, uint32_t side) {
#pragma unroll
    for (uint32_t row = 0; row < kRows; ++row) {
      const float sum = lanes_sum(sums[row]);
      if (lane() == 0) parts()[parity][side][row][warp()] = sum;
    }
  }
  struct Result {
    uint32_t row, column, team;
    bool valid;
    ResultEnds ends;
  };
  __device__ Result result_of(uint32_t first_column) const {
    Result r{threadIdx.x / teams, first_column + threadIdx.x % teams, threadIdx.x % teams, false, {}};
    r.valid = r.row < a.m && r.column < a.n;
    int64_t begin[4] = {};
    if (r.valid) a.rows.locate(r.row, begin), r.ends = load_ends<kEnd>(a, begin, r.row, r.column);
    return r;
  }
  __device__ void finish(const Result& mine, uint32_t parity) const {
    if (!mine.valid) return;
    float sums[2] = {};
#pragma unroll
    for (uint32_t side = 0; side < 2; ++side)
      for (uint32_t i = 0; side < sides && i < kWarps / teams; ++i)
        sums[side] += parts()[parity][side][mine.row][mine.team * (kWarps / teams) + i];
    store_as<float>(a.end.out, a.end.out_type, (int64_t{blockIdx.y} * a.m + mine.row) * a.n + mine.column,
                    end_result<kEnd>(a, mine.ends, mine.column, sums[0], sums[1]));
  }

  const TiledArguments& a;
  float* const x;
  const uint32_t team_lanes, teams, own_team, first_vector;
  const uint32_t sides;  // 2: columns have partners
  int64_t matrices[2] = {};
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                   \
  RUNG_KERNEL(kGemvThreads, (GemvConfig{__VA_ARGS__}.blocks()))                                    \
  entry(const __grid_constant__ LinearGemvArguments a) {                                           \
    extern __shared__ __align__(16) float shared_memory[];                                         \
    Gemv<GemvConfig{__VA_ARGS__}>(a, shared_memory).run(a);                                        \
  }
#include "kernels/gpu/linear/linear_gemv.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
