// Attention for many query rows of wide heads: two warpgroups share 64 rows and split the keys, each with the next
// scores' product under way while it turns the last ones into weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention.cuh"
#include "kernels/gpu/attention_pair.hpp"
#include "kernels/gpu/wgmma_sm90.cuh"

namespace rung::gpu {
namespace {

constexpr int kRows = PairAttention::kRows, kKeys = PairAttention::kKeys, kWidth = PairAttention::kWidth;
constexpr int kGroupWarps = kGroupThreads / kLanes;
constexpr int kHalf = kWidth / 8 / PairAttention::kGroups;  // fragments of the columns that a warpgroup stores
constexpr int kStorePitch = kWidth / PairAttention::kGroups + 8;
// At the end the sums take the tiles' place, behind what is about to be stored.
constexpr int kSumsAt = 40 * 1024, kStatisticsAt = kSumsAt + PairAttention::kThreads * kHalf * 16;

template <class T>
struct PairWork {
  const AttentionRows rows;
  const int first_row, group;  // of the block; of this thread
  const int blocks;            // of 48 keys, this warpgroup's
  unsigned char* const memory;
  FragmentC sums[kWidth / 8];
  FragmentA weights[kKeys / 16];
  Running running[2];
  const float* mask[2] = {};

  __device__ PairWork(const AttentionArguments& a, unsigned char* memory)
      : rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)},
        first_row(static_cast<int>(blockIdx.x) * kRows),
        group(shuffle(warp() / kGroupWarps, 0)),
        blocks(((a.keys + kKeys - 1) / kKeys + 1 - group) / 2),
        memory(memory) {
    for (int half = 0; half < 2 && a.mask; ++half)
      mask[half] = rows.mask(min(first_row + my_row() + half * 8, rows.count() - 1));
  }
  __device__ static int group_warp() { return warp() % kGroupWarps; }
  __device__ static int my_row() { return group_warp() * 16 + lane() / 4; }
  __device__ int first_key(int block) const { return (2 * block + group) * kKeys; }
  __device__ unsigned char* tile(int which) const {
    return memory + PairAttention::kQueryBytes + (group * 4 + which) * PairAttention::kTileBytes;
  }
  __device__ unsigned char* keys(int block) const { return tile(block % 2); }
  __device__ unsigned char* values(int block) const { return tile(2 + block % 2); }

  template <int panel_rows>
  __device__ static void copy(unsigned char* to, int row, int chunk, const T* from, bool valid) {
    copy_async_16(to + chunk / 8 * panel_rows * 128 + swizzled(row, chunk % 8), from, valid);
  }
  __device__ void load_queries() const {
    for_queries<T, kRows, kWidth / 8, PairAttention::kThreads>(
        rows, first_row, threadIdx.x,
        [&](int row, int chunk, const T* from, bool valid) { copy<kRows>(memory, row, chunk, from, valid); });
  }
  template <bool of_values>
  __device__ void load(int block) const {
    if (block >= blocks) return;
    unsigned char* const to = of_values ? values(block) : keys(block);
    for_keys<T, kKeys, kWidth / 8, kGroupThreads>(rows, first_key(block), threadIdx.x % kGroupThreads,
                                                  [&](int key, int chunk, const T* k, const T* v, bool valid) {
                                                    copy<kKeys>(to, key, chunk, of_values ? v : k, valid);
                                                  });
  }

