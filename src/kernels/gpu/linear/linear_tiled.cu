// A matrix product in f32 for any strides and types: 64 x 64 or 32 x 32 results per block. The last resort.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_tiled_ends.cuh"
#include "kernels/gpu/quantize/byte_elements.cuh"

namespace rung::gpu {
namespace {

constexpr int kThreads = 256, kAcross = 16;  // threads along either side of a tile

// An element of w in groups of columns, as its line and its place in it are found: a byte, which of its halves the
// element is, and the group's scale and offset, in one word.
struct Groups {
  uint64_t scale = 0, offset = 0;  // addresses; 0: none
  uint32_t columns = 1;

  __device__ bool has_4_bits() const { return offset != 0; }
  __device__ uint32_t of(uint32_t byte, uint32_t k, int64_t first) const {
    const int64_t at = first + k / columns;
    const uint32_t above = element<const uint8_t>(scale, at);
    if (!has_4_bits()) return byte | above << 8;
    return (byte >> k % 2 * 4 & 15u) | above << 8 | uint32_t{element<const uint8_t>(offset, at)} << 16;
  }
  // Returns the number that the line's scale multiplies.
  __device__ float value(uint32_t word) const {
    const float4 numbers = unpack_bytes<int8_t>(word);
    return has_4_bits() ? numbers.y * (numbers.x - 8.0f) + 8.0f * numbers.z : numbers.y * numbers.x;
  }
};

// A block; each thread computes kPerThread x kPerThread results. With kPairs, columns have partners; with kBytes, x, w
// and the result may be of 8 bits; with kGrouped, w has groups.
template <int kPerThread, bool kPairs, bool kBytes, bool kGrouped>
class TiledProduct {
 public:
  __device__ TiledProduct(const TiledArguments& arguments, const Groups& of_w, uint32_t z)
      : a(arguments), groups(of_w), matrix(z) {
    int64_t matrices[2] = {};
    a.batch.locate(z, matrices);
    x = lines_of_x(matrices[0]), w = lines_of_w(matrices[1], false);
    if (kPairs) partner = lines_of_w(matrices[1], true);
  }

  __device__ void run() {
    __shared__ Tile x_tile, w_tile[kPairs ? 2 : 1];
    Held held_x, held_w, held_partner;
    const auto fetch = [&](uint32_t k) {
      fetch_tile(held_x, x, k), fetch_tile(held_w, w, k);
      if (kPairs) fetch_tile(held_partner, partner, k);
    };
    Sums sums = {}, partners = {};
    fetch(0);
    for (uint32_t k = 0; k < a.k; k += kDepth) {
      store_tile(x_tile, held_x, x), store_tile(w_tile[0], held_w, w);
      if (kPairs) store_tile(w_tile[kPairs], held_partner, partner);
      sync_block();
      if (k + kDepth < a.k) fetch(k + kDepth);
      multiply_tiles(sums, x_tile, w_tile[0]);
      if (kPairs) multiply_tiles(partners, x_tile, w_tile[kPairs]);
      sync_block();
    }
    store_results(sums, partners);
  }

 private:
  static constexpr EndKind kEnd{.pairs = kPairs, .scales = kBytes || kGrouped};
  static constexpr int kSide = kAcross * kPerThread, kDepth = kThreads * kPerThread / kSide;
  using Tile = float[kDepth][kSide + 1];
  using Sums = float[kPerThread][kPerThread];
  // A thread's elements of a tile: they are on their way while the tile before is multiplied.
  using Held = FloatBits[kPerThread];

  // The line (row of x or w) and the k that a thread loads: neighbouring threads take neighbours in memory.
  struct Slot {
    int line, k;
  };
  __device__ static Slot slot_of(int i, bool along_k) {
    const int at = static_cast<int>(threadIdx.x) + i * kThreads;
    return along_k ? Slot{at / kDepth, at % kDepth} : Slot{at % kSide, at / kSide};
  }
  struct Lines {
    uint64_t base;
    DType type;
    int64_t step;               // from one k to the next
    int64_t begin[kPerThread];  // the first element of the line that slot i loads; -1: beyond the matrix
    int64_t first_group[kPerThread];
  };
  __device__ Lines lines_of_x(int64_t first) const {
    Lines lines{a.x, a.x_type, a.x_step, {}};
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const uint32_t row = blockIdx.y * kSide + slot_of(i, a.x_step == 1).line;
      int64_t begin[4] = {first, 0, 0, 0};
      if (row < a.m) a.rows.locate(row, begin);
      lines.begin[i] = row < a.m ? begin[0] : -1;
    }
    return lines;
  }
  __device__ Lines lines_of_w(int64_t first, bool partners) const {
    Lines lines{a.w, a.w_type, a.w_step, {}};
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const uint32_t column = blockIdx.x * kSide + slot_of(i, a.w_step == 1).line;
      const int64_t row = partners ? partner_of(a, column) : column;
      lines.begin[i] = column < a.n ? first + row * a.w_row : -1;
      if (kGrouped) lines.first_group[i] = row * (a.k / groups.columns);
    }
    return lines;
  }

