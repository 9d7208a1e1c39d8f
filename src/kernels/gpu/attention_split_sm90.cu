// Attention for few query rows on many keys: the blocks of a cluster split the keys, and add their sums through each
// other's shared memory, in the order of the blocks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention.cuh"
#include "kernels/gpu/attention_split.hpp"
#include "kernels/gpu/cluster_sm90.cuh"

namespace rung::gpu {
namespace {

constexpr int kWarps = SplitAttention::kThreads / kLanes;
constexpr int kPitch = SplitAttention::kPitch, kWeightPitch = SplitAttention::kWeightPitch;
constexpr int kRows = SplitAttention::kRows, kWidth = SplitAttention::kWidth;
constexpr int kColumns = kWidth / kWarps;                             // of the sums, for one warp
static_assert(kRows / 16 * kColumns / 8 == SplitAttention::kBlocks);  // each block adds one fragment of every lane

// A lane has rows lane / 4 + 8 * i, i < 4. Scores: a warp has 16 keys and all rows. Sums: 32 columns and all rows.
template <class T>
struct Split {
  const AttentionRows rows;
  const int first_row, block_keys, first_key;
  T* const queries;
  T* const weights;
  float* const largest;       // [warp][row]
  float* const sum;           // [warp][row]
  Running* const statistics;  // [row], of this block's keys
  T* const keys;
  T* const values;

  __device__ Split(const AttentionArguments& a, unsigned char* memory)
      : rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)},
        first_row(static_cast<int>(blockIdx.x) / SplitAttention::kBlocks * kRows),
        block_keys((a.keys + SplitAttention::kBlocks * 16 - 1) / (SplitAttention::kBlocks * 16) * 16),
        first_key(cluster_rank() * block_keys),
        queries(reinterpret_cast<T*>(memory)),
        weights(queries + kRows * kPitch),
        largest(reinterpret_cast<float*>(weights + kRows * kWeightPitch)),
        sum(largest + kWarps * kRows),
        statistics(reinterpret_cast<Running*>(sum + kWarps * kRows)),
        keys(reinterpret_cast<T*>(memory + SplitAttention::kKeysAt)),
        values(keys + block_keys * kPitch) {}

  __device__ static int row(int i) { return lane() / 4 + 8 * i; }
  __device__ bool warp_has_keys() const { return warp() * 16 < block_keys; }

  __device__ void load_queries() const {
    for_queries<T, kRows, kWidth / 8, SplitAttention::kThreads>(
        rows, first_row, threadIdx.x, [&](int row, int chunk, const T* from, bool valid) {
          copy_async_16(queries + row * kPitch + chunk * 8, from, valid);
        });
  }
  // Keys from `from` to `end` of all segments, as far as they are this block's, in runs of 16.
  template <bool of_values>
  __device__ void load_keys(int from, int end) const {
    T* const to = of_values ? values : keys;
    for (int run = 0; run < block_keys; run += 16) {
      if (first_key + run < from || first_key + run >= end) continue;
      for_keys<T, 16, kWidth / 8, SplitAttention::kThreads>(
          rows, first_key + run, threadIdx.x, [&](int key, int chunk, const T* k, const T* v, bool valid) {
            copy_async_16(to + (run + key) * kPitch + chunk * 8, of_values ? v : k, valid);
          });
    }
  }

