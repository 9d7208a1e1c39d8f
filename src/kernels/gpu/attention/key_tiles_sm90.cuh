// The tiles of keys and values that a warp attends to, on their way from a cache through a ring in shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/attention/attention.cuh"
#include "kernels/gpu/attention/cached_attention_sm90.hpp"
#include "kernels/gpu/attention/place_in_tile_sm90.cuh"
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

// A lane copies its parts of a tile itself, of keys eight columns of each 32, and nobody else reads them. A tile's keys
// are one group of copies and its values the next: the place of keys is filled again while values are still multiplied.
template <CachedAttentionConfig config>
class KeyTiles : public PlaceInTile<config> {
 public:
  using K = Element<config.key_type>;
  using Copy = KeyChunk<config.has_8_bits()>;
  using Chunk = typename Copy::type;
  using Place = PlaceInTile<config>;
  using Place::kTileKeys, Place::kKeyParts, Place::kValueParts, Place::value_column, Place::key_of, Place::value_of;

  // The heads are those of key head `of_group.group`; row `first_row` and the others see the same keys. All lanes give
  // the warp's number as one that the compiler knows to be the same.
  __device__ KeyTiles(const CachedAttentionArguments& all, AttentionRows of_group, int first_row, int warp,
                      unsigned char* base)
      : a(all.attention),
        of_group(of_group),
        first_row(first_row),
        step((config.warps() * kTileKeys) << all.split_bits),
        stages(all.stages),
        row_bytes(all.heads.groups * all.heads.half * 2 * sizeof(K)),
        ring(reinterpret_cast<Chunk*>(base + config.rings_at() + warp * config.ring_bytes(stages)) + lane()),
        fresh(reinterpret_cast<const K*>(base + config.fresh_at())),
        own((static_cast<int>(blockIdx.x) + (warp << all.split_bits)) * kTileKeys) {}

  __device__ static int key_column(int part) { return part * 32 + lane() % 4 * 8; }

  // Prefetches the tiles that come first where nothing is hidden. Neither a length nor a cache is read before its
  // producers have ended.
  __device__ void prepare() const {
    if (threadIdx.x == 0) prefetch_to_l2(a.length);
    constexpr int kLine = 128 / sizeof(K), kTiles = (8 + config.warps() - 1) / config.warps();
    const bool of_keys = lane() < kTileKeys;
    int row = own + lane() % kTileKeys;
#pragma unroll 1
    for (int i = 0; i < kTiles && row < a.keys; ++i, row += step)
#pragma unroll 1
      for (int column = 0; column < a.width; column += kLine)
        prefetch_to_l2(memory_of(of_keys ? a.segment[0].k : a.segment[0].v, column) +
                       static_cast<uint64_t>(row) * row_bytes);
  }
  // Until then there is one tile, of keys before the first one, which are zeros.
  __device__ void begin() { from = own, end = a.keys, stage = 0, knows_length = false; }
  // Starts the first copies. Usually keys lie in their own order from the first on, so that they come with the length.
  __device__ void start() {
#pragma unroll 1
    for (int i = 0; i < stages; ++i) {
      copy_keys(i, from + i * step), copy_values(i, from + i * step);
      if (!knows_length && !read_length()) wait_for_groups<0>(), i = -1;
    }
  }
  // Says which row of the cache the new key and value have: they come from shared memory.
  __device__ void set_new_row(int row) { new_key = row - oldest + (row < oldest ? a.keys : 0); }

  // Blocks take turns, then their warps: the tile in use and those that follow it.
  __device__ bool exists() const { return from < end; }
  __device__ bool is_seen(int of_tile) const {
    const int key = from + of_tile;
    return key < end && (key >= window || key < prefix);
  }
  // Waits for the tile's keys, and puts the new one among them if it has their row.
  __device__ void take_keys() const {
    wait_for_oldest();
    const int at = new_key - from;
    if (at < 0 || at >= kTileKeys || lane() / 4 != at % 8) return;
#pragma unroll
    for (int part = 0; part < kKeyParts; ++part)
      if (key_column(part) < a.width) key_chunk(part, at / 8) = fresh_chunk(key_column(part));
  }
  // The same for values. Zeros stand in place of those that are not there, which may be no numbers.
  __device__ void take_values() const {
    wait_for_oldest();
    const int at = new_key - from;
    const bool has_new = at >= 0 && at < kTileKeys;
    if (!has_new && from + kTileKeys <= end) return;
    const bool is_own = has_new && lane() % 4 == at / 2 % 4;
#pragma unroll
    for (int part = 0; part < kValueParts; ++part) {
      if (is_own && value_column(part) < a.width)
        value_chunk(part, at % 2 + at / 8 * 2) = fresh_chunk(config.width + value_column(part));
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (from + value_of(j) >= end) value_chunk(part, j) = Chunk{};
    }
  }
  __device__ const Chunk& key(int part, int half) const { return key_chunk(part, half); }
  __device__ const Chunk& value(int part, int j) const { return value_chunk(part, j); }
  // Give the place of the tile's keys, or of its values, to the tile that is a ring behind it.
  __device__ void release_keys() const { copy_keys(stage, from + stages * step); }
  __device__ void release_values() const { copy_values(stage, from + stages * step); }
  __device__ void advance() {
    stage = stage + 1 == stages ? 0 : stage + 1;
    from += step;
  }
  // Waits for all copies that nobody will take.
  __device__ void drain() const {
    wait_for_groups<0>();
    sync_warp();
  }

