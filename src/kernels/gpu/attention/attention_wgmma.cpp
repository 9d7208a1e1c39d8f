// The row of the attention kernel in which warpgroups multiply, for wide heads.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_wgmma.hpp"

#include <algorithm>
#include <array>

#include "kernels/gpu/attention/attention.hpp"
#include "kernels/gpu/attention/attention_tiles.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

using Config = GroupAttentionConfig;
constexpr Variant<Config> kVariants[] = {
#include "kernels/gpu/attention/attention_wgmma.inc"
};
static_assert(!find(kVariants, [](const Config& each) { return each.width != padded_width(each.width); }));

constexpr int64_t kMostSplits = 16;  // blocks of a cluster
constexpr int64_t kManyKeys = 1024;  // from which long tiles are the default
constexpr int64_t kRowGroups[] = {1, 2, 3};
constexpr MaskKind kMaskKinds[] = {MaskKind::none, MaskKind::copied, MaskKind::read, MaskKind::span};

// Returns how many row groups a block may have: sums of three take all registers of narrow heads.
constexpr int64_t most_row_groups(int64_t width) { return width <= 64 ? 3 : 2; }

// Returns whether the heads' kernels for spans also exist for tiles of twice as many keys: a score of each takes a
// register.
constexpr bool has_long_tiles(int64_t width) { return width <= 64 || padded_width(static_cast<int>(width)) == 128; }

// Returns whether there is a kernel for heads of `width` for each number of row groups and each kind of mask; the
// narrowest heads have kernels for spans alone.
constexpr bool is_compiled(DType type, int width) {
  const auto lacks = [&](int64_t groups, MaskKind mask, int keys) {
    return symbol_of(kVariants, {type, padded_width(width), static_cast<int>(groups), mask, keys}).empty();
  };
  return std::ranges::none_of(kRowGroups, [&](int64_t groups) {
    if (groups > most_row_groups(width)) return false;
    if (has_long_tiles(width) && lacks(groups, MaskKind::span, 2 * kTileKeys)) return true;
    return std::ranges::any_of(kMaskKinds, [&](MaskKind mask) {
      return (width > 64 || mask == MaskKind::span) && lacks(groups, mask, kTileKeys);
    });
  });
}
static_assert(std::ranges::all_of(std::array{64, 80, 128, 256}, [](int width) {
  return is_compiled(DType::bf16, width) && is_compiled(DType::f16, width);
}));

bool hides_keys(const Problem& problem) {
  return problem.as<Attention>().has_length() || !problem.as<Attention>().span.sees_all();
}

Config config_of(const Problem& problem, int64_t row_groups, MaskKind mask, int64_t tile_keys) {
  return {problem.inputs[0].dtype, padded_width(static_cast<int>(AttentionShape(problem).width)),
          static_cast<int>(row_groups), mask, static_cast<int>(tile_keys)};
}

// Accepts if, for every split, the ring has room for the next keys beside a tile's keys and values.
Verdict supports_ring(const Config& config, const GpuInfo& gpu) {
  constexpr int tiles = 3;
  for (int splits = 1; splits <= kMostSplits; ++splits)
    if (auto verdict = supports_shared_bytes(config.shared_bytes(splits, tiles), gpu); !verdict) return verdict;
  return accept();
}

int64_t blocks_of(const AttentionShape& shape, int64_t rows) {
  return (shape.rows() + rows - 1) / rows * shape.groups * shape.batch;
}

// Two warpgroups share their keys and values, if that leaves blocks for a third of the machine, or for half of it
// where spans leave some blocks few keys. Three do if that leaves twice the blocks that run at once.
int64_t default_row_groups(const Problem& problem, const GpuInfo& gpu) {
  const AttentionShape shape(problem);
  const int64_t at_once = blocks_at_once(gpu);
  if (most_row_groups(shape.width) == 3 && blocks_of(shape, 192) >= 2 * at_once) return 3;
  return blocks_of(shape, 128) >= at_once / (hides_keys(problem) ? 2 : 3) ? 2 : 1;
}

// Returns whether tiles may be long.
bool takes_long_tiles(const Problem& problem, const GpuInfo& gpu) {
  const int64_t width = AttentionShape(problem).width;
  return hides_keys(problem) && has_long_tiles(width) &&
         supports_ring(config_of(problem, most_row_groups(width), MaskKind::span, 2 * kTileKeys), gpu);
}

// Returns the keys of a tile: long ones pay where a block goes through many.
int64_t default_tile_keys(const Problem& problem, const GpuInfo& gpu) {
  return AttentionShape(problem).keys >= kManyKeys && takes_long_tiles(problem, gpu) ? 2 * kTileKeys : kTileKeys;
}

// Returns the splits that make nearly as many blocks as run at once; of pairs, which fit anywhere, just as many. Blocks
// keep three tiles each, as the exchange of sums takes as long as a few; those of spans keep two.
int64_t default_splits(const Problem& problem, const GpuInfo& gpu, int64_t row_groups) {
  const int64_t enough = blocks_at_once(gpu) * 7 / 8;
  const int64_t blocks = std::max<int64_t>(1, blocks_of(AttentionShape(problem), 64 * row_groups));
  const int64_t tiles = key_tiles(problem, default_tile_keys(problem, gpu));
  const int64_t most = std::clamp<int64_t>(tiles / (hides_keys(problem) ? 2 : 3), 1, kMostSplits);
  const int64_t fitting = std::max<int64_t>(enough / blocks, 2 * blocks <= gpu.multiprocessors ? 2 : 1);
  return std::clamp<int64_t>(fitting, 1, most);
}

