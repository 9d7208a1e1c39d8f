// Attention of few queries over many keys, which reads each key that is there once for all heads that share it, and
// nothing beyond the length of a cache: blocks split the keys that they find, and a second kernel joins the splits.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_cache.hpp"
#include "kernels/gpu/quantize/byte_elements.cuh"

namespace rung::gpu {
namespace {

using Config = CacheAttentionConfig;

// The runs of keys that one split takes for a tile of packed rows.
struct SplitKeys {
  int begin, end, step;
  __device__ SplitKeys(const CacheAttentionArguments& a, const PresentKeys& keys, int tile, int split) {
    const SeenKeys seen(a.attention, keys, tile * a.tile, a.tile);
    begin = seen.begin + split * a.run, end = seen.end, step = a.splits * a.run;
  }
  __device__ bool empty() const { return begin >= end; }
};

// Returns how many splits leave results for a tile: the first does even where there is no key.
__device__ inline int present_splits(const CacheAttentionArguments& a, const PresentKeys& keys, int tile) {
  const SeenKeys seen(a.attention, keys, tile * a.tile, a.tile);
  return max(1, min(a.splits, (seen.end - seen.begin + a.run - 1) / a.run));
}

__device__ inline float* results_of(const CacheAttentionArguments& a, const AttentionRows& rows, int split, int row) {
  const int64_t head = static_cast<int64_t>(rows.batch) * a.attention.groups + rows.group;
  return a.results + ((head * a.splits + split) * rows.count() + row) * Config::row_floats(a.attention.width);
}

// Elements that are loaded together: 16 bytes, or 8 of elements of 8 bits.
template <class E> struct LoadedAs { using type = uint4; };
template <> struct LoadedAs<f8e4m3> { using type = uint2; };
template <class E>
using Loaded = typename LoadedAs<E>::type;

template <class T>
__device__ inline void widen(float* to, const uint2& bits) {
  const float4 low = unpack_bytes<T>(bits.x), high = unpack_bytes<T>(bits.y);
  to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
  to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}
template <class T>
__device__ inline void widen(float* to, const uint4& bits) {
  const uint32_t words[] = {bits.x, bits.y, bits.z, bits.w};
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = as_float(words[i]);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = unpack<T>(words[i]);
      to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
    }
  }
}

// The work of one lane: its columns of all rows, over the keys of its team.
template <Config config>
class CacheAttention {
 public:
  using T = Element<config.type>;
  using K = Element<config.key_type>;
  static constexpr int kLanesOfTeam = config.lanes(), kVector = config.vector(), kVectors = config.vectors();
  static constexpr int kColumns = kVector * kVectors, kRows = config.rows, kAhead = Config::kAhead;

  __device__ CacheAttention(const CacheAttentionArguments& arguments)
      : all(arguments),
        a(arguments.attention),
        rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)},
        split(static_cast<int>(blockIdx.x) % all.splits),
        first_row(static_cast<int>(blockIdx.x) / all.splits * kRows),
        keys(a) {}

  __device__ void run() {
    allow_dependents();
    wait_for_producers();
    // Usually the first keys lie in their own order, so that they come with the queries and the length.
    const int own = team() * kAhead, guess = split * config.keys();
    Held held;
    load(held, guess + own, keys.rows);
    load_queries();
    keys.read_length(a);
    const SplitKeys mine(all, keys, first_row / kRows, split);
    if (mine.empty() && split > 0) return;
    place_queries();
    if (mine.begin != guess || keys.first != 0) load(held, mine.begin + own, mine.end);
    for (int first = mine.begin; first < mine.end;) {
      take(held, first + own, mine.end);
      first += mine.step;
      if (first < mine.end) load(held, first + own, mine.end);
    }
    join_teams_of_warp();
    join_warps();
  }

 private:
  __device__ static int own_lane() { return static_cast<int>(threadIdx.x) % kLanesOfTeam; }
  __device__ static int team() { return static_cast<int>(threadIdx.x) / kLanesOfTeam; }
  // Returns the first column of a lane's vector; it has none beyond the head's width.
  __device__ static int column(int vector) { return (vector * kLanesOfTeam + own_lane()) * kVector; }

  // A lane's part of a row of elements E.
  template <class E>
  using Bits = Loaded<E>[kVectors];
  template <class E>
  __device__ void load(Bits<E>& to, const E* from, bool valid) const {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      const bool inside = valid && column(i) < a.width;
      to[i] = inside ? *reinterpret_cast<const Loaded<E>*>(from + column(i)) : Loaded<E>{};
    }
  }
  template <class E>
  __device__ static void widen_all(float (&to)[kColumns], const Bits<E>& from) {
#pragma unroll
    for (int i = 0; i < kVectors; ++i) widen<E>(to + i * kVector, from[i]);
  }
  __device__ void load_queries() {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool valid = first_row + r < rows.count();
      Bits<T> bits;
      load<T>(bits, rows.q<T>(valid ? first_row + r : 0), valid);
      widen_all<T>(q[r], bits);
#pragma unroll
      for (float& x : q[r]) x *= a.scale;
    }
  }
  __device__ void place_queries() {
#pragma unroll
    for (int r = 0; r < kRows; ++r) place[r] = keys.place_of(query_of(a, first_row + r));
  }

  // Keys that are under way together.
  struct Held {
    Bits<K> k[kAhead], v[kAhead];
  };
  __device__ void load(Held& held, int first, int end) const {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const bool valid = first + i < end;
      const KeyValue<K> from(rows, a.segment[0], valid ? keys.row(first + i) : 0, 0);
      load<K>(held.k[i], from.k, valid), load<K>(held.v[i], from.v, valid);
    }
  }
  // Takes keys from `first` on. What lies behind the last one may be no numbers.
  __device__ void take(const Held& held, int first, int end) {
    float scores[kRows][kAhead];
    load_mask(scores, first, end);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) score(scores, i, held.k[i], first + i, first + i < end);
