// The keys that a wave of CDNA's attention kernel takes, the way of their values through shared memory, and the place
// of a block's partial results of a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/attention_cdna_arguments.hpp"
#include "kernels/gpu/attention/attention_result.cuh"
#include "kernels/gpu/cdna/matrix.cuh"
#include "kernels/gpu/cdna/transpose.cuh"
#include "kernels/gpu/elements.cuh"

namespace rung::gpu {

constexpr int kDeep = 32;       // columns of one product
constexpr int kDeepOfLane = 8;  // neighbouring columns of a lane

// Loads from an address that the compiler would not know to be in global memory.
template <class Words, class T>
__device__ inline Words load_words(const T* from) {
  return *in_memory<const Words>(reinterpret_cast<uint64_t>(from));
}
// Loads columns d to d + 7 of a row of `width`; other columns of the row stand for columns beyond it, which whole rows
// do not have.
template <int unit, bool whole, class T>
__device__ inline uint4 load_columns(const T* row, int d, int width) {
  if constexpr (whole) {
    return load_words<uint4>(row + d);
  } else if constexpr (unit == 8) {
    return load_words<uint4>(row + min(d, width - 8));
  } else {
    const uint2 low = load_words<uint2>(row + min(d, width - 4)), high = load_words<uint2>(row + min(d + 4, width - 4));
    return {low.x, low.y, high.x, high.y};
  }
}
// Returns x with zeros for columns beyond, word by word: a condition on all of x would become a branch around the load.
template <int unit, bool whole>
__device__ inline uint4 inside(const uint4& x, int d, int width) {
  if constexpr (whole) return x;
  const bool low = d < width, high = unit == 8 ? low : d + 4 < width;
  return {low ? x.x : 0, low ? x.y : 0, high ? x.z : 0, high ? x.w : 0};
}
// Heads as wide as the kernel have their own code, without the checks that others need in every step.
struct Whole {
  static constexpr bool value = true;
};
struct Padded {
  static constexpr bool value = false;
};
template <CdnaAttentionConfig config, class Do>
__device__ inline void by_width(const AttentionArguments& a, Do work) {
  constexpr bool kMayBeWhole = config.unit == 8 && config.width % kDeep == 0;
  if (kMayBeWhole && a.width == config.width)
    work(Whole{});
  else
    work(Padded{});
}

// The groups of keys of one team: every `teams`-th of its block's split.
struct CdnaKeys {
  int begin, end;
  int team, teams;
  __device__ CdnaKeys(const CdnaAttentionArguments& a, int split, int team, int teams)
      : begin(split * a.keys_of_split), end(min(begin + a.keys_of_split, a.attention.keys)), team(team), teams(teams) {}
  // Leaves the groups that hold keys which the block's rows see.
  __device__ void narrow(const SeenKeys& seen) {
    constexpr int kGroup = CdnaAttentionConfig::kGroupKeys;
    begin = max(begin, seen.begin / kGroup * kGroup), end = min(end, seen.end);
  }
  __device__ int first(int group) const { return begin + (group * teams + team) * CdnaAttentionConfig::kGroupKeys; }
  __device__ int groups() const {
    const int step = teams * CdnaAttentionConfig::kGroupKeys;
    return max(0, (end - first(0) + step - 1) / step);
  }
};

// A lane's keys in a group that begins at `first`: its keys are first + own + step(i).
template <class Step>
struct LaneKeys {
  int first, own;
  Step step;
};

// The segment of a group, kept for the groups that follow: its keys' numbers among all keys, this lane's own row at the
// segment's beginning, and the distance between keys.
template <class T>
struct FoundSegment {
  int begin = 0, end = 0;
  const T* own = nullptr;
  int64_t stride = 0;
  __device__ bool holds(int first) const {
    return begin <= first && first + CdnaAttentionConfig::kGroupKeys <= end;
  }
};

// Finds the rows of a lane's keys; the last key stands for keys beyond it. Usually a group is all of one segment.
template <class T, int count, class Step, class Which>
__device__ inline void find_keys(const T* (&row)[count], FoundSegment<T>& segment, const AttentionRows& rows,
                                 const LaneKeys<Step>& keys, Which which) {
  const AttentionArguments& a = rows.a;
  if (!segment.holds(keys.first)) {
    const int first = min(keys.first, a.keys - 1);
    const Place place(a, first);
    const AttentionSegment& found = a.segment[place.segment];
    segment.begin = first - place.key, segment.end = segment.begin + found.keys;
    segment.own = which(KeyValue<T>(rows, found, keys.own, 0));
    segment.stride = which(KeyValue<T>(rows, found, 1, 0)) - which(KeyValue<T>(rows, found, 0, 0));
  }
  if (segment.holds(keys.first)) {
    const T* const begin = segment.own + (keys.first - segment.begin) * segment.stride;
#pragma unroll
    for (int i = 0; i < count; ++i) row[i] = begin + keys.step(i) * segment.stride;
    return;
  }
  int before = 0;  // keys of the segments before
#pragma unroll 1
  for (int s = 0; s < a.segments; before += a.segment[s++].keys)
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int key = min(keys.first + keys.own + keys.step(i), a.keys - 1) - before;
      const T* const found = which(KeyValue<T>(rows, a.segment[s], key, 0));
      row[i] = key >= 0 ? found : row[i];
    }
}