 private:
  __device__ Chunk& chunk(int of_stage, int i) const { return ring[(of_stage * config.chunks() + i) * kLanes]; }
  __device__ Chunk& key_chunk(int part, int half) const { return chunk(stage, part * 2 + half); }
  __device__ Chunk& value_chunk(int part, int j) const { return chunk(stage, kKeyParts * 2 + part * 4 + j); }
  __device__ const Chunk& fresh_chunk(int column) const { return *reinterpret_cast<const Chunk*>(fresh + column); }

  // Each stage has two groups of copies; that of the keys or values which are taken next is the oldest of all.
  __device__ void wait_for_oldest() const {
    if (stages == config.few_stages())
      wait_for_groups<2 * config.few_stages() - 1>();
    else
      wait_for_groups<2 * config.stages() - 1>();
  }
  // Takes in the length; returns whether the first tile is the one whose copies were started without it.
  __device__ bool read_length() {
    PresentKeys present(a);
    present.read_length(a);
    const SeenKeys seen(a, present, first_row, 1);
    from += seen.begin;
    end = seen.end, oldest = present.first, knows_length = true;
    if (!a.span.sees_all) prefix = present.prefix, window = present.first_query - a.span.before;
    return seen.begin == 0 && oldest == 0;
  }
  // Starts the copies of the keys of the tile that begins with `first`; those behind the last one become zero.
  __device__ void copy_keys(int to, int first) const {
    if (first < end) {
      const char* const memory = memory_of(a.segment[0].k, key_column(0));
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int key = first + key_of(half);
        const char* const row = memory + row_at(key);
#pragma unroll
        for (int part = 0; part < kKeyParts; ++part)
          Copy::copy(&chunk(to, part * 2 + half), row + part * 32 * sizeof(K),
                     is_there(key) && key_column(part) < a.width);
      }
    }
    CopyGroup<0>::end();
  }
  __device__ void copy_values(int to, int first) const {
    if (first < end) {
      const char* const memory = memory_of(a.segment[0].v, value_column(0));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int key = first + value_of(j);
        const char* const row = memory + row_at(key);
#pragma unroll
        for (int part = 0; part < kValueParts; ++part)
          Copy::copy(&chunk(to, kKeyParts * 2 + part * 4 + j), row + part * 64 * sizeof(K),
                     is_there(key) && value_column(part) < a.width);
      }
    }
    CopyGroup<0>::end();
  }
  __device__ bool is_there(int key) const { return static_cast<uint32_t>(key) < static_cast<uint32_t>(end); }
  __device__ const char* memory_of(const void* cache, int column) const {
    return static_cast<const char*>(cache) + (of_group.group * a.width + column) * sizeof(K);
  }
  // Returns where a key's row begins in memory, of which the oldest key may have any row; the first row where it is not
  // there.
  __device__ uint64_t row_at(int key) const {
    const uint32_t row = oldest + key, wrapped = row - a.keys;  // huge where it is not wrapped
    return is_there(key) ? static_cast<uint64_t>(min(row, wrapped)) * row_bytes : 0;
  }

  const AttentionArguments& a;
  const AttentionRows of_group;
  const int first_row, step, stages;
  const uint32_t row_bytes;
  Chunk* const ring;
  const K* const fresh;  // the new key, then the new value
  const int own;         // the first key of the warp's first tile, where nothing is hidden
  bool knows_length = true;
  int oldest = 0;              // the row of the first key that is there
  int end = 0, new_key = -1;   // as keys are counted that are there; -1: there is no new one
  int window = 0, prefix = 0;  // keys are seen from the one on, and up to the other
  int from = -kTileKeys;       // the first key of the tile in use
  int stage = 0;               // the place in the ring of the tile in use
};

}  // namespace rung::gpu
