// Attention of one token over its cache, with the heads' way there, on Hopper: the blocks of a cluster share the keys
// of one key head. Each makes the queries, the new key and the new value by itself, so that none waits for another
// before it has its sums; it sends these to the blocks that finish them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/attention/new_heads_sm90.cuh"
#include "kernels/gpu/sm90/async.cuh"

namespace rung::gpu {
namespace {

using Config = CachedAttentionConfig;

constexpr int kHeads = Config::kTileHeads, kKeys = Config::kTileKeys;

// Transposes an 8x8 matrix of 16-bit elements, of which lane l holds elements 2 (l % 4) and the next of row l / 4.
__device__ inline uint32_t transposed(uint32_t x) {
  uint32_t y;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

// Lane l multiplies keys l / 4 and l / 4 + 8 of a tile, eight columns of each 32, and values 2 (l % 4) and the next and
// those 8 behind them, eight columns of each 64. So a lane's 16 bytes of a row are what it needs for two (four)
// products, in an order of the columns that both sides share.

template <Config config>
class CachedAttention {
 public:
  using T = Element<config.type>;
  static constexpr int kWidth = config.width, kWarps = config.warps(), kStages = config.stages();
  static constexpr int kKeyParts = kWidth / 32, kValueParts = kWidth / 64, kQuads = kWidth / 4;

  __device__ CachedAttention(const CachedAttentionArguments& all, unsigned char* base)
      : all(all),
        a(all.attention),
        base(base),
        rank(static_cast<int>(blockIdx.x)),
        first_row(static_cast<int>(blockIdx.z) * kHeads),
        rows(min(kHeads, a.ratio - first_row)),
        of_group{a, 0, static_cast<int>(blockIdx.y)},
        keys(a),
        new_heads(all.heads, of_group.group, of_group.group * a.ratio + first_row, rows) {}

  __device__ void run() {
    allow_dependents();
    if (threadIdx.x == 0) begin_receiving();
    cluster_arrive();  // the barrier can be used
    new_heads.load_constants();
    prefetch_keys();
    wait_for_producers();
    new_heads.load();
    const int64_t slot = in_memory<const int64_t>(all.heads.places)[0];
    // Usually keys lie in their own order from the first on, so that they come with the length.
    copy(0, 0, 0, keys.rows);
    keys.read_length(a);
    const SeenKeys seen(a, keys, first_row, rows);
    if (seen.begin != 0 || keys.first != 0) wait_for_groups<0>(), copy(0, 0, seen.begin, seen.end);
    for (int i = 1; i < kStages; ++i) copy(i, i, seen.begin, seen.end);
    make_heads(slot);
    attend(seen);
    join_warps();
    join_blocks();
  }

 private:
  // ---- shared memory
  __device__ unsigned char* ring() const { return base + warp() * config.ring_bytes(); }
  __device__ uint4& chunk(int stage, int i) const {
    return reinterpret_cast<uint4*>(ring())[(stage * config.chunks() + i) * kLanes + lane()];
  }
  __device__ static constexpr int key_chunk(int part, int half) { return part * 2 + half; }
  __device__ static constexpr int value_chunk(int part, int i) { return kKeyParts * 2 + part * 4 + i; }
  __device__ T* queries() const { return reinterpret_cast<T*>(base + config.queries_at()); }
  __device__ T* fresh() const { return reinterpret_cast<T*>(base + config.fresh_at()); }
  __device__ float4* received_sum(int of_rank, int own) const {
    return reinterpret_cast<float4*>(base + config.sums_at()) + of_rank * own_quads() + own;
  }
  __device__ float2* received_statistics(int of_rank) const {
    return reinterpret_cast<float2*>(base + config.statistics_at()) + of_rank * kHeads;
  }
  __device__ Barrier& all_received() const { return *reinterpret_cast<Barrier*>(base + config.barrier_at()); }

  // ---- a lane's columns and keys
  __device__ static int key_column(int part) { return part * 32 + lane() % 4 * 8; }
  __device__ static int value_column(int part) { return part * 64 + lane() / 4 * 8; }
  __device__ static int key_of(int half) { return lane() / 4 + half * 8; }
  __device__ static int value_of(int i) { return lane() % 4 * 2 + i % 2 + i / 2 * 8; }
  // Returns the first key of the warp's tile number i: blocks take turns, then their warps.
  __device__ int tile_key(int i, int begin) const {
    return begin + (((i * kWarps + warp()) << all.split_bits) + rank) * kKeys;
  }

  // ---- copies

  // Prefetches the tiles that the first copies take if nothing is hidden. No length, nor a cache, is read before its
  // producers have ended.
  __device__ void prefetch_keys() const {
#pragma unroll
    for (int i = 0; i < (8 + kWarps - 1) / kWarps; ++i) {
      const int row = tile_key(i, 0) + lane() % kKeys;
      if (row >= keys.rows) return;
      const KeyValue<T> from(of_group, a.segment[0], row, 0);
      const T* const begin = lane() < kKeys ? from.k : from.v;
      for (int column = 0; column < a.width; column += 64) prefetch_to_l2(begin + column);  // 128 bytes
    }
  }
  // Starts the copies of tile number i; what lies behind `end` becomes zero.
  __device__ void copy(int stage, int i, int begin, int end) const {
    const int first = tile_key(i, begin);
    if (first < end) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int key = first + key_of(half);
        const KeyValue<T> from(of_group, a.segment[0], key < end ? keys.row(key) : 0, 0);
#pragma unroll
        for (int part = 0; part < kKeyParts; ++part)
          copy(stage, key_chunk(part, half), from.k, key_column(part), key < end);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first + value_of(j);
        const KeyValue<T> from(of_group, a.segment[0], key < end ? keys.row(key) : 0, 0);
#pragma unroll
        for (int part = 0; part < kValueParts; ++part)
          copy(stage, value_chunk(part, j), from.v, value_column(part), key < end);
      }
    }
    CopyGroup<0>::end();
  }
  __device__ void copy(int stage, int to, const T* row, int column, bool valid) const {
    const bool inside = valid && column < a.width;
    CopyGroup<0>::issue(&chunk(stage, to), row + (inside ? column : 0), inside);
  }
  // Puts the new key and value into a tile that has their row, and zeros in place of values that are not there, which
  // may be no numbers.
  __device__ void patch(int stage, int first, int end) const {
    for (int half = 0; half < 2; ++half)
      for (int part = 0; part < kKeyParts && first + key_of(half) == new_key; ++part)
        if (key_column(part) < a.width) chunk(stage, key_chunk(part, half)) = fresh_chunk(0, key_column(part));
    for (int j = 0; j < 4; ++j) {
      const int key = first + value_of(j);
      for (int part = 0; part < kValueParts && (key == new_key || key >= end); ++part) {
        const bool inside = key < end && value_column(part) < a.width;
        chunk(stage, value_chunk(part, j)) = inside ? fresh_chunk(1, value_column(part)) : uint4{};
      }
    }
  }
  __device__ const uint4& fresh_chunk(int which, int column) const {
    return *reinterpret_cast<const uint4*>(fresh() + which * kWidth + column);
  }