  __device__ void dot(FragmentC (&scores)[kKeys / 8], int block) const {
    const uint32_t q = shared_address(memory), k = shared_address(keys(block));
#pragma unroll
    for (int step = 0; step < kWidth / 16; ++step) {
      const uint32_t panel = step / 4, at = step % 4 * 32;
      multiply_group<T>(scores, panel_descriptor(q + panel * kRows * 128 + at, 0),
                        panel_descriptor(k + panel * kKeys * 128 + at, 0), step > 0);
    }
    commit_products();
  }
  __device__ void add_values(int block) {
    const uint32_t v = shared_address(values(block));
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step)
      multiply_group<T>(sums, weights[step], panel_descriptor(v + step * 16 * 128, kKeys * 128));
    commit_products();
  }
  // Scores of this block into weights, while the last block's values may still be added.
  __device__ void soften_block(FragmentC (&scores)[kKeys / 8], const FragmentC (&bias)[kKeys / 8], int block,
                               float (&factor)[2]) {
    scale_and_mask(scores, bias, rows.a, first_key(block));
    soften(scores, running, factor);
  }
  __device__ void keep_weights(const FragmentC (&scores)[kKeys / 8]) {
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) weights[j] = a_from_c<T>(scores[2 * j], scores[2 * j + 1]);
  }

  // Copies under way at the start of a step, oldest first: those of this step's keys and the values before, the next
  // keys, this step's values.
  __device__ void step(int block) {
    FragmentC scores[kKeys / 8], bias[kKeys / 8];
    float factor[2];
    load_bias(bias, rows.a, mask, first_key(block));
    wait_copies<2>();
    fence_for_matrix_units();
    sync_group(1 + group);
    pin(scores), pin(sums);
    begin_products();
    dot(scores, block);
    if (block > 0) add_values(block - 1);
    if (block > 0)
      wait_products<1>();
    else
      wait_products<0>();
    pin(scores);
    soften_block(scores, bias, block, factor);
    hold(running[0].sum + running[1].sum);
    wait_products<0>();
    pin(sums);
    sync_group(1 + group);
    load<false>(block + 2);
    commit_copies();
    load<true>(block + 1);
    commit_copies();
    rescale(sums, factor);
    keep_weights(scores);
  }
  __device__ void run() {
    load_queries();
    load<false>(0);
    commit_copies();
    load<true>(0);
    commit_copies();
    load<false>(1);
    commit_copies();
    wait_copies<2>();
    fence_for_matrix_units();
    sync_block();
    for (int block = 0; block < blocks; ++block) step(block);
    wait_copies<0>();
    fence_for_matrix_units();
    sync_group(1 + group);
    if (blocks > 0) {
      pin(sums);
      begin_products();
      add_values(blocks - 1);
      wait_products<0>();
      pin(sums);
    }
#pragma unroll
    for (Running& row : running) row.sum = lanes_sum<4>(row.sum);
  }

  // Each warpgroup finishes half of the columns: [warpgroup][fragment][thread].
  __device__ float4* sums_of(int of_group) const {
    return reinterpret_cast<float4*>(memory + kSumsAt) + of_group * kHalf * kGroupThreads + threadIdx.x % kGroupThreads;
  }
  __device__ Running* statistics_of(int of_group) const {
    return reinterpret_cast<Running*>(memory + kStatisticsAt) + of_group * 2 * kGroupThreads +
           threadIdx.x % kGroupThreads;
  }
  __device__ void publish() const {
    sync_block();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      statistics_of(group)[half * kGroupThreads] = running[half];
#pragma unroll
      for (int f = 0; f < kHalf; ++f) {
        const float* x = sums[half * kHalf + f].x;
        if (half != group) sums_of(group)[f * kGroupThreads] = {x[0], x[1], x[2], x[3]};
      }
    }
    sync_block();
  }
  template <int mine>
  __device__ void combine() const {
    T* const to = reinterpret_cast<T*>(memory) + mine * kRows * kStorePitch;
    float factor[2][2];  // [row][warpgroup: mine, other]
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Running other = statistics_of(1 - mine)[half * kGroupThreads];
      Running total;
      total.raise(running[half].largest), total.raise(other.largest);
      factor[half][0] = total.weight(running[half].largest), factor[half][1] = total.weight(other.largest);
      const float sum = running[half].sum * factor[half][0] + other.sum * factor[half][1];
      factor[half][0] *= fast_inverse(sum), factor[half][1] *= fast_inverse(sum);
    }
#pragma unroll
    for (int f = 0; f < kHalf; ++f) {
      const float4 x = sums_of(1 - mine)[f * kGroupThreads];
      const float* own = sums[mine * kHalf + f].x;
      T* const at = to + my_row() * kStorePitch + f * 8 + lane() % 4 * 2;
      *reinterpret_cast<uint32_t*>(at) =
          pack<T>(own[0] * factor[0][0] + x.x * factor[0][1], own[1] * factor[0][0] + x.y * factor[0][1]);
      *reinterpret_cast<uint32_t*>(at + 8 * kStorePitch) =
          pack<T>(own[2] * factor[1][0] + x.z * factor[1][1], own[3] * factor[1][0] + x.w * factor[1][1]);
    }
    sync_warp();
#pragma unroll 4
    for (int i = lane(); i < 16 * kHalf; i += kLanes) {
      const int row = group_warp() * 16 + i / kHalf, column = i % kHalf * 8, d = mine * kHalf * 8 + column;
      if (first_row + row < rows.count() && d < rows.a.width)
        *reinterpret_cast<uint4*>(rows.out<T>(first_row + row) + d) =
            *reinterpret_cast<const uint4*>(to + row * kStorePitch + column);
    }
  }
};

template <class T>
__device__ void attention(const AttentionArguments& a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  PairWork<T> work(a, memory);
  allow_dependents();
  wait_for_producers();
  work.run();
  work.publish();
  if (work.group == 0)
    work.template combine<0>();
  else
    work.template combine<1>();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(PairAttention::kThreads, 1)
    attention_pair_bf16(const __grid_constant__ AttentionArguments a) {
  attention<bf16>(a);
}
extern "C" __global__ void __launch_bounds__(PairAttention::kThreads, 1)
    attention_pair_f16(const __grid_constant__ AttentionArguments a) {
  attention<f16>(a);
}

}  // namespace rung::gpu