  __device__ int key_of(int j) const { return first_key + warp() * 16 + j * 8 + lane() % 4 * 2; }
  __device__ void load_mask(FragmentC (&bias)[2][2]) const {
    if (!rows.a.mask || !warp_has_keys()) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* mask = rows.mask(min(first_row + row(i), rows.count() - 1));
#pragma unroll
      for (int j = 0; j < 4; ++j)
        bias[i / 2][j / 2].x[i % 2 * 2 + j % 2] =
            mask[min(key_of(j / 2) + j % 2, rows.a.keys - 1) * rows.a.mask_stride[3]];
    }
  }
  __device__ void dot(FragmentC (&scores)[2][2]) const {
    if (!warp_has_keys()) return;
#pragma unroll
    for (int step = 0; step < kWidth / 16; ++step) {
      FragmentB b[2];
      load_b_by_columns(b, keys + warp() * 16 * kPitch + step * 16, kPitch);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const FragmentA a = load_a(queries + i * 16 * kPitch + step * 16, kPitch);
        multiply_add<T>(scores[i][0], a, b[0]);
        multiply_add<T>(scores[i][1], a, b[1]);
      }
    }
  }
  __device__ void scale_and_mask(FragmentC (&scores)[2][2], const FragmentC (&bias)[2][2]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float& score = scores[i][j].x[e];
          score = score * rows.a.scale + bias[i][j].x[e];
          if (!warp_has_keys() || key_of(j) + e % 2 >= rows.a.keys) score = -INFINITY;
        }
  }
  // Weights go to shared memory, statistics of the block's keys too. Ends with a barrier.
  __device__ void soften(const FragmentC (&scores)[2][2]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* left = &scores[i / 2][0].x[i % 2 * 2];
      const float* right = &scores[i / 2][1].x[i % 2 * 2];
      const float mine = lanes_max<4>(fmaxf(fmaxf(left[0], left[1]), fmaxf(right[0], right[1])));
      if (lane() % 4 == 0) largest[warp() * kRows + row(i)] = mine;
    }
    sync_block();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Running total;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) total.largest = fmaxf(total.largest, largest[w * kRows + row(i)]);
      float p[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) p[j] = total.weight(scores[i / 2][j / 2].x[i % 2 * 2 + j % 2]);
      const float mine = lanes_sum<4>(p[0] + p[1] + p[2] + p[3]);
      if (lane() % 4 == 0) sum[warp() * kRows + row(i)] = mine;
      if (lane() % 4 == 0 && warp() == 0) statistics[row(i)].largest = total.largest;
      if (!warp_has_keys()) continue;
      uint32_t* to = reinterpret_cast<uint32_t*>(weights + row(i) * kWeightPitch + warp() * 16 + lane() % 4 * 2);
      to[0] = pack<T>(p[0], p[1]), to[4] = pack<T>(p[2], p[3]);
    }
    wait_copies<0>();
    sync_block();
  }
  __device__ void add_values(FragmentC (&sums)[2][kColumns / 8]) const {
    for (int key = 0; key < block_keys; key += 16) {
      FragmentA a[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) a[i] = load_a(weights + i * 16 * kWeightPitch + key, kWeightPitch);
#pragma unroll
      for (int j = 0; j < kColumns / 16; ++j) {
        FragmentB b[2];
        load_b_by_rows(b, values + key * kPitch + warp() * kColumns + j * 16, kPitch);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_add<T>(sums[i][2 * j], a[i], b[0]);
          multiply_add<T>(sums[i][2 * j + 1], a[i], b[1]);
        }
      }
    }
  }

  // Sums in the keys' place, as [fragment][thread].
  __device__ float4* partial() const { return reinterpret_cast<float4*>(keys); }
  __device__ void publish(const FragmentC (&sums)[2][kColumns / 8]) const {
#pragma unroll
    for (int f = 0; f < SplitAttention::kBlocks; ++f) {
      const float* x = sums[f / (kColumns / 8)][f % (kColumns / 8)].x;
      partial()[f * SplitAttention::kThreads + threadIdx.x] = {x[0], x[1], x[2], x[3]};
    }
    if (threadIdx.x < kRows) {
      float total = 0.0f;
      for (int w = 0; w < kWarps; ++w) total += sum[w * kRows + threadIdx.x];
      statistics[threadIdx.x].sum = total;
    }
  }
  // This block adds fragment number `rank` of every thread over all blocks.
  __device__ void combine() const {
    const int fragment = cluster_rank(), upper = fragment / (kColumns / 8) * 16 + lane() / 4;
    const int column = warp() * kColumns + fragment % (kColumns / 8) * 8 + lane() % 4 * 2;
    float4 x[SplitAttention::kBlocks];
    float2 statistic[2][SplitAttention::kBlocks];  // largest, sum
#pragma unroll
    for (int peer = 0; peer < SplitAttention::kBlocks; ++peer) {
      x[peer] = load_peer_4(peer_address(partial() + fragment * SplitAttention::kThreads + threadIdx.x, peer));
#pragma unroll
      for (int half = 0; half < 2; ++half)
        statistic[half][peer] = load_peer_2(peer_address(statistics + upper + 8 * half, peer));
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Running total;
      float low = 0.0f, high = 0.0f;
#pragma unroll
      for (const float2& s : statistic[half]) total.largest = fmaxf(total.largest, s.x);
#pragma unroll
      for (int peer = 0; peer < SplitAttention::kBlocks; ++peer) {
        const float weight = total.weight(statistic[half][peer].x);
        total.sum += weight * statistic[half][peer].y;
        low += weight * (half ? x[peer].z : x[peer].x);
        high += weight * (half ? x[peer].w : x[peer].y);
      }
      const int packed = first_row + upper + 8 * half;
      if (packed < rows.count() && column < rows.a.width)
        *reinterpret_cast<uint32_t*>(rows.out<T>(packed) + column) =
            pack<T>(low * fast_inverse(total.sum), high * fast_inverse(total.sum));
    }
  }
};

template <class T>
__device__ void attention(const AttentionArguments& a) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Split<T> work(a, memory);
  const int settled = a.settled_keys / 16 * 16, end = work.first_key + work.block_keys;
  allow_dependents();
  work.template load_keys<false>(0, settled);
  work.template load_keys<true>(0, settled);
  wait_for_producers();
  FragmentC scores[2][2], bias[2][2], sums[2][kColumns / 8];
  work.load_queries();
  work.template load_keys<false>(settled, end);
  commit_copies();
  work.template load_keys<true>(settled, end);
  commit_copies();
  work.load_mask(bias);
  wait_copies<1>();
  sync_block();
  work.dot(scores);
  work.scale_and_mask(scores, bias);
  work.soften(scores);
  work.add_values(sums);
  sync_block();  // few keys: the sums reach into the values
  work.publish(sums);
  sync_cluster();
  work.combine();
  sync_cluster();  // peers may still be reading this block's sums
}

}  // namespace

extern "C" __global__ void __launch_bounds__(SplitAttention::kThreads)
    attention_split_bf16(const __grid_constant__ AttentionArguments a) {
  attention<bf16>(a);
}
extern "C" __global__ void __launch_bounds__(SplitAttention::kThreads)
    attention_split_f16(const __grid_constant__ AttentionArguments a) {
  attention<f16>(a);
}

}  // namespace rung::gpu
