// Cuts wide linear layers into tiles, by an estimate of what each way would take.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear_wide.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::gpu {
namespace {

// Those that are compiled; of equal cost, the first is preferred.
constexpr WideTile kTiles[] = {{256, 136, true},  {256, 128, true},  {256, 112, true},  {256, 104, true},
                               {128, 192, false}, {128, 136, false}, {128, 128, false}, {128, 112, false},
                               {128, 104, false}, {128, 64, false}};
constexpr size_t kMostTiles = 6;              // worth a trial
constexpr int32_t kMultiprocessors = 132;     // of the device in mind
constexpr int32_t kSharedBytes = 227 * 1024;  // that a block may have

int32_t divide_up(int32_t x, int32_t by) { return (x + by - 1) / by; }

struct Cut {
  int32_t m, n, chunks;
  bool gated;

  explicit Cut(const Problem& problem) {
    const LinearShape shape(problem);
    m = static_cast<int32_t>(shape.m), n = static_cast<int32_t>(shape.n);
    chunks = divide_up(static_cast<int32_t>(shape.k), kWideDepth);
    gated = problem.as<Linear>().gated;
  }
  int32_t token_tiles(const WideTile& tile) const { return divide_up(m, tile.tokens); }
  int32_t tiles(const WideTile& tile) const { return token_tiles(tile) * divide_up(n, tile.columns()); }
  // As many as fit, at most those that are used.
  int32_t stages(const WideTile& tile) const {
    int32_t stages = std::clamp(chunks, 2, kWideMaxStages);
    while (tile.shared_bytes(stages) > kSharedBytes) --stages;
    return stages;
  }
  // In cycles, as measured: the slower of products and copies, wave after wave, and the results of each.
  int64_t cost(const WideTile& tile) const {
    const int64_t products = tile.rows * tile.tokens / 24, copies = (tile.rows + tile.tokens) * 5 / 2;
    const int64_t results = tile.rows * tile.tokens / 6;
    return divide_up(tiles(tile), kMultiprocessors) * (chunks * std::max(products, copies) + results);
  }
};

}  // namespace

std::vector<WideTile> wide_tiles(const Problem& problem) {
  const Cut cut(problem);
  std::vector<WideTile> tiles;
  std::copy_if(std::begin(kTiles), std::end(kTiles), std::back_inserter(tiles),
               [&](const WideTile& each) { return each.gated == cut.gated; });
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](const WideTile& a, const WideTile& b) { return cut.cost(a) < cut.cost(b); });
  tiles.resize(std::min(tiles.size(), kMostTiles));
  return tiles;
}

WidePlan::WidePlan(const Problem& problem) : tile(wide_tiles(problem).front()) {
  const Cut cut(problem);
  for (const WideTile& each : wide_tiles(problem))
    if (each.parameter() == problem.param("tile", 0)) tile = each;
  chunks = cut.chunks, stages = cut.stages(tile);
  token_tiles = cut.token_tiles(tile), tiles = cut.tiles(tile);
  function = fmt::format("linear_wide{}_{}_{}_{}", tile.gated ? "_gated" : "", name_of(problem.inputs[0].dtype),
                         tile.rows, tile.tokens);
}

}  // namespace rung::gpu
