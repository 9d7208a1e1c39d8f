// The tiles of keys and values that a warp attends to, on their way from a cache through a ring in shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/quantize/byte_elements.cuh"

namespace rung::gpu {

// Eight elements of a row, and the start of their copy, which makes zeros of them if they are not valid.
template <bool has_8_bits> struct KeyChunk {
  using type = uint4;
  __device__ static void copy(void* to, const void* from, bool valid) { CopyGroup<0>::issue(to, from, valid); }
};
template <> struct KeyChunk<true> {
  using type = uint2;
  __device__ static void copy(void* to, const void* from, bool valid) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(valid ? 8 : 0)
                 : "memory");
  }
};

// Lane l has keys l / 4 and l / 4 + 8 of a tile, eight columns of each 32, and values 2 (l % 4) and the next and those
// 8 behind them, eight columns of each 64. It copies these parts itself, and nobody else reads them.
template <CachedAttentionConfig config>
class KeyTiles {
 public:
  using K = Element<config.key_type>;
  using Copy = KeyChunk<config.has_8_bits()>;
  using Chunk = typename Copy::type;
  static constexpr int kTileKeys = CachedAttentionConfig::kTileKeys;
  static constexpr int kKeyParts = config.width / 32, kValueParts = config.width / 64;

  // The heads are those of key head `of_group.group`; row `first_row` and the others see the same keys.
  __device__ KeyTiles(const CachedAttentionArguments& all, AttentionRows of_group, int first_row, unsigned char* base)
      : a(all.attention),
        of_group(of_group),
        first_row(first_row),
        own(static_cast<int>(blockIdx.x) + (warp() << all.split_bits)),
        step(config.warps() << all.split_bits),
        stages(all.stages),
        ring(reinterpret_cast<Chunk*>(base + config.rings_at() + warp() * config.ring_bytes(stages)) + lane()),
        fresh(reinterpret_cast<const K*>(base + config.fresh_at())),
        present(a),
        end(present.rows) {}

  __device__ static int key_column(int part) { return part * 32 + lane() % 4 * 8; }
  __device__ static int value_column(int part) { return part * 64 + lane() / 4 * 8; }
  __device__ static int key_of(int half) { return lane() / 4 + half * 8; }
  __device__ static int value_of(int i) { return lane() % 4 * 2 + i % 2 + i / 2 * 8; }

  // Prefetches the tiles that come first where nothing is hidden. Neither a length nor a cache is read before its
  // producers have ended.
  __device__ void prefetch() const {
    if (threadIdx.x == 0) prefetch_to_l2(a.length);
#pragma unroll
    for (int i = 0; i < (8 + config.warps() - 1) / config.warps(); ++i) {
      const int row = first(i) + lane() % kTileKeys;
      if (row >= present.rows) return;
      const KeyValue<K> from(of_group, a.segment[0], row, 0);
      const K* const line = lane() < kTileKeys ? from.k : from.v;
      constexpr int kLine = 128 / sizeof(K);
      for (int column = 0; column < a.width; column += kLine) prefetch_to_l2(line + column);
    }
  }
  // Starts the first copies. Usually keys lie in their own order from the first on, so that they come with the length.
  __device__ void start() {
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
      copy(i, i);
      if (i > 0 || knows_length) continue;
      read_length();
      if (begin != 0 || present.first != 0) wait_for_groups<0>(), i = -1;
    }
  }
  // Says which row of the cache the new key and value have: they come from shared memory.
  __device__ void set_new_row(int row) { new_key = row - present.first + (row < present.first ? present.rows : 0); }

  // Returns the number of the first key of the warp's tile `i`: blocks take turns, then their warps.
  __device__ int first(int i) const { return begin + (own + i * step) * kTileKeys; }
  __device__ bool exists(int i) const { return first(i) < end; }
  __device__ bool is_seen(int key) const {
    return key < end && (a.span.sees_all || sees(a.span, present, present.place_of(0), key));
  }

  // Waits for the copies of tile `i`, and puts the new key and value into it if it has their row.
  __device__ void take(int i) {
    if (stages == config.few_stages())
      wait_for_groups<config.few_stages() - 1>();
    else
      wait_for_groups<config.stages() - 1>();
    const int from = first(i);
    if (from + kTileKeys > end || (new_key >= from && new_key < from + kTileKeys)) patch(from);
  }
  __device__ const Chunk& key(int part, int half) const { return chunk(stage, part * 2 + half); }
  __device__ const Chunk& value(int part, int j) const { return chunk(stage, kKeyParts * 2 + part * 4 + j); }
  // Gives the place of tile `i` to the one that is a ring behind it.
  __device__ void release(int i) {
    copy(stage, i + stages);
    stage = stage + 1 == stages ? 0 : stage + 1;
  }

 private:
  __device__ Chunk& chunk(int of_stage, int i) const { return ring[(of_stage * config.chunks() + i) * kLanes]; }

  __device__ void read_length() {
    present.read_length(a);
    const SeenKeys seen(a, present, first_row, 1);
    begin = seen.begin, end = seen.end, knows_length = true;
  }
  // Starts the copies of a tile; keys behind the last one become zero.
  __device__ void copy(int to, int tile) const {
    const int from = first(tile);
    if (from < end) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const KeyValue<K> row = row_of(from + key_of(half));
#pragma unroll
        for (int part = 0; part < kKeyParts; ++part)
          copy(chunk(to, part * 2 + half), row.k, key_column(part), from + key_of(half) < end);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const KeyValue<K> row = row_of(from + value_of(j));
#pragma unroll
        for (int part = 0; part < kValueParts; ++part)
          copy(chunk(to, kKeyParts * 2 + part * 4 + j), row.v, value_column(part), from + value_of(j) < end);
      }
    }
    CopyGroup<0>::end();
  }
  __device__ KeyValue<K> row_of(int key) const { return {of_group, a.segment[0], key < end ? present.row(key) : 0, 0}; }
  __device__ void copy(Chunk& to, const K* row, int column, bool valid) const {
    const bool inside = valid && column < a.width;
    Copy::copy(&to, row + (inside ? column : 0), inside);
  }
  // Zeros stand in place of values that are not there, which may be no numbers.
  __device__ void patch(int from) const {
    for (int half = 0; half < 2; ++half)
      for (int part = 0; part < kKeyParts && from + key_of(half) == new_key; ++part)
        if (key_column(part) < a.width) chunk(stage, part * 2 + half) = fresh_chunk(key_column(part));
    for (int j = 0; j < 4; ++j) {
      const int key = from + value_of(j);
      for (int part = 0; part < kValueParts && (key == new_key || key >= end); ++part) {
        const bool inside = key < end && value_column(part) < a.width;
        chunk(stage, kKeyParts * 2 + part * 4 + j) = inside ? fresh_chunk(config.width + value_column(part)) : Chunk{};
      }
    }
  }
  __device__ const Chunk& fresh_chunk(int column) const { return *reinterpret_cast<const Chunk*>(fresh + column); }

  const AttentionArguments& a;
  const AttentionRows of_group;
  const int first_row, own, step, stages;
  Chunk* const ring;
  const K* const fresh;  // the new key, then the new value
  PresentKeys present;
  bool knows_length = false;
  int begin = 0, end, new_key = -1;  // as keys are counted that are there; -1: there is no new one
  int stage = 0;                         // the place in the ring of the tile in use
};

}  // namespace rung::gpu