// A slice of values on its way through a wave's registers; each lane has eight columns of some keys.
template <CdnaAttentionConfig config>
struct CdnaValues {
  using T = Element<config.type>;
  static constexpr int kChunks = config.slice_columns() / 8;  // of eight columns
  static constexpr int kChunkLanes = kChunks > 8 ? 16 : kChunks > 4 ? 8 : 4;
  static constexpr int kKeys = CdnaAttentionConfig::kGroupKeys * kChunkLanes / kLanes;  // of a lane
  uint4 at[kKeys] = {};
  const T* from[kKeys] = {};  // the rows of the last group found
  FoundSegment<T> segment;

  __device__ static int chunk() { return lane() % kChunkLanes; }
  // A slice has the keys of a group in the order in which a lane has their weights, four of each fragment of scores.
  __device__ static int first_key() {
    const int position = lane() / kChunkLanes * kKeys;
    return position / 4 % 2 * 16 + position / 8 * 4 + position % 4;
  }
  // Loads some of the columns of a group of the team; part 0 is first. Keys beyond the last weigh nothing, and the last
  // key stands for them, as the last columns do for columns beyond the heads' width, which nobody reads.
  __device__ void load(const AttentionRows& rows, const CdnaKeys& keys, int group, int part) {
    const int first = keys.first(group);
    if (first >= keys.end) return;
    const auto further = [](int i) { return i / 4 * 16 + i % 4; };
    if (part == 0)
      find_keys(from, segment, rows, LaneKeys<decltype(further)>{first, first_key(), further},
                [](const KeyValue<T>& found) { return found.v; });
    const int d = (part * kChunks + chunk()) * 8;
    by_width<config>(rows.a, [&](auto width) {
#pragma unroll
      for (int i = 0; i < kKeys; ++i) at[i] = load_columns<config.unit, width.value>(from[i], d, rows.a.width);
    });
  }
  __device__ void keep(char* slice) const {
    if (kChunks < kChunkLanes && chunk() >= kChunks) return;
    uint32_t columns[8][kKeys / 2];
    transpose_halves<kKeys>(columns, at);
    char* to = slice + CdnaAttentionConfig::slice_offset(chunk() * 8) + lane() / kChunkLanes * kKeys * 2;
#pragma unroll
    for (int d = 0; d < 8; ++d) {
      Unit<kKeys * 2> unit;
      __builtin_memcpy(&unit, columns[d], sizeof unit);
      *reinterpret_cast<Unit<kKeys * 2>*>(to + CdnaAttentionConfig::slice_offset(d)) = unit;
    }
  }
  // Returns the elements of 16 columns from `first` on that this lane multiplies.
  __device__ static uint4 column(const char* slice, int first) {
    return *reinterpret_cast<const uint4*>(slice + CdnaAttentionConfig::slice_offset(first + lane() % 16) +
                                           lane() / 16 * 16);
  }
};

// A split's partial result of a row, which is numbered among the rows of all batches and groups.
struct CdnaPartial {
  const CdnaAttentionArguments& a;
  const int64_t number;
  __device__ CdnaPartial(const CdnaAttentionArguments& arguments, int split, int row)
      : a(arguments), number(static_cast<int64_t>(split) * all_rows() + row) {}
  __device__ int64_t all_rows() const {
    return static_cast<int64_t>(a.attention.batch) * a.attention.queries * a.attention.heads;
  }
  __device__ float* sums() const { return a.sums + number * a.attention.width; }
  __device__ float2* statistics() const { return reinterpret_cast<float2*>(a.statistics) + number; }
};

}  // namespace rung::gpu
