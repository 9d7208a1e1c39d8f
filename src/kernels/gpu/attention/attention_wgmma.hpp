// The configurations and arguments of the warpgroup attention kernel, shared by host and device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/tile_map.hpp"
#include "ir/dtype.hpp"
#include "kernels/gpu/attention/attention_arguments.hpp"

namespace rung::gpu {

// The keys or values of a tile, which are all of one segment. Tiles of spans may have twice as many: fewer tiles take
// fewer instructions, and reach further beyond what a query sees.
inline constexpr int kTileKeys = 64;

// The mask that is added to the scores: none, one that is copied with the keys, or one that the threads read. Spans
// hide keys instead, by their places and a cache's length.
enum class MaskKind : uint8_t { none, copied, read, span };

// A block has 64 packed query rows for each warpgroup that multiplies, and one more warpgroup that loads. The blocks of
// a cluster share the rows and take the tiles in turns.
struct GroupAttentionConfig {
  DType type;
  int width;   // of the kernel: a padded_width()
  int groups;  // warpgroups that multiply
  MaskKind mask;
  int keys;  // of a tile
  bool operator==(const GroupAttentionConfig&) const = default;

  constexpr int rows() const { return 64 * groups; }
  constexpr int multipliers() const { return 128 * groups; }  // threads
  constexpr int threads() const { return multipliers() + 128; }
  constexpr int panels() const { return (width + 63) / 64; }  // of 64 columns
  constexpr uint32_t tile_bytes() const { return static_cast<uint32_t>(panels() * keys * 128); }
  constexpr uint32_t query_bytes() const { return static_cast<uint32_t>(panels() * rows() * 128); }
  // Returns the bytes of a row of sums as it is sent: 4 columns of 8 together.
  constexpr int sum_bytes() const { return (width + 31) / 32 * 64; }
  // Returns the rows that each of `splits` blocks finishes.
  constexpr int own_rows(int splits) const { return (rows() + splits - 1) / splits; }
  // Returns the bytes of the queries, in whose place sums are received later, up to a multiple of 1024.
  constexpr uint32_t received_bytes(int splits) const {
    const auto bytes = static_cast<uint32_t>(splits * own_rows(splits) * sum_bytes());
    return ((bytes > query_bytes() ? bytes : query_bytes()) + 1023) / 1024 * 1024;
  }
  // A tile's mask has at most one row for each eight rows of the block.
  constexpr uint32_t mask_panel_bytes() const { return static_cast<uint32_t>(rows() / 8 * 128); }
  constexpr uint32_t slot_bytes() const {
    return tile_bytes() + (mask == MaskKind::copied ? 2 * mask_panel_bytes() : 0);
  }
  // After received_bytes() come the ring of tiles, two barriers and two for each tile, and every received row's
  // statistics and factor.
  constexpr uint32_t shared_bytes(int splits, int tiles) const {
    return received_bytes(splits) + static_cast<uint32_t>(tiles) * slot_bytes() +
           static_cast<uint32_t>(splits * own_rows(splits) * 12 + (2 + 2 * tiles) * 8);
  }
};

struct GroupAttentionArguments {
  AttentionArguments attention;
  int32_t splits;      // blocks of a cluster
  int32_t tiles;       // of the ring
  int32_t boxes;       // copies that make a tile
  int32_t mask_rows;   // rows of mask that a block copies
  int32_t mask_shift;  // 1 << mask_shift eights of query rows share a row of mask
  TileMap q, mask;
  TileMap k[kMaxAttentionSegments];
  TileMap v[kMaxAttentionSegments];
};

constexpr int key_tiles(const AttentionArguments& a, int tile_keys = kTileKeys) {
  int tiles = 0;
  for (int i = 0; i < a.segments; ++i) tiles += (a.segment[i].keys + tile_keys - 1) / tile_keys;
  return tiles;
}

// Returns the width of the narrowest kernel for heads of `width`, which are padded to it with zeros.
constexpr int padded_width(int width) { return width <= 64 ? 64 : width <= 80 ? 80 : width <= 128 ? 128 : 256; }
// Rows as wide as the kernel's are copied at once, others panel by panel, so that the copy puts zeros behind them.
constexpr int boxes_of(const AttentionArguments& a) {
  const int padded = padded_width(a.width);
  return a.width == padded && padded % 64 == 0 ? 1 : (padded + 63) / 64;
}

// The rows of an operand: positions of heads that share a group.
struct TiledRows {
  int heads, positions, of_box;
};

// The axes are value of a panel, position, panel, group, batch; or, if heads share a group: value of a panel, head of
// the group, position, panel, and group or batch, one of which has only one entry.
inline TileShape attention_tile(const AttentionArguments& a, const void* address, const int64_t (&stride)[3],
                                const TiledRows& rows) {
  const auto [heads, positions, of_box] = rows;
  auto bytes = [](int64_t elements) { return elements ? static_cast<uint64_t>(2 * elements) : 16; };
  auto count = [](int n) { return static_cast<uint64_t>(n); };
  const bool whole = boxes_of(a) == 1 && a.width % 64 == 0;
  const uint64_t values = count(whole ? 64 : a.width), panels = count(whole ? a.width / 64 : 1);
  const auto box_panels = static_cast<uint32_t>(panels);
  if (heads == 1)
    return {.address = reinterpret_cast<uint64_t>(address),
            .size = {values, count(positions), panels, count(a.groups), count(a.batch)},
            .stride = {bytes(stride[1]), 128, bytes(stride[2]), bytes(stride[0])},
            .box = {64, static_cast<uint32_t>(of_box), box_panels, 1, 1}};
  return {.address = reinterpret_cast<uint64_t>(address),
          .size = {values, count(heads), count(positions), panels, count(a.groups * a.batch)},
          .stride = {bytes(stride[2]), bytes(stride[1]), 128, bytes(a.groups > 1 ? heads * stride[2] : stride[0])},
          .box = {64, static_cast<uint32_t>(heads), static_cast<uint32_t>(of_box / heads), box_panels, 1}};
}
inline TileShape query_tile(const AttentionArguments& a) {
  return attention_tile(a, a.q, a.q_stride, {a.ratio, a.queries, 64});
}
inline TileShape key_tile(const AttentionArguments& a, const AttentionSegment& segment, int tile_keys) {
  return attention_tile(a, segment.k, segment.k_stride, {1, segment.keys, tile_keys});
}
inline TileShape value_tile(const AttentionArguments& a, const AttentionSegment& segment, int tile_keys) {
  return attention_tile(a, segment.v, segment.v_stride, {1, segment.keys, tile_keys});
}

// Returns the rows of mask of a block of `rows` query rows if each eight query rows share one and the hardware can copy
// it, which needs 16-byte addresses, also of the first key of each segment; else 0.
inline int copied_mask_rows(const AttentionArguments& a, int rows) {
  if (!a.mask || reinterpret_cast<uint64_t>(a.mask) % 16 || a.mask_stride[1] || a.mask_stride[3] != 1) return 0;
  if (a.mask_stride[0] % 4 || a.mask_stride[2] % 4) return 0;
  for (int i = 0; i + 1 < a.segments; ++i)
    if (a.segment[i].keys % 4) return 0;
  if (a.mask_stride[2] == 0) return 1;
  return a.ratio % 8 == 0 ? rows / a.ratio : 0;
}
// Returns, as a shift, how many eights of query rows share a row of mask.
constexpr int mask_shift_of(const AttentionArguments& a, int mask_rows) {
  int shift = 0;
  while (8 << shift < (mask_rows == 1 ? 1024 : a.ratio)) ++shift;
  return shift;
}
// The axes are halves of floats, query, batch.
inline TileShape mask_tile(const AttentionArguments& a, int mask_rows) {
  auto count = [](int n, int64_t stride) { return static_cast<uint64_t>(stride == 0 ? 1 : n); };
  auto bytes = [](int64_t stride) { return static_cast<uint64_t>(stride == 0 ? 16 : 4 * stride); };
  const int64_t batch = a.mask_stride[0], query = a.mask_stride[2];
  return {.address = reinterpret_cast<uint64_t>(a.mask),
          .size = {2 * static_cast<uint64_t>(a.keys), count(a.queries, query), count(a.batch, batch), 1, 1},
          .stride = {bytes(query), bytes(batch), 16, 16},
          .box = {64, static_cast<uint32_t>(mask_rows), 1, 1, 1}};
}

}  // namespace rung::gpu
