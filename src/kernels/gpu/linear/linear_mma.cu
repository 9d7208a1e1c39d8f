// Products by matrix instructions of rows of any length: threads load vectors of the largest size that the rows are
// aligned to into shared memory, and zeros beyond the ends.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_mma_arguments.hpp"
#include "kernels/gpu/linear/linear_tiled_ends.cuh"

namespace rung::gpu {
namespace {

constexpr int kThreads = kMmaWarps * kLanes;

template <MmaConfig config>
class LinearMma {
 public:
  using T = Element<config.type>;
  static constexpr int kSide = config.side(), kPitch = config.pitch();
  static constexpr int kStageBytes = 2 * kSide * kPitch * 2, kSumPitch = kMmaWarpTile + 4;
  static constexpr int kSumBytes = kMmaWarps * kMmaWarpTile * kSumPitch * 4;
  static constexpr int kSharedBytes = 2 * kStageBytes > kSumBytes ? 2 * kStageBytes : kSumBytes;

  __device__ LinearMma(const LinearMmaArguments& arguments, unsigned char* shared)
      : a(arguments.of), memory(shared), first_row(blockIdx.y * kSide), first_column(blockIdx.x * kSide) {
    int64_t matrices[2] = {};
    a.batch.locate(blockIdx.z, matrices);
    x = {in_memory<const T>(a.x) + matrices[0], arguments.x_row, first_row, a.m};
    w = {in_memory<const T>(a.w) + matrices[1], a.w_row, first_column, a.n};
  }

  __device__ void run(bool w_constant) {
    allow_dependents();
    Pieces of_x, of_w;
    if (w_constant) load(of_w, w, 0);
    wait_for_producers();
    if (!w_constant) load(of_w, w, 0);
    load(of_x, x, 0);
    const uint32_t stages = (a.k + kDepth - 1) / kDepth;
#pragma unroll 1
    for (uint32_t stage = 0; stage < stages; ++stage) {
      T* const lines = reinterpret_cast<T*>(memory + stage % 2 * kStageBytes);
      store(lines, of_x), store(lines + kSide * kPitch, of_w);
      sync_block();  // one barrier is enough: the stage before last is the one that the next stores overwrite
      if (stage + 1 < stages) load(of_x, x, stage + 1), load(of_w, w, stage + 1);
      multiply(lines);
    }
    sync_block();
    keep();
    sync_block();
    finish();
  }

 private:
  static constexpr int kVector = config.vector, kDepth = config.depth();
  static constexpr int kAcross = kDepth / kVector;  // threads that load a line together
  static constexpr int kLines = kThreads / kAcross, kPieces = kSide / kLines;
  static_assert(kLines * kAcross == kThreads && kPieces * kLines == kSide);
  using Bits = Unit<kVector * 2>;
  using Pieces = Bits[kPieces];

  struct Matrix {
    const T* base;
    int64_t stride;         // elements from one line to the next
    uint32_t first, lines;  // the tile's first line, and all lines
  };

  __device__ static uint32_t own_line() { return threadIdx.x / kAcross; }
  __device__ static uint32_t own_column() { return threadIdx.x % kAcross * kVector; }
  __device__ void load(Pieces& to, const Matrix& from, uint32_t stage) const {
    const uint32_t k = stage * kDepth + own_column();
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const uint32_t line = from.first + own_line() + i * kLines;
      to[i] = Bits{};
      if (line < from.lines && k < a.k) to[i] = *reinterpret_cast<const Bits*>(from.base + line * from.stride + k);
    }
  }
  __device__ static void store(T* lines, const Pieces& from) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      *reinterpret_cast<Bits*>(lines + (own_line() + i * kLines) * kPitch + own_column()) = from[i];
  }

  // ---- products: a warp's square of the block's, or its part of a stage's K

  static constexpr int kSixteens = kMmaWarpTile / 16;
  __device__ static int square_row() { return config.k_warps == 1 ? warp() / 2 * kMmaWarpTile : 0; }
  __device__ static int square_column() { return config.k_warps == 1 ? warp() % 2 * kMmaWarpTile : 0; }
  __device__ void multiply(const T* lines) {
    constexpr int kPart = kDepth / config.k_warps;
    const int begin = config.k_warps == 1 ? 0 : warp() * kPart;
    const T* from_x = lines + square_row() * kPitch + begin;
    const T* from_w = lines + (kSide + square_column()) * kPitch + begin;
#pragma unroll
    for (int k = 0; k < kPart; k += 16) {
      FragmentA rows[kSixteens];
#pragma unroll
      for (int i = 0; i < kSixteens; ++i) rows[i] = load_a(from_x + i * 16 * kPitch + k, kPitch);
#pragma unroll
      for (int j = 0; j < kSixteens; ++j) {
        FragmentB columns[kFragmentsOf16];
        load_b_by_columns(columns, from_w + j * 16 * kPitch + k, kPitch);
#pragma unroll
        for (int i = 0; i < kSixteens; ++i) multiply_add_16<T>(sums[i] + j * kFragmentsOf16, rows[i], columns);
      }
    }
  }

  // ---- results

  __device__ float* sums_of(int of_warp) const {
    return reinterpret_cast<float*>(memory) + of_warp * kMmaWarpTile * kSumPitch;
  }
  __device__ void keep() const {
    float* const to = sums_of(warp());
#pragma unroll
    for (int i = 0; i < kSixteens; ++i)
#pragma unroll
      for (int own = 0; own < kLaneRows; ++own)
#pragma unroll
        for (int j = 0; j < kSixteens * kFragmentsOf16; ++j)
          store_row(to + (i * 16 + own * kRowStep + fragment_row(lane())) * kSumPitch + j * kFragmentColumns,
                    sums[i][j], own);
  }
  // The warps that share K are added in their order.
  __device__ float sum(int row, int column) const {
    const int in_square = row % kMmaWarpTile * kSumPitch + column % kMmaWarpTile;
    if (config.k_warps == 1) return sums_of(row / kMmaWarpTile * 2 + column / kMmaWarpTile)[in_square];
    float total = 0;
#pragma unroll
    for (int part = 0; part < config.k_warps; ++part) total += sums_of(part)[in_square];
    return total;
  }
  __device__ void finish() const {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < kSide * kSide; i += kThreads) {
      const uint32_t row = first_row + i / kSide, column = first_column + i % kSide;
      if (row >= a.m || column >= a.n) continue;
      int64_t begin[4] = {};
      a.rows.locate(row, begin);
      const ResultEnds ends = load_ends<false>(a, begin, column);
      store_as<float>(a.end.out, a.end.out_type, (int64_t{blockIdx.z} * a.m + row) * a.n + column,
                      end_result<false>(a, ends, column, sum(i / kSide, i % kSide), 0));
    }
  }

  const TiledArguments& a;
  unsigned char* const memory;
  const uint32_t first_row, first_column;
  Matrix x, w;
  FragmentC sums[kSixteens][kSixteens * kFragmentsOf16];
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                               \
  RUNG_KERNEL(kThreads) entry(const __grid_constant__ LinearMmaArguments a) {                  \
    using Block = LinearMma<MmaConfig{__VA_ARGS__}>;                                           \
    static __shared__ __align__(16) unsigned char shared_memory[Block::kSharedBytes];          \
    Block(a, shared_memory).run(a.w_constant != 0);                                            \
  }
#include "kernels/gpu/linear/linear_mma.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