  // ---- heads

  __device__ void make_heads(int64_t slot) {
    const bool exists = slot >= 0 && slot < all.heads.slots;
    if (!exists && threadIdx.x == 0) *in_memory<Fault>(all.heads.fault) = Fault::index_out_of_range;
    const int row = static_cast<int>(slot);
    new_key = !exists ? -1 : row >= keys.first ? row - keys.first : row - keys.first + keys.rows;
    const bool stores = exists && rank == 0 && first_row == 0;
    new_heads.make(queries(), fresh(), stores ? slot : -1);
    sync_block();
#pragma unroll
    for (int part = 0; part < kKeyParts; ++part) {
      const bool inside = lane() / 4 < rows && key_column(part) < a.width;
      q[part] = inside ? *reinterpret_cast<const uint4*>(queries() + lane() / 4 * kWidth + key_column(part)) : uint4{};
    }
  }

  // ---- products

  __device__ void attend(const SeenKeys& seen) {
    int stage = 0;
    for (int i = 0, first; (first = tile_key(i, seen.begin)) < seen.end; ++i) {
      wait_for_groups<kStages - 1>();
      if (first + kKeys > seen.end || (new_key >= first && new_key < first + kKeys)) patch(stage, first, seen.end);
      FragmentC scores = score(stage);
      hide(scores, first, seen.end);
      add_values(stage, soften(scores));
      copy(stage, i + kStages, seen.begin, seen.end);
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
  }
  // Returns the scores of the lane's keys, each for query heads 2 (l % 4) and the next.
  __device__ FragmentC score(int stage) const {
    FragmentC scores;
#pragma unroll
    for (int part = 0; part < kKeyParts; ++part) {
      const uint4 low = chunk(stage, key_chunk(part, 0)), high = chunk(stage, key_chunk(part, 1));
      multiply_add<T>(scores, {{low.x, high.x, low.y, high.y}}, {{q[part].x, q[part].y}});
      multiply_add<T>(scores, {{low.z, high.z, low.w, high.w}}, {{q[part].z, q[part].w}});
    }
    return scores;
  }
  __device__ void hide(FragmentC& scores, int first, int end) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int key = first + key_of(half);
      const bool seen = key < end && (a.span.sees_all || sees(a.span, keys, keys.place_of(0), key));
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float& score = scores.x[half * 2 + h];
        score *= a.scale;
        if (a.softcap != 0.0f) score = capped(score, a.softcap);
        if (!seen) score = -INFINITY;
      }
    }
  }
  // Turns scores into weights, and rescales earlier sums; returns the weights as an operand with keys as its rows.
  __device__ FragmentB soften(FragmentC& scores) {
    float factor[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float largest = fmaxf(scores.x[h], scores.x[2 + h]);
#pragma unroll
      for (int step = 4; step < kLanes; step *= 2) largest = fmaxf(largest, shuffle_xor(largest, step));
      factor[h] = running[h].raise(largest);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& score = scores.x[half * 2 + h];
        running[h].sum += score = counted_weight<T>(running[h].weight(score));
      }
    }
    if (any_lane(factor[0] != 1.0f || factor[1] != 1.0f))
