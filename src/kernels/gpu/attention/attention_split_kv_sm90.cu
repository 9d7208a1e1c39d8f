// Attention for few queries whose heads share keys: the product has keys as rows, so that a block needs no more than
// 16 query rows, and little passes between the blocks of a cluster, which split the keys.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_result_sm90.cuh"
#include "kernels/gpu/attention/attention_split_kv.hpp"
#include "kernels/gpu/elements.cuh"
#include "kernels/gpu/sm90/wgmma_few.cuh"

namespace rung::gpu {
namespace {

using Config = SplitKvConfig;

// Joins x[i] over the eight lanes that agree in lane % 4: the lane whose lane / 4 is i gets it.
template <class Join>
__device__ inline float scatter(float (&x)[8], Join join) {
#pragma unroll
  for (int step = 4; step > 0; step /= 2) {
    const bool upper = lane() & 4 * step;
#pragma unroll
    for (int i = 0; i < step; ++i) {
      const float other = shuffle_xor(upper ? x[i] : x[i + step], 4 * step);
      x[i] = join(upper ? x[i + step] : x[i], other);
    }
  }
  return x[0];
}

// The tile of keys of one warpgroup.
struct Tile {
  int segment, key, number, count;  // the first key's number in the segment and among all keys; the keys
  bool present;
  __device__ Tile(const SplitKvArguments& a, int tile) : present(tile < a.tiles) {
    if (!present) tile = 0;
    segment = 0;
#pragma unroll
    for (int i = 1; i < kMaxAttentionSegments; ++i)
      if (i < a.attention.segments && tile >= a.first_tile[i]) segment = i;
    key = (tile - a.first_tile[segment]) * kTileKeys;
    number = a.first_key[segment] + key;
    count = present ? min(kTileKeys, a.attention.segment[segment].keys - key) : 0;
  }
};

// The work of one block. Its constructor computes the values that do not depend on other kernels' results before those
// kernels end. A cluster has kSplits blocks, or, if that is 0, SplitKvArguments::splits.
template <Config config>
struct SplitKvWork {
  using T = Element<config.type>;
  static constexpr int kSplits = config.splits;
  static constexpr int kRows = config.rows;
  static constexpr int kFragments = kRows / 8;
  static constexpr int kPiecePanels = Config::kPanels / Config::kPieces;
  static constexpr int kPieceKeys = kPiecePanels * kTileKeys * 128;  // bytes
  static constexpr int kPieceQueries = kPiecePanels * kRows * 128;
  const SplitKvArguments& a;
  unsigned char* const base;
  const int splits;
  const int batch, kv_head, rank, first_row, group, own;
  const Tile tile;
  const float* mask_from[2];  // the masks of this lane's two keys in query 0
  unsigned char* out;         // the first row that this warp finishes
  float bias[kFragments][2] = {};
  float largest[kFragments][2], inverse[kFragments][2];
  Running of_lane;  // of row lane() of the block

  __device__ SplitKvWork(const SplitKvArguments& a, unsigned char* base)
      : a(a),
        base(base),
        splits(kSplits > 0 ? kSplits : a.splits),
        batch(static_cast<int>(blockIdx.z)),
        kv_head(static_cast<int>(blockIdx.y)),
        rank(static_cast<int>(blockIdx.x) % splits),
        first_row(static_cast<int>(blockIdx.x) / splits * kRows),
        group(shuffle(warp() / kGroupWarps, 0)),
        own(config.own_rows(splits)),
        tile(a, rank + group * splits) {
    const int64_t* const stride = a.attention.mask_stride;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      mask_from[half] =
          a.attention.mask + batch * stride[0] + (tile.number + max(0, min(key_of(half), tile.count - 1))) * stride[3];
    out = out_of(warp());
  }

  // ---- shared memory
  __device__ unsigned char* keys(int i) const { return base + i * Config::kTileBytes; }
  __device__ unsigned char* values(int i) const { return base + config.values_at() + i * Config::kTileBytes; }
  __device__ unsigned char* queries() const { return base + config.queries_at(); }
  __device__ unsigned char* weights() const { return base + config.weights_at(); }
  __device__ float* maxima() const { return reinterpret_cast<float*>(base + config.maxima_at()); }
  __device__ float* totals() const { return reinterpret_cast<float*>(base + config.totals_at()); }
  __device__ Barrier& barrier(int i) const { return reinterpret_cast<Barrier*>(base + config.barriers_at())[i]; }
  __device__ Barrier& sums_came() const { return barrier(0); }
  __device__ Barrier& values_came(int i) const { return barrier(1 + i); }
  __device__ Barrier& queries_came(int piece) const { return barrier(1 + Config::kTiles + piece); }
  __device__ Barrier& keys_came(int i, int piece) const {
    return barrier(1 + Config::kTiles + (1 + i) * Config::kPieces + piece);
  }
  // The keys' place later holds received sums, of the rows that this block finishes, and its own sums, of all rows.
  __device__ unsigned char* received(int source, int row) const {
    return keys(0) + (source * own + row) * Config::kSumBytes;
  }
  __device__ unsigned char* sent(int row) const { return keys(1) + row * Config::kSumBytes; }