// Returns a tunable with the default first, then the others.
Tunable tunable(std::string_view name, int64_t first, std::span<const int64_t> others, int64_t most) {
  std::vector<int64_t> values{first};
  for (int64_t value : others)
    if (value != first && value <= most) values.push_back(value);
  return {name, values};
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const int64_t row_groups = default_row_groups(problem, machine.gpu);
  constexpr int64_t splits[] = {1, 2, 4, 8, 14};
  const int64_t width = AttentionShape(problem).width;
  std::vector<Tunable> all{
      tunable("row_groups", row_groups, kRowGroups, most_row_groups(width)),
      tunable("splits", default_splits(problem, machine.gpu, row_groups), splits, key_tiles(problem))};
  if (takes_long_tiles(problem, machine.gpu))
    all.push_back(tunable("keys", default_tile_keys(problem, machine.gpu),
                          std::array<int64_t, 2>{kTileKeys, 2 * kTileKeys}, 1024));
  return all;
}

Verdict supports_width(const AttentionShape& shape) {
  return shape.width > 64 ? accept() : reject("heads not wider than 64, and no span of keys");
}
Verdict supports_span(const Problem& problem, const AttentionShape& shape) {
  if (problem.as<Attention>().has_mask()) return reject("a span of keys, or a cache, beside a mask");
  if (problem.as<Attention>().segments > 1) return reject("a span of keys of several segments");
  if (shape.keys == 0) return reject("no keys");
  return shape.rows() >= 64 ? accept() : reject("a span of keys, and fewer than 64 rows of a key head");
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_tiled_operands(problem, machine); !verdict) return verdict;
  const AttentionShape shape(problem);
  if (auto verdict = hides_keys(problem) ? supports_span(problem, shape) : supports_width(shape); !verdict)
    return verdict;
  if (shape.width == 192) return reject("heads of 192: the kernel waits for a panel that is not copied");
  if (!(problem.as<Attention>().scale > 0)) return reject("a scale that is not positive");
  if (64 % (shape.heads / shape.groups) != 0) return reject("heads that share a key head do not divide 64");
  const MaskKind mask = hides_keys(problem)                  ? MaskKind::span
                        : problem.as<Attention>().has_mask() ? MaskKind::copied  // the most bytes
                                                             : MaskKind::none;
  for (int64_t row_groups = 1; row_groups <= most_row_groups(shape.width); ++row_groups)
    if (auto verdict = supports_ring(config_of(problem, row_groups, mask, kTileKeys), machine.gpu); !verdict)
      return verdict;
  return accept();
}

// Returns the tiles that fit in shared memory beside the rest, at most those that a block reads.
int ring_tiles(const Call& call, const Config& config, const GroupAttentionArguments& a, int blocks) {
  const int64_t rest = config.shared_bytes(a.splits, 0), tile = config.shared_bytes(a.splits, 1) - rest;
  const auto room = static_cast<int64_t>(call.gpu.info().shared_bytes_per_block) - rest;
  return static_cast<int>(std::min<int64_t>(2 * blocks, room / tile));
}

Status enqueue(const Call& call) {
  const GpuInfo& gpu = call.gpu.info();
  const int64_t row_groups = call.problem.param("row_groups", default_row_groups(call.problem, gpu));
  const auto splits = static_cast<int>(call.problem.param("splits", default_splits(call.problem, gpu, row_groups)));
  GroupAttentionArguments arguments{.attention = attention_arguments(call), .splits = splits};
  const int64_t tile_keys = call.problem.param("keys", default_tile_keys(call.problem, gpu));
  const int blocks = (key_tiles(arguments.attention, static_cast<int>(tile_keys)) + splits - 1) / splits;
  arguments.mask_rows = copied_mask_rows(arguments.attention, static_cast<int>(64 * row_groups));
  const MaskKind mask = hides_keys(call.problem)   ? MaskKind::span
                        : arguments.mask_rows > 0  ? MaskKind::copied
                        : arguments.attention.mask ? MaskKind::read
                                                   : MaskKind::none;
  const Config config = config_of(call.problem, row_groups, mask, tile_keys);
  arguments.mask_shift = mask_shift_of(arguments.attention, arguments.mask_rows);
  arguments.tiles = ring_tiles(call, config, arguments, blocks);
  arguments.boxes = boxes_of(arguments.attention);
  RUNG_CHECK(describe_tile(call, arguments.q, query_tile(arguments.attention)));
  if (arguments.mask_rows > 0)
    RUNG_CHECK(describe_tile(call, arguments.mask, mask_tile(arguments.attention, arguments.mask_rows)));
  RUNG_CHECK(describe_segments(call, arguments.attention, arguments.k, arguments.v, {.keys = config.keys}));
  Launch launch = attention_launch(call, config.rows(), splits);
  launch.block = {static_cast<uint32_t>(config.threads())};
  launch.cluster = {static_cast<uint32_t>(splits)};
  launch.shared_bytes = config.shared_bytes(splits, arguments.tiles);
  return call.launch("attention_wgmma_sm90", symbol_of(kVariants, config), launch, arguments);
}

}  // namespace

extern const Kernel attention_wgmma;
const Kernel attention_wgmma{.name = "attention_wgmma",
                             .op = "attention",
                             .supports = supports,
                             .tunables = tunables,
                             .alignment = 16,
                             .enqueue = enqueue};

}  // namespace rung::gpu
