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
    Stage even, odd;
    if (w_constant) load(even.w, w, 0), load(odd.w, w, 1);
    wait_for_producers();
    if (!w_constant) load(even.w, w, 0), load(odd.w, w, 1);
    load(even.x, x, 0), load(odd.x, x, 1);
    const uint32_t stages = (a.k + kDepth - 1) / kDepth;
#pragma unroll 1
    for (uint32_t stage = 0; stage < stages; stage += 2) {
      take(even, stage);
      if (stage + 1 < stages) take(odd, stage + 1);
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
  struct Stage {  // in registers
    Pieces x, w;
  };
  // Multiplies a stage while the next one and the one that takes its registers are on their way.
  __device__ void take(Stage& held, uint32_t stage) {
    T* const lines = reinterpret_cast<T*>(memory + stage % 2 * kStageBytes);
    store(lines, held.x), store(lines + kSide * kPitch, held.w);
    sync_block();  // one barrier is enough: the stage before last is the one that the next stores overwrite
    load(held.x, x, stage + 2), load(held.w, w, stage + 2);
    multiply(lines);
  }

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
    constexpr int kTogether = 4, kRowsApart = kThreads / kSide;  // kTogether: results whose ends are loaded together
    static_assert(kRowsApart * kSide == kThreads && kSide % (kTogether * kRowsApart) == 0);
    const int own_row = static_cast<int>(threadIdx.x) / kSide, own = static_cast<int>(threadIdx.x) % kSide;
    const uint32_t column = first_column + own;
    if (column >= a.n) return;
#pragma unroll 1
    for (int first = own_row; first < kSide; first += kTogether * kRowsApart) {
      ResultEnds ends[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        int64_t begin[4] = {};
        a.rows.locate(min(first_row + first + i * kRowsApart, a.m - 1), begin);
        ends[i] = load_ends<EndKind{}>(a, begin, 0, column);
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int row = first + i * kRowsApart;
        if (first_row + row >= a.m) continue;
        store_as<float>(a.end.out, a.end.out_type, (int64_t{blockIdx.z} * a.m + first_row + row) * a.n + column,
                        end_result<EndKind{}>(a, ends[i], column, sum(row, own), 0));
      }
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
