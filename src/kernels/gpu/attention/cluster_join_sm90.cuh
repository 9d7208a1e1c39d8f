// Joins the sums of values of a block's warps, and then those of a cluster's blocks, each of which finishes some of the
// columns: in a fixed order, so that the same keys give the same bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/sm90/async.cuh"

namespace rung::gpu {

template <CachedAttentionConfig config>
class ClusterJoin {
 public:
  using T = Element<config.type>;
  static constexpr int kHeads = CachedAttentionConfig::kTileHeads, kWarps = config.warps(), kQuads = config.width / 4;

  // A warp's sums of values, [heads, columns], and behind the columns of a head its weights' sum and its largest score;
  // it takes the place of the warp's ring.
  struct Part {
    float x[kHeads][config.width + 4];
    __device__ void put(int head, int column, float2 both) { *reinterpret_cast<float2*>(&x[head][column]) = both; }
    __device__ void put(int head, const Running& of_head) { put(head, config.width, {of_head.sum, of_head.largest}); }
    __device__ float4 quad(int head, int column) const { return *reinterpret_cast<const float4*>(&x[head][column]); }
    __device__ float largest(int head) const { return x[head][config.width + 1]; }
  };
  static_assert(sizeof(Part) <= static_cast<size_t>(config.ring_bytes(config.few_stages())));

  // `heads` heads, the first of which is row `first_row`.
  __device__ ClusterJoin(const CachedAttentionArguments& all, AttentionRows of_group, int first_row, int heads,
                         unsigned char* base)
      : a(all.attention),
        of_group(of_group),
        first_row(first_row),
        heads(heads),
        rank(static_cast<int>(blockIdx.x)),
        split_bits(all.split_bits),
        ring_bytes(config.ring_bytes(all.stages)),
        base(base) {}

  // One thread prepares the barrier that counts what the cluster sends, before any block sends.
  __device__ void prepare() const {
    all_received().init(1);
    publish_barriers();
    all_received().arrive_expecting(splits() * (own_quads() * 16 + heads * 8), true);
  }
  __device__ Part& part_of(int of_warp) const {
    return *reinterpret_cast<Part*>(base + config.rings_at() + of_warp * ring_bytes);
  }

  // All parts are there, and all blocks have prepared, where the work counts: where it does not, nothing is sent or
  // stored. Sums and statistics go through the same code, and loops stay short: each launch fetches its code again.
  __device__ void join(bool counts) const {
#pragma unroll 1
    for (int i = threadIdx.x; i < heads * (kQuads + splits()); i += config.threads()) send(i, counts);
    // A block stays until all have sent, so that they have a place to send to.
    if (counts) all_received().wait(0);
#pragma unroll 1
    for (int own = threadIdx.x; own < own_quads(); own += config.threads()) finish(own, counts);
  }

 private:
  // Blocks finish four columns of a head in turns: block i % splits has number i of all of them.
  __device__ int splits() const { return 1 << split_bits; }
  __device__ int own_quads() const { return heads * kQuads >> split_bits; }
  __device__ float4* received_sum(int of_rank, int own) const {
    return reinterpret_cast<float4*>(base + config.sums_at()) + of_rank * own_quads() + own;
  }
  __device__ float2* received_statistics(int of_rank, int head) const {
    return reinterpret_cast<float2*>(base + config.statistics_at()) + of_rank * kHeads + head;
  }
  __device__ Barrier& all_received() const { return *reinterpret_cast<Barrier*>(base + config.barrier_at()); }

  __device__ static void add(float4& x, const float4& part, float weight) {
    x.x += part.x * weight, x.y += part.y * weight, x.z += part.z * weight, x.w += part.w * weight;
  }
  // Joins four columns of a head and sends them to the block that finishes them, or, behind all columns of all heads,
  // sends a head's statistics to one of the blocks.
  __device__ void send(int i, bool counts) const {
    const int of_statistics = i - heads * kQuads;
    const bool has_columns = of_statistics < 0;
    const int number = has_columns ? i : of_statistics, to = number & (splits() - 1), place = number >> split_bits;
    const int head = has_columns ? i / kQuads : place, column = has_columns ? i % kQuads * 4 : config.width;
    Running total;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total.raise(part_of(w).largest(head));
    float4 x{};
#pragma unroll
    for (int w = 0; w < kWarps; ++w)
      add(x, part_of(w).quad(head, column), total.weight(part_of(w).largest(head)));
    if (!counts) return;
    const uint32_t barrier = peer_address(&all_received(), to);
    if (!has_columns) return gpu::send(peer_address(received_statistics(rank, head), to), total.largest, x.x, barrier);
    const uint32_t words[4] = {as_bits(x.x), as_bits(x.y), as_bits(x.z), as_bits(x.w)};
    gpu::send(peer_address(received_sum(rank, place), to), words, barrier);
  }
  __device__ void finish(int own, bool counts) const {
    const int quad = (own << split_bits) + rank, head = quad / kQuads, column = quad % kQuads * 4;
    if (column >= a.width) return;
    Running total;
#pragma unroll 2
    for (int from = 0; from < splits(); ++from) total.raise(received_statistics(from, head)->x);
    float4 x{};
#pragma unroll 2
    for (int from = 0; from < splits(); ++from) {
      const float2 statistics = *received_statistics(from, head);
      const float weight = total.weight(statistics.x);
      total.sum += statistics.y * weight;
      add(x, *received_sum(from, own), weight);
    }
    const float factor = inverse_of_sum(total.sum);
    T* const out = static_cast<T*>(a.out) + (of_group.group * a.ratio + first_row + head) * a.width;
    const uint2 words{pack<T>(x.x * factor, x.y * factor), pack<T>(x.z * factor, x.w * factor)};
    if (counts) *reinterpret_cast<uint2*>(out + column) = words;
  }

  const AttentionArguments& a;
  const AttentionRows of_group;
  const int first_row, heads, rank, split_bits, ring_bytes;
  unsigned char* const base;
};

}  // namespace rung::gpu