  // Returns the number of rows that a block finishes.
  __device__ int rows_of(int of_rank) const { return max(0, min(own, kRows - of_rank * own)); }
  // Returns whether this block's row `row` is one of the problem's.
  __device__ bool exists(int row) const {
    return first_row + rank * own + row < a.attention.queries * a.attention.ratio;
  }
  __device__ unsigned char* out_of(int row) const {
    const int at = first_row + rank * own + row, query = at >> a.ratio_shift;
    const int head = kv_head * a.attention.ratio + at - (query << a.ratio_shift);
    const int lane_bytes = a.attention.out_type == config.type ? 8 * sizeof(T) : 8;
    const int64_t of_batch = static_cast<int64_t>(batch * a.attention.queries + query) * a.attention.heads;
    return static_cast<unsigned char*>(a.attention.out) +
           ((of_batch + head) * (Config::kWidth / 8) + lane()) * lane_bytes;
  }

  // ---- loads: one thread loads the queries, another each tile's keys and values
  __device__ void make_barriers() const {
    for (int i = 0; i < Config::kBarriers; ++i) barrier(i).init(1);
    publish_barriers();
    sums_came().arrive_expecting((splits - 1) * rows_of(rank) * Config::kSumBytes, true);
  }
  // Loads keys before values: all pass through the same port, and so the first products can begin early.
  __device__ void load_tile() const {
    if (!tile.present || lane() > 0 || warp() % kGroupWarps != 1) return;
#pragma unroll
    for (int i = 0; i < Config::kPieces; ++i) {
      keys_came(group, i).arrive_expecting(kPieceKeys, true);
      copy_box(keys(group) + i * kPieceKeys, a.k[tile.segment], {0, tile.key, i * kPiecePanels, kv_head, batch},
               keys_came(group, i), true);
    }
    values_came(group).arrive_expecting(Config::kTileBytes, true);
    copy_box(values(group), a.v[tile.segment], {0, tile.key, 0, kv_head, batch}, values_came(group), true);
  }
  __device__ void load_queries() const {
    if (threadIdx.x > 0) return;
    const int last = a.attention.groups > 1 ? kv_head : batch;
#pragma unroll
    for (int i = 0; i < Config::kPieces; ++i) {
      queries_came(i).arrive_expecting(kPieceQueries, true);
      copy_box(queries() + i * kPieceQueries, a.q, {0, 0, first_row >> a.ratio_shift, i * kPiecePanels, last},
               queries_came(i), true);
    }
  }

