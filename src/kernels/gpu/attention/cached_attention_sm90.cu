// Attention of one token over its cache, with the heads' way there, on Hopper: the blocks of a cluster share the keys
// of one key head. Each makes the queries, the new key and the new value by itself, so that none waits for another
// before it has its sums; it sends these to the blocks that finish them.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "kernels/gpu/attention/cluster_join_sm90.cuh"
#include "kernels/gpu/attention/key_boxes_sm90.cuh"
#include "kernels/gpu/attention/key_tiles_sm90.cuh"
#include "kernels/gpu/attention/new_heads_sm90.cuh"
#include "kernels/gpu/fault.cuh"
#include "kernels/gpu/linear/byte_pairs_sm90.cuh"

namespace rung::gpu {
namespace {

using Config = CachedAttentionConfig;

constexpr int kHeads = Config::kTileHeads;

// Transposes an 8x8 matrix of 16-bit elements, of which lane l holds elements 2 (l % 4) and the next of row l / 4.
__device__ inline uint32_t transposed(uint32_t x) {
  uint32_t y;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

// Products have keys as rows, or columns of values, and query heads as columns: lane l has heads 2 (l % 4) and the
// next. Its 8 elements of a row (KeyTiles, KeyBoxes) are what it needs for two (four) products, in an order of the
// columns that both sides share. Those of 8 bits are widened to f16, to which queries are brought by a power of two.
template <Config config>
class CachedAttention {
 public:
  using T = Element<config.type>;
  using Factor = Element<config.has_8_bits() ? DType::f16 : config.type>;  // of products
  using Tiles = std::conditional_t<config.copies_boxes(), KeyBoxes<config>, KeyTiles<config>>;
  static constexpr int kKeyParts = Tiles::kKeyParts, kValueParts = Tiles::kValueParts;

  __device__ CachedAttention(const CachedAttentionArguments& all, unsigned char* base)
      : heads(all.heads),
        a(all.attention),
        base(base),
        own_warp(shuffle(warp(), 0)),
        first_row(static_cast<int>(blockIdx.z) * kHeads),
        rows(min(kHeads, a.ratio - first_row)),
        of_group{a, 0, static_cast<int>(blockIdx.y)},
        tiles(all, of_group, first_row, own_warp, base),
        cluster(all, of_group, first_row, rows, base),
        new_heads(heads, of_group.group, of_group.group * a.ratio + first_row, rows, own_warp) {}

  // The rehearsal is the work without data, of which nothing leaves the block: its instructions come through a memory
  // that is busy with weights, so that they are there when the producers end.
  __device__ void run() {
    allow_dependents();
    if (threadIdx.x == 0) cluster.prepare();
    new_heads.prefetch();
    tiles.prepare();
#pragma unroll 1
    for (int time = config.rehearses() ? 0 : 1; time < 2; ++time) {
      const bool counts = time == 1;
      if (counts) begin();
      work(counts);
    }
  }

 private:
  __device__ T* queries() const { return reinterpret_cast<T*>(base + config.queries_at()); }

  // Waits for the producers, once no warp reads what the rehearsal left.
  __device__ void begin() {
    sync_block();
    cluster_arrive();
    new_heads.begin();
    tiles.begin();
#pragma unroll
    for (FragmentC& sum : sums) sum = FragmentC{};
    running[0] = running[1] = Running{};
    wait_for_producers();
  }
  __device__ void work(bool counts) {
    new_heads.load();
    const int64_t slot = counts ? in_memory<const int64_t>(heads.places)[0] : -1;
    tiles.start();
    make_heads(slot, counts);
    load_queries();
#pragma unroll 1
    for (; tiles.exists(); tiles.advance()) {
      tiles.take_keys();
      FragmentC scores = score();
      tiles.release_keys();
      hide(scores);
      const FragmentB weights = soften(scores);
      tiles.take_values();
      add_values(weights);
      tiles.release_values();
    }
    leave_sums();
    if (counts) cluster_wait();  // all blocks have prepared
    cluster.join(counts);
  }

  __device__ void make_heads(int64_t slot, bool counts) {
    const bool exists = slot >= 0 && slot < heads.slots;
    if (counts && !exists && threadIdx.x == 0) report_fault(heads.fault, Fault::index_out_of_range);
    if (exists) tiles.set_new_row(static_cast<int>(slot));
    const bool stores = exists && blockIdx.x == 0 && first_row == 0;
    auto* const fresh = reinterpret_cast<Element<config.key_type>*>(base + config.fresh_at());
    new_heads.make(queries(), fresh, stores ? slot : -1);
    sync_block();
  }
  __device__ void load_queries() {
#pragma unroll
    for (int part = 0; part < kKeyParts; ++part) {
      const int head = lane() / 4, column = Tiles::key_column(part);
      const bool inside = head < rows && column < a.width;
      q[part] = inside ? *reinterpret_cast<const uint4*>(queries() + head * config.width + column) : uint4{};
    }
    scale[0] = scale[1] = a.scale;
    if constexpr (config.has_8_bits()) bring_queries_to_f16();
  }
  // The lanes of a head have its largest number in common; the heads of a lane's scores are others.
  __device__ void bring_queries_to_f16() {
    uint32_t largest = 0;
#pragma unroll
    for (const uint4& x : q) largest = larger_of(largest, larger_of(larger_of(x.x, x.y), larger_of(x.z, x.w)));
#pragma unroll
    for (int step = 1; step < 4; step *= 2) largest = max(largest, shuffle_xor(largest, step));
    const float power = scale_to_f16(unpack<T>(largest).x);
#pragma unroll
    for (uint4& x : q)
      x = make_uint4(scaled_to_f16<T>(x.x, power), scaled_to_f16<T>(x.y, power), scaled_to_f16<T>(x.z, power),
                     scaled_to_f16<T>(x.w, power));
    const float inverse = as_float(0x7f000000u - as_bits(power));
#pragma unroll
    for (int h = 0; h < 2; ++h) scale[h] *= shuffle(inverse, (lane() % 4 * 2 + h) * 4);
  }
  // Returns eight elements as products take them.
  __device__ static uint4 factors(const uint4& chunk) { return chunk; }
  __device__ static uint4 factors(const uint2& chunk) {
    const TwoPairs first = widen_e4m3(chunk.x), second = widen_e4m3(chunk.y);
    return make_uint4(first.low, first.high, second.low, second.high);
  }

  __device__ FragmentC score() const {
    FragmentC even, odd;  // two sums, as each product waits for the one before it in its own
#pragma unroll
    for (int part = 0; part < kKeyParts; ++part) {
      const uint4 low = factors(tiles.key(part, 0)), high = factors(tiles.key(part, 1));
      multiply_add<Factor>(even, {{low.x, high.x, low.y, high.y}}, {{q[part].x, q[part].y}});
      multiply_add<Factor>(odd, {{low.z, high.z, low.w, high.w}}, {{q[part].z, q[part].w}});
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) even.x[i] += odd.x[i];
    return even;
  }
  __device__ void hide(FragmentC& scores) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool seen = tiles.is_seen(Tiles::key_of(half));
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float& score = scores.x[half * 2 + h];
        score *= scale[h];
        if (__builtin_expect(a.softcap != 0.0f, false)) score = capped(score, a.softcap);
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
        running[h].sum += score = counted_weight<Factor>(running[h].weight(score));
      }
    }
#pragma unroll
    for (FragmentC& sum : sums)
#pragma unroll
      for (int i = 0; i < 4; ++i) sum.x[i] *= factor[i % 2];
    return {{transposed(pack<Factor>(scores.x[0], scores.x[1])), transposed(pack<Factor>(scores.x[2], scores.x[3]))}};
  }
  __device__ void add_values(const FragmentB& weights) {
#pragma unroll
    for (int part = 0; part < kValueParts; ++part) {
      const uint4 v0 = factors(tiles.value(part, 0)), v1 = factors(tiles.value(part, 1)),
                  v2 = factors(tiles.value(part, 2)), v3 = factors(tiles.value(part, 3));
      add_columns(sums[part * 4 + 0], {v0.x, v1.x, v2.x, v3.x}, weights);
      add_columns(sums[part * 4 + 1], {v0.y, v1.y, v2.y, v3.y}, weights);
      add_columns(sums[part * 4 + 2], {v0.z, v1.z, v2.z, v3.z}, weights);
      add_columns(sums[part * 4 + 3], {v0.w, v1.w, v2.w, v3.w}, weights);
    }
  }
  // Adds two columns of the lane's four values: their low halves are one column, and their high halves the next.
  __device__ static void add_columns(FragmentC& sum, const uint32_t (&v)[4], const FragmentB& weights) {
    const FragmentA both{{__byte_perm(v[0], v[1], 0x5410), __byte_perm(v[0], v[1], 0x7632),
                          __byte_perm(v[2], v[3], 0x5410), __byte_perm(v[2], v[3], 0x7632)}};
    multiply_add<Factor>(sum, both, weights);
  }