#pragma unroll
      for (FragmentC& sum : sums)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum.x[i] *= factor[i % 2];
    return {{transposed(pack<T>(scores.x[0], scores.x[1])), transposed(pack<T>(scores.x[2], scores.x[3]))}};
  }
  __device__ void add_values(int stage, const FragmentB& weights) {
#pragma unroll
    for (int part = 0; part < kValueParts; ++part) {
      uint4 v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = chunk(stage, value_chunk(part, i));
      add_columns(part * 4 + 0, {v[0].x, v[1].x, v[2].x, v[3].x}, weights);
      add_columns(part * 4 + 1, {v[0].y, v[1].y, v[2].y, v[3].y}, weights);
      add_columns(part * 4 + 2, {v[0].z, v[1].z, v[2].z, v[3].z}, weights);
      add_columns(part * 4 + 3, {v[0].w, v[1].w, v[2].w, v[3].w}, weights);
    }
  }
  // Adds two columns of the lane's four values: their low halves are one column, and their high halves the other.
  __device__ void add_columns(int i, const uint32_t (&v)[4], const FragmentB& weights) {
    const FragmentA both{{__byte_perm(v[0], v[1], 0x5410), __byte_perm(v[0], v[1], 0x7632),
                          __byte_perm(v[2], v[3], 0x5410), __byte_perm(v[2], v[3], 0x7632)}};
    multiply_add<T>(sums[i], both, weights);
  }

  // ---- joins: in a fixed order, so that the same keys give the same bits

  // A warp's sums and statistics, of all heads of the tile, in the place of its ring.
  struct Part {
    float x[kHeads][kWidth + 4];
    Running running[kHeads];
    __device__ void put(int head, int column, float2 both) { *reinterpret_cast<float2*>(&x[head][column]) = both; }
  };
  __device__ Part& part_of(int of_warp) const { return *reinterpret_cast<Part*>(base + of_warp * config.ring_bytes()); }
  __device__ void join_warps() {
    static_assert(sizeof(Part) <= static_cast<size_t>(config.ring_bytes()));
    wait_for_groups<0>();
    sync_warp();
    Part& mine = part_of(warp());
    const int head = lane() % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float& sum = running[h].sum;
#pragma unroll
      for (int step = 4; step < kLanes; step *= 2) sum += shuffle_xor(sum, step);
      if (lane() < 4) mine.running[head + h] = running[h];
#pragma unroll
      for (int i = 0; i < kValueParts * 4; ++i)
        mine.put(head + h, value_column(i / 4) + i % 4 * 2, {sums[i].x[h], sums[i].x[2 + h]});
    }
    sync_block();
  }
  // Returns a head's statistics over all warps; their sum comes from `add` later.
  __device__ Running joined(int head) const {
    Running total;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total.raise(part_of(w).running[head].largest);
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const Running& of_warp = part_of(w).running[head];
      total.sum += of_warp.sum * total.weight(of_warp.largest);
    }
    return total;
  }
  // Blocks finish four columns of a head in turns: block i % splits has number i of all of them.
  __device__ int own_quads() const { return rows * kQuads >> all.split_bits; }
  __device__ int splits() const { return 1 << all.split_bits; }
  __device__ void begin_receiving() const {
    all_received().init(1);
    publish_barriers();
    all_received().arrive_expecting(splits() * (own_quads() * 16 + rows * 8), true);
  }
  __device__ void join_blocks() const {
    cluster_wait();  // all blocks have begun
    for (int quad = threadIdx.x; quad < rows * kQuads; quad += config.threads()) send_quad(quad);
    for (int i = threadIdx.x; i < rows * splits(); i += config.threads())
      send_statistics(i >> all.split_bits, i & (splits() - 1));
    // A block stays until all have sent, so that they have a place to send to.
    for (int quad = threadIdx.x; quad < own_quads(); quad += config.threads()) {
      all_received().wait(0);
      finish(quad);
    }
  }
  __device__ void send_quad(int quad) const {
    const int head = quad / kQuads, column = quad % kQuads * 4, to = quad & (splits() - 1);
    const Running total = joined(head);
    float4 x{};
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float weight = total.weight(part_of(w).running[head].largest);
      const float4 of_warp = *reinterpret_cast<const float4*>(&part_of(w).x[head][column]);
      x.x += of_warp.x * weight, x.y += of_warp.y * weight, x.z += of_warp.z * weight, x.w += of_warp.w * weight;
    }
    const uint32_t words[4] = {as_bits(x.x), as_bits(x.y), as_bits(x.z), as_bits(x.w)};
    send(peer_address(received_sum(rank, quad >> all.split_bits), to), words,
         peer_address(&all_received(), to));
  }
  __device__ void send_statistics(int head, int to) const {
    const Running total = joined(head);
    const uint32_t place = peer_address(received_statistics(rank) + head, to);
    send(place, total.largest, total.sum, peer_address(&all_received(), to));
  }
  __device__ void finish(int own) const {
    const int quad = (own << all.split_bits) + rank, head = quad / kQuads, column = quad % kQuads * 4;
    if (column >= a.width) return;
    Running total;
    for (int from = 0; from < splits(); ++from) total.raise(received_statistics(from)[head].x);
    float4 x{};
    for (int from = 0; from < splits(); ++from) {
      const float2 statistics = received_statistics(from)[head];
      const float weight = total.weight(statistics.x);
      const float4 part = *received_sum(from, own);
      total.sum += statistics.y * weight;
      x.x += part.x * weight, x.y += part.y * weight, x.z += part.z * weight, x.w += part.w * weight;
    }
    const float factor = inverse_of_sum(total.sum);
    *reinterpret_cast<uint2*>(of_group.template out<T>(first_row + head) + column) =
        make_uint2(pack<T>(x.x * factor, x.y * factor), pack<T>(x.z * factor, x.w * factor));
  }

  const CachedAttentionArguments& all;
  const AttentionArguments& a;
  unsigned char* const base;
  const int rank, first_row, rows;  // of the packed rows, which are the query heads of the key head
  const AttentionRows of_group;
  PresentKeys keys;
  NewHeads<config> new_heads;
  int new_key = -1;  // the number of the new key among those that are there; -1: it has no place
  uint4 q[kKeyParts];
  FragmentC sums[kValueParts * 4];  // columns as rows, query heads 2 (l % 4) and the next as columns
  Running running[2];               // of these two heads; each lane has the sum of its own keys
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                         \
  RUNG_KERNEL((Config{__VA_ARGS__}.threads()), 2)                                                        \
      entry(const __grid_constant__ CachedAttentionArguments a) {                                        \
    extern __shared__ __align__(16) unsigned char base[];                                                \
    CachedAttention<Config{__VA_ARGS__}>(a, base).run();                                                 \
  }
#include "kernels/gpu/attention/cached_attention_sm90.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
