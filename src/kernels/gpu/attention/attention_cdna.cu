// Attention on CDNA: a wave keeps its queries and their sums in registers; it loads keys straight from memory in the
// order of the lanes that multiply them, and values through shared memory, transposed on the way.
// SPDX-License-Identifier: Apache-2.0
// A matrix instruction wants neighbours along the summed axis in a lane: rows of keys lie so in memory, rows of values
// do not. Loads from memory are issued a group ahead, into registers.
#include "kernels/gpu/attention/attention_values_cdna.cuh"

namespace rung::gpu {
namespace {

template <CdnaAttentionConfig config>
struct CdnaAttention {
  using T = Element<config.type>;
  using Values = CdnaValues<config>;
  static constexpr int kRowTiles = config.row_tiles, kTiles = config.width / 16, kParts = config.parts();
  static constexpr int kSteps = (config.width + kDeep - 1) / kDeep;
  static constexpr int kGroupKeys = CdnaAttentionConfig::kGroupKeys, kFragments = kGroupKeys / 16;
  static constexpr int kPartTiles = kTiles / kParts, kJoinTiles = CdnaAttentionConfig::kJoinTiles;
  static_assert(kParts == 1 || config.row_waves == 1, "each wave of a team stages a group, or one all its columns");
  struct Keys {
    uint4 at[kFragments][kSteps];
  };

  const CdnaAttentionArguments& a;
  const AttentionRows rows;
  CdnaKeys keys;
  char* const shared;
  const int first_row, split;  // of the block
  const float* mask[kRowTiles][kLaneRows] = {};
  int query[kRowTiles][kLaneRows] = {};  // for spans
  FragmentC sums[kRowTiles][kTiles];
  Running running[kRowTiles][kLaneRows];
  uint4 queries[kRowTiles][kSteps];
  Keys ahead;
  FoundSegment<T> segment;  // of the keys ahead

  __device__ CdnaAttention(const CdnaAttentionArguments& arguments, char* memory, uint32_t block)
      : a(arguments),
        rows{a.attention, static_cast<int>(head_of(block)) / a.attention.groups,
             static_cast<int>(head_of(block)) % a.attention.groups},
        keys(a, static_cast<int>(split_of(block)), warp() / config.row_waves, config.key_waves),
        shared(memory),
        first_row(static_cast<int>(block % a.tiles) * config.rows()),
        split(static_cast<int>(split_of(block))) {
    for (int r = 0; r < kRowTiles && a.attention.mask; ++r) mask[r][0] = rows.mask(min(row_of(r), rows.count() - 1));
  }
  __device__ uint32_t head_of(uint32_t block) const { return block / (a.tiles * a.splits); }
  __device__ uint32_t split_of(uint32_t block) const { return block / a.tiles % a.splits; }
  __device__ static int row_wave() { return warp() % config.row_waves; }
  __device__ int row_of(int tile) const {  // this lane's
    return first_row + (row_wave() * kRowTiles + tile) * 16 + fragment_row(lane());
  }
  // Waits until the waves of a team see each other's slices, or are done with them.
  __device__ static void sync_team() {
    if constexpr (config.row_waves == 1)
      sync_warp();
    else
      sync_block();
  }

  // ---- operands