#pragma unroll
    for (int r = 0; r < kRows; ++r) soften(scores[r], r);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      float x[kColumns];
      widen_all<K>(x, held.v[i]);
#pragma unroll
      for (float& each : x) each = first + i < end ? each : 0.0f;
#pragma unroll
      for (int r = 0; r < kRows; ++r)
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sums[r][c] = fmaf(scores[r][i], x[c], sums[r][c]);
    }
  }
  // Sets the scores to what the mask adds to them, so that its reads are under way during the products.
  __device__ void load_mask(float (&scores)[kRows][kAhead], int first, int end) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
#pragma unroll
      for (int i = 0; i < kAhead; ++i) scores[r][i] = 0.0f;
    if (!a.mask) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float* mask = rows.mask(min(first_row + r, rows.count() - 1));
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (first + i < end) scores[r][i] = mask[(first + i) * a.mask_stride[3]];
    }
  }
  // Adds to the scores those of one key.
  __device__ void score(float (&scores)[kRows][kAhead], int i, const Bits<K>& bits, int key, bool valid) const {
    float k[kColumns];
    widen_all<K>(k, bits);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float sum = 0.0f;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum = fmaf(q[r][c], k[c], sum);
      sum = lanes_sum<kLanesOfTeam>(sum);
      if (a.softcap != 0.0f) sum = sizeof(T) == 4 ? a.softcap * tanhf(sum / a.softcap) : capped(sum, a.softcap);
      const bool seen = valid && (a.span.sees_all || sees(a.span, keys, place[r], key));
      scores[r][i] = seen ? sum + scores[r][i] : -INFINITY;
    }
  }
  // Turns a row's scores into weights, and rescales its sums.
  __device__ void soften(float (&scores)[kAhead], int r) {
    float largest = scores[0];
#pragma unroll
    for (int i = 1; i < kAhead; ++i) largest = fmaxf(largest, scores[i]);
    const float factor = running[r].raise(largest);
#pragma unroll
    for (float& score : scores) running[r].sum += score = running[r].weight(score);
#pragma unroll
    for (float& sum : sums[r]) sum *= factor;
  }

  // ---- joins: in a fixed order, so that the same keys give the same bits

  __device__ void join_teams_of_warp() {
#pragma unroll
    for (int step = kLanesOfTeam; step < kLanes; step *= 2)
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const Running mine = running[r];
        Running other;
        other.largest = shuffle_xor(mine.largest, step), other.sum = shuffle_xor(mine.sum, step);
        const float factor = running[r].raise(other.largest), others = running[r].weight(other.largest);
        running[r].sum += other.sum * others;
#pragma unroll
        for (float& sum : sums[r]) sum = sum * factor + shuffle_xor(sum, step) * others;
      }
  }
  struct Part {
    float x[kRows][config.width];
    float largest[kRows], sum[kRows];
  };
  __device__ void join_warps() {
    constexpr int kWarps = Config::kThreads / kLanes;
    __shared__ Part parts[kWarps];
    if (lane() < kLanesOfTeam) {
      Part& mine = parts[warp()];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (lane() == 0) mine.largest[r] = running[r].largest, mine.sum[r] = running[r].sum;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) mine.x[r][column(c / kVector) + c % kVector] = sums[r][c];
      }
    }
    sync_block();
    for (int i = threadIdx.x; i < kRows * config.width; i += Config::kThreads) {
      const int r = i / config.width, d = i % config.width;
      if (first_row + r >= rows.count() || d >= a.width) continue;
      Running total;
      for (int w = 0; w < kWarps; ++w) total.raise(parts[w].largest[r]);
      float sum = 0.0f;
      for (int w = 0; w < kWarps; ++w) {
        const float weight = total.weight(parts[w].largest[r]);
        total.sum += parts[w].sum[r] * weight, sum += parts[w].x[r][d] * weight;
      }
      store(first_row + r, d, sum, total);
    }
  }
  __device__ void store(int row, int d, float sum, const Running& total) const {
    if (all.splits == 1) {
      rows.out<T>(row)[d] = from_float<T>(total.sum == 0.0f ? 0.0f : sum / total.sum);
      return;
    }
    float* to = results_of(all, rows, split, row);
    to[d] = sum;
    if (d == 0) to[a.width] = total.largest, to[a.width + 1] = total.sum;
  }

  const CacheAttentionArguments& all;
  const AttentionArguments& a;
  const AttentionRows rows;
  const int split, first_row;
  PresentKeys keys;
  int place[kRows];  // of the rows' queries
  float q[kRows][kColumns], sums[kRows][kColumns] = {};
  Running running[kRows];
};

