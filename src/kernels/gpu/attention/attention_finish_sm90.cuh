// The end of an attention on warpgroups whose keys a cluster splits: a block adds up its rows' parts over the blocks of
// the cluster, in the blocks' order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention_result_sm90.cuh"
#include "kernels/gpu/attention/attention_ring_sm90.cuh"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/sm90/warpgroup.cuh"

namespace rung::gpu {

// Waits for all threads that multiply.
template <GroupAttentionConfig config>
__device__ inline void sync_multipliers() {
  asm volatile("bar.sync 1, %0;" ::"n"(config.multipliers()) : "memory");
}

template <GroupAttentionConfig config>
struct Finish {
  using T = Element<config.type>;
  static constexpr int kPieces = config.sum_bytes() / 16;
  const AttentionRows rows;
  const Memory<config> memory;
  const int first_row, own;

  __device__ bool is_pair() const { return config.groups == 2 && memory.splits == 2; }
  // Returns the bytes that the other blocks send.
  __device__ uint32_t expected_bytes() const {
    if (is_pair()) return (config.width / 16 + 1) * kGroupThreads * 16;
    const int mine = max(0, min(own, config.rows() - cluster_rank() * own));
    return static_cast<uint32_t>((memory.splits - 1) * mine * (config.sum_bytes() + 8));
  }
  // Computes the weight of each part of a row in the result; 16 lanes have the parts of a row. It ends with a barrier
  // of the threads that multiply.
  __device__ void weigh() const {
    constexpr int kParts = 16;
    const int source = lane() % kParts;
    for (int first = warp() * 2; first < own; first += config.multipliers() / kParts) {
      const int row = first + lane() / kParts, at = source * own + row;
      const bool valid = row < own && source < memory.splits;
      const Running part = valid ? memory.statistics()[at] : Running{};
      Running total;
      total.largest = lanes_max<kParts>(part.largest);
      const float weight = part.sum * total.weight(part.largest), sum = lanes_sum<kParts>(weight);
      if (valid) memory.factors()[at] = weight * inverse_of_sum(sum) * rows.a.factor;
    }
    sync_multipliers<config>();
  }
  // Adds 4 pairs of columns of one row to x, each pair 8 columns further on.
  __device__ void piece(int row, int piece, float (&x)[8]) const {
    constexpr int kTogether = 4;
    for (int first = 0; first < memory.splits; first += kTogether) {
      uint4 part[kTogether];
      float factor[kTogether];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const int at = min(first + i, memory.splits - 1) * own + row;
        part[i] = reinterpret_cast<const uint4*>(memory.received() + at * config.sum_bytes())[piece];
        factor[i] = memory.factors()[at];
      }
#pragma unroll
      for (int i = 0; i < kTogether; ++i)
        if (first + i < memory.splits) add(x, part[i], factor[i]);
    }
  }
  __device__ static void add(float (&x)[8], const uint4& part, float factor) {
    const uint32_t words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 both = unpack<T>(words[i]);
      x[2 * i] += factor * both.x, x[2 * i + 1] += factor * both.y;
    }
  }
  __device__ void run() const {
    weigh();
    const int begin = cluster_rank() * own;
    const int pieces = min(own, min(config.rows() - begin, rows.count() - first_row - begin)) * kPieces;
    for (int first = warp() * kLanes; first < pieces; first += config.multipliers()) {
      const int i = first + lane(), row = min(i, pieces - 1) / kPieces, d = i % kPieces * 8;
      float x[8] = {};
      piece(row, i % kPieces, x);
      by_result_type<config.type>(rows.a, [&](auto type) {
        constexpr DType kType = decltype(type)::value;
        uint32_t words[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) words[j] = pack_two<kType>(x[2 * j], x[2 * j + 1]);
        transpose_4(words);
        if (i < pieces && d < rows.a.width)
          store_eight<kType>(rows.out<Element<kType>>(first_row + begin + row) + d, words);
      });
    }
  }
};

}  // namespace rung::gpu
