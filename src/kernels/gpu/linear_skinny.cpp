// Cuts skinny linear layers into blocks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear_skinny.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace rung::gpu {
namespace {

// In order of preference among those with as many blocks.
constexpr SkinnyTile kTiles[] = {{64, 8}, {64, 4}, {64, 2}, {64, 1}, {40, 4}, {40, 2}, {40, 1},
                                 {32, 8}, {32, 4}, {32, 2}, {32, 1}, {16, 4}, {16, 2}, {16, 1}};
constexpr size_t kMostTiles = 6;      // worth a trial
constexpr uint32_t kLeastChunks = 4;  // of a block, where blocks share K; with fewer, adding the sums costs more
// Two blocks of different kernels fit a multiprocessor, so that the next layer's weights are under way early.
constexpr uint32_t kSharedBytes = 113 * 1024;
constexpr int kBlocks = 128;  // about one for each multiprocessor
constexpr int64_t kRingKib = 64;

uint32_t divide_up(uint32_t x, uint32_t by) { return (x + by - 1) / by; }

struct Cut {
  uint32_t tokens, n, chunks;
  bool gated;

  explicit Cut(const Problem& problem) {
    const LinearShape shape(problem);
    tokens = divide_up(static_cast<uint32_t>(shape.m), 8) * 8;
    n = static_cast<uint32_t>(shape.n);
    chunks = divide_up(static_cast<uint32_t>(shape.k), kBoxColumns);
    gated = problem.as<Linear>().gated;
  }
  uint32_t outputs(const SkinnyTile& tile) const { return tile.rows / (gated ? 2 : 1); }
  uint32_t tiles(const SkinnyTile& tile) const { return divide_up(n, outputs(tile)); }
  bool fits(const SkinnyTile& tile) const {
    return (tile.split == 1 || chunks >= tile.split * kLeastChunks) && (!gated || tile.rows % 16 == 0);
  }
  int distance(const SkinnyTile& tile) const { return std::abs(static_cast<int>(tiles(tile) * tile.split) - kBlocks); }
  SkinnyShared shared(const SkinnyTile& tile, uint32_t x_stages, uint32_t w_stages) const {
    return {tile.rows, tokens, tile.split, x_stages, w_stages};
  }
  // As many stages as there are chunks, as many of weights as asked for; first x gives way, then the weights.
  SkinnyShared shared(const SkinnyTile& tile, int64_t ring_kib) const {
    const uint32_t most = std::clamp(divide_up(chunks, tile.split), 2u, kSkinnyMaxStages);
    const uint32_t asked = static_cast<uint32_t>(ring_kib) * 1024 / skinny_box_bytes(tile.rows);
    SkinnyShared all = shared(tile, most, std::clamp(asked, 2u, most));
    while (all.bytes() > kSharedBytes) --(all.x_stages > 4 || all.w_stages == 2 ? all.x_stages : all.w_stages);
    return all;
  }
};

}  // namespace

std::vector<SkinnyTile> skinny_tiles(const Problem& problem) {
  const Cut cut(problem);
  std::vector<SkinnyTile> tiles;
  std::copy_if(std::begin(kTiles), std::end(kTiles), std::back_inserter(tiles),
               [&](const SkinnyTile& tile) { return cut.fits(tile); });
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const auto& a, const auto& b) { return cut.distance(a) < cut.distance(b); });
  tiles.resize(std::min(tiles.size(), kMostTiles));
  return tiles;
}

SkinnyPlan::SkinnyPlan(const Problem& problem) {
  const Cut cut(problem);
  const auto fitting = skinny_tiles(problem);
  tile = fitting.front();
  for (const auto& each : fitting)
    if (each.parameter() == problem.param("tile", 0)) tile = each;
  outputs = cut.outputs(tile);
  tiles = cut.tiles(tile);
  chunks = cut.chunks;
  shared = cut.shared(tile, problem.param("ring", kRingKib));
  function = fmt::format("linear_skinny_{}_{}", name_of(problem.inputs[0].dtype), tile.rows);
}

}  // namespace rung::gpu