  template <class Bits>
  __device__ void fetch_tile(Held& held, const Lines& from, uint32_t first) const {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const uint32_t k = first + slot_of(i, from.step == 1).k;
      held[i].bits = 0;
      if (from.begin[i] >= 0 && k < a.k) held[i].bits = element<const Bits>(from.base, from.begin[i] + k * from.step);
    }
  }
  __device__ void fetch_groups(Held& held, const Lines& from, uint32_t first) const {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const uint32_t k = first + slot_of(i, from.step == 1).k, at = groups.has_4_bits() ? k / 2 : k;
      held[i].bits = 0;  // a scale and an offset of 0
      if (from.begin[i] >= 0 && k < a.k)
        held[i].bits =
            groups.of(element<const uint8_t>(from.base, from.begin[i] + at * from.step), k, from.first_group[i]);
    }
  }
  __device__ void fetch_tile(Held& held, const Lines& from, uint32_t first) const {
    if (kGrouped && is_grouped(from.type))
      fetch_groups(held, from, first);
    else if (from.type == DType::f32)
      fetch_tile<uint32_t>(held, from, first);
    else if (kBytes && is_byte(from.type))
      fetch_tile<uint8_t>(held, from, first);
    else
      fetch_tile<uint16_t>(held, from, first);
  }
  __device__ static bool is_byte(DType type) { return type == DType::i8 || is_e4m3(type); }
  __device__ static bool is_grouped(DType type) { return type == DType::i8 || type == DType::u8; }
  __device__ float value_of(const FloatBits& from, DType type) const {
    if (kGrouped && is_grouped(type)) return groups.value(from.bits);
    if (kBytes && type == DType::i8) return unpack_bytes<int8_t>(from.bits).x;
    if (kBytes && is_e4m3(type)) return unpack_bytes<f8e4m3>(from.bits).x;
    return from.value(type);
  }
  __device__ void store_tile(Tile& tile, const Held& held, const Lines& from) const {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const Slot slot = slot_of(i, from.step == 1);
      tile[slot.k][slot.line] = value_of(held[i], from.type);
    }
  }

  // A thread's rows and columns lie kAcross apart, so that a warp reads shared memory without conflicts.
  __device__ static int own_row(int i) { return static_cast<int>(threadIdx.x) / kAcross + i * kAcross; }
  __device__ static int own_column(int i) { return static_cast<int>(threadIdx.x) % kAcross + i * kAcross; }

  __device__ static void multiply_tiles(Sums& sums, const Tile& x, const Tile& w) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float rows[kPerThread], columns[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) rows[i] = x[k][own_row(i)], columns[i] = w[k][own_column(i)];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i)
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) sums[i][j] = fmaf(rows[i], columns[j], sums[i][j]);
    }
  }

  __device__ void store_results(const Sums& sums, const Sums& partners) const {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const uint32_t row = blockIdx.y * kSide + own_row(i);
      if (row >= a.m) continue;
      int64_t begin[4] = {};
      a.rows.locate(row, begin);
#pragma unroll
      for (int j = 0; j < kPerThread; ++j) {
        const uint32_t column = blockIdx.x * kSide + own_column(j);
        if (column >= a.n) continue;
        const ResultEnds ends = load_ends<kEnd>(a, begin, row, column);
        store((int64_t{matrix} * a.m + row) * a.n + column,
              end_result<kEnd>(a, ends, column, sums[i][j], partners[i][j]));
      }
    }
  }

  __device__ void store(int64_t at, float y) const {
    if constexpr (kBytes)
      store_as_float(a.end.out, a.end.out_type, at, y);
    else
      store_as<float>(a.end.out, a.end.out_type, at, y);
  }

  const TiledArguments& a;
  const Groups groups;
  const uint32_t matrix;
  Lines x, w, partner;
};

template <int kPerThread, bool kPairs, bool kBytes = false>
__device__ void products(const TiledArguments& a) {
  allow_dependents();
  wait_for_producers();
  for (uint32_t z = blockIdx.z; z < a.batch.count; z += gridDim.z)
    TiledProduct<kPerThread, kPairs, kBytes, false>(a, {}, z).run();
}
template <bool kPairs>
__device__ void grouped_products(const TiledGroupArguments& a) {
  allow_dependents();
  wait_for_producers();
  TiledProduct<2, kPairs, false, true>(a.of, {a.scale, a.offset, a.columns}, 0).run();
}

}  // namespace

RUNG_KERNEL(256) linear_tiled_64(const __grid_constant__ TiledArguments a) { products<4, false>(a); }
RUNG_KERNEL(256) linear_tiled_32(const __grid_constant__ TiledArguments a) { products<2, false>(a); }
RUNG_KERNEL(256) linear_tiled_pairs_64(const __grid_constant__ TiledArguments a) { products<4, true>(a); }
RUNG_KERNEL(256) linear_tiled_pairs_32(const __grid_constant__ TiledArguments a) { products<2, true>(a); }
RUNG_KERNEL(256) linear_tiled_bytes(const __grid_constant__ TiledArguments a) { products<2, false, true>(a); }
RUNG_KERNEL(256) linear_tiled_pairs_bytes(const __grid_constant__ TiledArguments a) { products<2, true, true>(a); }
RUNG_KERNEL(256) linear_tiled_groups(const __grid_constant__ TiledGroupArguments a) { grouped_products<false>(a); }
RUNG_KERNEL(256) linear_tiled_pairs_groups(const __grid_constant__ TiledGroupArguments a) { grouped_products<true>(a); }

}  // namespace rung::gpu