  // ---- scores: scores[j].x[2 * half + i] is that of key_of(half) and query row 8j + lane % 4 * 2 + i
  __device__ static int key_of(int half) { return warp() % kGroupWarps * 16 + lane() / 4 + 8 * half; }
  __device__ void load_mask() {
#pragma unroll
    for (int j = 0; j < kFragments; ++j) {
      const int query = min((first_row + 8 * j) >> a.ratio_shift, a.attention.queries - 1);
#pragma unroll
      for (int half = 0; half < 2; ++half) bias[j][half] = mask_from[half][query * a.attention.mask_stride[2]];
    }
  }
  __device__ void dot(FragmentC (&scores)[kFragments]) const {
    const uint32_t q = shared_address(queries()), k = shared_address(keys(group));
    pin(scores);
#pragma unroll
    for (int step = 0; step < Config::kWidth / 16; ++step) {
      const int panel = step / 4, at = step % 4 * 32;
      if (step % (4 * kPiecePanels) == 0) {
        queries_came(panel / kPiecePanels).wait(0);
        if (tile.present) keys_came(group, panel / kPiecePanels).wait(0);
        begin_products();
      }
      multiply_few<T, 0>(scores, panel_descriptor(k + panel * kTileKeys * 128 + at, 0),
                         panel_descriptor(q + panel * kRows * 128 + at, 0), step > 0);
    }
    commit_products();
    wait_products<0>();
    pin(scores);
  }
  __device__ void scale_and_mask(FragmentC (&scores)[kFragments]) const {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        scores[j].x[i] = key_of(i / 2) < tile.count ? scores[j].x[i] * a.attention.scale + bias[j][i / 2] : -INFINITY;
  }
  // Joins x over this warp's keys, and writes the results to `all`[warp][row].
  template <class Join>
  __device__ static void publish(const FragmentC (&x)[kFragments], float* all, Join join) {
    float mine[8] = {};
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) mine[2 * j + i] = join(x[j].x[i], x[j].x[2 + i]);
    const float one = scatter(mine, join);
    const int row = lane() / 8 * 8 + lane() % 4 * 2 + lane() / 4 % 2;
    if (row < kRows) all[warp() * kRows + row] = one;
  }
  // Joins the values of row lane() over the warps in their order.
  template <class Join>
  __device__ static float collect(const float* all, Join join) {
    const float* from = all + min(lane(), kRows - 1);
    float x[Config::kWarps];
#pragma unroll
    for (int i = 0; i < Config::kWarps; ++i) x[i] = from[i * kRows];
#pragma unroll
    for (int step = 1; step < Config::kWarps; step *= 2)
#pragma unroll
      for (int i = 0; i < Config::kWarps; i += 2 * step) x[i] = join(x[i], x[i + step]);
    return x[0];
  }
  // Spreads the values of rows, one per lane, to the lanes that have the rows in their scores.
  __device__ static void spread(float (&x)[kFragments][2], float of_lane) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i) x[j][i] = shuffle(of_lane, 8 * j + lane() % 4 * 2 + i);
  }
  __device__ void soften(FragmentC (&scores)[kFragments]) const {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[j].x[i] = fast_exp2((scores[j].x[i] - largest[j][i % 2]) * kLog2E);
  }
  // Stores neighbouring fragments transposed, as [query row][...]; `place` returns the address of 16 bytes of a row.
  template <class Place>
  __device__ static void store_transposed(const FragmentC (&x)[kFragments], Place place) {
    const int row = lane() % 8, half = lane() / 8 % 2;
#pragma unroll
    for (int j = 0; j < kFragments; j += 2) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* from = x[min(j + i / 2, kFragments - 1)].x + i % 2 * 2;
        words[i] = pack<T>(from[0], from[1]);
      }
      if (j + 1 < kFragments)
        store_matrices_transposed(place(8 * (j + lane() / 16) + row, half), words);
      else
        store_two_matrices_transposed(place(8 * j + row, half), words);
    }
  }

  // ---- steps
  __device__ static float greater(float x, float y) { return fmaxf(x, y); }
  __device__ static float sum(float x, float y) { return x + y; }

  __device__ void weigh_keys(FragmentC (&scores)[kFragments]) {
    dot(scores);  // a tile that does not exist has arbitrary scores
    scale_and_mask(scores);
    publish(scores, maxima(), greater);
    sync_block();
    if (splits > 1) cluster_arrive();  // the keys are no longer read
    of_lane.largest = collect(maxima(), greater);
    spread(largest, of_lane.largest == -INFINITY ? 0.0f : of_lane.largest);
    soften(scores);
    unsigned char* const to = weights() + group * kRows * 128;
    const int chunk = warp() % kGroupWarps * 2;
    store_transposed(scores, [&](int row, int half) { return to + swizzled(row, chunk + half); });
    fence_for_matrix_units();
    sync_block();
  }
  // Multiplies values by weights, in columns 64 * panel + 16 * warp + lane / 4 (+ 8), and meanwhile sums the weights.
  __device__ void add_values(FragmentC (&sums)[2][kFragments], const FragmentC (&scores)[kFragments]) {
    const int second = rank + splits < a.tiles;  // without a second tile, its weights of 0 meet the first one's values
    values_came(0).wait(0);
    values_came(second).wait(0);
    pin(sums[0]), pin(sums[1]);
    begin_products();
    add_values(sums[0], second, 0), add_values(sums[1], second, 1);
    commit_products();
    hold(scores[0].x[0]);  // otherwise the next steps delay the products
    publish(scores, totals(), sum);
    sync_block();
    of_lane.sum = collect(totals(), sum);
    spread(inverse, inverse_of_sum(of_lane.sum));
    wait_products<0>();
    pin(sums[0]), pin(sums[1]);
  }
  __device__ void add_values(FragmentC (&sums)[kFragments], int second, int panel) const {
#pragma unroll
    for (int i = 0; i < Config::kTiles; ++i) {
      const uint32_t p = shared_address(weights()) + i * kRows * 128;
      const uint32_t v = shared_address(values(i * second)) + (2 * group + panel) * kTileKeys * 128;
#pragma unroll
      for (int step = 0; step < kTileKeys / 16; ++step)
        multiply_few<T, 1>(sums, panel_descriptor(v + step * 16 * 128, kTileKeys * 128),
                           panel_descriptor(p + step * 32, 0), i + step > 0);
    }
  }
  __device__ void stage(FragmentC (&sums)[2][kFragments]) const {
#pragma unroll
    for (int panel = 0; panel < 2; ++panel) {
#pragma unroll
      for (int j = 0; j < kFragments; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[panel][j].x[i] *= inverse[j][i % 2];
      const int column = (2 * group + panel) * 64 + warp() % kGroupWarps * 16;
      store_transposed(sums[panel], [&](int row, int half) { return sent(row) + (column + 8 * half) * 2; });
    }
    if (warp() == 0 && lane() < kRows) *reinterpret_cast<Running*>(sent(lane()) + Config::kWidth * 2) = of_lane;
    fence_for_matrix_units();
    sync_block();
  }
  // Sends each other block of the cluster its rows, one warp for each block.
  __device__ void send() const {
    for (int to = warp(); to < splits; to += Config::kWarps)
      if (lane() == 0 && to != rank && rows_of(to) > 0)
        send_rows(peer_address(received(rank, 0), to), sent(to * own), rows_of(to) * Config::kSumBytes,
                  peer_address(&sums_came(), to));
  }
  // Adds the sums of every block in turn; this block's own are where it left them.
  __device__ void finish() const {
    for (int row = warp(); row < rows_of(rank); row += Config::kWarps) {
      auto part = [&](int source) {
        const int from = min(source, splits - 1);
        return from == rank ? sent(rank * own + row) : received(from, row);
      };
      auto statistics = [&](int from) { return *reinterpret_cast<const Running*>(part(from) + Config::kWidth * 2); };
      constexpr int kTogether = 8;
      Running total;
      float x[8] = {};
      for (int first = 0; first < splits; first += kTogether)
#pragma unroll
        for (int i = 0; i < kTogether; ++i) total.largest = fmaxf(total.largest, statistics(first + i).largest);
      for (int first = 0; first < splits; first += kTogether) {
        uint4 sums[kTogether];
        float weight[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) sums[i] = reinterpret_cast<const uint4*>(part(first + i))[lane()];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          const Running of = statistics(first + i);
          weight[i] = first + i < splits ? of.sum * total.weight(of.largest) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < kTogether; ++i) total.sum += weight[i], add(x, sums[i], weight[i]);
      }
      const float factor = inverse_of_sum(total.sum) * a.attention.factor;
#pragma unroll
      for (float& value : x) value *= factor;
      unsigned char* const to = row == warp() ? out : out_of(row);
      if (exists(row)) store(to, x);
    }
  }
  __device__ void store(unsigned char* to, const float (&x)[8]) const {
    by_result_type<config.type>(a.attention, [&](auto type) {
      constexpr DType kType = decltype(type)::value;
      store_eight<kType>(reinterpret_cast<Element<kType>*>(to),
                         {pack_two<kType>(x[0], x[1]), pack_two<kType>(x[2], x[3]), pack_two<kType>(x[4], x[5]),
                          pack_two<kType>(x[6], x[7])});
    });
  }
  __device__ static void add(float (&x)[8], const uint4& part, float weight) {
    const uint32_t words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 both = unpack<T>(words[i]);
      x[2 * i] += weight * both.x, x[2 * i + 1] += weight * both.y;
    }
  }
};

template <Config config>
__device__ void attention(const SplitKvArguments& a) {
  extern __shared__ __align__(1024) unsigned char base[];
  allow_dependents();
  SplitKvWork<config> work(a, base);
  if (threadIdx.x == 0) work.make_barriers(), prefetch(a.q);
  sync_block();
  wait_for_producers();
  work.load_queries();
  work.load_tile();
  sync_warp();
  if (a.attention.mask) work.load_mask();
  FragmentC scores[config.rows / 8], sums[2][config.rows / 8];
  work.weigh_keys(scores);
  work.add_values(sums, scores);
  work.stage(sums);
  if (work.splits == 1) return work.finish();
  cluster_wait();
  work.send();
  work.sums_came().wait(0);
  cluster_arrive();  // this block reads nothing more from its peers
  work.finish();
  cluster_wait();
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL(Config::kThreads, 1) \
      entry(const __grid_constant__ SplitKvArguments a) { attention<Config{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_split_kv.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