  __device__ static int column_of(int step) {  // this lane's first
    return step * kDeep + lane() / 16 * kDeepOfLane;
  }
  // Loads columns; used() makes those beyond the heads' width zeros.
  template <class Width>
  __device__ uint4 load(Width, const T* row, int step) const {
    return load_columns<config.unit, Width::value>(row, column_of(step), a.attention.width);
  }
  template <class Width>
  __device__ uint4 used(Width, const uint4& x, int step) const {
    return inside<config.unit, Width::value>(x, column_of(step), a.attention.width);
  }
  __device__ void load_queries() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      const T* row = rows.q<T>(min(row_of(r), rows.count() - 1));
#pragma unroll
      for (int step = 0; step < kSteps; ++step) queries[r][step] = used(Padded{}, load(Padded{}, row, step), step);
    }
  }
  __device__ void load_keys(int first) {
    const T* from[kFragments];
    const auto step = [](int i) { return i * 16; };
    find_keys(from, segment, rows, LaneKeys<decltype(step)>{first, lane() % 16, step},
              [](const KeyValue<T>& found) { return found.k; });
    by_width<config>(a.attention, [&](auto width) {
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int step = 0; step < kSteps; ++step) ahead.at[i][step] = load(width, from[i], step);
    });
  }

  // ---- products

  // Turns the scores of a group into weights, in the order of the keys in slices.
  template <bool spans>
  __device__ void weigh(uint4 (&weights)[kRowTiles], int group) {
    const int first = keys.first(group);
    FragmentC scores[kRowTiles][kFragments], bias[kRowTiles][kFragments];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) load_bias(bias[r], a.attention, mask[r], first);
    by_width<config>(a.attention, [&](auto width) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
#pragma unroll
        for (int i = 0; i < kFragments; ++i) {
          const uint4 key = used(width, ahead.at[i][step], step);
#pragma unroll
          for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(scores[r][i], queries[r][step], key);
        }
    });
    load_keys(keys.first(group + 1));
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      float factor[kLaneRows];
      scale_and_mask(scores[r], bias[r], a.attention, first, a.attention.keys);
      if constexpr (spans) hide_unseen(scores[r], a.attention.span, PresentKeys(a.attention), query[r], first);
      soften<T>(scores[r], running[r], factor);
      rescale(sums[r], factor);
      const uint2 low = a_from_c<T>(&scores[r][0]).x, high = a_from_c<T>(&scores[r][1]).x;
      weights[r] = {low.x, low.y, high.x, high.y};
    }
  }
  __device__ void add_values(const uint4 (&weights)[kRowTiles], const char* slice, int part) {
#pragma unroll
    for (int t = 0; t < kPartTiles; ++t) {
      const uint4 values = Values::column(slice, t * 16);
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) multiply_add_deep<T>(sums[r][part * kPartTiles + t], weights[r], values);
    }
  }

  // Attentions with spans have code of their own: the check of each group takes a hundredth of the instructions.
  __device__ void attend() {
    if (a.attention.span.sees_all) {
      attend_to<false>();
    } else {
      keys.narrow(SeenKeys(a.attention, PresentKeys(a.attention), first_row, config.rows()));
      for (int r = 0; r < kRowTiles; ++r) query[r][0] = query_of(a.attention, min(row_of(r), rows.count() - 1));
      attend_to<true>();
    }
#pragma unroll
    for (auto& tile : running) tile[0].sum = row_sum(tile[0].sum);
  }
  template <bool spans>
  __device__ void attend_to() {
    char* const team = shared + warp() / config.row_waves * config.row_waves * config.slice_bytes();
    char* const own = team + row_wave() * config.slice_bytes();
    int group = row_wave();  // the group of this wave's slice, among the team's groups
    Values values;
    const auto stage = [&](int part) {
      sync_team();
      values.keep(own);
      sync_team();
      if (part + 1 == kParts) group += config.row_waves;
      values.load(rows, keys, group, (part + 1) % kParts);
    };
    load_queries();
    load_keys(keys.first(0));
    values.load(rows, keys, group, 0);
    const int groups = keys.groups();
#pragma unroll 1
    for (int begin = 0; begin < groups; begin += config.row_waves) {
      if (kParts == 1) stage(0);
#pragma unroll 1
      for (int i = 0; i < config.row_waves && begin + i < groups; ++i) {
        uint4 weights[kRowTiles];
        weigh<spans>(weights, begin + i);
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          if (kParts > 1) stage(part);
          add_values(weights, team + i * config.slice_bytes(), part);
        }
      }
    }
  }

  // ---- results

  // Stores four columns of a packed row, summed over all keys of its block.
  __device__ void put(int row, int d, float4 sum, const Running& total) const {
    if (row >= rows.count() || d >= a.attention.width) return;
    if (a.splits > 1) {
      const CdnaPartial partial(a, split, (rows.batch * a.attention.groups + rows.group) * rows.count() + row);
      *reinterpret_cast<float4*>(partial.sums() + d) = sum;
      if (d == 0) *partial.statistics() = {total.largest, total.sum};
      return;
    }
    store_result<config.type>(rows, row, d, sum, total);
  }
  __device__ void store() const {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
        const auto& x = sums[r][t].x;
        put(row_of(r), t * 16 + fragment_column(lane()), {x[0], x[1], x[2], x[3]}, running[r][0]);
      }
  }
  // Adds the teams' sums in shared memory, in the teams' order.
  __device__ void join() const {
    constexpr int kPitch = static_cast<int>(CdnaAttentionConfig::kJoinPitch), kTeams = config.key_waves;
    static_assert(config.row_waves == 1);
    float* all = reinterpret_cast<float*>(shared);
    Running* statistics = reinterpret_cast<Running*>(all + kTeams * config.rows() * kPitch);
    const int first = warp() * config.rows() + fragment_row(lane());
#pragma unroll
    for (int begin = 0; begin < kTiles; begin += kJoinTiles) {
      sync_block();
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        if (begin == 0 && leads_row(lane())) statistics[first + r * 16] = running[r][0];
#pragma unroll
        for (int t = begin; t < kTiles && t < begin + kJoinTiles; ++t)
          store_row(all + (first + r * 16) * kPitch + (t - begin) * 16, sums[r][t], 0);
      }
      sync_block();
      for (int i = static_cast<int>(threadIdx.x); i < config.rows() * kJoinTiles * 4; i += config.waves() * kLanes)
        add_teams(all, statistics, i / (kJoinTiles * 4), begin * 16, i % (kJoinTiles * 4) * 4);
    }
  }
  __device__ void add_teams(const float* all, const Running* statistics, int row, int begin, int d) const {
    if (begin + d >= config.width) return;
    Running total;
#pragma unroll
    for (int w = 0; w < config.key_waves; ++w) total.raise(statistics[w * config.rows() + row].largest);
    float4 sum{};
#pragma unroll
    for (int w = 0; w < config.key_waves; ++w) {
      const Running one = statistics[w * config.rows() + row];
      const float4 x = *reinterpret_cast<const float4*>(
          all + (w * config.rows() + row) * static_cast<int>(CdnaAttentionConfig::kJoinPitch) + d);
      const float weight = total.weight(one.largest);
      total.sum += one.sum * weight;
      sum = {sum.x + weight * x.x, sum.y + weight * x.y, sum.z + weight * x.z, sum.w + weight * x.w};
    }
    put(first_row + row, begin + d, sum, total);
  }
};

template <CdnaAttentionConfig config>
__device__ void attention_cdna(const CdnaAttentionArguments& a) {
  __shared__ __align__(16) char shared[config.shared_bytes()];
  const uint32_t of_die = (a.blocks + a.dies - 1) / a.dies;
  const uint32_t block = blockIdx.x % a.dies * of_die + blockIdx.x / a.dies;
  if (block >= a.blocks) return;
  CdnaAttention<config> work(a, shared, block);
  work.attend();
  if constexpr (config.key_waves == 1)
    work.store();
  else
    work.join();
}

}  // namespace

#define RUNG_VARIANT(entry, ...) \
  RUNG_KERNEL((CdnaAttentionConfig{__VA_ARGS__}.waves() * kLanes)) \
      entry(const __grid_constant__ CdnaAttentionArguments a) { attention_cdna<CdnaAttentionConfig{__VA_ARGS__}>(a); }
#include "kernels/gpu/attention/attention_cdna.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