// Joins the splits of one packed row: a block's threads share the splits, each thread a column of every few. A split's
// sums come with its statistics, as the reads take longer than the sums.
template <class T>
__device__ void join(const CacheAttentionArguments& all) {
  constexpr int kColumns = 64, kSharers = kJoinCacheThreads / kColumns;  // columns at a time; threads of each
  __shared__ float parts[3][kSharers][kColumns];
  const AttentionArguments& a = all.attention;
  const AttentionRows rows{a, static_cast<int>(blockIdx.z), static_cast<int>(blockIdx.y)};
  const int row = static_cast<int>(blockIdx.x), own = threadIdx.x % kColumns, sharer = threadIdx.x / kColumns;
  const float* from = results_of(all, rows, 0, row);
  const int64_t step = results_of(all, rows, 1, row) - from;
  allow_dependents();
  wait_for_producers();
  PresentKeys keys(a);
  keys.read_length(a);
  const int splits = present_splits(all, keys, row / all.tile);
  for (int first = 0; first < a.width; first += kColumns) {
    const int d = min(first + own, a.width - 1);
    Running mine;
    float sum = 0.0f;
#pragma unroll 4
    for (int i = sharer; i < splits; i += kSharers) {
      const float x = from[i * step + d], largest = from[i * step + a.width], weights = from[i * step + a.width + 1];
      const float factor = mine.raise(largest), weight = mine.weight(largest);
      sum = sum * factor + x * weight, mine.sum += weights * weight;
    }
    parts[0][sharer][own] = sum, parts[1][sharer][own] = mine.largest, parts[2][sharer][own] = mine.sum;
    sync_block();
    if (sharer == 0 && first + own < a.width) {
      Running total;
      for (int i = 0; i < kSharers; ++i) total.raise(parts[1][i][own]);
      sum = 0.0f;
      for (int i = 0; i < kSharers; ++i) {
        const float weight = total.weight(parts[1][i][own]);
        sum += parts[0][i][own] * weight, total.sum += parts[2][i][own] * weight;
      }
      rows.out<T>(row)[d] = from_float<T>(total.sum == 0.0f ? 0.0f : sum / total.sum);
    }
    sync_block();
  }
}

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                            \
  RUNG_KERNEL(Config::kThreads) entry(const __grid_constant__ CacheAttentionArguments a) {  \
    CacheAttention<Config{__VA_ARGS__}>(a).run();                                           \
  }
#include "kernels/gpu/attention/attention_cache.inc"
#undef RUNG_VARIANT

RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_f32(const __grid_constant__ CacheAttentionArguments a) {
  join<float>(a);
}
RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_bf16(const __grid_constant__ CacheAttentionArguments a) {
  join<bf16>(a);
}
RUNG_KERNEL(kJoinCacheThreads) attention_cache_join_f16(const __grid_constant__ CacheAttentionArguments a) {
  join<f16>(a);
}

}  // namespace rung::gpu