  // Leaves the warp's sums where its ring was.
  __device__ void leave_sums() {
    tiles.drain();
    auto& part = cluster.part_of(own_warp);
    const int head = lane() % 4 * 2;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float& sum = running[h].sum;
#pragma unroll
      for (int step = 4; step < kLanes; step *= 2) sum += shuffle_xor(sum, step);
      if (lane() < 4) part.put(head + h, running[h]);
#pragma unroll
      for (int i = 0; i < kValueParts * 4; ++i)
        part.put(head + h, Tiles::value_column(i / 4) + i % 4 * 2, {sums[i].x[h], sums[i].x[2 + h]});
    }
    sync_block();
  }

  const CacheHeadsArguments& heads;
  const AttentionArguments& a;
  unsigned char* const base;
  const int own_warp;         // which the compiler knows to be the same for all lanes
  const int first_row, rows;  // of the packed rows, which are the query heads of the key head
  const AttentionRows of_group;
  Tiles tiles;
  ClusterJoin<config> cluster;
  NewHeads<config> new_heads;
  uint4 q[kKeyParts];
  float scale[2];  // of the scores of the lane's two heads
  FragmentC sums[kValueParts * 4];
  Running running[2];  // of the lane's two heads; each lane has the sum of its own keys
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                             \
  RUNG_KERNEL((Config{__VA_ARGS__}.bound_threads()), (Config{__VA_ARGS__}.bound_blocks()))   \
  entry(const __grid_constant__ CachedAttentionArguments a) {                                \
    extern __shared__ __align__(1024) unsigned char base[];                                  \
    CachedAttention<Config{__VA_ARGS__}>(a, base).run();                                     \
  }
#include "kernels/gpu/attention/cached_attention_sm90.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
